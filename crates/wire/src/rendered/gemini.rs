//! Answers of Gemini.

use serde_json::{Value, json};
use steersman_engine::StopReason;

use super::pieces::{Call, Piece, pieces};
use super::{Frame, event};
use crate::arguments;
use crate::{Answer, Format, Tokens};

const FORMAT: Format = Format::Gemini;

pub(super) fn body(answer: &Answer, frame: &Frame<'_>) -> Value {
    last(answer, frame, parts(answer))
}

/// Lines end as Google's do: google-genai looks for both characters.
pub(super) fn stream(answer: &Answer, frame: &Frame<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    let mut parts = parts(answer);
    let end = parts.split_off(parts.len().saturating_sub(1));
    for part in parts {
        event(&mut out, "", &chunk(frame, vec![part]), "\r\n");
    }
    event(&mut out, "", &last(answer, frame, end), "\r\n");
    out
}

fn chunk(frame: &Frame<'_>, parts: Vec<Value>) -> Value {
    json!({
        "candidates": [{"content": {"parts": parts, "role": "model"}, "index": 0}],
        "modelVersion": frame.model,
        "responseId": frame.id,
    })
}

fn last(answer: &Answer, frame: &Frame<'_>, parts: Vec<Value>) -> Value {
    let parts = if parts.is_empty() { vec![json!({"text": ""})] } else { parts };
    let mut chunk = chunk(frame, parts);
    chunk["candidates"][0]["finishReason"] = word(answer).into();
    chunk["usageMetadata"] = usage(answer.usage);
    chunk
}

fn parts(answer: &Answer) -> Vec<Value> {
    let part = |piece| match piece {
        Piece::Text(text) => json!({"text": text}),
        Piece::Reasoning(_, Some(raw)) => raw.clone(),
        Piece::Reasoning(text, None) => json!({"text": text, "thought": true}),
        Piece::Call(own) => call(&own),
    };
    pieces(answer, FORMAT).into_iter().map(part).collect()
}

fn call(own: &Call<'_>) -> Value {
    let raw = own.raw.filter(|raw| raw.is_object()).cloned();
    let mut part = raw.unwrap_or_else(|| json!({}));
    if !part.get("functionCall").is_some_and(Value::is_object) {
        part["functionCall"] = json!({});
    }
    let function = &mut part["functionCall"];
    function["id"] = own.id.into();
    function["name"] = own.name.into();
    function["args"] = Value::Object(arguments::object(own.arguments));
    part
}

fn word(answer: &Answer) -> &'static str {
    match answer.stop {
        Some(StopReason::Length | StopReason::TimeLimit | StopReason::InsufficientContext) => {
            "MAX_TOKENS"
        }
        Some(StopReason::Interrupted) => "SAFETY",
        Some(StopReason::Error) => "OTHER",
        _ => "STOP",
    }
}

fn usage(tokens: Tokens) -> Value {
    let mut usage = json!({
        "promptTokenCount": tokens.input,
        // Thoughts are counted apart.
        "candidatesTokenCount": tokens.output.saturating_sub(tokens.reasoning),
        "totalTokenCount": tokens.input.saturating_add(tokens.output),
    });
    if tokens.reasoning > 0 {
        usage["thoughtsTokenCount"] = tokens.reasoning.into();
    }
    if tokens.cached_input > 0 {
        usage["cachedContentTokenCount"] = tokens.cached_input.into();
    }
    usage
}
