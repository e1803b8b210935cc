//! Many rehearsals at once in one process: memory and time.
//! `cargo bench -p steersman-agent --bench crowd -- [SESSIONS]`

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a bench, not a library")]

mod stage;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use stage::{Nothing, opened, play, roster, script};
use steersman_store::{MemoryStore, Store};
use tokio::task::JoinSet;

/// Peak and present memory of this process, in MiB.
fn memory() -> (u64, u64) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let kib = |key: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(key)).unwrap_or("0");
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap_or(0)
    };
    (kib("VmHWM:") / 1024, kib("VmRSS:") / 1024)
}

fn main() {
    let sessions = std::env::args().skip(1).find_map(|arg| arg.parse().ok()).unwrap_or(1000);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let (before, _) = memory();
    let begun = Instant::now();
    let (endings, turns) = runtime.block_on(crowd(sessions));
    let (peak, now) = memory();
    println!("{sessions} sessions at once: {endings:?}, {turns} turns");
    println!(
        "{:.1} s; memory {before} MiB before, {peak} MiB at most, {now} MiB after",
        begun.elapsed().as_secs_f64()
    );
}

async fn crowd(sessions: usize) -> (BTreeMap<String, u32>, u32) {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
    let script = script();
    let roster = roster(&script, "/project");
    let opened = opened(&script, &roster, "/project");
    let mut all = JoinSet::new();
    for at in 0..sessions {
        let id = format!("session-{at}").parse().unwrap();
        let nothing = Arc::new(Nothing::default());
        let crew = (Arc::clone(&roster), opened.clone());
        all.spawn(play(Arc::clone(&store), id, script.clone(), nothing.clone(), nothing, crew));
    }
    let (mut endings, mut turns) = (BTreeMap::new(), 0);
    while let Some(done) = all.join_next().await {
        let (ending, made) = done.unwrap();
        *endings.entry(ending).or_default() += 1;
        turns += made;
    }
    (endings, turns)
}
