//! Conversations that the model's server keeps: a request of Responses holds only what is new.

use std::collections::BTreeSet;
use std::sync::Arc;

use bytes::Bytes;
use serde_json::Value;
use steersman_engine::{Decision, Signals};
use steersman_wire::{Format, Message};

use super::sim::{Client, Keeps, Kept, Sent, call, deliver, push_all, steering};

const GOVERN: &str = "mode: govern\nunknown_clients: govern\n";
const KEPT: [Keeps; 2] = [Keeps::Response, Keeps::Conversation];

fn client(stream: bool, name: &str, keeps: Keeps) -> Client {
    Client::new(Format::OpenAiResponses, stream, name).kept_by(keeps)
}

/// What was decided in a run that looks around and then repeats itself until it is ended; after
/// each turn in `restarts` the gateway is another. Times are left out.
fn looping(keeps: Keeps, stream: bool, restarts: &[usize]) -> Vec<Decision> {
    let kept = Arc::new(Kept::default());
    let mut governor = steering(GOVERN, &kept);
    let mut client = client(stream, "a", keeps);
    for turn in 0..40 {
        let path = turn.min(4);
        let Sent::Forwarded { watch, .. } = client.ask(&governor) else { break };
        let served = client.served(&call("read", &format!(r#"{{"path":"src/{path}.rs"}}"#)));
        let answer = client.read(&deliver(watch, &served, 33).0);
        client.take(&answer, &format!("content of {path}"));
        if restarts.contains(&turn) {
            governor = steering(GOVERN, &kept);
        }
    }
    assert_eq!(kept.sessions().len() - restarts.len(), 1);
    assert_eq!(kept.sessions().iter().collect::<BTreeSet<_>>().len(), 1);
    let decisions = kept.decisions().into_iter();
    decisions.map(|it| Decision { signals: Signals::default(), score: 0.0, ..it }).collect()
}

#[test]
fn what_is_decided_does_not_depend_on_who_keeps_the_conversation() {
    for stream in [true, false] {
        let whole = looping(Keeps::Client, stream, &[]);
        assert!(whole.last().is_some_and(|last| last.action.ends_run()), "{whole:?}");
        for keeps in KEPT {
            assert_eq!(looping(keeps, stream, &[]), whole, "{stream}");
            assert_eq!(looping(keeps, stream, &[1, 4, 6]), whole, "{stream} with restarts");
        }
    }
}

#[test]
fn a_healthy_run_is_byte_for_byte_as_without_us() {
    for (keeps, stream) in KEPT.into_iter().flat_map(|keeps| [(keeps, true), (keeps, false)]) {
        let kept = Arc::new(Kept::default());
        let steering = steering(GOVERN, &kept);
        let mut clients = ["a", "b"].map(|name| client(stream, name, keeps));
        for turn in 0..6 {
            for client in &mut clients {
                let reply = call("read", &format!(r#"{{"path":"{turn}"}}"#));
                let expected = client.body();
                assert_eq!(client.turn(&steering, &reply, &format!("{turn}")), expected);
            }
        }
        assert_eq!(kept.sessions().len(), 2, "two runs of one task");
        assert!(kept.decisions().iter().all(|it| it.intervention.is_none()));
        assert_eq!(kept.decisions().last().unwrap().turn, 5);
    }
}

fn json(body: &Bytes) -> Value {
    serde_json::from_slice(body).unwrap()
}

fn forwarded(sent: Sent) -> (Bytes, Option<Box<dyn steersman_gateway::seam::Watch>>) {
    match sent {
        Sent::Forwarded { body, watch, .. } => (body, watch),
        Sent::Answered { answer, .. } => panic!("answered: {answer:?}"),
        Sent::Held => panic!("held"),
    }
}

#[test]
fn who_goes_on_beside_another_is_a_run_of_its_own() {
    let kept = Arc::new(Kept::default());
    let steering = steering(GOVERN, &kept);
    let mut one = client(true, "a", Keeps::Response);
    one.turn(&steering, &call("read", r#"{"path":"1"}"#), "one");
    let (_, watch) = forwarded(one.ask(&steering));
    // Sent again, it is the same request; said otherwise meanwhile, it is another run.
    forwarded(one.ask(&steering));
    assert_eq!(kept.sessions().len(), 1);
    let messages = one.messages.clone();
    one.messages.push(Message::user("Look at the other file."));
    forwarded(one.ask(&steering));
    assert_eq!(kept.sessions().len(), 2);

    // What broke off can be asked in other words.
    one.messages = messages;
    drop(watch);
    let kept = Arc::new(Kept::default());
    let steering = super::sim::steering(GOVERN, &kept);
    let mut two = client(true, "b", Keeps::Response);
    two.turn(&steering, &call("read", r#"{"path":"1"}"#), "one");
    let (_, watch) = forwarded(two.ask(&steering));
    watch.unwrap().dropped();
    two.messages.push(Message::user("Look at the other file."));
    forwarded(two.ask(&steering));
    assert_eq!(kept.sessions().len(), 1);
}

#[test]
fn after_a_rescue_it_goes_on_from_what_the_server_answered_last() {
    for stream in [true, false] {
        let kept = Arc::new(Kept::default());
        let steering = steering(GOVERN, &kept);
        let mut client = client(stream, "a", Keeps::Response);
        client.turn(&steering, &call("read", r#"{"path":"a.rs"}"#), "fn a() {}");
        let before = client.last.clone().unwrap();
        let (_, watch) = forwarded(client.ask(&steering));
        let served = client.served(&Message::assistant("Now I will edit src/lib.rs."));
        let (first, again) = deliver(watch, &served, 9);
        let (watch, body) = again.expect("asked again");
        assert_eq!(json(&body)["previous_response_id"], before.as_str());
        let served = client.served(&call("edit", r#"{"path":"src/lib.rs"}"#));
        let (second, _) = push_all(watch, &served, 9);
        let answer = client.read(&[first, second].concat());
        client.take(&answer, "edited");
        assert_eq!(client.last.as_deref(), Some("id-a-2"), "{stream}: the first part's");
        let (body, watch) = forwarded(client.ask(&steering));
        assert_eq!(json(&body)["previous_response_id"], "id-a-3", "{stream}: the second part's");
        deliver(watch, &client.served(&call("shell", "{}")), 9);
        assert_eq!((kept.sessions().len(), kept.count("rescued")), (1, 1));
    }
}

#[test]
fn a_named_conversation_is_not_asked_twice() {
    let kept = Arc::new(Kept::default());
    let steering = steering(GOVERN, &kept);
    let mut client = client(true, "a", Keeps::Conversation);
    client.turn(&steering, &call("read", r#"{"path":"a.rs"}"#), "fn a() {}");
    // The turn asserts that the answer passes as it is.
    client.turn(&steering, &Message::assistant("Now I will edit src/lib.rs."), "");
    // The same words said twice are two requests.
    client.messages.push(Message::user("Go on."));
    client.turn(&steering, &call("read", r#"{"path":"b.rs"}"#), "fn b() {}");
    client.turn(&steering, &Message::assistant("Now I will edit src/lib.rs."), "");
    client.messages.push(Message::user("Go on."));
    client.turn(&steering, &call("read", r#"{"path":"c.rs"}"#), "fn c() {}");
    let spoke = |(_, entry): &(_, _)| {
        matches!(entry, steersman_gateway::record::Entry::Asked { resent: true, .. })
    };
    assert_eq!(kept.entries().iter().filter(|entry| spoke(entry)).count(), 0);
}

#[test]
fn after_an_answer_of_ours_the_server_is_told_what_it_lacks() {
    for stream in [true, false] {
        let kept = Arc::new(Kept::default());
        let mut governor = steering(GOVERN, &kept);
        let mut client = client(stream, "a", Keeps::Response);
        let mut last = None;
        let capped = (0..40).find_map(|_| match client.ask(&governor) {
            Sent::Answered { answer, .. } => Some(answer),
            sent => {
                let (_, watch) = forwarded(sent);
                let served = client.served(&call("shell", r#"{"command":"cargo test"}"#));
                let answer = client.read(&deliver(watch, &served, 64).0);
                last.clone_from(&answer.id);
                client.take(&answer, "error: test failed");
                None
            }
        });
        client.take(&capped.expect("it was ended"), "");
        if stream {
            governor = steering(GOVERN, &kept);
        }
        client.messages.push(Message::user("Try once more, please."));
        let (body, watch) = forwarded(client.ask(&governor));
        let body = json(&body);
        assert_eq!(body["previous_response_id"], last.as_deref().unwrap());
        let kinds = (0..3).map(|at| {
            let item = &body["input"][at];
            item["role"].as_str().or(item["type"].as_str()).unwrap_or_default().to_owned()
        });
        assert_eq!(kinds.collect::<Vec<_>>(), ["function_call_output", "assistant", "user"]);
        assert!(body["input"][3].is_null(), "{body}");
        deliver(watch, &client.served(&Message::assistant("It passes now.")), 9);
        assert_eq!(kept.sessions().iter().collect::<BTreeSet<_>>().len(), 1);
    }
}
