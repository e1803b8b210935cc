//! Requests of Responses.

use serde_json::{Map, Value, json};

use super::super::{fields, temperature};
use crate::dialogue::{Returned, Said, Turn, turns};
use crate::{Format, Message, Part, Raw, Request, ToolChoice, arguments};

const FORMAT: Format = Format::OpenAiResponses;

/// Nothing is stored at the server: the whole conversation goes with every request, reasoning
/// included in encrypted form.
pub(in crate::formats) fn write(request: &Request<'_>) -> Map<String, Value> {
    let input = items(request.messages);
    let mut body = fields(json!({"model": request.model, "input": input, "store": false}));
    if !request.system.is_empty() {
        body.insert("instructions".into(), request.system.into());
    }
    if reasons(request.model) {
        body.insert("include".into(), json!(["reasoning.encrypted_content"]));
    }
    if let Some(limit) = request.max_output_tokens {
        body.insert("max_output_tokens".into(), limit.into());
    }
    if let Some(number) = request.temperature {
        body.insert("temperature".into(), temperature(number));
    }
    if request.stream {
        body.insert("stream".into(), true.into());
    }
    if let Some(schema) = request.schema {
        let format = json!({
            "type": "json_schema", "name": schema.name,
            "schema": schema.schema, "strict": schema.strict,
        });
        body.insert("text".into(), json!({"format": format}));
    }
    if !request.tools.is_empty() {
        let tools = request.tools.iter().map(|tool| {
            // Without a word the API takes schemas for strict ones, and refuses most.
            json!({
                "type": "function", "name": tool.name, "description": tool.description,
                "parameters": tool.parameters, "strict": false,
            })
        });
        body.insert("tools".into(), tools.collect());
        match request.tool_choice {
            ToolChoice::Auto => None,
            ToolChoice::None => body.insert("tool_choice".into(), "none".into()),
            ToolChoice::Required => body.insert("tool_choice".into(), "required".into()),
        };
        if let Some(parallel) = request.parallel_tool_calls {
            body.insert("parallel_tool_calls".into(), parallel.into());
        }
    }
    body
}

/// Whether a model may reason: `OpenAI`'s older ones refuse to be asked for encrypted reasoning.
fn reasons(model: &str) -> bool {
    let model = model.rsplit('/').next().unwrap_or(model);
    !["gpt-3", "gpt-4", "chatgpt"].iter().any(|name| model.starts_with(name))
}

pub(in crate::formats) fn items(conversation: &[Message]) -> Vec<Value> {
    let mut items = Vec::new();
    for turn in turns(conversation) {
        match turn {
            Turn::User(said) => items.push(user(&said)),
            Turn::Assistant(parts) => reply(&parts, &mut items),
            Turn::Results(results) => items.extend(results.iter().map(result)),
        }
    }
    items
}

fn user(said: &[Said<'_>]) -> Value {
    let content = said.iter().filter_map(|said| match said {
        Said::Part(Part::Text(text)) => Some(json!({"type": "input_text", "text": text})),
        Said::Orphan(text) => Some(json!({"type": "input_text", "text": text})),
        Said::Part(Part::Other { format: FORMAT, value }) => Some(value.clone()),
        Said::Part(_) => None,
    });
    json!({"type": "message", "role": "user", "content": content.collect::<Vec<_>>()})
}

/// The items of a reply. Ids and states are left out: without a store the server knows no ids,
/// and it demands the reasoning beside every call that has one.
fn reply(parts: &[&Part], items: &mut Vec<Value>) {
    for part in parts {
        match part {
            Part::Text(text) if text.is_empty() => {}
            Part::Text(text) => items.push(json!({
                "type": "message", "role": "assistant",
                "content": [{"type": "output_text", "text": text}],
            })),
            Part::Reasoning { raw: Some(Raw { format: FORMAT, value }), .. } => {
                let sent =
                    |key: &str| value.get(key).is_some_and(|own| !crate::json::is_blank(own));
                // What is neither encrypted nor told in full cannot be looked up without a store.
                if sent("encrypted_content") || sent("content") {
                    items.push(value.clone());
                }
            }
            Part::ToolCall { id, name, arguments, raw } => {
                items.push(call(id, name, arguments, raw.as_ref()));
            }
            Part::Other { format: FORMAT, value } => {
                let message = value.get("type").and_then(Value::as_str) == Some("message");
                if message && items.last().is_some_and(is_reply_text) {
                    items.pop();
                }
                items.push(if message { without_id(value.clone()) } else { value.clone() });
            }
            Part::Reasoning { .. } | Part::Other { .. } | Part::ToolResult { .. } => {}
        }
    }
}

fn is_reply_text(item: &Value) -> bool {
    item.get("role").and_then(Value::as_str) == Some("assistant")
}

fn without_id(mut item: Value) -> Value {
    if let Some(item) = item.as_object_mut() {
        item.remove("id");
        item.remove("status");
    }
    item
}

/// The type of a call whose item is not a plain function's.
fn kind_of(raw: Option<&Value>) -> &str {
    raw.and_then(|raw| raw.get("type")?.as_str()).unwrap_or("function_call")
}

fn call(id: &str, name: &str, written: &str, raw: Option<&Raw>) -> Value {
    let raw = raw.and_then(|raw| raw.of(FORMAT));
    let mut call = without_id(raw.cloned().unwrap_or_else(|| json!({"type": "function_call"})));
    call["call_id"] = id.into();
    call["name"] = name.into();
    match kind_of(raw) {
        "function_call" => call["arguments"] = arguments::json_text(written).into(),
        "custom_tool_call" => call["input"] = written.into(),
        // The whole call is in the item, under fields of its own.
        _ => return without_name(call),
    }
    call
}

fn without_name(mut call: Value) -> Value {
    if let Some(call) = call.as_object_mut() {
        call.remove("name");
    }
    call
}

fn result(result: &Returned<'_>) -> Value {
    let raw = match result.call {
        Part::ToolCall { raw: Some(raw), .. } => raw.of(FORMAT),
        _ => None,
    };
    let kind = format!("{}_output", kind_of(raw));
    json!({"type": kind, "call_id": result.id, "output": result.content})
}
