//! Whose turn a request is.

use std::collections::BTreeSet;
use std::sync::Arc;

use steersman_engine::Action;
use steersman_gateway::record::Entry;
use steersman_wire::{Format, Message, Part};

use super::sim::{Client, Kept, Sent, call, deliver, steering};

const GOVERN: &str = "mode: govern\nunknown_clients: govern\n";

#[test]
fn runs_of_one_task_are_told_apart() {
    for format in Format::ALL {
        let kept = Arc::new(Kept::default());
        let steering = steering(GOVERN, &kept);
        let mut clients = ["a", "b", "c"].map(|name| Client::new(format, true, name));
        for turn in 0..5 {
            for client in &mut clients {
                // The same call in every run; only its id differs.
                let reply = call("read", &format!(r#"{{"path":"{turn}"}}"#));
                client.turn(&steering, &reply, "same");
            }
        }
        let expected = if format == Format::Gemini { 1..=3 } else { 3..=3 };
        let opened = kept.sessions().len();
        assert!(expected.contains(&opened), "{format:?}: {opened} sessions");
    }
}

#[test]
fn runs_of_one_task_are_told_apart_by_what_their_models_say() {
    for (format, stream) in Format::ALL.into_iter().flat_map(|it| [(it, false), (it, true)]) {
        let steering = steering(GOVERN, &Arc::new(Kept::default()));
        let mut clients = ["a", "b", "c"].map(|name| Client::new(format, stream, name));
        // No id tells whose a call is: Gemini's server sends none.
        clients.iter_mut().for_each(|client| client.renames = true);
        let mut sessions = [const { BTreeSet::new() }; 3];
        for turn in 0..4 {
            // All are asked before any is answered.
            let asked = clients.each_mut().map(|client| match client.ask(&steering) {
                Sent::Forwarded { headers, watch, .. } => (headers, watch),
                _ => panic!("not forwarded"),
            });
            for (at, (headers, watch)) in asked.into_iter().enumerate() {
                sessions[at].insert(headers["x-steersman-session"].clone());
                // The calls are the same in every run, and so are the words later on.
                let mut reply = call("read", &format!(r#"{{"path":"{turn}"}}"#));
                if turn == 0 {
                    let text = format!("I am {}.", clients[at].name);
                    reply.parts.insert(0, Part::Text(text));
                }
                let served = clients[at].served(&reply);
                let answer = clients[at].read(&deliver(watch, &served, 50).0);
                clients[at].take(&answer, "same");
            }
        }
        let all: BTreeSet<&String> = sessions.iter().flatten().collect();
        let each = sessions.each_ref().map(BTreeSet::len);
        assert_eq!((each, all.len()), ([1; 3], 3), "{format:?} {stream}: {sessions:?}");
    }
}

#[test]
fn names_tell_sessions_apart_whatever_they_say() {
    let kept = Arc::new(Kept::default());
    let steering = steering(GOVERN, &kept);
    let named =
        |name: &str| Client::new(Format::OpenAiChat, true, "x").header("x-session-id", name);
    let (mut one, mut two) = (named("ses_1"), named("ses_2"));
    for turn in 0..3 {
        let reply = call("read", &format!(r#"{{"path":"{turn}"}}"#));
        one.turn(&steering, &reply, "same");
        two.turn(&steering, &reply, "same");
    }
    let sessions = kept.sessions();
    assert_eq!(sessions.len(), 2);
    let turns = kept.decisions().iter().map(|it| it.turn).max();
    // The third turn's results have not been sent yet.
    assert_eq!(turns, Some(2));
}

#[test]
fn sessions_of_different_keys_never_meet() {
    // The same name for the session, and the same conversation without any name.
    for name in [Some("ses_1"), None] {
        let kept = Arc::new(Kept::default());
        let steering = steering(GOVERN, &kept);
        let of = |key: &str| {
            let client = Client::new(Format::Anthropic, true, "x");
            let client = match name {
                Some(name) => client.header("x-session-id", name),
                None => client,
            };
            client.with_key(key)
        };
        let mut clients = [of("alice"), of("bob"), of("")];
        for turn in 0..3 {
            for client in &mut clients {
                let reply = call("read", &format!(r#"{{"path":"{turn}"}}"#));
                client.turn(&steering, &reply, "same");
            }
        }
        let mut keys: Vec<String> = kept
            .entries()
            .into_iter()
            .filter_map(|(_, entry)| match entry {
                Entry::Opened(opened) => Some(opened.key),
                _ => None,
            })
            .collect();
        keys.sort();
        assert_eq!(keys, ["", "alice", "bob"], "{name:?}");
    }
}

#[test]
fn rules_can_look_at_the_key() {
    let rules = "mode: off\nrules: [{key: 'team-*', mode: govern}]\n";
    for (key, expected) in [("team-a", 1), ("alice", 0), ("", 0)] {
        let kept = Arc::new(Kept::default());
        let steering = steering(rules, &kept);
        let mut client = Client::new(Format::Anthropic, true, "x").with_key(key);
        client.turn(&steering, &call("read", "{}"), "x");
        assert_eq!(kept.sessions().len(), expected, "{key}");
    }
}

#[test]
fn a_request_that_is_sent_again_is_no_turn() {
    let kept = Arc::new(Kept::default());
    let steering = steering(GOVERN, &kept);
    let mut client = Client::new(Format::OpenAiChat, true, "a");
    let reply = call("shell", r#"{"command":"cargo test"}"#);
    let mut said = 0;
    for _ in 0..8 {
        // The connection breaks, twice; the client sends the same bytes again.
        let mut bodies = Vec::new();
        for _ in 0..2 {
            let Sent::Forwarded { body, watch, .. } = client.ask(&steering) else { break };
            watch.unwrap().dropped();
            bodies.push(body);
        }
        let Sent::Forwarded { body, watch, .. } = client.ask(&steering) else { break };
        assert!(bodies.iter().all(|other| *other == body));
        let served = client.served(&reply);
        let (got, _) = deliver(watch, &served, 50);
        let answer = client.read(&got);
        client.take(&answer, "error: the same");
        said = kept.count("said");
    }
    assert!(said > 0 && kept.sessions().len() == 1, "{:?}", kept.kinds());
    let decisions = kept.decisions();
    let mut turns: Vec<u32> = decisions.iter().map(|it| it.turn).collect();
    turns.dedup();
    assert_eq!(turns.len(), decisions.len(), "one decision a turn: {turns:?}");
}

#[test]
fn a_shortened_conversation_keeps_its_evidence() {
    let kept = Arc::new(Kept::default());
    let steering = steering(GOVERN, &kept);
    let mut client =
        Client::new(Format::Anthropic, true, "a").header("x-claude-code-session-id", "s-1");
    let reply = call("shell", r#"{"command":"cargo test"}"#);
    for _ in 0..2 {
        client.turn(&steering, &reply, "error: the same");
    }
    // The client sums up; its last call and result stay.
    let tail = client.messages.split_off(client.messages.len() - 2);
    let summary = "This session is being continued from a previous conversation that ran out of \
                   context. The conversation is summarized below: tests fail.";
    client.messages = vec![Message::user(summary)];
    client.messages.extend(tail);
    for _ in 0..2 {
        client.turn(&steering, &reply, "error: the same");
    }
    let _ = client.ask(&steering);
    assert_eq!(kept.sessions().len(), 1);
    let decisions = kept.decisions();
    assert_eq!(decisions.last().unwrap().turn, 4);
    assert!(decisions.iter().any(|it| it.action != Action::Continue), "{decisions:?}");
}

#[test]
fn sub_agents_are_sessions_of_their_own() {
    let kept = Arc::new(Kept::default());
    let steering = steering(GOVERN, &kept);
    let client =
        || Client::new(Format::Anthropic, true, "x").header("x-claude-code-session-id", "s-1");
    let mut main = client();
    let mut sub = client().header("x-claude-code-agent-id", "a1b2");
    main.turn(&steering, &call("read", "{}"), "x");
    sub.turn(&steering, &call("read", "{}"), "x");
    main.turn(&steering, &call("edit", "{}"), "x");
    assert_eq!(kept.sessions().len(), 2);
}

#[test]
fn ids_that_clients_make_up_join_call_and_result() {
    for format in Format::ALL {
        let kept = Arc::new(Kept::default());
        let steering = steering(GOVERN, &kept);
        let mut client = Client::new(format, true, "a").header("x-session-id", "s-1");
        client.renames = true;
        let reply = call("shell", r#"{"command":"cargo test"}"#);
        for _ in 0..3 {
            client.turn(&steering, &reply, "error: the same");
        }
        let _ = client.ask(&steering);
        assert!(kept.count("said") > 0, "{format:?}: {:?}", kept.decisions().last());
    }
}
