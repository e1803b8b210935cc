//! What every fuzz target checks: a reader never panics, and tells every run in order.

use steersman_engine::{Event, Timestamp};
use steersman_trace::{Flow, Problem, RunEnd, RunMeta, RunSink, read_bytes};

/// Panics on events out of order.
#[derive(Debug, Default)]
struct Order {
    in_run: bool,
    in_turn: bool,
}

impl RunSink for Order {
    fn run_started(&mut self, meta: &RunMeta<'_>) -> Flow {
        assert!(!self.in_run, "a run inside a run");
        assert!(!meta.id.is_empty(), "a run without an id");
        self.in_run = true;
        Flow::Continue
    }

    fn event(&mut self, _: Timestamp, event: &Event<'_>, _: u64) -> Flow {
        assert!(self.in_run, "an event outside runs");
        match event {
            Event::Replied(_) => {
                assert!(!self.in_turn, "a reply inside a turn");
                self.in_turn = true;
            }
            Event::TurnEnded => {
                assert!(self.in_turn, "a turn ended twice");
                self.in_turn = false;
            }
            Event::UserSpoke(_) => assert!(!self.in_turn, "a user inside a turn"),
            _ => {}
        }
        Flow::Continue
    }

    fn run_ended(&mut self, _: RunEnd) -> Flow {
        assert!(self.in_run && !self.in_turn, "an end out of order");
        self.in_run = false;
        Flow::Continue
    }

    fn problem(&mut self, problem: Problem) {
        assert!(!problem.what.is_empty());
    }
}

/// Reads `bytes` and checks the order of what comes.
pub fn check(bytes: &[u8]) {
    let mut order = Order::default();
    if read_bytes("fuzz", bytes, &mut order).is_ok() {
        assert!(!order.in_run, "a run without an end");
    }
}

/// Reads `data` behind the beginning that its first byte chooses, and before the matching ending.
pub fn check_behind(beginnings: &[(&str, &str)], data: &[u8]) {
    let Some((&choice, rest)) = data.split_first() else { return };
    let (begin, end) = beginnings[usize::from(choice) % beginnings.len()];
    check(&[begin.as_bytes(), rest, end.as_bytes()].concat());
}
