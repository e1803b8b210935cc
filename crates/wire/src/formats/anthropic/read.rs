//! Answers of Anthropic Messages.

use serde_json::{Map, Value};

use crate::json::{count, holds_more, is_blank, made_id, take_list, take_text, text};
use crate::{Answer, Format, Part, Raw, Tokens};

const FORMAT: Format = Format::Anthropic;

pub(in crate::formats) fn read(mut body: Map<String, Value>) -> Result<Answer, &'static str> {
    let mut answer = Answer::empty();
    if !body.get("content").is_some_and(Value::is_array) {
        return Err("it has no `content`");
    }
    answer.id = take_text(&mut body, "id");
    answer.model = take_text(&mut body, "model");
    let usage = body.remove("usage").unwrap_or_default();
    let cached = count(&usage, "/cache_read_input_tokens");
    let fresh = count(&usage, "/input_tokens");
    let written = count(&usage, "/cache_creation_input_tokens");
    answer.usage = Tokens {
        // Cached tokens are counted apart.
        input: fresh.saturating_add(cached).saturating_add(written),
        output: count(&usage, "/output_tokens"),
        cached_input: cached,
        cache_write: written,
        reasoning: count(&usage, "/output_tokens_details/thinking_tokens"),
        cost_nanodollars: 0,
    };
    answer.stopped(&take_text(&mut body, "stop_reason").unwrap_or_default());
    let id = answer.id.clone().unwrap_or_default();
    for (index, block) in take_list(&mut body, "content").into_iter().enumerate() {
        read_block(block, index, &id, &mut answer.message.parts);
    }
    body.remove("type");
    body.remove("role");
    body.retain(|_, value| !is_blank(value));
    answer.extra = body;
    Ok(answer)
}

pub(super) fn read_block(block: Value, index: usize, answer: &str, parts: &mut Vec<Part>) {
    match text(&block, "type") {
        "text" => {
            let said = text(&block, "text").to_owned();
            if !said.is_empty() {
                parts.push(Part::Text(said));
            }
            if holds_more(&block, &["type", "text"]) {
                parts.push(Part::Other { format: FORMAT, value: block });
            }
        }
        "thinking" | "redacted_thinking" => {
            let said = text(&block, "thinking").to_owned();
            parts.push(Part::Reasoning {
                text: said,
                raw: Some(Raw { format: FORMAT, value: block }),
            });
        }
        "tool_use" => {
            let name = text(&block, "name").to_owned();
            let arguments = match block.get("input") {
                // What a stream left that is no JSON.
                Some(Value::String(text)) => text.clone(),
                None | Some(Value::Null) => "{}".to_owned(),
                Some(input) => input.to_string(),
            };
            let id = match text(&block, "id") {
                "" => made_id(answer, index, &name, &arguments),
                id => id.to_owned(),
            };
            let more = holds_more(&block, &["type", "id", "name", "input"]);
            let raw = more.then(|| Raw { format: FORMAT, value: without_input(block) });
            parts.push(Part::ToolCall { id, name, arguments, raw });
        }
        _ => parts.push(Part::Other { format: FORMAT, value: block }),
    }
}

/// The input is kept as the arguments already.
fn without_input(mut block: Value) -> Value {
    if let Some(block) = block.as_object_mut() {
        block.remove("input");
    }
    block
}
