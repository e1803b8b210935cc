//! The loop's own time, and what of it is folding and deciding. `cargo bench -p steersman-agent`.

#![allow(missing_docs, clippy::unwrap_used, reason = "a bench, not a library")]

mod stage;

use std::sync::Arc;

use divan::Bencher;
use divan::counter::ItemsCount;
use stage::{Nothing, opened, play, roster, script};
use steersman_agent::rehearsal::Script;
use steersman_agent::{Entry, Session, read};
use steersman_store::{MemoryStore, SessionId, Store};

fn main() {
    divan::main();
}

fn id() -> SessionId {
    "bench".parse().unwrap()
}

fn quick() -> Script {
    Script { reply_ms: 0, ..script() }
}

async fn run(store: Arc<dyn Store>) -> u32 {
    let script = quick();
    let roster = roster(&script, "/project");
    let opened = opened(&script, &roster, "/project");
    let nothing = Arc::new(Nothing::default());
    let (ending, turns) =
        play(store, id(), script, nothing.clone(), nothing, (roster, opened)).await;
    assert_eq!(ending, "complete");
    turns
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

/// A whole rehearsal with tools without effect: everything that is not tools, model and disk.
#[divan::bench]
fn a_turn_of_the_loop(bencher: Bencher<'_, '_>) {
    let runtime = runtime();
    let turns = runtime.block_on(run(Arc::new(MemoryStore::default())));
    bencher
        .counter(ItemsCount::new(turns))
        .with_inputs(|| Arc::new(MemoryStore::default()))
        .bench_local_values(|store| runtime.block_on(run(store)));
}

/// Folding the journal of the same rehearsal: every decision, and the conversation.
#[divan::bench]
fn a_turn_folded(bencher: Bencher<'_, '_>) {
    let runtime = runtime();
    let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
    let turns = runtime.block_on(run(Arc::clone(&store)));
    let (name, mut entries): (_, Vec<(u64, Entry)>) = (id(), Vec::new());
    let all = read(&*store, &name, |_, stored, entry| entries.push((stored.at_ms, entry.clone())));
    runtime.block_on(all).unwrap();
    bencher.counter(ItemsCount::new(turns)).bench_local(|| {
        let mut session = Session::open("bench", entries[0].1.clone()).unwrap();
        for (at_ms, entry) in &entries[1..] {
            session.fold(*at_ms, entry).unwrap();
        }
        session.seq()
    });
}
