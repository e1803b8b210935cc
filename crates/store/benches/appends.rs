//! Durable appends per second beside what the disk can sync, in the folder for temporary files.
//!
//! `TMPDIR=/some/disk cargo bench -p steersman-store`

#![expect(clippy::expect_used, reason = "a bench that cannot start has nothing to measure")]

use std::fs::File;
use std::io::Write;

use divan::Bencher;
use divan::counter::ItemsCount;
use steersman_store::{Append, Head, NewEntry, Options, SessionId, SqliteStore, Store};
use tokio::runtime::Builder;

fn main() {
    divan::main();
}

/// Appends of each producer in one round.
const APPENDS: u64 = 32;

/// What no append can beat alone: one KiB written and synced.
#[divan::bench(sample_count = 20, sample_size = 16)]
fn sync_one_kib(bencher: Bencher<'_, '_>) {
    let mut file = tempfile::tempfile().expect("a temporary file");
    let bytes = [b'x'; 1024];
    let sync = |file: &mut File| file.write_all(&bytes).and_then(|()| file.sync_data());
    bencher.counter(ItemsCount::new(1_u64)).bench_local(|| sync(&mut file).expect("a sync"));
}

/// One KiB each, every producer in a session of its own, one append after the other.
#[divan::bench(args = [1, 16, 64], sample_count = 20, sample_size = 1)]
fn append_one_kib(bencher: Bencher<'_, '_>, producers: u64) {
    let folder = tempfile::tempdir().expect("a folder");
    let store = SqliteStore::open(folder.path().join("journal.db"), &Options::default());
    let store = std::sync::Arc::new(store.expect("a store"));
    let runtime = Builder::new_current_thread().build().expect("a runtime");
    let ids: Vec<SessionId> = (0..producers)
        .map(|n| SessionId::new(&format!("s{n}")).expect("a name"))
        .inspect(|id| runtime.block_on(store.create(id, Head::default(), 0)).expect("a session"))
        .collect();
    let mut last = 0;
    bencher.counter(ItemsCount::new(producers * APPENDS)).bench_local(|| {
        let tasks: Vec<_> = ids
            .iter()
            .map(|id| {
                let (store, id) = (std::sync::Arc::clone(&store), id.clone());
                runtime.spawn(async move {
                    for seq in last..last + APPENDS {
                        let body = format!("{:?}", "x".repeat(1022));
                        let entry =
                            NewEntry { at_ms: seq, kind: "bench".to_owned(), body: body.into() };
                        let append = Append::new(seq, vec![entry]);
                        store.append(&id, append).await.expect("an append");
                    }
                })
            })
            .collect();
        last += APPENDS;
        for task in tasks {
            runtime.block_on(task).expect("a task");
        }
    });
}
