//! What the journal keeps of calls and what came of them.

use std::sync::Arc;

use steersman_engine::classify::Outcome;
use steersman_engine::tool::ToolKind;
use steersman_gateway::record::{Back, Called, Entry, Replied};
use steersman_wire::{Format, Message};

use super::sim::{Client, Kept, call, steering};

const TESTS: &str = "running 2 tests\ntest sorts ... ok\ntest wraps ... FAILED\n\nfailures:\n\n\
                     ---- wraps stdout ----\nthread 'wraps' panicked at src/lib.rs:7:5:\n\
                     assertion `left == right` failed\n\n\
                     failures:\n    wraps\n\ntest result: FAILED. 1 passed; 1 \
                     failed; 0 ignored; 0 measured; 0 filtered out\n";

/// A client whose calls are read and tested, and the journal of it.
fn played(format: Format, stream: bool) -> Vec<Entry> {
    let kept = Arc::new(Kept::default());
    let steering = steering("mode: govern\nunknown_clients: govern\n", &kept);
    let mut client = Client::new(format, stream, "a");
    let read = call("read", r#"{"path":"src/lib.rs"}"#);
    client.turn(&steering, &read, "fn main() {}\n");
    client.turn(&steering, &read, "fn main() {}\n");
    client.turn(&steering, &call("shell", r#"{"command":"cargo test"}"#), TESTS);
    client.turn(&steering, &Message::assistant("Done."), "");
    kept.entries().into_iter().map(|(_, entry)| entry).collect()
}

#[test]
fn calls_and_results_are_kept_as_the_engine_sees_them() {
    for format in Format::ALL {
        for stream in [true, false] {
            let entries = played(format, stream);
            let replies: Vec<&Replied> = entries
                .iter()
                .filter_map(|entry| match entry {
                    Entry::Replied(replied) => Some(&**replied),
                    _ => None,
                })
                .collect();
            let turns: Vec<u32> = replies.iter().map(|replied| replied.turn).collect();
            assert_eq!(turns, [1, 2, 3, 4], "{format:?}");
            let [read] = replies[0].tools.as_slice() else { panic!("{:?}", replies[0]) };
            let Called { label, kind, changes, file, .. } = read;
            assert_eq!(
                (label.as_str(), *kind, *changes),
                ("read: src/lib.rs", ToolKind::Read, false)
            );
            assert_eq!(file.as_deref(), Some("src/lib.rs"));
            let backs: Vec<&Back> = entries
                .iter()
                .filter_map(|entry| match entry {
                    Entry::Returned(returned) => Some(&returned.results),
                    _ => None,
                })
                .flatten()
                .collect();
            let times: Vec<u32> = backs.iter().map(|back| back.times).collect();
            assert_eq!(times, [1, 2, 1], "{format:?} {stream}");
            let outcomes = backs.iter().all(|back| back.outcome == Some(Outcome::Ok));
            assert!(outcomes, "{backs:?}");
            assert_eq!(backs[0].excerpt, "fn main() {}\n");
            let tests = backs[2].tests.as_ref().unwrap();
            assert_eq!((tests.passed, tests.failed), (1, 1));
            let names: Vec<&str> = backs[2].names.iter().map(|(_, name)| name.as_str()).collect();
            assert_eq!(names, ["wraps"]);
        }
    }
}

#[test]
fn what_comes_back_is_told_before_what_is_decided_about_it() {
    let entries = played(Format::ALL[0], false);
    let kinds: Vec<&str> = entries.iter().map(Entry::kind).collect();
    let expected = "opened asked steered replied \
                    asked returned decided steered replied \
                    asked returned decided steered replied \
                    asked returned decided steered replied decided";
    assert_eq!(kinds.join(" "), expected);
}
