//! A healthy agent is left alone; one that loops is told so, then made to answer, then answered.

use std::sync::Arc;

use steersman_engine::Action;
use steersman_wire::{Format, Message, Received};

use super::sim::{Client, Kept, Sent, call, deliver, steering};

const GOVERN: &str = "mode: govern\nunknown_clients: govern\n";

fn everywhere(check: impl Fn(Format, bool)) {
    for format in Format::ALL {
        for stream in [true, false] {
            check(format, stream);
        }
    }
}

#[test]
fn a_healthy_run_is_byte_for_byte_as_without_us() {
    everywhere(|format, stream| {
        let kept = Arc::new(Kept::default());
        let steering = steering(GOVERN, &kept);
        let mut client = Client::new(format, stream, "a");
        for turn in 0..12 {
            let reply = call("read", &format!(r#"{{"path":"src/file{turn}.rs"}}"#));
            let expected = client.body();
            let body = client.turn(&steering, &reply, &format!("fn number_{turn}() {{}}\n"));
            assert_eq!(body, expected, "{format:?} {stream} turn {turn}");
        }
        client.turn(&steering, &Message::assistant("Done. All tests pass now."), "");
        assert_eq!(kept.sessions().len(), 1);
        let decisions = kept.decisions();
        assert_eq!(decisions.len(), 13, "{decisions:?}");
        assert!(decisions.iter().all(|it| it.action == Action::Continue), "{decisions:?}");
        assert_eq!(decisions.last().unwrap().turn, 13);
    });
}

/// Whether the conversation of one request begins with that of another, apart from cache marks.
fn begins_with(format: Format, later: &[u8], earlier: &[u8]) -> bool {
    let (later, earlier) = (format.receive(later).unwrap(), format.receive(earlier).unwrap());
    // What is put in last may stand in the client's own last item, which is then not the same.
    let hashes = |it: &Received<'_>| (0..it.item_count()).map(|at| it.item_hash(at)).collect();
    let (later, earlier): (Vec<u64>, Vec<u64>) = (hashes(&later), hashes(&earlier));
    later.starts_with(&earlier)
}

#[test]
fn a_loop_is_told_then_forced_then_ended() {
    everywhere(|format, stream| {
        let kept = Arc::new(Kept::default());
        let steering = steering(GOVERN, &kept);
        let mut client = Client::new(format, stream, "a");
        let reply = call("shell", r#"{"command":"cargo test"}"#);
        let mut before: Option<Vec<u8>> = None;
        let mut forced = false;
        let mut ended = None;
        for turn in 0..40 {
            let own = client.body();
            match client.ask(&steering) {
                Sent::Held => panic!("held"),
                Sent::Answered { answer, headers } => {
                    ended = Some((turn, answer.message, headers));
                    break;
                }
                Sent::Forwarded { body, watch, headers } => {
                    if let Some(before) = &before {
                        assert!(begins_with(format, &body, before), "{format:?} turn {turn}");
                    }
                    forced |= headers
                        .get("x-steersman-decision")
                        .is_some_and(|it| it == "force_synthesis");
                    let none = no_tools(format, &body);
                    assert_eq!(none, forced, "{format:?} turn {turn}: {headers:?}");
                    assert!(body.len() >= own.len());
                    before = Some(body.to_vec());
                    let served = client.served(&reply);
                    let (got, again) = deliver(watch, &served, 64);
                    assert!(again.is_none());
                    let answer = client.read(&got);
                    client.take(&answer, "error: test failed, left == right");
                }
            }
        }
        let (turn, message, headers) = ended.unwrap_or_else(|| {
            panic!("{format:?} {stream}: never ended: {:?}", kept.decisions().last())
        });
        assert!(turn < 30, "{turn}");
        assert!(message.text().starts_with("[capped] Steersman ended this run"), "{message:?}");
        assert!(message.tool_calls().next().is_none());
        assert_eq!(headers["x-steersman-capped"], "true");
        let actions: Vec<Action> = kept.decisions().iter().map(|it| it.action).collect();
        let first = |wanted: fn(&Action) -> bool| actions.iter().position(wanted);
        let told = first(|it| (Action::Nudge..=Action::ReEvaluate).contains(it));
        let forced = first(|it| it.ends_run());
        assert!(told.is_some() && told < forced, "{actions:?}");
        assert!(kept.count("said") >= 2);
    });
}

fn no_tools(format: Format, body: &[u8]) -> bool {
    let body: serde_json::Value = serde_json::from_slice(body).unwrap();
    match format {
        Format::OpenAiChat | Format::OpenAiResponses => body["tool_choice"] == "none",
        Format::Anthropic => body["tool_choice"]["type"] == "none",
        Format::Gemini => body["toolConfig"]["functionCallingConfig"]["mode"] == "NONE",
    }
}

#[test]
fn a_client_nobody_knows_is_watched_and_told() {
    let kept = Arc::new(Kept::default());
    let steering = steering("mode: govern\n", &kept);
    let mut client = Client::new(Format::OpenAiChat, true, "a");
    let reply = call("shell", r#"{"command":"cargo test"}"#);
    let mut announced = Vec::new();
    for _ in 0..30 {
        let expected = client.body();
        let Sent::Forwarded { body, headers, watch } = client.ask(&steering) else {
            panic!("answered")
        };
        assert_eq!((body, headers["x-steersman-mode"].as_str()), (expected, "shadow"));
        announced.extend(headers.get("x-steersman-decision").cloned());
        let served = client.served(&reply);
        let (got, again) = deliver(watch, &served, 40);
        assert!(again.is_none() && got == served);
        let answer = client.read(&got);
        client.take(&answer, "the same");
    }
    assert!(announced.iter().any(|it| it == "nudge"), "{announced:?}");
    assert!(announced.iter().any(|it| it == "stop" || it == "force_synthesis"), "{announced:?}");
    assert_eq!(kept.count("said"), 0);
}

#[test]
fn what_is_no_turn_passes_unseen() {
    let kept = Arc::new(Kept::default());
    let steering = steering(GOVERN, &kept);
    let mut chat = Client::new(Format::OpenAiChat, true, "a");
    chat.tools.clear();
    for _ in 0..10 {
        chat.turn(&steering, &Message::assistant("I will do it."), "");
    }
    assert!(kept.kinds().is_empty(), "{:?}", kept.kinds());
    let Sent::Forwarded { watch, headers, .. } = chat.ask(&steering) else { panic!("answered") };
    assert!(watch.is_none() && headers.is_empty());
}

#[test]
fn off_is_off() {
    let kept = Arc::new(Kept::default());
    let steering = steering("mode: off\n", &kept);
    let mut client = Client::new(Format::Anthropic, true, "a");
    let Sent::Forwarded { watch, headers, .. } = client.ask(&steering) else { panic!("answered") };
    assert!(watch.is_none() && headers.is_empty() && kept.kinds().is_empty());
}
