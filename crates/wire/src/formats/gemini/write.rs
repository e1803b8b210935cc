//! Requests of Gemini.

use serde_json::{Map, Value, json};

use super::super::{fields, temperature};
use super::schema::adapt;
use crate::dialogue::{Returned, Said, Turn, turns};
use crate::{Format, Message, Part, Raw, Request, ToolChoice, arguments};

const FORMAT: Format = Format::Gemini;

pub(in crate::formats) fn write(request: &Request<'_>) -> Map<String, Value> {
    let mut body = fields(json!({"contents": items(request.messages)}));
    if !request.system.is_empty() {
        let parts = json!([{"text": request.system}]);
        body.insert("systemInstruction".into(), json!({"parts": parts}));
    }
    let mut generation = Map::new();
    if let Some(limit) = request.max_output_tokens {
        generation.insert("maxOutputTokens".into(), limit.into());
    }
    if let Some(number) = request.temperature {
        generation.insert("temperature".into(), temperature(number));
    }
    if let Some(schema) = request.schema {
        generation.insert("responseMimeType".into(), "application/json".into());
        generation.insert("responseJsonSchema".into(), schema.schema.clone());
    }
    if !generation.is_empty() {
        body.insert("generationConfig".into(), generation.into());
    }
    if !request.tools.is_empty() {
        let declared = request.tools.iter().map(|tool| {
            let mut own = json!({"name": tool.name, "description": tool.description});
            // An object without properties is refused; no parameters at all are fine.
            if let Some(schema) = adapt(&tool.parameters) {
                own["parameters"] = schema;
            }
            own
        });
        let declared: Vec<_> = declared.collect();
        body.insert("tools".into(), json!([{"functionDeclarations": declared}]));
        let mode = match request.tool_choice {
            ToolChoice::Auto => None,
            ToolChoice::None => Some("NONE"),
            ToolChoice::Required => Some("ANY"),
        };
        if let Some(mode) = mode {
            let config = json!({"functionCallingConfig": {"mode": mode}});
            body.insert("toolConfig".into(), config);
        }
    }
    body
}

/// Contents in turns: results and what the user says next are one content, results first.
pub(in crate::formats) fn items(conversation: &[Message]) -> Vec<Value> {
    let mut contents: Vec<(&str, Vec<Value>)> = Vec::new();
    for turn in turns(conversation) {
        let (role, parts) = match turn {
            Turn::User(said) => ("user", said.iter().filter_map(user).collect()),
            Turn::Assistant(parts) => ("model", reply(&parts)),
            Turn::Results(results) => ("user", results.iter().map(result).collect()),
        };
        match contents.last_mut() {
            _ if parts.is_empty() => {}
            Some((last, kept)) if *last == role => kept.extend(parts),
            _ => contents.push((role, parts)),
        }
    }
    contents.into_iter().map(|(role, parts)| json!({"role": role, "parts": parts})).collect()
}

fn user(said: &Said<'_>) -> Option<Value> {
    match said {
        Said::Part(Part::Text(text)) => Some(json!({"text": text})),
        Said::Orphan(text) => Some(json!({"text": text})),
        Said::Part(Part::Other { format: FORMAT, value }) => Some(value.clone()),
        Said::Part(_) => None,
    }
}

fn reply(parts: &[&Part]) -> Vec<Value> {
    let mut own: Vec<Value> = Vec::new();
    for part in parts {
        match part {
            Part::Text(text) if text.is_empty() => {}
            Part::Text(text) => own.push(json!({"text": text})),
            Part::Reasoning { raw: Some(Raw { format: FORMAT, value }), .. } => {
                own.push(value.clone());
            }
            Part::ToolCall { id, name, arguments, raw } => {
                own.push(call(id, name, arguments, raw.as_ref()));
            }
            Part::Other { format: FORMAT, value } => {
                let is_text = |part: &Value| part.get("text").is_some_and(Value::is_string);
                let said = |part: &Value| part.get("text").cloned();
                if is_text(value) && own.last().is_some_and(|last| said(last) == said(value)) {
                    own.pop();
                }
                own.push(value.clone());
            }
            Part::Reasoning { .. } | Part::Other { .. } | Part::ToolResult { .. } => {}
        }
    }
    own
}

/// The part as the server sent it: signatures stand beside the call and must come back with it.
fn call(id: &str, name: &str, written: &str, raw: Option<&Raw>) -> Value {
    let raw = raw.and_then(|raw| raw.of(FORMAT)).and_then(Value::as_object);
    let mut part = raw.cloned().unwrap_or_default();
    let function = part.entry("functionCall").or_insert_with(|| json!({}));
    function["name"] = name.into();
    function["args"] = Value::Object(arguments::object(written));
    if function.get("id").is_some() {
        function["id"] = id.into();
    }
    Value::Object(part)
}

/// Results are joined to calls by name and order, and by id only where the server sent one.
fn result(result: &Returned<'_>) -> Value {
    let key = if result.is_error { "error" } else { "output" };
    let mut response = json!({"response": {key: result.content}});
    if let Part::ToolCall { name, raw, .. } = result.call {
        response["name"] = if name.is_empty() { result.name.into() } else { name.as_str().into() };
        let raw = raw.as_ref().and_then(|raw| raw.of(FORMAT));
        if raw.is_some_and(|raw| raw.pointer("/functionCall/id").is_some()) {
            response["id"] = result.id.into();
        }
    }
    json!({"functionResponse": response})
}
