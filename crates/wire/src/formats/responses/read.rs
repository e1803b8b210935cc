//! Answers of Responses.

use serde_json::{Map, Value};

use crate::json::{count, holds_more, is_blank, made_id, take_list, take_text, text};
use crate::{Answer, Format, Part, Raw, Tokens};

const FORMAT: Format = Format::OpenAiResponses;

/// Fields that repeat the request or the time: a journal must not hold the tools at every step.
const NOISE: &[&str] = &[
    "background",
    "billing",
    "completed_at",
    "created_at",
    "frequency_penalty",
    "include",
    "input",
    "instructions",
    "max_output_tokens",
    "max_tool_calls",
    "metadata",
    "object",
    "parallel_tool_calls",
    "presence_penalty",
    "previous_response_id",
    "prompt",
    "prompt_cache_key",
    "prompt_cache_retention",
    "reasoning",
    "safety_identifier",
    "store",
    "temperature",
    "text",
    "tool_choice",
    "tools",
    "top_logprobs",
    "top_p",
    "truncation",
    "user",
    "output_text",
    "error",
];

pub(in crate::formats) fn read(mut body: Map<String, Value>) -> Result<Answer, &'static str> {
    let mut answer = Answer::empty();
    let status = take_text(&mut body, "status").unwrap_or_default();
    if status.is_empty() && !body.contains_key("output") {
        return Err("it has neither `status` nor `output`");
    }
    answer.id = take_text(&mut body, "id");
    answer.model = take_text(&mut body, "model");
    let usage = body.remove("usage").unwrap_or_default();
    answer.usage = Tokens {
        input: count(&usage, "/input_tokens"),
        output: count(&usage, "/output_tokens"),
        cached_input: count(&usage, "/input_tokens_details/cached_tokens"),
        cache_write: 0,
        reasoning: count(&usage, "/output_tokens_details/reasoning_tokens"),
        cost_nanodollars: 0,
    };
    let id = answer.id.clone().unwrap_or_default();
    for (index, item) in take_list(&mut body, "output").into_iter().enumerate() {
        read_item(item, index, &id, &mut answer.message.parts);
    }
    let why = body.remove("incomplete_details");
    let why = why.as_ref().map(|why| text(why, "reason")).filter(|why| !why.is_empty());
    match (status.as_str(), why) {
        ("in_progress" | "queued", _) => {}
        (status, why) => answer.stopped(why.unwrap_or(status)),
    }
    body.retain(|key, value| !NOISE.contains(&key.as_str()) && !is_blank(value));
    answer.extra = body;
    Ok(answer)
}

pub(super) fn read_item(item: Value, index: usize, answer: &str, parts: &mut Vec<Part>) {
    match text(&item, "type") {
        "message" => message(item, parts),
        "reasoning" => {
            let said = ["summary", "content"].map(|key| texts(&item, key));
            let said = said.into_iter().find(|said| !said.is_empty()).unwrap_or_default();
            parts.push(Part::Reasoning {
                text: said,
                raw: Some(Raw { format: FORMAT, value: item }),
            });
        }
        kind @ ("function_call" | "custom_tool_call") => {
            let free_form = kind == "custom_tool_call";
            let name = text(&item, "name").to_owned();
            let arguments = match item.get(if free_form { "input" } else { "arguments" }) {
                Some(Value::String(text)) => text.clone(),
                None | Some(Value::Null) => String::new(),
                Some(value) => value.to_string(),
            };
            let id = ["call_id", "id"].map(|key| text(&item, key));
            let id = match id.into_iter().find(|id| !id.is_empty()) {
                Some(id) => id.to_owned(),
                None => made_id(answer, index, &name, &arguments),
            };
            let known = ["type", "id", "status", "call_id", "name", "arguments"];
            let raw = holds_more(&item, &known).then_some(Raw { format: FORMAT, value: item });
            parts.push(Part::ToolCall { id, name, arguments, raw });
        }
        // Tools that the client runs and the provider has trained: they are named by their type.
        kind @ ("local_shell_call" | "shell_call" | "apply_patch_call") => {
            let name = kind.trim_end_matches("_call").to_owned();
            let asked = ["action", "operation"].into_iter().find_map(|key| item.get(key));
            let arguments = asked.map_or_else(|| "{}".to_owned(), Value::to_string);
            let id = ["call_id", "id"].map(|key| text(&item, key));
            let id = match id.into_iter().find(|id| !id.is_empty()) {
                Some(id) => id.to_owned(),
                None => made_id(answer, index, &name, &arguments),
            };
            let raw = Some(Raw { format: FORMAT, value: item });
            parts.push(Part::ToolCall { id, name, arguments, raw });
        }
        _ => parts.push(Part::Other { format: FORMAT, value: item }),
    }
}

/// The texts of a list of `{"text": …}`, joined by blank lines.
fn texts(item: &Value, key: &str) -> String {
    let list = item.get(key).and_then(Value::as_array);
    let texts: Vec<_> = list.into_iter().flatten().map(|one| text(one, "text")).collect();
    texts.join("\n\n")
}

/// A message is its text, and its own item as well where that holds more.
fn message(item: Value, parts: &mut Vec<Part>) {
    let blocks = item.get("content").and_then(Value::as_array);
    let mut said = String::new();
    let mut more = holds_more(&item, &["type", "id", "status", "role", "content"]);
    for block in blocks.into_iter().flatten() {
        said.push_str(match text(block, "type") {
            "refusal" => text(block, "refusal"),
            _ => text(block, "text"),
        });
        more |= text(block, "type") != "output_text"
            || holds_more(block, &["type", "text", "annotations", "logprobs"])
            || block.get("annotations").is_some_and(|list| !is_blank(list));
    }
    if !said.is_empty() {
        parts.push(Part::Text(said));
    }
    if more {
        parts.push(Part::Other { format: FORMAT, value: item });
    }
}
