//! What the API answers, each answer held against the document.

use bytes::Bytes;
use http::{HeaderMap, Request};
use http_body_util::Full;
use proptest::prelude::*;
use serde_json::{Value, json};
use steersman_engine::classify::Outcome;
use steersman_engine::tool::ToolKind;
use steersman_engine::{Action, TestReport};
use steersman_gateway::api::{document, document_text};
use steersman_gateway::control::Control;
use steersman_gateway::govern::Course;
use steersman_gateway::record::{Back, Called, Entry, Recorder, Replied, Returned};
use steersman_timeline::Mark;

use crate::stage::{AT_MS, Stage, asked, decided, opened, replied, snapshot, tell};

struct Got {
    status: u16,
    headers: HeaderMap,
    body: Bytes,
}

async fn ask(stage: &Stage, method: &str, uri: &str, headers: &[(&str, &str)], body: &str) -> Got {
    let mut request = Request::builder().method(method).uri(uri).header("host", "localhost:8700");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let (head, body) = request.body(Full::from(body.to_owned())).unwrap().into_parts();
    let (head, body) = stage.api.reply(&head, body, None).await.into_parts();
    Got { status: head.status.as_u16(), headers: head.headers, body }
}

/// The answer in JSON, as the document says it is.
fn checked(method: &str, path: &str, got: &Got) -> Value {
    let document = document();
    let operation = &document["paths"][path][method.to_ascii_lowercase()];
    let responses = operation["responses"].as_object().unwrap_or_else(|| panic!("no {path}"));
    let key = if got.status == 200 { "200" } else { "default" };
    let mut schema = responses[key]["content"]["application/json"]["schema"].clone();
    schema["components"] = document["components"].clone();
    let value: Value = serde_json::from_slice(&got.body).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> =
        validator.iter_errors(&value).map(|error| error.to_string()).collect();
    assert_eq!(errors, Vec::<String>::new(), "{method} {path}: {value}");
    value
}

async fn get(stage: &Stage, template: &str, uri: &str, status: u16) -> Value {
    let got = ask(stage, "GET", uri, &[], "").await;
    assert_eq!(got.status, status, "{uri}: {:?}", got.body);
    assert_eq!(got.headers["cache-control"], "no-store");
    checked("GET", template, &got)
}

const ONE: &str = "/api/sessions/{id}";
const LIST: &str = "/api/sessions";
const ENTRIES: &str = "/api/sessions/{id}/entries";
const TIMELINE: &str = "/api/sessions/{id}/timeline";
const MARKS: &str = "/api/sessions/{id}/marks";
const CONTROL: &str = "/api/sessions/{id}/control";
const ANALYTICS: &str = "/api/analytics";

#[tokio::test]
async fn sessions_are_listed_filtered_and_paged() {
    let stage = Stage::new(None);
    for at in 1..=5_u64 {
        tell(&*stage.journal, &format!("gw-{at}"), AT_MS + at);
    }
    stage.journal.close().await;
    let list = get(&stage, LIST, "/api/sessions?limit=2", 200).await;
    let names = |list: &Value| -> Vec<String> {
        let sessions = list["sessions"].as_array().unwrap();
        sessions.iter().map(|one| one["session"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&list), ["gw-5", "gw-4"]);
    let next = list["next"].as_str().unwrap();
    let list = get(&stage, LIST, &format!("/api/sessions?limit=3&cursor={next}"), 200).await;
    assert_eq!(
        (names(&list).join(" "), &list["next"]),
        ("gw-3 gw-2 gw-1".to_owned(), &json!(null))
    );
    let line = json!({
        "session": "gw-1", "kind": "gateway", "state": "open", "task": "Fix the test.",
        "key": "alice", "agent": "codex", "model": "some-model-1", "created_ms": AT_MS + 1,
        "updated_ms": AT_MS + 1, "turns": 2, "calls": 2, "tokens": 220,
        "cost_nanodollars": 14, "entries": 8,
        "score": 0.92, "scores": [0.92, 0.92], "attention": null, "driven": null,
        "last": {
            "action": "nudge", "reason": "finished", "turn": 0, "shadow": false,
            "is_over": true,
        },
    });
    assert_eq!(list["sessions"][2], line);
    for (query, expected) in [("text=GW-3", 1), ("text=nothing", 0), ("state=open", 5)] {
        let list = get(&stage, LIST, &format!("/api/sessions?{query}"), 200).await;
        assert_eq!(names(&list).len(), expected, "{query}");
    }
    for query in ["limit=0", "limit=501", "cursor=x", "no=1", "text=a&text=b"] {
        let problem = get(&stage, LIST, &format!("/api/sessions?{query}"), 400).await;
        assert_eq!(problem["error"]["code"], "bad_request", "{query}");
    }
}

#[tokio::test]
async fn a_session_is_shown_with_its_timeline() {
    let stage = Stage::new(None);
    tell(&*stage.journal, "gw-1", AT_MS);
    stage.journal.keep("gw-1", 1, Box::new(|| snapshot(9)));
    stage.journal.close().await;
    let shown = get(&stage, ONE, "/api/sessions/gw-1", 200).await;
    assert_eq!(shown["opened"]["task"], "Fix the test.\nAll of it.");
    assert_eq!(shown["standing"]["items"], 5);
    assert_eq!(shown["standing"]["last"]["action"], "nudge");
    assert_eq!(shown["turns"], 2);

    let page = get(&stage, ENTRIES, "/api/sessions/gw-1/entries?after=3&limit=2", 200).await;
    let kinds: Vec<&Value> =
        page["entries"].as_array().unwrap().iter().map(|entry| &entry["kind"]).collect();
    assert_eq!(kinds, ["steered", "replied"]);
    assert_eq!((&page["next"], &page["entries"][0]["seq"]), (&json!(5), &json!(4)));
    assert_eq!(page["entries"][0]["entry"], json!({"entry": "steered", "course": "say"}));
    let page = get(&stage, ENTRIES, "/api/sessions/gw-1/entries?after=7", 200).await;
    assert_eq!(page["next"], json!(null));

    for (template, uri) in [(ONE, "/api/sessions/gw-9"), (ENTRIES, "/api/sessions/gw-9/entries")] {
        let problem = get(&stage, template, uri, 404).await;
        assert_eq!(problem["error"]["code"], "unknown_session");
    }
    get(&stage, ONE, "/api/sessions/NOT%20ONE", 400).await;
}

#[tokio::test]
async fn a_session_is_told_turn_by_turn_with_its_marks() {
    let stage = Stage::new(None);
    let told = |entry: &Entry| stage.journal.record("gw-1", AT_MS, entry);
    told(&opened("Fix the test."));
    told(&asked(1));
    let Entry::Replied(replied) = replied(&["read", "shell"]) else { panic!("no reply") };
    let tool = |label: &str, kind, file: Option<&str>| Called {
        label: label.to_owned(),
        arguments: "{}".to_owned(),
        kind,
        changes: false,
        file: file.map(str::to_owned),
    };
    let tools = vec![
        tool("read: a.rs", ToolKind::Read, Some("a.rs")),
        tool("shell: x", ToolKind::Test, None),
    ];
    told(&Entry::Replied(Box::new(Replied { tools, turn: 1, ..*replied })));
    told(&asked(4));
    let tests = TestReport { failed: 1, passed: 2, failing: vec![7], ..TestReport::default() };
    let failed = Outcome::Error { signature: 255, transient: false };
    let results = vec![
        Back { outcome: Some(failed), times: 3, ..Back::default() },
        Back {
            outcome: Some(Outcome::Ok),
            times: 1,
            tests: Some(tests),
            names: vec![(7, "wraps".to_owned())],
            ..Back::default()
        },
    ];
    told(&Entry::Returned(Box::new(Returned { results })));
    told(&decided(Action::Nudge));
    told(&Entry::Steered { course: Course::Force });
    let (who, note) = ("anna".to_owned(), Some("Right.".to_owned()));
    told(&Entry::Marked { who, seq: 6, mark: Mark::Helpful, note });
    stage.journal.close().await;
    let told = get(&stage, TIMELINE, "/api/sessions/gw-1/timeline", 200).await;
    let turn = &told["turns"][0];
    let call = json!({
        "name": "read", "label": "read: a.rs", "arguments": "{}", "kind": "read",
        "changes": false, "outcome": "error", "error": "00000000000000ff", "exit_code": null,
        "excerpt": "", "times": 3, "novel": false, "took_ms": null,
    });
    assert_eq!(turn["calls"][0], call);
    let failing = json!([{"id": "0000000000000007", "name": "wraps"}]);
    assert_eq!(turn["tests"]["failing"], failing);
    let nudge = &turn["decisions"][0];
    assert_eq!((&nudge["seq"], &nudge["mark"]), (&json!(6), &json!("helpful")));
    assert_eq!(nudge["mark_note"], "Right.");
    let kinds: Vec<&Value> =
        turn["notes"].as_array().unwrap().iter().map(|note| &note["kind"]).collect();
    assert_eq!(kinds, ["steered", "marked"]);
    let file = json!({"name": "a.rs", "reads": 1, "changes": 0, "first_turn": 1, "last_turn": 1});
    assert_eq!(told["whole"]["files"], json!([file]));
    let seen = json!([{"id": "0000000000000007", "name": "wraps", "failed_in": [1]}]);
    assert_eq!(told["whole"]["tests"], seen);
    assert_eq!((&told["seq"], &told["turn_count"]), (&json!(8), &json!(1)));

    get(&stage, TIMELINE, "/api/sessions/gw-9/timeline", 404).await;
    get(&stage, TIMELINE, "/api/sessions/gw-1/timeline?limit=0", 400).await;
    let past = get(&stage, TIMELINE, "/api/sessions/gw-1/timeline?after_turn=1", 200).await;
    assert_eq!((&past["turns"], &past["next"]), (&json!([]), &json!(null)));
}

#[tokio::test]
async fn a_mark_names_an_intervention() {
    let stage = Stage::new(None);
    tell(&*stage.journal, "gw-1", AT_MS);
    stage.journal.close().await;
    let send = async |session: &str, body: &str| -> (u16, Value) {
        let uri = format!("/api/sessions/{session}/marks");
        let json_type = ("content-type", "application/json");
        let got = ask(&stage, "POST", &uri, &[json_type], body).await;
        (got.status, checked("POST", MARKS, &got))
    };
    let long = format!(r#"{{"seq":3,"mark":"helpful","note":"{}"}}"#, "x".repeat(2000));
    let (status, marked) = send("gw-1", r#"{"seq":3,"mark":"harmful"}"#).await;
    let expected = json!({
        "session": "gw-1", "who": "a person", "seq": 3, "mark": "harmful", "note": null,
    });
    assert_eq!((status, marked), (200, expected));
    assert_eq!(stage.holder.marks(), [(3, Mark::Harmful)]);
    for (session, body, expected) in [
        ("gw-1", r#"{"seq":1,"mark":"harmful"}"#, (404, "unknown_entry")),
        ("gw-1", r#"{"seq":0,"mark":"harmful"}"#, (404, "unknown_entry")),
        ("gw-1", r#"{"seq":99,"mark":"harmful"}"#, (404, "unknown_entry")),
        ("gw-1", r#"{"seq":3,"mark":"odd"}"#, (400, "bad_request")),
        ("gw-1", &long, (400, "bad_request")),
        ("gw-9", r#"{"seq":3,"mark":"harmful"}"#, (404, "unknown_session")),
    ] {
        let (status, problem) = send(session, body).await;
        assert_eq!((status, problem["error"]["code"].as_str().unwrap()), expected, "{body:.60}");
    }
}

#[tokio::test]
async fn the_helm_is_taken_by_whoever_may() {
    let stage = Stage::new(None);
    tell(&*stage.journal, "gw-1", AT_MS);
    stage.journal.close().await;
    let json_type = ("content-type", "application/json");
    let send = async |session: &str, headers: &[(&str, &str)], body: &str| -> (u16, Value) {
        let uri = format!("/api/sessions/{session}/control");
        let got = ask(&stage, "POST", &uri, headers, body).await;
        (got.status, checked("POST", CONTROL, &got))
    };
    let note = r#"{"control":"note","text":"Look at the log."}"#;
    // Headers of browsers are ASCII.
    let who = ("x-steersman-who", " anna %E8%88%B9+1 ");
    let (status, taken) = send("gw-1", &[json_type, who], note).await;
    assert_eq!(status, 200);
    let expected = json!({
        "session": "gw-1", "who": "anna 船+1",
        "control": {"control": "note", "text": "Look at the log."},
    });
    assert_eq!(taken, expected);
    let (status, _) = send("gw-1", &[json_type], r#"{"control":"stop"}"#).await;
    assert_eq!(status, 200);
    let told = [
        ("anna 船+1".to_owned(), Control::Note { text: "Look at the log.".to_owned() }),
        ("a person".to_owned(), Control::Stop),
    ];
    assert_eq!(stage.holder.told(), told);

    let long = format!(r#"{{"control":"note","text":"{}"}}"#, "x".repeat(20_000));
    let lenient = r#"{"control":"aggressiveness","preset":"odd"}"#;
    for (session, kind, body, expected) in [
        ("gw-2", "application/json", note, (404, "unknown_session")),
        ("gw-1", "application/json", "{}", (400, "bad_request")),
        ("gw-1", "application/json", r#"{"control":"explode"}"#, (400, "bad_request")),
        ("gw-1", "application/json", lenient, (400, "bad_request")),
        ("gw-1", "application/json", &long, (413, "body_too_large")),
        ("gw-1", "text/plain", note, (415, "not_json")),
    ] {
        let (status, problem) = send(session, &[("content-type", kind)], body).await;
        assert_eq!((status, problem["error"]["code"].as_str().unwrap()), expected, "{body:.80}");
    }
    assert_eq!(stage.holder.told().len(), 2);
}

#[tokio::test]
async fn analytics_sum_journals_up() {
    let stage = Stage::new(None);
    let hour = AT_MS - AT_MS % 3_600_000;
    tell(&*stage.journal, "gw-1", hour);
    let second = [
        opened("x"),
        asked(1),
        decided(Action::Nudge),
        replied(&["read"]),
        decided(Action::ReEvaluate),
        Entry::BrokeOff { how: "cut".to_owned() },
    ];
    for entry in &second {
        stage.journal.record("gw-2", hour + 3_600_000, entry);
    }
    stage.journal.record("run-1", hour, &opened("not of the gateway"));
    stage.journal.close().await;
    let until = hour + 7_200_000;
    let uri = format!("/api/analytics?until_ms={until}&since_ms={hour}");
    let sum = get(&stage, ANALYTICS, &uri, 200).await;
    assert_eq!((&sum["sessions"], &sum["entries"]), (&json!(2), &json!(14)));
    assert_eq!(sum["complete"], json!(true));
    assert_eq!(sum["endings"], json!({"answered": 1, "broke_off": 1}));
    let buckets = sum["buckets"].as_array().unwrap();
    assert_eq!(buckets.len(), 2);
    let first = json!({
        "from_ms": hour, "requests": 2, "replies": 2, "rescues": 0, "failed_calls": 0,
        "decisions": {"nudge": 1, "continue": 1},
        "input_tokens": 200, "output_tokens": 20, "cost_nanodollars": 14,
        "unpriced_replies": 0,
    });
    assert_eq!(buckets[0], first);
    let followed = json!([
        {"action": "nudge", "shadow": false, "went_on": 1, "again": 1, "answered": 0,
            "broke_off": 0, "nothing": 0},
        {"action": "re_evaluate", "shadow": false, "went_on": 0, "again": 0, "answered": 0,
            "broke_off": 1, "nothing": 0},
    ]);
    assert_eq!(sum["followed"], followed);
    let counts: Vec<(&str, u64)> = sum["decisions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["action"].as_str().unwrap(), one["count"].as_u64().unwrap()))
        .collect();
    assert_eq!(counts, [("continue", 1), ("nudge", 2), ("re_evaluate", 1)]);

    let later = format!("/api/analytics?since_ms={}&until_ms={until}", hour + 1);
    let sum = get(&stage, ANALYTICS, &later, 200).await;
    assert_eq!(sum["sessions"], json!(1));
    for query in ["since_ms=5&until_ms=4", "since_ms=0", "bucket=week"] {
        get(&stage, ANALYTICS, &format!("/api/analytics?{query}"), 400).await;
    }
}

#[tokio::test]
async fn figures_and_refusals_are_plain() {
    let stage = Stage::new(Some("tell-nobody"));
    let bearer = ("authorization", "Bearer tell-nobody");
    let figures = ask(&stage, "GET", "/metrics", &[bearer], "").await;
    let text = String::from_utf8(figures.body.to_vec()).unwrap();
    assert!(text.contains("\nsteersman_open_sessions 1\n"), "{text}");
    assert!(figures.headers["content-type"].to_str().unwrap().starts_with("text/plain"));
    for (method, uri, headers, expected) in [
        ("GET", "/metrics", [("a", "b")], (401, "unauthorized")),
        ("GET", "/api/sessions", [("authorization", "Bearer wrong")], (401, "unauthorized")),
        ("GET", "/api/sessions", [("origin", "https://evil.example")], (403, "forbidden")),
        ("GET", "/api/nothing", [bearer], (404, "unknown_path")),
        ("DELETE", "/api/sessions", [bearer], (405, "unknown_method")),
        ("GET", "/api/events", [bearer], (426, "no_websocket")),
        ("GET", "/api/events?after=1", [bearer], (400, "bad_request")),
        ("GET", "/api/events?session=gw-1", [bearer], (404, "unknown_session")),
    ] {
        let got = ask(&stage, method, uri, &headers, "").await;
        // Every refusal has the shape that the document gives for all of them.
        let problem = checked("GET", LIST, &got);
        let code = problem["error"]["code"].as_str().unwrap();
        assert_eq!((got.status, code), expected, "{uri}");
        assert!(!String::from_utf8_lossy(&got.body).contains("tell-nobody"));
    }
    let got = ask(&stage, "PUT", "/api/sessions/gw-1/control", &[bearer], "").await;
    assert_eq!(got.headers["allow"], "POST");
}

#[tokio::test]
async fn the_document_is_fresh_and_answered() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../schema/openapi.json");
    let committed = std::fs::read_to_string(path).unwrap_or_default();
    let now = document_text();
    if committed != now {
        std::fs::write(std::env::temp_dir().join("openapi.json"), &now).unwrap();
    }
    assert!(
        committed == now,
        "schema/openapi.json is stale: cargo run -p steersman-gateway --example openapi > \
         schema/openapi.json"
    );
    let stage = Stage::new(None);
    let got = ask(&stage, "GET", "/api/openapi.json", &[], "").await;
    assert_eq!(got.body, now.as_bytes());
    assert_eq!(document()["openapi"], "3.1.0");
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(256)
    })]

    #[test]
    fn whatever_is_asked_is_answered(
        path in "/(api|metrics)(/sessions|/analytics|/events)?(/[a-z0-9%.-]{0,12}){0,3}",
        query in "((after|limit|text|since_ms|until_ms|cursor|session)=[0-9a-z.%+-]{0,22}&?){0,3}",
        body in r#"(\{"control":"[a-z_]{0,8}"(,"text":"x")?\}|.{0,40})"#,
        method in prop::sample::select(vec!["GET", "POST", "PUT"]),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let stage = Stage::new(None);
            let uri = format!("{path}?{query}");
            let got = ask(&stage, method, &uri, &[("content-type", "application/json")], &body).await;
            prop_assert!([200, 400, 404, 405, 426].contains(&got.status), "{} {}", uri, got.status);
            Ok(())
        })?;
    }
}
