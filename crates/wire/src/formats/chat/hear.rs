//! Messages of Chat Completions as clients send them.

use serde_json::{Map, Value};

use super::read::{block, parts};
use crate::Part;
use crate::formats::told;
use crate::json::take_text;

/// The parts of a message; `place` tells calls without an id apart.
pub(in crate::formats) fn hear(mut message: Map<String, Value>, place: &str) -> Vec<Part> {
    let role = take_text(&mut message, "role").unwrap_or_default();
    match role.as_str() {
        "assistant" => parts(message, place),
        "tool" | "function" => vec![Part::ToolResult {
            call_id: take_text(&mut message, "tool_call_id").unwrap_or_default(),
            name: take_text(&mut message, "name").unwrap_or_default(),
            content: told(message.remove("content")),
            is_error: false,
        }],
        _ => {
            let mut parts = Vec::new();
            match message.remove("content") {
                Some(Value::Array(blocks)) => {
                    blocks.into_iter().for_each(|own| said(own, &mut parts));
                }
                Some(Value::String(text)) if !text.is_empty() => parts.push(Part::Text(text)),
                _ => {}
            }
            parts
        }
    }
}

/// A block of what a client says. Texts of their own stay apart, unlike those of a stream.
fn said(mut own: Value, parts: &mut Vec<Part>) {
    if let Some(own) = own.as_object_mut() {
        // Where a client marks the prompt cache says nothing about the block.
        own.remove("cache_control");
    }
    let mut read = Vec::new();
    block(own, &mut read);
    parts.append(&mut read);
}
