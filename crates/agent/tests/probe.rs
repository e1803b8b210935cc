//! A probe of servers that behave, and of servers that do not, in every wire format.

#![allow(clippy::unwrap_used, reason = "a test that cannot set up its case must fail")]

use std::time::Duration;

use steersman_agent::probe::Step::{
    self, Call, ForcedCall, Length, Limits, Listing, NoCall, ObjectCall, ParallelCalls, Returned,
    Schema, Stream, StreamedCall, StreamedParallel, WrongModel,
};
use steersman_agent::probe::{Line, MAX_REQUESTS, Probe, Report, Standing, Where, conduct};
use steersman_prompt::{ProfileSettings, Registry, ToolCalls};
use steersman_scripted_server::{Reply, ScriptedServer};
use steersman_upstream::{Client, Deadlines, Endpoint, Options};
use steersman_wire::Format;

const OSLO: &str = r#"{"city": "Oslo", "unit": "celsius"}"#;
const LIMA: &str = r#"{"city": "Lima"}"#;
const NUMBERS: &str = "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25";
const OBJECT: &str = r#"{"thought": "I ask.", "tool": "get_weather", "with": {"city": "Oslo"}}"#;

/// A call as small models write it into their text.
const FENCED: &str =
    "```json\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Oslo\"}}\n```";

fn call() -> Reply {
    Reply::call("get_weather", OSLO)
}

fn json(body: &str) -> Reply {
    Reply::raw("application/json", body)
}

/// What a server answers to a step if all is well.
fn good(step: Step, format: Format) -> Reply {
    let length = match format {
        Format::OpenAiChat => "length",
        Format::OpenAiResponses => "max_output_tokens",
        Format::Anthropic => "max_tokens",
        Format::Gemini => "MAX_TOKENS",
    };
    match step {
        Step::Format(_) => Reply::text("Pelican."),
        Listing => json(r#"{"data": [{"id": "m", "max_model_len": 4096}, {"id": "n"}]}"#),
        WrongModel => Reply { text: "no such model".into(), ..Reply::status(404) },
        Length => Reply { usage: (9, 16), ..Reply::text("1 2 3 4 5").stop(length) },
        Stream => Reply::text(NUMBERS),
        Call | StreamedCall | ForcedCall => call(),
        Returned => Reply::text("It is -3 °C and it snows."),
        ParallelCalls | StreamedParallel => call().and_call("get_weather", LIMA),
        NoCall => Reply::text("I cannot look."),
        Schema => Reply::text(r#"{"animal": "spider", "legs": 8}"#),
        ObjectCall => Reply::text(OBJECT),
        Limits => Reply::text("Hello!"),
    }
}

/// What is asked of a server that behaves, in order.
const ASKED: [Step; 14] = [
    Listing,
    WrongModel,
    Length,
    Stream,
    Call,
    Returned,
    StreamedCall,
    ParallelCalls,
    StreamedParallel,
    NoCall,
    ForcedCall,
    Schema,
    ObjectCall,
    Limits,
];

/// The replies of a server that behaves but for some steps: theirs are given, one per try; none
/// means that the step is not asked for.
fn script(format: Format, changes: &[(Step, Vec<Reply>)]) -> Vec<Reply> {
    let steps = std::iter::once(Step::Format(format)).chain(ASKED);
    let replies = |step: Step| match changes.iter().find(|(changed, _)| *changed == step) {
        Some((_, replies)) => replies.clone(),
        None => vec![good(step, format)],
    };
    steps.flat_map(replies).collect()
}

/// A client; it reads the certificates of the machine, which takes a while.
fn client() -> Client {
    Client::new(&Options::default()).unwrap()
}

async fn probe(
    client: &Client,
    formats: &[Format],
    server: &ScriptedServer,
    limit: Duration,
) -> Report {
    let deadlines = Deadlines { first_byte: limit, between_bytes: limit, total: limit };
    let endpoint = |format: &Format| Endpoint::new(*format, &server.base_url()).unwrap();
    let line = Line {
        client: client.clone(),
        endpoints: formats.iter().map(endpoint).collect(),
        deadlines,
    };
    let mut probe = Probe::new("m", formats, 512);
    conduct(&line, &mut probe, |_, _| {}).await;
    assert_eq!(server.left(), 0, "replies are left of the script: {:#?}", Report::of(&probe).rows);
    assert_eq!(probe.asked(), server.requests().len());
    assert!(probe.asked() <= MAX_REQUESTS);
    let report = Report::of(&probe);
    for row in &report.rows {
        let evidence = row.evidence();
        assert!(!row.came.is_empty() && !evidence.contains('\n'), "{row:?}");
        assert!(row.came.chars().count() <= 201, "{row:?}");
    }
    if let Some(advice) = &report.advice {
        let base_url = server.base_url();
        let base_url = Some(base_url.as_str());
        let place = Where { format: report.format.unwrap(), base_url, api_key_env: None };
        let text = advice.registry(&report.model, place);
        assert_eq!(read_back(&text, "m"), advice.profile, "{text}");
    }
    report
}

/// The profile that the loader reads from an `agents.yaml`, as far as the file says it.
fn read_back(text: &str, model: &str) -> ProfileSettings {
    let registry = Registry::parse_bytes("agents.yaml", text.as_bytes()).unwrap();
    let agent = registry.agent("coder").unwrap();
    assert_eq!(agent.model.as_ref().unwrap().name, model);
    let profile = registry.profile(agent, model);
    assert!(!profile.globs.is_empty(), "no glob matches {model:?}: {text}");
    let said = |key: &str| text.contains(&format!("    {key}: "));
    ProfileSettings {
        tool_calls: said("tool_calls").then_some(profile.tool_calls),
        structured_output: said("structured_output").then_some(profile.structured_output),
        reasoning: said("reasoning").then_some(profile.reasoning),
        context_window: profile.context_window,
        max_output_tokens: profile.max_output_tokens,
        ..ProfileSettings::default()
    }
}

/// What the rows say in which the report is not that of a server that behaves.
fn differing(report: &Report) -> Vec<String> {
    let usual = |id: &str| match id {
        "reasoning" => "no",
        "max_output" => "not told",
        _ => "yes",
    };
    let odd = report.rows.iter().filter(|row| row.found.to_string() != usual(row.id));
    odd.map(|row| format!("{}: {}", row.id, row.found)).collect()
}

/// What follows: how tools are called and whether streams will do, or why it cannot be used.
fn advised(report: &Report) -> String {
    match &report.advice {
        None => format!("unusable: {}", report.why),
        Some(advice) => {
            let calls = &advice.settings[0];
            let stream = if advice.no_stream.is_some() { ", no stream" } else { "" };
            format!("{} because {}{stream}", calls.value, calls.why)
        }
    }
}

const MULTI: &str = "multi because two calls came in one reply";

async fn check(
    client: &Client,
    format: Format,
    changes: &[(Step, Vec<Reply>)],
    rows: &[&str],
    advice: &str,
) -> Report {
    let server = ScriptedServer::start(script(format, changes)).await.unwrap();
    let report = probe(client, &[format], &server, Duration::from_secs(60)).await;
    assert_eq!(differing(&report), rows, "{format} {changes:?}: {:#?}", report.rows);
    assert_eq!(advised(&report), advice, "{format} {changes:?}");
    let usable = if advice.starts_with("unusable") { Standing::Unusable } else { Standing::Usable };
    assert_eq!(report.standing, usable);
    report
}

#[tokio::test]
async fn a_server_that_behaves_can_do_everything() {
    let client = client();
    for format in Format::ALL {
        let report = check(&client, format, &[], &[], MULTI).await;
        let profile = report.advice.unwrap().profile;
        assert_eq!(profile.tool_calls, Some(ToolCalls::Multi));
        assert_eq!(profile.structured_output, Some(true));
        assert_eq!((profile.context_window, profile.max_output_tokens), (Some(4096), None));
        assert_eq!((report.cost.requests, report.cost.untold), (15, 0));
        assert_eq!((report.cost.input_tokens, report.cost.output_tokens), (1209, 256));
        assert_eq!(report.halted, None);
    }
}

#[tokio::test]
async fn every_misbehaviour_is_a_row_and_has_its_consequence() {
    let [a, b, c, d] = Format::ALL.map(misbehave);
    tokio::join!(a, b, c, d);
}

async fn misbehave(format: Format) {
    let client = client();
    let cases = [no_calls(), odd_calls(), odd_replies(format)].concat();
    for (changes, rows, advice) in cases {
        check(&client, format, &changes, rows, advice).await;
    }
}

/// Changes of the script, the rows that differ, and what is advised.
type Case = (Vec<(Step, Vec<Reply>)>, &'static [&'static str], &'static str);

fn text(text: &str) -> Reply {
    Reply::text(text)
}

fn no_call() -> Reply {
    text("It is cold in Oslo, I guess.")
}

fn refused(status: u16) -> Reply {
    Reply { text: "no".into(), ..Reply::status(status) }
}

/// Calls that do not come, or not at once.
fn no_calls() -> Vec<Case> {
    vec![
        (
            vec![
                (Call, vec![no_call(), no_call()]),
                (Returned, vec![]),
                (StreamedCall, vec![no_call(), no_call()]),
                (ParallelCalls, vec![]),
                (StreamedParallel, vec![]),
            ],
            &[
                "tool_call: no",
                "tool_result: not told",
                "tool_call_streamed: no",
                "parallel_calls: not told",
                "parallel_calls_streamed: not told",
            ],
            "json because no tool call came in 2 tries; one came as a JSON object",
        ),
        (
            vec![(Call, vec![no_call(), call()])],
            &["tool_call: partly"],
            "json because a valid tool call came only in the second try; one came as a JSON object",
        ),
        (
            vec![
                (Call, vec![refused(400)]),
                (Returned, vec![]),
                (StreamedCall, vec![]),
                (ParallelCalls, vec![]),
                (StreamedParallel, vec![]),
                (NoCall, vec![]),
                (ForcedCall, vec![]),
            ],
            &[
                "tool_call: no",
                "tool_result: not told",
                "tool_call_streamed: not told",
                "parallel_calls: not told",
                "parallel_calls_streamed: not told",
                "tool_choice_none: not told",
                "tool_choice_required: not told",
            ],
            "json because no tool call came, because requests with tools fail; one came as a \
                 JSON object",
        ),
    ]
}

/// Calls that come, but not as they should.
fn odd_calls() -> Vec<Case> {
    vec![
        (
            vec![(ParallelCalls, vec![call()]), (StreamedParallel, vec![])],
            &["parallel_calls: no", "parallel_calls_streamed: not told"],
            "single because of two calls that were asked for in one reply 1 came valid",
        ),
        (
            vec![(StreamedParallel, vec![call()])],
            &["parallel_calls_streamed: no"],
            "single because two calls came in one reply, but not streamed",
        ),
        (vec![(NoCall, vec![call()])], &["tool_choice_none: no"], MULTI),
        (vec![(ForcedCall, vec![text("Hello!")])], &["tool_choice_required: no"], MULTI),
        (vec![(Schema, vec![text("Eight.")])], &["structured_output: no"], MULTI),
        (vec![(Schema, vec![refused(400)])], &["structured_output: no"], MULTI),
        (
            vec![(Returned, vec![refused(500)])],
            &["tool_result: no"],
            "json because a tool call came, but its result was refused; one came as a JSON \
                 object",
        ),
        (vec![(Returned, vec![call()])], &["tool_result: partly"], MULTI),
        (vec![(ObjectCall, vec![text("Cold."), text("Cold.")])], &["object_call: no"], MULTI),
    ]
}

/// Replies and lists that are not as they should be.
fn odd_replies(format: Format) -> Vec<Case> {
    vec![
        (
            vec![(Stream, vec![Reply { cut: true, ..text(NUMBERS) }])],
            &["stream: no", "stream_usage: not told", "stream_stop: not told", "speed: not told"],
            "multi because two calls came in one reply, no stream",
        ),
        (
            vec![(StreamedCall, vec![Reply { cut: true, ..call() }]), (StreamedParallel, vec![])],
            &["tool_call_streamed: no", "parallel_calls_streamed: not told"],
            "multi because two calls came in one reply, no stream",
        ),
        (
            vec![(Length, vec![Reply { usage: (9, 400), ..text("1 2 3 … 59 60 61") }])],
            &["output_limit: no"],
            MULTI,
        ),
        (
            vec![(Length, vec![Reply { usage: (9, 16), ..text("1 2 3 4 5") }])],
            &["output_limit: partly"],
            MULTI,
        ),
        (
            vec![(Length, vec![Reply { usage: (9, 3), ..text("No.") }])],
            &["output_limit: not told"],
            MULTI,
        ),
        (vec![(WrongModel, vec![text("Hello!")])], &["wrong_model: no"], MULTI),
        (vec![(WrongModel, vec![refused(401)])], &["wrong_model: partly"], MULTI),
        (
            vec![(Step::Format(format), vec![Reply { usage: (0, 0), ..text("What?") }])],
            &["system_prompt: partly", "usage: no"],
            MULTI,
        ),
        (
            vec![(Listing, vec![json("<html><title>Hi</title></html>")])],
            &["model_listed: not told", "context_window: not told"],
            MULTI,
        ),
        (
            vec![(Listing, vec![json(r#"{"data": [{"id": "other"}]}"#)])],
            &["model_listed: no", "context_window: not told"],
            MULTI,
        ),
        (
            vec![(
                Limits,
                vec![Reply {
                    text: "This model supports at most 4096 completion tokens".into(),
                    ..Reply::status(400)
                }],
            )],
            &["max_output: yes"],
            MULTI,
        ),
        (
            vec![(Stream, vec![Reply { reasoning: "One after another.".into(), ..text(NUMBERS) }])],
            &["reasoning: yes"],
            MULTI,
        ),
    ]
}

/// Calls of Chat Completions, whose arguments and texts may be anything.
fn chat_calls() -> Vec<Case> {
    let fenced = || text(FENCED);
    let half = || Reply::call("get_weather", r#"{"city": "Os"#);
    vec![
        (
            vec![(Call, vec![fenced(), fenced()])],
            &["tool_call: partly"],
            "json because a tool call came as text only; one came as a JSON object",
        ),
        (
            vec![
                (Call, vec![fenced(), fenced()]),
                (ObjectCall, vec![Reply::text("?"), Reply::text("?")]),
            ],
            &["tool_call: partly", "object_call: no"],
            "single because a tool call came as text only; none came as a JSON object either",
        ),
        (
            vec![(Call, vec![Reply::call("get_weather", "{\"city\": \"Oslo\",}")])],
            &["tool_call: partly"],
            MULTI,
        ),
        (
            vec![
                (Call, vec![half(), Reply::call("weather", OSLO)]),
                (Returned, vec![]),
                (StreamedCall, vec![half(), Reply::call("get_weather", r#"{"city": "Rome"}"#)]),
                (ParallelCalls, vec![]),
                (StreamedParallel, vec![]),
                (ObjectCall, vec![Reply::text("?"), Reply::text("{}")]),
            ],
            &[
                "tool_call: no",
                "tool_result: not told",
                "tool_call_streamed: no",
                "parallel_calls: not told",
                "parallel_calls_streamed: not told",
                "object_call: no",
            ],
            "unusable: no valid tool call came in 2 tries; none came as a JSON object either",
        ),
    ]
}

/// Replies of Chat Completions.
fn chat_replies(chat: Format) -> Vec<Case> {
    let fenced = || text(FENCED);
    let none = || text("no").stop("");
    let tuned = r#"{"choices": [{"message": {"content": "1 2 3"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 9, "completion_tokens": 5}}"#;
    vec![
        (vec![(Stream, vec![json(tuned)])], &["stream: partly"], MULTI),
        (vec![(Stream, vec![Reply::text(NUMBERS).stop("")])], &["stream_stop: no"], MULTI),
        (
            vec![(Step::Format(chat), vec![Reply::text("Pelican").stop("")])],
            &["stop_reason: no", "stream_stop: no"],
            MULTI,
        ),
        (
            vec![(Step::Format(chat), vec![Reply::text("").stop("length")])],
            &["reply: no", "system_prompt: partly", "stream_stop: not told"],
            "unusable: no plain reply came: neither text nor call, stop reason length; the limit \
             was reached before any text: try more --output-tokens",
        ),
        (vec![(NoCall, vec![fenced()])], &["tool_choice_none: partly"], MULTI),
        (vec![(ForcedCall, vec![fenced()])], &["tool_choice_required: partly"], MULTI),
        (
            vec![(Schema, vec![Reply::text("```\n{\"animal\": \"spider\", \"legs\": 8}\n```")])],
            &["structured_output: partly"],
            MULTI,
        ),
        (vec![(WrongModel, vec![none()])], &["wrong_model: no"], MULTI),
    ]
}

#[tokio::test]
async fn what_only_some_formats_can_get_wrong() {
    let client = client();
    let chat = Format::OpenAiChat;
    for (changes, rows, advice) in [chat_calls(), chat_replies(chat)].concat() {
        check(&client, chat, &changes, rows, advice).await;
    }
}

/// Probes in all four formats, or in one, and gives the rows as they are told.
async fn told(
    client: &Client,
    formats: &[Format],
    replies: Vec<Reply>,
    limit: Duration,
) -> (Report, Vec<String>) {
    let server = ScriptedServer::start(replies).await.unwrap();
    let report = probe(client, formats, &server, limit).await;
    let rows = report.rows.iter().map(|row| format!("{}: {}", row.found, row.came));
    let rows = rows.collect();
    (report, rows)
}

#[tokio::test]
async fn whoever_gives_no_answer_is_told_by_what_came() {
    let client = client();
    let minute = Duration::from_secs(60);
    let page = || Reply::raw("text/html", "<html><title>Welcome to nginx!</title></html>");
    let refused = || Reply { text: "no key".into(), ..Reply::status(401) };
    let missing = || Reply { text: "Not Found".into(), ..Reply::status(404) };
    let broken = || json(r#"{"choices": ["#);
    let limited = || Reply::status(429);
    let cases: Vec<(Vec<Reply>, &str, &str)> = vec![
        (
            vec![page(), page(), page(), page()],
            "no: the model server sent something else than an answer: the body is not JSON",
            "an HTML page, \"Welcome to nginx!\"",
        ),
        (
            vec![refused(), refused(), refused(), refused()],
            "not told: the model server refused the key (HTTP 401): no key",
            "no answer came; in openai: the model server refused the key (HTTP 401): no key",
        ),
        (
            vec![missing(), missing(), missing(), missing()],
            "no: the model server knows no such address or model (HTTP 404): Not Found",
            "(HTTP 404): Not Found",
        ),
        (
            vec![missing(), missing(), refused(), missing()],
            "no: the model server knows no such address or model (HTTP 404): Not Found",
            "no answer came; in anthropic: the model server refused the key (HTTP 401): no key",
        ),
        (
            vec![broken(), broken(), broken(), broken()],
            "no: the model server sent something else than an answer: the body is not JSON",
            "no answer came; in openai: the model server sent something else than an answer",
        ),
        (vec![limited()], "not told: the rate limit was hit (HTTP 429)", "the rate limit was hit"),
    ];
    for (replies, first, why) in cases {
        let (report, rows) = told(&client, &Format::ALL, replies, minute).await;
        assert_eq!((report.standing, rows.len()), (Standing::Unanswered, 4));
        assert!(rows[0].starts_with(first), "{rows:#?}");
        assert!(report.why.contains(why), "{}", report.why);
    }
}

#[tokio::test]
async fn a_server_that_hangs_is_asked_once() {
    let client = client();
    let hang = Reply { stall: true, ..Reply::text("Pelican.") };
    let (report, rows) = told(&client, &Format::ALL, vec![hang], Duration::from_millis(200)).await;
    assert_eq!(report.standing, Standing::Unanswered);
    assert!(rows[0].starts_with("not told: the model call timed out: timed out: "), "{rows:?}");
    assert_eq!(rows[1], "not told: not asked: the model call timed out");
    assert_eq!(report.cost.requests, 1);
}

#[tokio::test]
async fn the_format_that_is_answered_in_is_used() {
    let client = client();
    let missing = || Reply { text: "Not Found".into(), ..Reply::status(404) };
    let mut replies = script(Format::Anthropic, &[]);
    replies.splice(1..1, [missing()]);
    replies.splice(0..0, [missing(), missing()]);
    let (report, rows) = told(&client, &Format::ALL, replies, Duration::from_secs(60)).await;
    assert_eq!(report.format, Some(Format::Anthropic));
    let spoken: Vec<&str> = rows[..4].iter().map(|row| row.split(':').next().unwrap()).collect();
    assert_eq!(spoken, ["no", "no", "yes", "no"]);
}

#[tokio::test]
async fn nothing_more_is_asked_once_there_is_no_use_in_it() {
    let client = client();
    let chat = Format::OpenAiChat;
    let quick = Duration::from_millis(300);
    let hang = || Reply { stall: true, ..Reply::text(NUMBERS) };
    let busy = || Reply::status(503);
    let until = |last: Step, replies: Vec<Reply>| {
        let mut script: Vec<Reply> = vec![good(Step::Format(chat), chat)];
        let before = ASKED.iter().take_while(|step| **step != last);
        script.extend(before.map(|step| good(*step, chat)));
        script.extend(replies);
        script
    };
    let cases = [
        (until(Stream, vec![Reply::status(429)]), "the rate limit was hit"),
        (until(Length, vec![hang(), hang()]), "the model call timed out"),
        (until(Stream, vec![busy(), busy()]), "the model server is overloaded"),
    ];
    for (script, why) in cases {
        let count = script.len();
        let (report, rows) = told(&client, &[chat], script, quick).await;
        assert_eq!(report.halted.as_deref(), Some(why), "{rows:#?}");
        assert_eq!(report.cost.requests, count);
        assert!(rows.contains(&format!("not told: not asked: {why}")), "{rows:#?}");
        assert_eq!(report.standing, Standing::Unfinished);
    }
}

#[tokio::test]
async fn odd_names_are_written_so_that_the_loader_reads_them() {
    let server = ScriptedServer::start(script(Format::OpenAiChat, &[])).await.unwrap();
    let report = probe(&client(), &[Format::OpenAiChat], &server, Duration::from_secs(60)).await;
    let advice = report.advice.unwrap();
    let long = "x".repeat(300);
    let names =
        ["m", "qwen/qwen3:8b", "my model (v1)", "a\"b\\c: #d", "日本\u{3000}語", "m*", &long];
    for name in names {
        for base_url in [None, Some("http://[::1]:8080/v1")] {
            for api_key_env in [None, Some("MY_KEY")] {
                let place = Where { format: Format::Gemini, base_url, api_key_env };
                let text = advice.registry(name, place);
                assert_eq!(read_back(&text, name), advice.profile, "{text}");
            }
        }
    }
}
