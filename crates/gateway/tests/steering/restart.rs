//! The gateway ends in the middle of a session and is started again.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use futures::FutureExt;
use proptest::prelude::*;
use steersman_engine::Decision;
use steersman_gateway::control::{Control, Helm};
use steersman_gateway::seam::Act;
use steersman_gateway::sessions::ROOM;
use steersman_gateway::steering::Steering;
use steersman_wire::Format;

use super::sim::{Client, Kept, Sent, call, deliver, steering};

const GOVERN: &str = "mode: govern\nunknown_clients: govern\n";

/// What was decided in a run of `turns` turns that repeats itself from the third on, and every
/// body that was forwarded. After each turn in `restarts` the gateway is another.
fn run(format: Format, turns: usize, restarts: &[usize]) -> (Vec<Decision>, Vec<Vec<u8>>) {
    let kept = Arc::new(Kept::default());
    let mut governor = steering(GOVERN, &kept);
    let mut client = Client::new(format, true, "a");
    let mut bodies = Vec::new();
    for turn in 0..turns {
        let path = turn.min(3);
        let reply = call("read", &format!(r#"{{"path":"src/{path}.rs"}}"#));
        let Sent::Forwarded { body, watch, .. } = client.ask(&governor) else { break };
        bodies.push(body.to_vec());
        let served = client.served(&reply);
        let (got, _) = deliver(watch, &served, 33);
        let answer = client.read(&got);
        client.take(&answer, &format!("content of {path}"));
        if restarts.contains(&turn) {
            governor = steering(GOVERN, &kept);
        }
    }
    // Times are the client's in this simulation, but not those of the ends of answers.
    let mut decisions = kept.decisions();
    for decision in &mut decisions {
        decision.signals = steersman_engine::Signals::default();
        decision.score = 0.0;
    }
    (decisions, bodies)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn decisions_are_those_without_the_restart(
        restarts in prop::collection::vec(0_usize..16, 1..4),
        format in prop::sample::select(Format::ALL.to_vec()),
    ) {
        prop_assert_eq!(run(format, 16, &restarts), run(format, 16, &[]));
    }
}

/// So many other sessions are seen at that time.
fn crowd(steering: &Steering, format: Format, at_ms: u64) {
    for number in 0..ROOM {
        let other = Client::new(format, true, "b");
        let mut other = other.header("x-steersman-session", &format!("s{number}"));
        other.at_ms = at_ms;
        other.ask(steering);
    }
}

/// Sessions at rest leave the memory; one that goes on is the same, with or without a name.
#[test]
fn a_session_that_rested_goes_on() {
    let names = [None, Some("mine")];
    for (format, name) in Format::ALL.into_iter().flat_map(|format| names.map(|it| (format, it))) {
        let kept = Arc::new(Kept::default());
        let steering = steering(GOVERN, &kept);
        let mut client = Client::new(format, true, "a");
        if let Some(name) = name {
            client = client.header("x-steersman-session", name);
        }
        for path in 0..3 {
            client.turn(&steering, &call("read", &format!(r#"{{"path":"{path}"}}"#)), "content");
        }
        let recalled = kept.recalled.load(Ordering::SeqCst);
        let later = client.at_ms + 200_000;
        crowd(&steering, format, later);
        let others = u64::try_from(ROOM).unwrap();
        assert_eq!(kept.recalled.load(Ordering::SeqCst), recalled + others);
        client.at_ms = later;
        client.turn(&steering, &call("read", r#"{"path":"4"}"#), "content");
        client.turn(&steering, &call("read", r#"{"path":"5"}"#), "content");
        assert_eq!(kept.recalled.load(Ordering::SeqCst), recalled + others + 1, "{format:?}");
        let ids: BTreeSet<String> = kept.sessions().into_iter().collect();
        assert_eq!(ids.len(), ROOM + 1, "{format:?} {name:?}");
        assert_eq!(kept.count("opened"), ids.len(), "to have rested is nothing to tell");
        assert_eq!(kept.decisions().last().unwrap().turn, 4);
    }
}

#[test]
fn a_session_whose_request_waits_stays() {
    let kept = Arc::new(Kept::default());
    let steering = steering(GOVERN, &kept);
    let mut client = Client::new(Format::Anthropic, true, "a");
    client.turn(&steering, &call("read", r#"{"path":"1"}"#), "content");
    let id = kept.sessions().remove(0);
    steering.control(&id, "ann", Control::Pause).unwrap();
    let waiting = client.plan(&steering);
    assert!(matches!(waiting.act, Act::Hold(_)));
    crowd(&steering, Format::Anthropic, client.at_ms + 200_000);
    let recalled = kept.recalled.load(Ordering::SeqCst);
    steering.control(&id, "ann", Control::Resume).unwrap();
    assert_eq!(kept.recalled.load(Ordering::SeqCst), recalled, "it was taken up anew");
    let Act::Hold(resumed) = waiting.act else { return };
    assert!(resumed.now_or_never().is_some(), "nobody told it to go on");
}

#[test]
fn what_was_lost_is_read_from_the_request() {
    let kept = Arc::new(Kept::default());
    let first = steering(GOVERN, &kept);
    let mut client = Client::new(Format::OpenAiChat, true, "a");
    let reply = call("read", r#"{"path":"src/lib.rs"}"#);
    for _ in 0..2 {
        client.turn(&first, &reply, "the same");
    }
    // Another replica, which knows nothing.
    let other = Arc::new(Kept::default());
    let second = steering(GOVERN, &other);
    let Sent::Forwarded { .. } = client.ask(&second) else { panic!("answered") };
    let decided = other.decisions();
    assert_eq!(decided.last().unwrap().turn, 2, "{decided:?}");
}

#[test]
fn the_store_is_asked_only_where_it_could_know_something() {
    for (named, expected) in [(false, 0), (true, 1)] {
        let kept = Arc::new(Kept::default());
        let steering = steering(GOVERN, &kept);
        let mut client = Client::new(Format::OpenAiChat, true, "a");
        if named {
            client = client.header("x-session-id", "ses_1");
        }
        let reply = call("read", r#"{"path":"src/lib.rs"}"#);
        for _ in 0..2 {
            client.turn(&steering, &reply, "the same");
        }
        assert_eq!(kept.recalled.load(Ordering::SeqCst), expected, "named: {named}");
    }
}
