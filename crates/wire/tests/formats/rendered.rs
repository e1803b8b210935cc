//! What is rendered reads back as what it was.

use proptest::prelude::*;
use serde_json::{Value, json};
use steersman_engine::StopReason;
use steersman_wire::{
    Answer, ErrorKind, Failure, Format, Frame, Message, Part, Raw, Role, Tokens, parse_arguments,
};

use crate::cases::golden;
use crate::golden::compare;

pub(crate) const FRAME: Frame<'static> =
    Frame { id: "resp_7f", created_s: 1_795_348_800, model: "some-model", usage_chunk: true };

pub(crate) fn answer(parts: Vec<Part>, stop: StopReason) -> Answer {
    let usage =
        Tokens { input: 120, output: 30, cached_input: 100, reasoning: 12, ..Tokens::default() };
    Answer {
        message: Message { role: Role::Assistant, parts },
        stop: Some(stop),
        stop_word: None,
        usage,
        model: None,
        id: None,
        extra: serde_json::Map::new(),
    }
}

fn call(id: &str, arguments: &str, raw: Option<Raw>) -> Part {
    Part::ToolCall { id: id.into(), name: "run".into(), arguments: arguments.into(), raw }
}

/// What a client must find in an answer.
#[derive(Debug, PartialEq)]
pub(crate) struct Said {
    pub(crate) text: String,
    pub(crate) calls: Vec<(String, String, Value)>,
    pub(crate) stop: Option<StopReason>,
    pub(crate) usage: Tokens,
}

pub(crate) fn said(answer: &Answer) -> Said {
    let arguments = |text: &str| match parse_arguments(text) {
        Ok(object) => Value::Object(object),
        Err(_) => json!({"_malformed": text}),
    };
    let call = |call: steersman_engine::ToolCall<'_>| {
        (call.id.to_string(), call.name.to_string(), arguments(&call.arguments))
    };
    Said {
        text: answer.message.text().into_owned(),
        calls: answer.message.tool_calls().map(call).collect(),
        stop: answer.stop,
        usage: answer.usage,
    }
}

pub(crate) fn read_stream(format: Format, bytes: &[u8]) -> Answer {
    let mut reader = format.stream();
    reader.push(bytes).unwrap();
    reader
        .finish()
        .unwrap_or_else(|error| panic!("{format}: {error}\n{}", String::from_utf8_lossy(bytes)))
}

/// Reads both renderings of `answer` and compares.
fn check(format: Format, answer: &Answer) {
    let expected = said(answer);
    let body = format.render(answer, &FRAME);
    let whole = format.answer(&body).unwrap();
    assert_eq!(said(&whole), expected, "{format}: {}", String::from_utf8_lossy(&body));
    let stream = format.render_stream(answer, &FRAME);
    let streamed = read_stream(format, &stream);
    assert_eq!(said(&streamed), expected, "{format}: {}", String::from_utf8_lossy(&stream));
    assert_eq!(streamed.id.as_deref(), Some(FRAME.id));
    assert_eq!(streamed.model.as_deref(), Some(FRAME.model));
    assert_eq!(streamed.message, whole.message, "{format}");
}

pub(crate) fn cases() -> Vec<(&'static str, Answer)> {
    let text = |text: &str| Part::Text(text.into());
    let thought = |format: Format, value: Value| Part::Reasoning {
        text: "Hm.".into(),
        raw: Some(Raw { format, value }),
    };
    let plain = Part::Reasoning { text: "Hm.".into(), raw: None };
    vec![
        ("text", answer(vec![text("Hello,\n\"wörld\"."), text("Bye.")], StopReason::Stop)),
        (
            "calls",
            answer(
                vec![
                    plain,
                    text("I look."),
                    call("c1", r#"{"b": 1, "a": [null, "x"]}"#, None),
                    call("c2", "", None),
                ],
                StopReason::Stop,
            ),
        ),
        (
            "own-blocks",
            answer(
                vec![
                    thought(
                        Format::Anthropic,
                        json!({"type": "thinking", "thinking": "Hm.", "signature": "EqQB"}),
                    ),
                    thought(
                        Format::OpenAiResponses,
                        json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gA"}),
                    ),
                    thought(
                        Format::OpenAiChat,
                        json!({"reasoning": "Hm.", "reasoning_details": [{"type": "reasoning.text", "text": "Hm.", "index": 0}]}),
                    ),
                    thought(
                        Format::Gemini,
                        json!({"text": "Hm.", "thought": true, "thoughtSignature": "c2ln"}),
                    ),
                    call(
                        "c1",
                        "{\"cmd\":\"ls\"}",
                        Some(Raw {
                            format: Format::OpenAiResponses,
                            value: json!({"type": "function_call", "namespace": "functions", "arguments": "{\"cmd\":\"ls\"}"}),
                        }),
                    ),
                ],
                StopReason::Stop,
            ),
        ),
        ("length", answer(vec![text("Half")], StopReason::Length)),
        ("filtered", answer(vec![text("I can")], StopReason::Interrupted)),
        ("empty", answer(vec![], StopReason::Stop)),
    ]
}

#[test]
fn answers_are_rendered() {
    for (name, answer) in cases() {
        for format in Format::ALL {
            check(format, &answer);
            let folder = golden().join("rendered").join(format.name());
            let body: Value = serde_json::from_slice(&format.render(&answer, &FRAME)).unwrap();
            let body = serde_json::to_string_pretty(&body).unwrap() + "\n";
            compare(&folder.join(format!("{name}.json")), &body);
            let stream = String::from_utf8(format.render_stream(&answer, &FRAME)).unwrap();
            compare(&folder.join(format!("{name}.sse")), &stream);
        }
    }
}

/// Free-form tools have no JSON.
#[test]
fn a_free_form_call_stays_one() {
    let raw = Raw {
        format: Format::OpenAiResponses,
        value: json!({"type": "custom_tool_call", "id": "ctc_1", "call_id": "c1", "name": "run", "input": "x"}),
    };
    let answer = answer(vec![call("c1", "*** Begin Patch", Some(raw))], StopReason::Stop);
    let stream = Format::OpenAiResponses.render_stream(&answer, &FRAME);
    let calls: Vec<_> = read_stream(Format::OpenAiResponses, &stream).message.parts;
    let expected = json!({
        "type": "custom_tool_call", "id": "ctc_1", "call_id": "c1", "name": "run",
        "input": "*** Begin Patch", "status": "completed",
    });
    let [Part::ToolCall { raw: Some(found), .. }] = &calls[..] else { panic!("{calls:?}") };
    assert_eq!(found.value, expected);
    let stream = String::from_utf8(stream).unwrap();
    assert!(stream.contains("event: response.custom_tool_call_input.done\n"), "{stream}");
}

/// Who did not ask for the usage gets no chunk without a choice.
#[test]
fn the_usage_has_a_chunk_only_when_asked_for() {
    let answer = answer(vec![Part::Text("Hi".into())], StopReason::Stop);
    let unasked = Frame { usage_chunk: false, ..FRAME };
    let stream = String::from_utf8(Format::OpenAiChat.render_stream(&answer, &unasked)).unwrap();
    assert!(!stream.contains("usage") && !stream.contains("\"choices\":[]"), "{stream}");
}

const STATUSES: [u16; 9] = [400, 401, 403, 404, 413, 429, 503, 402, 500];

/// Every error as it is written, and as our own client understands it.
#[test]
fn errors_are_rendered() {
    for format in Format::ALL {
        let mut found = format!("stop {}\n", format.stop_status());
        for (kind, status) in ErrorKind::ALL.into_iter().zip(STATUSES) {
            let status = if kind == ErrorKind::GatewayStop { format.stop_status() } else { status };
            let body = format.error_body(status, kind, "No \"more\".");
            let failure = format.failure(status, |_| None, &body, 0);
            assert_eq!(failure.message, "No \"more\".", "{format}");
            let event = format.error_event(status, kind, "No \"more\".", &FRAME);
            let error = format.stream().push(&event).unwrap_err();
            let streamed = Failure::of_answer(error, 200);
            assert_eq!(streamed.message, "No \"more\".", "{format}");
            found += &format!(
                "\n{kind:?} {status}: {:?}, in a stream {:?}\n{}\n{}",
                failure.kind,
                streamed.kind,
                String::from_utf8(body).unwrap(),
                String::from_utf8(event).unwrap(),
            );
        }
        compare(&golden().join("rendered").join(format.name()).join("errors.txt"), &found);
    }
}

/// A reader passes over keep-alives wherever they stand between events.
#[test]
fn keep_alives_are_passed_over() {
    for format in Format::ALL {
        let (_, answer) = &cases()[0];
        let stream = format.render_stream(answer, &FRAME);
        let text = String::from_utf8(stream.clone()).unwrap();
        let (end, alive) = match format {
            Format::Gemini => ("\r\n\r\n", "\r\n\r\n"),
            _ => ("\n\n", ": keep-alive\n\n"),
        };
        assert_eq!(format.keep_alive(), alive.as_bytes());
        let kept = alive.to_owned() + &text.replace(end, &format!("{end}{alive}"));
        let read = read_stream(format, kept.as_bytes());
        assert_eq!(read, read_stream(format, &stream), "{format}");
    }
}

fn part() -> impl Strategy<Value = Part> {
    let text = "[ -~\\n\\r\u{e9}\u{1f600}\u{2028}]{0,20}";
    prop_oneof![
        text.prop_map(Part::Text),
        text.prop_map(|text| Part::Reasoning { text, raw: None }),
        ("[a-z]{1,8}", "[a-z:.0]{1,9}", text).prop_map(|(name, id, value)| Part::ToolCall {
            id,
            name,
            arguments: json!({"b": value, "a": 1}).to_string(),
            raw: None,
        }),
        ("[a-z]{1,8}", text).prop_map(|(name, arguments)| Part::ToolCall {
            id: "x".into(),
            name,
            arguments,
            raw: None,
        }),
    ]
}

pub(crate) fn any_answer() -> impl Strategy<Value = Answer> {
    let stops =
        prop::sample::select(vec![StopReason::Stop, StopReason::Length, StopReason::Interrupted]);
    let tokens = (0..100_000_u64, 0..100_000_u64, 0..1000_u64, 0..1000_u64);
    let usage = tokens.prop_map(|(input, output, cached_input, reasoning)| Tokens {
        input: input + cached_input,
        output: output + reasoning,
        cached_input,
        cache_write: 0,
        reasoning,
        cost_nanodollars: 0,
    });
    (prop::collection::vec(part(), 0..6), stops, usage)
        .prop_map(|(parts, stop, usage)| Answer { usage, ..answer(parts, stop) })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_answer_reads_back(answer in any_answer()) {
        for format in Format::ALL {
            check(format, &answer);
        }
    }
}
