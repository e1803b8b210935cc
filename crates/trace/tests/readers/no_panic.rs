//! No input makes a reader panic, or breaks the order of events.

use proptest::prelude::*;
use steersman_engine::{Event, Timestamp};
use steersman_trace::{Flow, Problem, RunEnd, RunMeta, RunSink, read_bytes};

/// Checks the order of events.
#[derive(Debug, Default)]
struct Order {
    in_run: bool,
    in_turn: bool,
}

impl RunSink for Order {
    fn run_started(&mut self, meta: &RunMeta<'_>) -> Flow {
        assert!(!self.in_run && !meta.id.is_empty());
        self.in_run = true;
        Flow::Continue
    }
    fn event(&mut self, _: Timestamp, event: &Event<'_>, _: u64) -> Flow {
        assert!(self.in_run);
        match event {
            Event::Replied(_) => {
                assert!(!self.in_turn);
                self.in_turn = true;
            }
            Event::TurnEnded => {
                assert!(self.in_turn);
                self.in_turn = false;
            }
            Event::UserSpoke(_) => assert!(!self.in_turn),
            _ => {}
        }
        Flow::Continue
    }
    fn run_ended(&mut self, _: RunEnd) -> Flow {
        assert!(self.in_run && !self.in_turn);
        self.in_run = false;
        Flow::Continue
    }
    fn problem(&mut self, problem: Problem) {
        assert!(!problem.what.is_empty());
    }
}

fn check(bytes: &[u8]) {
    let mut order = Order::default();
    if read_bytes("test", bytes, &mut order).is_ok() {
        assert!(!order.in_run);
    }
}

/// Every golden input, to be damaged.
fn seeds() -> Vec<Vec<u8>> {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata");
    let mut folders = vec![root];
    let mut seeds = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if !path.to_string_lossy().ends_with(".events.jsonl") {
                seeds.push(std::fs::read(path).unwrap());
            }
        }
    }
    seeds.sort();
    seeds
}

proptest! {
    #[test]
    fn any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        check(&bytes);
        check(&[b"{".as_slice(), &bytes].concat());
        check(&[br#"{"role":"user","content":"x"}"#.as_slice(), b"\n", &bytes].concat());
    }

    #[test]
    fn damaged_traces(
        which in any::<prop::sample::Index>(),
        cut in any::<prop::sample::Index>(),
        edits in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        swaps in proptest::collection::vec((any::<prop::sample::Index>(), 0..8_usize), 0..3),
    ) {
        const PIECES: [&[u8]; 8] = [b"null", b"[]", b"{}", b"\"", b"17", b",", b"\n", b"\\"];
        let seeds = seeds();
        let mut bytes = which.get(&seeds).clone();
        for (at, byte) in edits {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        for (at, piece) in swaps {
            let at = at.index(bytes.len());
            bytes.splice(at..at, PIECES[piece].iter().copied());
        }
        check(&bytes);
        bytes.truncate(cut.index(bytes.len()));
        check(&bytes);
    }
}
