//! The built-in rehearsal with real tools, checks, checkpoints and journal: which part of its time
//! is deciding. `cargo bench -p steersman-agent --bench rehearsal`

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a bench, not a library")]

mod stage;

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use stage::{opened, play, roster, script};
use steersman_agent::rehearsal::{Sample, Script};
use steersman_agent::tools::{WorkSite, WorkTools};
use steersman_agent::{Entry, Session, read};
use steersman_prompt::{Approval, ApprovalMode};
use steersman_store::{Options, SessionId, SqliteStore, Store};
use steersman_workspace::{Checkpoints, Shell, ShellOptions, Workspace};

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(measure());
}

async fn measure() {
    // Without the pauses in which a person can read along.
    let script = Script { reply_ms: 0, ..script() };
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("project");
    Sample::lay_out(&script, &project).unwrap();
    let workspace = Arc::new(Workspace::open(&project).unwrap());
    let root = workspace.root().display().to_string();
    let shell = Arc::new(Shell::new(&workspace, ShellOptions::default()).unwrap());
    let id: SessionId = "bench".parse().unwrap();
    let kept = Checkpoints::open(&workspace, id.as_str(), &folder.path().join("kept")).unwrap();
    let site = Arc::new(WorkSite::new(Arc::clone(&shell), Arc::new(kept)));
    let approval = Approval { mode: ApprovalMode::Auto, ..Approval::default() };
    let tools = Arc::new(WorkTools::new(workspace, shell, Arc::new(approval), Vec::new()));
    let store: Arc<dyn Store> =
        Arc::new(SqliteStore::open(folder.path().join("db"), &Options::default()).unwrap());
    let roster = roster(&script, &root);
    let crew = (Arc::clone(&roster), opened(&script, &roster, &root));

    let begun = Instant::now();
    let (ending, turns) = play(Arc::clone(&store), id.clone(), script, tools, site, crew).await;
    let wall = begun.elapsed();
    let mut entries: Vec<(u64, Entry)> = Vec::new();
    let all = read(&*store, &id, |_, stored, entry| entries.push((stored.at_ms, entry.clone())));
    all.await.unwrap();
    let begun = Instant::now();
    const TIMES: u32 = 20;
    for _ in 0..TIMES {
        black_box(fold(&entries));
    }
    let folding = begun.elapsed() / TIMES;
    let share = 100.0 * folding.as_secs_f64() / wall.as_secs_f64();
    println!("{ending}: {turns} turns, {} entries in {wall:.2?}", entries.len());
    println!("folding and deciding: {folding:.2?}, {:.1?} a turn, {share:.3} %", folding / turns);
}

fn fold(entries: &[(u64, Entry)]) -> u64 {
    let mut session = Session::open("bench", entries[0].1.clone()).unwrap();
    for (at_ms, entry) in &entries[1..] {
        session.fold(*at_ms, entry).unwrap();
    }
    session.seq()
}
