//! Contents of Gemini as clients send them.

use serde_json::{Map, Value};

use super::assemble::join;
use super::read::read_part;
use crate::Part;
use crate::formats::told;
use crate::json::{is_blank, take_list, text};

/// Spellings of proto fields that the API takes as well.
const SPELLINGS: &[(&str, &str)] = &[
    ("function_call", "functionCall"),
    ("function_response", "functionResponse"),
    ("thought_signature", "thoughtSignature"),
    ("inline_data", "inlineData"),
];

/// The parts of a content; `place` tells calls without an id apart.
pub(in crate::formats) fn hear(mut content: Map<String, Value>, place: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut own: Vec<_> = take_list(&mut content, "parts").into_iter().map(spelled).collect();
    if text(&Value::Object(content), "role") == "model" {
        own = join(own);
    }
    for (index, mut part) in own.into_iter().enumerate() {
        match part.get_mut("functionResponse").map(Value::take) {
            Some(response) => parts.push(result(response)),
            None => read_part(part, index, place, &mut parts),
        }
    }
    parts
}

fn spelled(mut part: Value) -> Value {
    if let Some(part) = part.as_object_mut() {
        for (from, to) in SPELLINGS {
            if let Some(value) = part.remove(*from) {
                part.insert((*to).to_owned(), value);
            }
        }
    }
    part
}

fn result(mut response: Value) -> Part {
    let told_as = response.get_mut("response").map(Value::take).unwrap_or_default();
    let is_error = told_as.get("error").is_some_and(|error| !is_blank(error));
    Part::ToolResult {
        call_id: text(&response, "id").to_owned(),
        name: text(&response, "name").to_owned(),
        content: said(told_as),
        is_error,
    }
}

/// What the model reads of a response: the one text in it, or all of it as JSON.
fn said(response: Value) -> String {
    match response {
        Value::Object(object) if object.len() == 1 => match object.into_iter().next() {
            Some((_, Value::String(only))) => only,
            Some((key, value)) => Value::Object(Map::from_iter([(key, value)])).to_string(),
            None => String::new(),
        },
        other => told(Some(other)),
    }
}
