//! Requests of Anthropic Messages.

use serde_json::{Map, Value, json};

use super::super::{fields, temperature};
use crate::dialogue::{Returned, Said, Turn, turns};
use crate::{Format, Message, Part, Raw, Request, ToolChoice, arguments};

const FORMAT: Format = Format::Anthropic;

/// What is asked for where the caller does not say: the API demands a number, and every model
/// since 2024 can give as many.
const MAX_TOKENS: u32 = 8192;

pub(in crate::formats) fn write(request: &Request<'_>) -> Map<String, Value> {
    let mut body = fields(json!({
        "model": request.model,
        "max_tokens": request.max_output_tokens.unwrap_or(MAX_TOKENS),
    }));
    if let Some(number) = request.temperature {
        body.insert("temperature".into(), temperature(number));
    }
    if request.stream {
        body.insert("stream".into(), true.into());
    }
    if let Some(schema) = request.schema {
        let format = json!({"type": "json_schema", "schema": schema.schema});
        body.insert("output_config".into(), json!({"format": format}));
    }
    let mut tools: Vec<_> = request
        .tools
        .iter()
        .map(|tool| {
            let schema = if tool.parameters.is_object() {
                tool.parameters.clone()
            } else {
                json!({"type": "object"})
            };
            json!({"name": tool.name, "description": tool.description, "input_schema": schema})
        })
        .collect();
    let mut system: Vec<_> = Some(request.system)
        .filter(|text| !text.trim().is_empty())
        .map(|text| json!({"type": "text", "text": text}))
        .into_iter()
        .collect();
    let mut messages = items(request.messages);
    if request.cache {
        // A mark covers all before it; tools come before the system prompt.
        mark(if system.is_empty() { &mut tools } else { &mut system });
        if let Some(Value::Array(content)) =
            messages.last_mut().and_then(|last| last.get_mut("content"))
        {
            mark(content);
        }
    }
    if !system.is_empty() {
        body.insert("system".into(), system.into());
    }
    if !tools.is_empty() {
        body.insert("tools".into(), tools.into());
        if let Some(choice) = tool_choice(request) {
            body.insert("tool_choice".into(), choice);
        }
    }
    body.insert("messages".into(), messages.into());
    body
}

/// Puts a cache mark on the last block that may carry one.
fn mark(blocks: &mut [Value]) {
    let may = |block: &&mut Value| {
        let kind = block.get("type").and_then(Value::as_str).unwrap_or_default();
        !matches!(kind, "thinking" | "redacted_thinking")
    };
    if let Some(Value::Object(block)) = blocks.iter_mut().rev().find(may) {
        block.insert("cache_control".into(), json!({"type": "ephemeral"}));
    }
}

fn tool_choice(request: &Request<'_>) -> Option<Value> {
    let one_by_one = request.parallel_tool_calls == Some(false);
    let mut choice = match request.tool_choice {
        ToolChoice::Auto if !one_by_one => return None,
        ToolChoice::Auto => json!({"type": "auto"}),
        ToolChoice::None => return Some(json!({"type": "none"})),
        ToolChoice::Required => json!({"type": "any"}),
    };
    if one_by_one {
        choice["disable_parallel_tool_use"] = true.into();
    }
    Some(choice)
}

/// Messages in turns: results and what the user says next are one message, results first.
pub(in crate::formats) fn items(conversation: &[Message]) -> Vec<Value> {
    let mut messages: Vec<(&str, Vec<Value>)> = Vec::new();
    for turn in turns(conversation) {
        let (role, blocks) = match turn {
            Turn::User(said) => ("user", said.iter().filter_map(user).collect()),
            Turn::Assistant(parts) => ("assistant", reply(&parts)),
            Turn::Results(results) => ("user", results.iter().map(result).collect()),
        };
        match messages.last_mut() {
            _ if blocks.is_empty() => {}
            Some((last, kept)) if *last == role => kept.extend(blocks),
            _ => messages.push((role, blocks)),
        }
    }
    if let Some(("assistant", blocks)) = messages.last_mut() {
        trim_end(blocks);
    }
    let message = |(role, content)| json!({"role": role, "content": content});
    messages.into_iter().map(message).collect()
}

/// The beginning of an answer must not end in white space.
fn trim_end(blocks: &mut [Value]) {
    if let Some(Value::String(text)) = blocks.last_mut().and_then(|block| block.get_mut("text")) {
        text.truncate(text.trim_end().len());
    }
}

fn text_block(text: &str) -> Option<Value> {
    // Blocks without a visible character are refused.
    (!text.trim().is_empty()).then(|| json!({"type": "text", "text": text}))
}

fn user(said: &Said<'_>) -> Option<Value> {
    match said {
        Said::Part(Part::Text(text)) => text_block(text),
        Said::Orphan(text) => text_block(text),
        Said::Part(Part::Other { format: FORMAT, value }) => Some(value.clone()),
        Said::Part(_) => None,
    }
}

fn reply(parts: &[&Part]) -> Vec<Value> {
    let mut blocks: Vec<Value> = Vec::new();
    for part in parts {
        match part {
            Part::Text(text) => blocks.extend(text_block(text)),
            Part::Reasoning { raw: Some(Raw { format: FORMAT, value }), .. } => {
                blocks.push(value.clone());
            }
            Part::ToolCall { id, name, arguments, raw } => {
                blocks.push(call(id, name, arguments, raw.as_ref()));
            }
            Part::Other { format: FORMAT, value } => {
                let is_text = |block: &Value| block.get("type") == Some(&"text".into());
                if is_text(value) && blocks.last().is_some_and(is_text) {
                    blocks.pop();
                }
                blocks.push(value.clone());
            }
            Part::Reasoning { .. } | Part::Other { .. } | Part::ToolResult { .. } => {}
        }
    }
    // A message must not end with thinking; alone it says nothing anyway.
    while blocks.last().is_some_and(is_thinking) {
        blocks.pop();
    }
    blocks
}

fn is_thinking(block: &Value) -> bool {
    let kind = block.get("type").and_then(Value::as_str).unwrap_or_default();
    matches!(kind, "thinking" | "redacted_thinking")
}

fn call(id: &str, name: &str, written: &str, raw: Option<&Raw>) -> Value {
    let raw = raw.and_then(|raw| raw.of(FORMAT)).cloned();
    let mut call = raw.unwrap_or_else(|| json!({"type": "tool_use"}));
    call["id"] = plain_id(id).into();
    call["name"] = name.into();
    call["input"] = Value::Object(arguments::object(written));
    call
}

fn result(result: &Returned<'_>) -> Value {
    let mut block = json!({"type": "tool_result", "tool_use_id": plain_id(result.id)});
    if !result.content.trim().is_empty() {
        block["content"] = result.content.into();
    }
    if result.is_error {
        block["is_error"] = true.into();
    }
    block
}

/// An id of the only characters that are taken; other servers make ids like `functions.bash:0`.
fn plain_id(id: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "_-".contains(c) { c } else { '_' };
    id.chars().map(plain).collect()
}
