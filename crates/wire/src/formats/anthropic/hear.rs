//! Messages of Anthropic as clients send them.

use serde_json::{Map, Value};

use super::read::read_block;
use crate::Part;
use crate::formats::told;
use crate::json::text;

/// The parts of a message; `place` tells calls without an id apart.
pub(in crate::formats) fn hear(mut message: Map<String, Value>, place: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    match message.remove("content") {
        Some(Value::String(said)) if !said.is_empty() => parts.push(Part::Text(said)),
        Some(Value::Array(blocks)) => {
            for (index, mut block) in blocks.into_iter().enumerate() {
                if text(&block, "type") == "tool_result" {
                    parts.push(result(block));
                    continue;
                }
                // Where a client marks the prompt cache says nothing about the block.
                if let Some(block) = block.as_object_mut() {
                    block.remove("cache_control");
                }
                read_block(block, index, place, &mut parts);
            }
        }
        _ => {}
    }
    parts
}

fn result(mut block: Value) -> Part {
    let content = told(block.get_mut("content").map(Value::take));
    Part::ToolResult {
        call_id: text(&block, "tool_use_id").to_owned(),
        name: String::new(),
        content,
        is_error: block.get("is_error") == Some(&Value::Bool(true)),
    }
}
