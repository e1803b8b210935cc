//! Answers of Responses.

use serde_json::{Value, json};
use steersman_engine::StopReason;

use super::pieces::{Call, Piece, pieces};
use super::{Frame, event};
use crate::json::text;
use crate::{Answer, Format, Tokens};

const FORMAT: Format = Format::OpenAiResponses;

pub(super) fn body(answer: &Answer, frame: &Frame<'_>) -> Value {
    let why = incomplete(answer);
    let mut body = response(frame, if why.is_some() { "incomplete" } else { "completed" });
    body["output"] = items(answer, frame).into();
    body["usage"] = usage(answer.usage);
    if let Some(reason) = why {
        body["incomplete_details"] = json!({"reason": reason});
    }
    body
}

pub(super) fn stream(answer: &Answer, frame: &Frame<'_>) -> Vec<u8> {
    let mut told = Told::default();
    for kind in ["response.created", "response.in_progress"] {
        told.push(kind, json!({"response": response(frame, "in_progress")}));
    }
    for (index, own) in items(answer, frame).into_iter().enumerate() {
        item(&mut told, index, own);
    }
    let body = body(answer, frame);
    let kind = format!("response.{}", text(&body, "status"));
    told.push(&kind, json!({"response": body}));
    told.out
}

/// The events so far.
#[derive(Default)]
struct Told {
    out: Vec<u8>,
    sequence: u64,
}

impl Told {
    fn push(&mut self, kind: &str, mut fields: Value) {
        fields["type"] = kind.into();
        fields["sequence_number"] = self.sequence.into();
        self.sequence += 1;
        event(&mut self.out, kind, &fields, "\n");
    }
}

/// The events of one item.
fn item(told: &mut Told, index: usize, done: Value) {
    let mut begun = done.clone();
    let id = text(&done, "id").to_owned();
    let kind = text(&done, "type").to_owned();
    let field = match kind.as_str() {
        "message" => "content",
        "function_call" => "arguments",
        "custom_tool_call" => "input",
        _ => "",
    };
    if !field.is_empty() {
        begun["status"] = "in_progress".into();
        begun[field] = if kind == "message" { json!([]) } else { json!("") };
    }
    told.push("response.output_item.added", json!({"output_index": index, "item": begun}));
    let said = text(&done, field).to_owned();
    match kind.as_str() {
        "message" => content(told, index, &id, &done["content"][0]),
        "function_call" | "custom_tool_call" => {
            let delta = json!({"output_index": index, "item_id": id, "delta": said});
            told.push(&format!("response.{kind}_{field}.delta"), delta);
            let mut whole = json!({"output_index": index, "item_id": id, field: said});
            if kind == "function_call" {
                whole["name"] = done["name"].clone();
            }
            told.push(&format!("response.{kind}_{field}.done"), whole);
        }
        _ => {}
    }
    told.push("response.output_item.done", json!({"output_index": index, "item": done}));
}

/// The events of the one text of a message.
fn content(told: &mut Told, index: usize, id: &str, part: &Value) {
    if !part.is_object() {
        return;
    }
    let mut push = |kind: &str, mut fields: Value| {
        fields["output_index"] = index.into();
        fields["content_index"] = 0.into();
        fields["item_id"] = id.into();
        told.push(kind, fields);
    };
    let mut empty = part.clone();
    empty["text"] = "".into();
    push("response.content_part.added", json!({"part": empty}));
    let said = &part["text"];
    push("response.output_text.delta", json!({"delta": said, "logprobs": []}));
    push("response.output_text.done", json!({"text": said, "logprobs": []}));
    push("response.content_part.done", json!({"part": part}));
}

/// A response without its output.
pub(super) fn response(frame: &Frame<'_>, status: &str) -> Value {
    json!({
        "id": frame.id,
        "object": "response",
        "created_at": frame.created_s,
        "status": status,
        "background": false,
        "error": null,
        "incomplete_details": null,
        "instructions": null,
        "max_output_tokens": null,
        "metadata": {},
        "model": frame.model,
        "output": [],
        "parallel_tool_calls": true,
        "previous_response_id": null,
        "reasoning": {"effort": null, "summary": null},
        "store": false,
        "temperature": null,
        "text": {"format": {"type": "text"}},
        "tool_choice": "auto",
        "tools": [],
        "top_p": null,
        "truncation": "disabled",
        "usage": null,
        "user": null,
    })
}

fn items(answer: &Answer, frame: &Frame<'_>) -> Vec<Value> {
    let mut items = Vec::new();
    for piece in pieces(answer, FORMAT) {
        let id = |kind: &str| {
            let own = frame.id.strip_prefix("resp_").unwrap_or(frame.id);
            format!("{kind}_{own}_{}", items.len())
        };
        let item = match piece {
            Piece::Text(text) => json!({
                "type": "message",
                "id": id("msg"),
                "status": "completed",
                "role": "assistant",
                "content": [
                    {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
                ],
            }),
            Piece::Reasoning(_, Some(raw)) => raw.clone(),
            Piece::Reasoning(_, None) => continue,
            Piece::Call(own) => call(&own, id("fc")),
        };
        items.push(item);
    }
    if incomplete(answer).is_some()
        && let Some(last) = items.last_mut().filter(|last| last.get("status").is_some())
    {
        last["status"] = "incomplete".into();
    }
    items
}

/// A call; namespaces and free-form tools as they came.
fn call(own: &Call<'_>, id: String) -> Value {
    let raw = own.raw.filter(|raw| raw.is_object()).cloned();
    let mut call = raw.unwrap_or_else(|| json!({"type": "function_call"}));
    if text(&call, "id").is_empty() {
        call["id"] = id.into();
    }
    call["status"] = "completed".into();
    call["call_id"] = own.id.into();
    call["name"] = own.name.into();
    if text(&call, "type") == "custom_tool_call" {
        call["input"] = own.arguments.into();
    } else {
        call["arguments"] = own.json().into();
    }
    call
}

/// Why the answer is not whole; `None` if it is.
fn incomplete(answer: &Answer) -> Option<&'static str> {
    match answer.stop? {
        StopReason::Length | StopReason::TimeLimit | StopReason::InsufficientContext => {
            Some("max_output_tokens")
        }
        StopReason::Interrupted => Some("content_filter"),
        _ => None,
    }
}

fn usage(tokens: Tokens) -> Value {
    json!({
        "input_tokens": tokens.input,
        "input_tokens_details": {"cached_tokens": tokens.cached_input},
        "output_tokens": tokens.output,
        "output_tokens_details": {"reasoning_tokens": tokens.reasoning},
        "total_tokens": tokens.input.saturating_add(tokens.output),
    })
}
