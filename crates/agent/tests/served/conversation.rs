//! Runs of many turns in every wire format, streamed and not.

use serde_json::{Value, json};
use steersman_agent::Ending;
use steersman_scripted_server::{Received, Reply, ScriptedServer};
use steersman_upstream::{Deadlines, Format};

use super::place::{KEY, Place};

const FILES: &[(&str, &str)] = &[
    ("one.txt", "alpha\nbroken\n"),
    ("two.txt", "beta\nbroken\n"),
    ("three.txt", "gamma\nbroken\n"),
    ("sub/four.txt", "delta\nbroken\n"),
    ("check.sh", "! grep -rq --include=*.txt broken . && test -f five.txt\n"),
];

fn edit(path: &str) -> String {
    json!({"path": path, "old": "broken", "new": "mended"}).to_string()
}

/// An agent that mends four files and writes a fifth, in twelve turns.
fn script() -> Vec<Reply> {
    let check = r#"{"command": "sh check.sh"}"#;
    vec![
        Reply::call("list", "{}")
            .and_call("read", r#"{"path": "check.sh"}"#)
            .and_call("read", r#"{"path": "one.txt"}"#),
        Reply {
            reasoning: "The check looks for a word.".into(),
            ..Reply::call("search", r#"{"pattern": "broken"}"#)
        },
        Reply { text: "I begin with the first.".into(), ..Reply::call("edit", edit("one.txt")) },
        Reply::call("shell", check),
        Reply::call("read", r#"{"path": "two.txt"}"#)
            .and_call("read", r#"{"path": "three.txt"}"#)
            .and_call("read", r#"{"path": "sub/four.txt"}"#),
        Reply::call("edit", edit("two.txt")).and_call("edit", edit("three.txt")),
        Reply::call("shell", check),
        Reply::call("edit", edit("sub/four.txt")),
        Reply::call("search", r#"{"pattern": "mended"}"#).and_call("list", r#"{"path": "sub"}"#),
        Reply::call("write", r#"{"path": "five.txt", "content": "epsilon \"quoted\"\n"}"#),
        Reply::call("shell", check).and_call("read", r#"{"path": "five.txt"}"#),
        Reply::call("finish", r#"{"summary": "All five files are as they should be."}"#),
    ]
}

/// The field that holds the conversation.
const fn field(format: Format) -> &'static str {
    match format {
        Format::OpenAiChat | Format::Anthropic => "messages",
        Format::OpenAiResponses => "input",
        Format::Gemini => "contents",
    }
}

/// The conversation of a request without marks for the cache, which move with its end.
fn conversation(format: Format, request: &Received) -> Vec<Value> {
    let mut messages = request.body[field(format)].as_array().unwrap().clone();
    messages.iter_mut().for_each(unmark);
    messages
}

fn unmark(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.remove("cache_control");
            fields.values_mut().for_each(unmark);
        }
        Value::Array(list) => list.iter_mut().for_each(unmark),
        _ => {}
    }
}

/// Everything but the conversation.
fn rest(format: Format, request: &Received) -> Value {
    let mut body = request.body.clone();
    body.as_object_mut().unwrap().remove(field(format));
    body
}

/// How far the bodies of two requests are the same.
fn shared(one: &[u8], other: &[u8]) -> usize {
    one.iter().zip(other).take_while(|(one, other)| one == other).count()
}

#[tokio::test]
async fn conversations_only_grow_at_their_end() {
    for format in Format::ALL {
        for stream in [false, true] {
            let server = ScriptedServer::start(script()).await.unwrap();
            let mut place = Place::with(FILES);
            place.check = Some("sh check.sh".to_owned());
            place.stream = stream;
            let model = Place::served(format, &server.base_url(), Deadlines::default());
            let left = place.run(model, "Make check.sh pass.").await;
            let label = format!("{format}, streamed: {stream}");

            assert_eq!(left.ended.ending, Ending::Complete, "{label} {:?}", left.ended);
            assert_eq!(left.ended.answer, "All five files are as they should be.", "{label}");
            assert_eq!(left.session.outlook().turns, 12, "{label}");
            assert_eq!(server.left(), 0, "{label}");
            assert_eq!(place.read("five.txt"), "epsilon \"quoted\"\n", "{label}");
            assert!(!left.journal.contains(KEY), "{label}");
            let failed = left.results().iter().filter(|(failed, _)| *failed).count();
            assert_eq!(failed, 2, "only the two early checks fail: {label} {:?}", left.results());

            for pair in server.requests().windows(2) {
                let [before, after] = pair else { unreachable!() };
                let (short, long) = (conversation(format, before), conversation(format, after));
                assert!(long.len() > short.len(), "{label}");
                assert_eq!(long[..short.len()], short, "{label}");
                assert_eq!(rest(format, before), rest(format, after), "{label}");
                assert_eq!(after.body["stream"] == true || after.path.contains("alt=sse"), stream);
                if format != Format::Anthropic {
                    let words = serde_json::to_vec(&short).unwrap();
                    let at = shared(&before.raw, &after.raw);
                    assert!(at >= words.len(), "{label}: {at} of {} bytes", words.len());
                }
            }
        }
    }
}

/// Whether a request forbids calls.
fn forbids(format: Format, body: &Value) -> bool {
    match format {
        Format::OpenAiChat | Format::OpenAiResponses => body["tool_choice"] == "none",
        Format::Anthropic => body["tool_choice"]["type"] == "none",
        Format::Gemini => body["toolConfig"]["functionCallingConfig"]["mode"] == "NONE",
    }
}

#[tokio::test]
async fn a_forced_answer_keeps_the_tools_and_forbids_calls() {
    for format in Format::ALL {
        let server = ScriptedServer::start(vec![
            Reply::call("read", r#"{"path": "one.txt"}"#),
            Reply::call("read", r#"{"path": "two.txt"}"#),
            Reply::text("This is as far as I came."),
        ])
        .await
        .unwrap();
        let mut place = Place::with(FILES);
        place.policy.limits.max_turns = Some(2);
        let model = Place::served(format, &server.base_url(), Deadlines::default());
        let left = place.run(model, "Mend the files.").await;
        assert_eq!(left.ended.ending, Ending::Capped, "{format} {:?}", left.ended);
        let requests = server.requests();
        let forbidden: Vec<bool> =
            requests.iter().map(|request| forbids(format, &request.body)).collect();
        assert_eq!(forbidden, [false, false, true], "{format}");
        assert_eq!(requests[0].body["tools"], requests[2].body["tools"], "{format}");
        let (short, long) =
            (conversation(format, &requests[1]), conversation(format, &requests[2]));
        assert_eq!(long[..short.len()], short, "{format}");
    }
}
