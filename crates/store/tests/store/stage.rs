//! What the tests share.

use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use steersman_store::{
    Append, Entry, FileFault, Head, Kept, MemoryStore, NewControl, NewEntry, Options, SessionId,
    SqliteStore, Store, StoreError,
};
use tempfile::TempDir;

/// Far beyond what anything here takes; only a hang reaches it.
const PATIENCE: Duration = Duration::from_secs(120);

pub(crate) fn run<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async { tokio::time::timeout(PATIENCE, future).await.unwrap() })
}

pub(crate) fn id(text: &str) -> SessionId {
    SessionId::new(text).unwrap()
}

pub(crate) fn entry(body: &str) -> NewEntry {
    NewEntry { at_ms: 7, kind: "test".to_owned(), body: body.into() }
}

/// The entry as it stands in a journal.
pub(crate) fn kept(seq: u64, body: &str) -> Entry {
    let NewEntry { at_ms, kind, body } = entry(body);
    Entry { seq, at_ms, kind, body: body.into_string() }
}

pub(crate) fn append(expected_seq: u64, bodies: &[&str]) -> Append {
    Append::new(expected_seq, bodies.iter().map(|body| entry(body)).collect())
}

/// A state that was kept at `number` and stands there, too.
pub(crate) fn state(number: u64, body: &str) -> Kept {
    Kept { scope: number, end: number, at_ms: number, body: body.into() }
}

pub(crate) fn titled(title: &str) -> Head {
    Head { title: title.to_owned(), state: "running".to_owned(), ..Head::default() }
}

pub(crate) fn control(body: &str) -> NewControl {
    NewControl { at_ms: 5, kind: "note".to_owned(), body: body.into(), who: "a person".to_owned() }
}

pub(crate) fn quick() -> Options {
    Options { poll_ms: 5, ..Options::default() }
}

/// A store in a folder of its own, to be kept for as long as the store is used.
pub(crate) fn on_disk(options: &Options) -> (TempDir, SqliteStore) {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path().join("new/journal.db"), options).unwrap();
    (folder, store)
}

/// Runs the same over every kind of store.
pub(crate) fn over_all<F: Future<Output = ()>>(check: impl Fn(Arc<dyn Store>) -> F) {
    run(check(Arc::new(MemoryStore::new())));
    let (_folder, store) = on_disk(&quick());
    run(check(Arc::new(store)));
}

pub(crate) fn fault_of<T: std::fmt::Debug>(result: Result<T, StoreError>) -> FileFault {
    match result {
        Err(StoreError::File { fault, .. }) => fault,
        other => panic!("not a fault of the file: {other:?}"),
    }
}

/// All answers, in order, of futures that run at the same time.
pub(crate) async fn join_all<F: Future + Unpin>(
    futures: impl IntoIterator<Item = F>,
) -> Vec<F::Output> {
    let mut futures: Vec<F> = futures.into_iter().collect();
    let mut answers: Vec<Option<F::Output>> = futures.iter().map(|_| None).collect();
    std::future::poll_fn(|context| {
        for (future, answer) in futures.iter_mut().zip(&mut answers) {
            if answer.is_none()
                && let Poll::Ready(done) = Pin::new(future).poll(context)
            {
                *answer = Some(done);
            }
        }
        if answers.iter().all(Option::is_some) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    answers.into_iter().flatten().collect()
}
