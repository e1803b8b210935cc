//! What a server sent goes back to it word for word.

use serde_json::Value;
use steersman_wire::{Format, Message, Part, Request, ToolSpec, repair_tool_call};

use crate::cases::answers;

fn sent_back(format: Format, message: &Message) -> Value {
    let messages = [Message::user("Go."), message.clone()];
    let request = Request { cache: false, ..Request::new("o9", &messages) };
    serde_json::from_slice(&format.body(&request)).unwrap()
}

/// The reply inside a request, as the body of an answer.
fn as_answer(format: Format, body: &Value) -> Value {
    use serde_json::json;
    match format {
        Format::OpenAiChat => json!({"choices": [{"message": body["messages"][1]}]}),
        Format::OpenAiResponses => {
            let mut items = body["input"].as_array().unwrap().clone();
            items.remove(0);
            items.retain(|item| !item["type"].as_str().unwrap().ends_with("_output"));
            json!({"status": "completed", "output": items})
        }
        Format::Anthropic => json!({"content": body["messages"][1]["content"]}),
        Format::Gemini => json!({"candidates": [{"content": body["contents"][1]}]}),
    }
}

/// Message to body, read as an answer, to body: both bodies are the same, and so are the blocks.
#[test]
fn a_reply_comes_back_as_it_was() {
    let mut seen = 0;
    for case in answers() {
        let Ok(answer) = case.read(usize::MAX) else { continue };
        let body = sent_back(case.format, &answer.message);
        let echoed = as_answer(case.format, &body);
        let Ok(again) = case.format.answer(echoed.to_string().as_bytes()) else { continue };
        let body_again = sent_back(case.format, &again.message);
        assert_eq!(body, body_again, "{}", case.path.display());
        seen += 1;
    }
    assert!(seen >= 15, "{seen}");
}

/// Blocks with signatures, encrypted reasoning, and unknown blocks stand in the next request.
#[test]
fn raw_blocks_stand_in_the_next_request() {
    for case in answers() {
        let Ok(answer) = case.read(usize::MAX) else { continue };
        let body = sent_back(case.format, &answer.message).to_string();
        for part in &answer.message.parts {
            let raw = match part {
                Part::Reasoning { raw: Some(raw), .. } => &raw.value,
                Part::Other { value, .. } => value,
                _ => continue,
            };
            let mut raw = raw.clone();
            if raw["type"] == "message" {
                raw.as_object_mut().unwrap().retain(|key, _| key != "id" && key != "status");
            }
            // Fields of a message stand among others: compare them one by one.
            let inner = raw.to_string();
            let inner = inner.trim_start_matches('{').trim_end_matches('}');
            assert!(body.contains(inner), "{}: {inner}\n{body}", case.path.display());
        }
    }
}

#[test]
fn blocks_of_one_format_do_not_reach_another() {
    for case in answers() {
        let Ok(answer) = case.read(usize::MAX) else { continue };
        for format in Format::ALL.into_iter().filter(|format| *format != case.format) {
            let body = sent_back(format, &answer.message).to_string();
            for word in ["signature", "encrypted_content", "thoughtSignature", "annotations"]
                .map(|key| format!("\"{key}\":"))
            {
                assert!(!body.contains(&word), "{} as {format}: {body}", case.path.display());
            }
        }
    }
}

#[test]
fn calls_written_as_text_are_found() {
    let tools = [ToolSpec { name: "read".into(), ..ToolSpec::default() }];
    let check = |text: &str, expected: Option<(&str, &[&str])>| {
        let body = serde_json::json!({"choices": [{"message": {"content": text}}]}).to_string();
        let answer = Format::OpenAiChat.answer(body.as_bytes()).unwrap();
        let repaired = repair_tool_call(&answer, &tools);
        let found = repaired.as_ref().map(|answer| {
            let calls = answer.message.tool_calls().map(|call| call.arguments.into_owned());
            (answer.message.text().into_owned(), calls.collect::<Vec<_>>())
        });
        let expected = expected.map(|(text, calls)| {
            (text.to_owned(), calls.iter().map(|&call| call.to_owned()).collect())
        });
        assert_eq!(found, expected, "{text}");
    };
    let call = r#"{"name": "read", "arguments": {"path": "a"}}"#;
    let args: &[&str] = &[r#"{"path":"a"}"#];
    check(call, Some(("", args)));
    check(&format!("I look.\n```json\n{call}\n```\n"), Some(("I look.", args)));
    check(&format!("<tool_call>\n{call}\n</tool_call>"), Some(("", args)));
    check(&format!("[{call}, {call}]"), Some(("", &[args[0], args[0]])));
    check(r#"{"function": {"name": "read", "parameters": "{\"path\": \"a\"}"}}"#, Some(("", args)));
    check(r#"{"name": "write", "arguments": {"path": "a"}}"#, None);
    check(r#"{"name": "read"}"#, None);
    check("```rust\nfn read() {}\n```", None);
    check(&format!("The call {call} would read."), None);
    check("```json\n{\"name\": \"read\"", None);
    check("", None);
}
