//! Following the journal of a session.

use std::sync::{Arc, OnceLock};

use steersman_agent::{Entry, FoldError, Session};
use steersman_store::{Entry as Stored, News, SessionId, Store, StoreError};
use tokio::sync::{broadcast, oneshot, watch};
use tokio::task::JoinHandle;

use crate::message::{
    Hello, Message, Progress, Told, VERSION, bounded, detail, progress, status_after,
};

/// Messages that wait for a client at most; one that is further behind is sent away.
pub const QUEUE: usize = 1024;

/// Entries read at a time.
const PAGE: usize = 256;

/// Why a journal is not followed any further.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FeedError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("entry {seq} cannot be read: {why}")]
    Unreadable { seq: u64, why: String },
    #[error(transparent)]
    Fold(#[from] FoldError),
}

/// A message on its way to many clients.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    pub(crate) seq: u64,
    pub(crate) text: Arc<str>,
}

/// A session as its journal is read.
pub(crate) struct Reading {
    id: SessionId,
    session: Option<Session>,
    status: &'static str,
    seq: u64,
}

impl Reading {
    pub(crate) const fn new(id: SessionId) -> Self {
        Self { id, session: None, status: "starting", seq: 0 }
    }

    /// Takes in an entry; `None` if clients are not told of it.
    fn take(&mut self, stored: &Stored) -> Result<Option<Sent>, FeedError> {
        let seq = stored.seq;
        let entry: Entry = serde_json::from_str(&stored.body)
            .map_err(|error| FeedError::Unreadable { seq, why: error.to_string() })?;
        match &mut self.session {
            Some(session) => session.fold(stored.at_ms, &entry)?,
            None => self.session = Some(Session::open(self.id.as_str(), entry.clone())?),
        }
        self.seq = seq;
        self.status = status_after(self.status, &entry);
        let Some(session) = &self.session else { return Ok(None) };
        let Some(detail) = detail(session, &entry) else { return Ok(None) };
        let message = Message::Event(Told {
            session: self.id.to_string(),
            seq,
            at_ms: stored.at_ms,
            event: entry.kind(),
            detail,
            progress: progress(session, self.status),
        });
        Ok(Some(Sent { seq, text: message.text().into() }))
    }

    fn hello(&self) -> Hello {
        let session = self.session.as_ref();
        Hello {
            version: VERSION,
            session: self.id.to_string(),
            seq: self.seq,
            task: session.map(|session| bounded(&session.outlook().task)).unwrap_or_default(),
            progress: session.map_or_else(
                || Progress { status: self.status, ..Progress::default() },
                |session| progress(session, self.status),
            ),
        }
    }

    /// The messages of the next entries of the journal, up to and with `until`; `None` if there are
    /// no more entries.
    pub(crate) async fn next(
        &mut self,
        store: &dyn Store,
        until: u64,
    ) -> Result<Option<Vec<Sent>>, FeedError> {
        let page = store.read(&self.id, self.seq, PAGE).await?;
        let wanted: Vec<&Stored> = page.iter().filter(|stored| stored.seq <= until).collect();
        if wanted.is_empty() {
            return Ok(None);
        }
        let mut messages = Vec::new();
        for stored in wanted {
            messages.extend(self.take(stored)?);
        }
        Ok(Some(messages))
    }
}

/// Follows the journal of one session and tells what happens to any number of clients.
pub struct Feed {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) id: SessionId,
    sender: broadcast::WeakSender<Sent>,
    now: watch::Receiver<Hello>,
    broken: Arc<OnceLock<String>>,
    finish: std::sync::Mutex<Option<oneshot::Sender<()>>>,
    task: std::sync::Mutex<Option<JoinHandle<()>>>,
}

impl std::fmt::Debug for Feed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Feed").field("session", &self.id).finish_non_exhaustive()
    }
}

impl Feed {
    /// Begins to follow a session, which may still be empty. Needs a tokio runtime. `queue` is
    /// how many messages wait for a client at most, usually [`QUEUE`].
    #[must_use]
    pub fn follow(store: Arc<dyn Store>, id: SessionId, queue: usize) -> Self {
        let (sender, _) = broadcast::channel(queue.max(1));
        let reading = Reading::new(id.clone());
        let (stands, now) = watch::channel(reading.hello());
        let (finish, finished) = oneshot::channel();
        let broken = Arc::new(OnceLock::new());
        let weak = sender.downgrade();
        let follower = Follower { store: Arc::clone(&store), reading, sender, stands, finished };
        let told = Arc::clone(&broken);
        let task = tokio::spawn(async move {
            if let Err(error) = follower.run().await {
                // Nobody else sets it.
                let _ = told.set(error.to_string());
            }
        });
        Self {
            store,
            id,
            sender: weak,
            now,
            broken,
            finish: Some(finish).into(),
            task: Some(task).into(),
        }
    }

    /// How the session stands, and what comes after that; `None` instead of what comes if nothing
    /// will.
    pub(crate) fn join(&self) -> (Hello, Option<broadcast::Receiver<Sent>>) {
        // In this order: what happens in between is in both and told once.
        let receiver = self.sender.upgrade().map(|sender| sender.subscribe());
        let hello = self.now.borrow().clone();
        (hello, receiver)
    }

    /// Why nothing more comes although the session may go on; `None` if it does not.
    pub(crate) fn broken(&self) -> Option<&str> {
        self.broken.get().map(String::as_str)
    }

    /// Tells what is in the journal up to now, and then that there is no more.
    pub async fn finish(&self) {
        fn take<T>(slot: &std::sync::Mutex<Option<T>>) -> Option<T> {
            slot.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take()
        }
        drop(take(&self.finish));
        if let Some(task) = take(&self.task) {
            // A follower that panicked has nothing more to tell either.
            let _ = task.await;
        }
    }
}

struct Follower {
    store: Arc<dyn Store>,
    reading: Reading,
    sender: broadcast::Sender<Sent>,
    stands: watch::Sender<Hello>,
    finished: oneshot::Receiver<()>,
}

impl Follower {
    async fn run(mut self) -> Result<(), FeedError> {
        let mut news = self.store.subscribe();
        let mut last = false;
        loop {
            while let Some(messages) = self.reading.next(&*self.store, u64::MAX).await? {
                // What stands is said before it is told: a client that joins in between is not
                // told twice, because it leaves out what it knows.
                self.stands.send_replace(self.reading.hello());
                for sent in messages {
                    // Nobody may be listening.
                    let _ = self.sender.send(sent);
                }
            }
            if last {
                return Ok(());
            }
            loop {
                tokio::select! {
                    _ = &mut self.finished => {
                        last = true;
                        break;
                    }
                    heard = news.next() => match heard {
                        None => return Ok(()),
                        Some(News::Changed(hint)) if hint.id != self.reading.id
                            || hint.last_seq <= self.reading.seq => {}
                        Some(_) => break,
                    }
                }
            }
        }
    }
}
