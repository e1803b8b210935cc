//! Reads every run of the shared development data, if that is there.

use std::path::{Path, PathBuf};

use steersman_engine::{Event, Timestamp};
use steersman_trace::{Flow, Format, Problem, RunEnd, RunMeta, RunSink, open};

/// Checks the order of events of every run.
#[derive(Debug, Default)]
struct Checker {
    runs: u64,
    replies: u64,
    results: u64,
    users: u64,
    calls: u64,
    turn_is_open: bool,
    run_is_open: bool,
    problems: Vec<Problem>,
}

impl RunSink for Checker {
    fn run_started(&mut self, meta: &RunMeta<'_>) -> Flow {
        assert!(!self.run_is_open && !self.turn_is_open, "runs interleave at {}", meta.id);
        assert!(!meta.id.is_empty());
        self.run_is_open = true;
        self.runs += 1;
        Flow::Continue
    }

    fn event(&mut self, _at: Timestamp, event: &Event<'_>, line: u64) -> Flow {
        assert!(self.run_is_open);
        match event {
            Event::Replied(reply) => {
                assert!(!self.turn_is_open, "reply inside a turn, line {line}");
                self.turn_is_open = true;
                self.replies += 1;
                self.calls += reply.tool_calls.len() as u64;
            }
            Event::TurnEnded => {
                assert!(self.turn_is_open, "turn ended twice, line {line}");
                self.turn_is_open = false;
            }
            Event::UserSpoke(_) => {
                assert!(!self.turn_is_open, "user inside a turn, line {line}");
                self.users += 1;
            }
            Event::ToolReturned(_) => self.results += 1,
            _ => {}
        }
        Flow::Continue
    }

    fn run_ended(&mut self, end: RunEnd) -> Flow {
        assert!(self.run_is_open && !self.turn_is_open);
        assert!(!end.truncated);
        self.run_is_open = false;
        Flow::Continue
    }

    fn problem(&mut self, problem: Problem) {
        self.problems.push(problem);
    }
}

fn read(path: &Path) -> Checker {
    let mut units = open(path).unwrap();
    assert_eq!(units.format(), Format::Runs, "{}", path.display());
    let mut checker = Checker::default();
    while let Some(unit) = units.next_unit() {
        unit.read(&mut checker);
    }
    assert_eq!(units.bytes_read(), units.total_bytes().unwrap());
    checker
}

#[test]
fn every_run_of_the_shared_data_is_read_without_a_problem() {
    // Beside the repository; further up if this is a worktree of it.
    let shared = Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .skip(3)
        .map(|folder| folder.join("shared"))
        .find(|shared| shared.join("data").is_dir());
    let Some(root) = shared else {
        println!("SKIPPED: no shared data at ../shared/data of the workspace");
        return;
    };
    let entries = std::fs::read_dir(root.join("data")).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.to_string_lossy().ends_with(".jsonl.gz"));
    files.push(root.join("local-model/runs.jsonl"));
    files.sort();
    assert!(files.len() > 10);
    for file in files {
        let found = read(&file);
        assert_eq!(found.problems, [], "{}", file.display());
        assert!(found.runs > 0 && found.replies > 0, "{}", file.display());
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        println!(
            "{name}: {} runs, {} users, {} replies, {} calls, {} results",
            found.runs, found.users, found.replies, found.calls, found.results
        );
    }
}
