//! Answers of Chat Completions.

use serde_json::{Map, Value, json};
use steersman_engine::StopReason;

use super::pieces::{Call, Piece, calls, pieces};
use super::{Frame, event};
use crate::json::append;
use crate::{Answer, Format, Tokens};

const FORMAT: Format = Format::OpenAiChat;

pub(super) fn body(answer: &Answer, frame: &Frame<'_>) -> Value {
    let mut message = Map::from_iter([("role".to_owned(), Value::from("assistant"))]);
    let mut asked = Vec::new();
    for piece in pieces(answer, FORMAT) {
        match piece {
            Piece::Text(text) => {
                let more = message.contains_key("content");
                append(&mut message, "content", if more { "\n" } else { "" });
                append(&mut message, "content", &text);
            }
            Piece::Reasoning(text, raw) => {
                for (key, value) in reasoning(text, raw) {
                    match (message.get_mut(&key), value) {
                        (Some(Value::Array(kept)), Value::Array(more)) => kept.extend(more),
                        (_, Value::String(more)) => append(&mut message, &key, &more),
                        (_, value) => {
                            message.insert(key, value);
                        }
                    }
                }
            }
            Piece::Call(own) => asked.push(call(&own)),
        }
    }
    let silent = if asked.is_empty() { Value::from("") } else { Value::Null };
    message.entry("content").or_insert(silent);
    message.insert("refusal".into(), Value::Null);
    if !asked.is_empty() {
        message.insert("tool_calls".into(), asked.into());
    }
    let choice = json!({
        "index": 0,
        "message": message,
        "logprobs": null,
        "finish_reason": word(answer),
    });
    json!({
        "id": frame.id,
        "object": "chat.completion",
        "created": frame.created_s,
        "model": frame.model,
        "choices": [choice],
        "usage": usage(answer.usage),
    })
}

pub(super) fn stream(answer: &Answer, frame: &Frame<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    let mut push = |delta: Value, finish: Option<&str>| {
        let choice = json!({"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish});
        event(&mut out, "", &chunk(frame, vec![choice], None), "\n");
    };
    let silent = if calls(answer) && answer.message.text().is_empty() { None } else { Some("") };
    push(json!({"role": "assistant", "content": silent, "refusal": null}), None);
    let (mut asked, mut spoken) = (0, false);
    for piece in pieces(answer, FORMAT) {
        match piece {
            Piece::Text(text) if spoken => push(json!({"content": format!("\n{text}")}), None),
            Piece::Text(text) => {
                push(json!({"content": text}), None);
                spoken = true;
            }
            Piece::Reasoning(text, raw) => push(Value::Object(reasoning(text, raw)), None),
            Piece::Call(own) => {
                let mut call = call(&own);
                call["index"] = asked.into();
                push(json!({"tool_calls": [call]}), None);
                asked += 1;
            }
        }
    }
    push(json!({}), Some(word(answer)));
    if frame.usage_chunk {
        event(&mut out, "", &chunk(frame, Vec::new(), Some(usage(answer.usage))), "\n");
    }
    out.extend_from_slice(b"data: [DONE]\n\n");
    out
}

fn chunk(frame: &Frame<'_>, choices: Vec<Value>, usage: Option<Value>) -> Value {
    let mut chunk = json!({
        "id": frame.id,
        "object": "chat.completion.chunk",
        "created": frame.created_s,
        "model": frame.model,
        "choices": choices,
    });
    // Where the usage is asked for, the other chunks say that they have none.
    if frame.usage_chunk {
        chunk["usage"] = usage.unwrap_or_default();
    }
    chunk
}

/// The fields of a message that hold the reasoning.
fn reasoning(text: &str, raw: Option<&Value>) -> Map<String, Value> {
    match raw.and_then(Value::as_object) {
        // Mistral's blocks have their place inside the content.
        Some(fields) if !fields.contains_key("type") => fields.clone(),
        _ => Map::from_iter([("reasoning_content".to_owned(), Value::from(text))]),
    }
}

fn call(own: &Call<'_>) -> Value {
    let raw = own.raw.filter(|raw| raw.is_object()).cloned();
    let mut call = raw.unwrap_or_else(|| json!({}));
    call["id"] = own.id.into();
    call["type"] = "function".into();
    if !call.get("function").is_some_and(Value::is_object) {
        call["function"] = json!({});
    }
    call["function"]["name"] = own.name.into();
    call["function"]["arguments"] = own.json().into();
    call
}

fn word(answer: &Answer) -> &'static str {
    match answer.stop {
        Some(StopReason::Length | StopReason::TimeLimit | StopReason::InsufficientContext) => {
            "length"
        }
        Some(StopReason::Interrupted) => "content_filter",
        _ if calls(answer) => "tool_calls",
        _ => "stop",
    }
}

fn usage(tokens: Tokens) -> Value {
    let mut usage = json!({
        "prompt_tokens": tokens.input,
        "completion_tokens": tokens.output,
        "total_tokens": tokens.input.saturating_add(tokens.output),
        "prompt_tokens_details": {"cached_tokens": tokens.cached_input},
        "completion_tokens_details": {"reasoning_tokens": tokens.reasoning},
    });
    if tokens.cost_nanodollars > 0 {
        usage["cost"] = (tokens.cost_nanodollars as f64 / 1e9).into();
    }
    usage
}
