//! Items as turns; the recorded requests hold most of it.

use steersman_wire::{Format, Message, Part, Received, Speaker};

use crate::cases::cases;

fn received(format: Format, body: &str) -> Received<'_> {
    format.receive(body.as_bytes()).unwrap()
}

/// Who speaks, and ids and names of what returned.
fn story(request: &Received<'_>, from: usize, answered: Option<&Message>) -> String {
    let heard = request.turns_after(from, answered).unwrap();
    let told = heard.iter().map(|heard| {
        let parts = heard.message.parts.iter().map(|part| match part {
            Part::Text(text) => text.clone(),
            Part::ToolCall { name, .. } => format!("{name}()"),
            Part::ToolResult { call_id, name, content, .. } => {
                format!("{name}#{call_id}={content}")
            }
            other => format!("{other:?}"),
        });
        format!("{:?}: {}", heard.speaker, parts.collect::<Vec<_>>().join(", "))
    });
    told.collect::<Vec<_>>().join("\n")
}

const CONTENTS: &str = r#"{"contents":[
    {"role":"model","parts":[{"functionCall":{"name":"a","args":{}}},{"functionCall":{"name":"b","args":{}}},{"functionCall":{"name":"a","args":{}}}]},
    {"role":"user","parts":[{"functionResponse":{"name":"b","response":{"output":"1"}}},{"functionResponse":{"name":"a","response":{"output":"2"}}}]},
    {"role":"user","parts":[{"functionResponse":{"name":"a","response":{"output":"3"}}},{"text":"Go on."}]}
]}"#;

#[test]
fn results_are_joined_to_calls() {
    let request = received(Format::Gemini, CONTENTS);
    let ids: Vec<_> = request.turns(0).unwrap()[0]
        .message
        .tool_calls()
        .map(|call| call.id.into_owned())
        .collect();
    assert_eq!(
        story(&request, 0, None),
        format!(
            "Assistant: a(), b(), a()\nTool: b#{}=1, a#{}=2, a#{}=3\nUser: Go on.",
            ids[1], ids[0], ids[2]
        )
    );
    assert_eq!(story(&request, 2, None), format!("Tool: a#{}=3\nUser: Go on.", ids[2]));
    // The gateway read the reply as an answer, with ids made from the answer's own id.
    let answer = Format::Gemini
        .answer(r#"{"responseId":"r","candidates":[{"content":{"parts":[{"functionCall":{"name":"a","args":{}}},{"functionCall":{"name":"b","args":{}}},{"functionCall":{"name":"a","args":{}}}]}}]}"#.as_bytes())
        .unwrap();
    let answered: Vec<_> = answer.message.tool_calls().map(|call| call.id.into_owned()).collect();
    assert_ne!(answered, ids);
    assert_eq!(
        story(&request, 1, Some(&answer.message)),
        format!(
            "Tool: b#{}=1, a#{}=2, a#{}=3\nUser: Go on.",
            answered[1], answered[0], answered[2]
        )
    );
}

#[test]
fn names_come_from_the_calls_before() {
    let cases = cases();
    let case = cases.iter().find(|case| case.name().starts_with("claude")).unwrap();
    let told = story(&case.received(), 3, None);
    let expected = "Tool: Bash#toolu_1=a.txt, Bash#toolu_2=Exit code 1\n\
        <tool_use_error>no</tool_use_error>\n\
        User: Go on.\nInstructions: The user hasn't heard from you in a while";
    assert_eq!(told, expected);
    let case = cases.iter().find(|case| case.name().starts_with("codex.")).unwrap();
    let told = story(&case.received(), 8, None);
    assert!(told.starts_with("Tool: apply_patch#call_2=Done\n[input_image], local_shell#call_3="));
}

#[test]
fn an_item_by_itself_is_heard() {
    let request = received(Format::Gemini, CONTENTS);
    assert_eq!(request.item(2).unwrap().speaker, Speaker::Tool);
    assert_eq!(request.item(2).unwrap().message.parts.len(), 2);
    let missing = request.item(3).unwrap_err().to_string();
    assert_eq!(missing, "no gemini request: it has no such item");
    assert_eq!(request.turns(9).unwrap(), []);
}

/// Clients that cut a text inside an emoji send half of it.
#[test]
fn half_a_surrogate_pair_is_read() {
    let body = r#"{"messages":[{"role":"user","content":"\\ud83d \ud83d \ude00x \ud83d\ude00"}]}"#;
    let request = received(Format::OpenAiChat, body);
    let heard = request.item(0).unwrap();
    assert_eq!(heard.message.text(), "\\ud83d \u{FFFD} \u{FFFD}x 😀");
    assert_ne!(request.item_hash(0), 0);
}

#[test]
fn depth_is_bounded() {
    let body = |levels: usize| {
        let (open, close) = ("[".repeat(levels), "]".repeat(levels));
        format!(
            r#"{{"messages":[{{"role":"user","content":[{{"type":"x","y":{open}{close}}}]}}]}}"#
        )
    };
    for (levels, fits) in [(61, true), (62, false), (500, false), (200_000, false)] {
        let body = body(levels);
        for format in [Format::OpenAiChat, Format::Anthropic] {
            let request = received(format, &body);
            assert_eq!(request.item(0).is_ok(), fits, "{levels}");
            assert!(request.turns(0).is_ok() == fits);
            assert_eq!(request.edited(&[]).unwrap(), body.as_bytes());
        }
    }
}

#[test]
fn other_json_is_told_apart() {
    let cases = [
        ("", "the request is not JSON"),
        ("[]", "the request is not JSON (invalid type"),
        ("{", "the request is not JSON"),
        (r#"{"messages":[1,]}"#, "the request is not JSON"),
        (r#"{"messages":[]} x"#, "the request is not JSON (trailing characters"),
    ];
    for (body, expected) in cases {
        for format in Format::ALL {
            let error = format.receive(body.as_bytes()).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }
    let many = format!(r#"{{"messages":[{}1]}}"#, "1,".repeat(100_000));
    let error = Format::Anthropic.receive(many.as_bytes()).unwrap_err().to_string();
    assert_eq!(error, "no anthropic request: it has too many items");
}
