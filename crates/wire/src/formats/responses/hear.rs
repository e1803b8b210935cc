//! Items of Responses as clients send them.

use serde_json::{Map, Value};

use super::read::read_item;
use crate::formats::told;
use crate::json::{holds_more, take_text, text};
use crate::{Format, Part};

const FORMAT: Format = Format::OpenAiResponses;

/// The parts of an item; `place` tells calls without an id apart.
pub(in crate::formats) fn hear(mut item: Map<String, Value>, place: &str) -> Vec<Part> {
    let kind = item.get("type").and_then(Value::as_str).unwrap_or("message").to_owned();
    let mut parts = Vec::new();
    if kind.ends_with("_output") && item.contains_key("output") {
        parts.push(Part::ToolResult {
            call_id: take_text(&mut item, "call_id").unwrap_or_default(),
            name: take_text(&mut item, "name").unwrap_or_default(),
            content: told(item.remove("output")),
            is_error: false,
        });
    } else if kind == "message" {
        said(item, place, &mut parts);
    } else {
        read_item(Value::Object(item), 0, place, &mut parts);
    }
    parts
}

/// A message of the model is read like an answer's; another one by its blocks.
fn said(mut item: Map<String, Value>, place: &str, parts: &mut Vec<Part>) {
    let by_model = item.get("role").and_then(Value::as_str) == Some("assistant");
    match item.get_mut("content").map(Value::take) {
        Some(Value::String(text)) if !text.is_empty() => parts.push(Part::Text(text)),
        Some(Value::Array(blocks)) if !by_model => {
            for block in blocks {
                let plain = text(&block, "type") == "input_text";
                if plain && !holds_more(&block, &["type", "text"]) {
                    parts.push(Part::Text(text(&block, "text").to_owned()));
                } else {
                    parts.push(Part::Other { format: FORMAT, value: block });
                }
            }
        }
        Some(content @ Value::Array(_)) => {
            item.insert("content".to_owned(), content);
            item.insert("type".to_owned(), "message".into());
            read_item(Value::Object(item), 0, place, parts);
        }
        _ => {}
    }
}
