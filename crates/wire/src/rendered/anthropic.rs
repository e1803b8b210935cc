//! Answers of Anthropic Messages.

use serde_json::{Value, json};
use steersman_engine::StopReason;

use super::pieces::{Call, Piece, calls, pieces};
use super::{Frame, event};
use crate::arguments;
use crate::json::text;
use crate::{Answer, Format, Tokens};

const FORMAT: Format = Format::Anthropic;

pub(super) fn body(answer: &Answer, frame: &Frame<'_>) -> Value {
    let mut body = message(frame, answer.usage);
    body["content"] = blocks(answer).into();
    body["stop_reason"] = word(answer).into();
    body
}

pub(super) fn stream(answer: &Answer, frame: &Frame<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    let mut push = |kind: &str, mut fields: Value| {
        fields["type"] = kind.into();
        event(&mut out, kind, &fields, "\n");
    };
    let before = Tokens { output: 0, reasoning: 0, ..answer.usage };
    push("message_start", json!({"message": message(frame, before)}));
    for (index, mut block) in blocks(answer).into_iter().enumerate() {
        let deltas = deltas(&mut block);
        push("content_block_start", json!({"index": index, "content_block": block}));
        for delta in deltas {
            push("content_block_delta", json!({"index": index, "delta": delta}));
        }
        push("content_block_stop", json!({"index": index}));
    }
    let delta = json!({"stop_reason": word(answer), "stop_sequence": null});
    push("message_delta", json!({"delta": delta, "usage": usage(answer.usage)}));
    push("message_stop", json!({}));
    out
}

/// Takes out of a block what a stream sends behind its beginning.
fn deltas(block: &mut Value) -> Vec<Value> {
    let mut deltas = Vec::new();
    let mut move_out = |kind: &str, field: &str| {
        if let Some(Value::String(said)) = block.get_mut(field) {
            let said = std::mem::take(said);
            if !said.is_empty() {
                deltas.push(json!({"type": kind, field: said}));
            }
        }
    };
    move_out("text_delta", "text");
    move_out("thinking_delta", "thinking");
    move_out("signature_delta", "signature");
    if text(block, "type") == "tool_use" {
        let input = block["input"].take().to_string();
        block["input"] = json!({});
        deltas.push(json!({"type": "input_json_delta", "partial_json": input}));
    }
    deltas
}

/// A message without its content.
fn message(frame: &Frame<'_>, tokens: Tokens) -> Value {
    json!({
        "id": frame.id,
        "type": "message",
        "role": "assistant",
        "model": frame.model,
        "content": [],
        "stop_reason": null,
        "stop_sequence": null,
        "usage": usage(tokens),
    })
}

fn blocks(answer: &Answer) -> Vec<Value> {
    let block = |piece| match piece {
        Piece::Text(text) => Some(json!({"type": "text", "text": text})),
        Piece::Reasoning(_, raw) => raw.cloned(),
        Piece::Call(own) => Some(call(&own)),
    };
    pieces(answer, FORMAT).into_iter().filter_map(block).collect()
}

fn call(own: &Call<'_>) -> Value {
    let raw = own.raw.filter(|raw| raw.is_object()).cloned();
    let mut call = raw.unwrap_or_else(|| json!({}));
    call["type"] = "tool_use".into();
    call["id"] = own.id.into();
    call["name"] = own.name.into();
    call["input"] = Value::Object(arguments::object(own.arguments));
    call
}

fn word(answer: &Answer) -> &'static str {
    match answer.stop {
        Some(StopReason::Length | StopReason::TimeLimit) => "max_tokens",
        Some(StopReason::InsufficientContext) => "model_context_window_exceeded",
        Some(StopReason::Interrupted) => "refusal",
        _ if calls(answer) => "tool_use",
        _ => "end_turn",
    }
}

fn usage(tokens: Tokens) -> Value {
    let mut usage = json!({
        // Cached tokens are counted apart.
        "input_tokens":
            tokens.input.saturating_sub(tokens.cached_input.saturating_add(tokens.cache_write)),
        "cache_creation_input_tokens": tokens.cache_write,
        "cache_read_input_tokens": tokens.cached_input,
        "output_tokens": tokens.output,
    });
    if tokens.reasoning > 0 {
        usage["output_tokens_details"] = json!({"thinking_tokens": tokens.reasoning});
    }
    usage
}
