//! Streams of Responses.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::Delta;
use crate::failure::Reported;
use crate::formats::Assemble;
use crate::json::{append, is_blank, text};

/// Blocks of one item that are kept; the indexes are the server's.
const MAX_BLOCKS: usize = 4096;

/// The body so far.
#[derive(Debug, Default)]
pub(in crate::formats) struct Assembly {
    response: Map<String, Value>,
    items: BTreeMap<u64, Value>,
    /// The item of each call, in order.
    calls: Vec<u64>,
    ended: bool,
}

impl Assemble for Assembly {
    fn take(&mut self, event: Value, deltas: &mut Vec<Delta>) -> Result<(), Reported> {
        let kind = text(&event, "type").to_owned();
        if kind == "error" || event.get("error").is_some_and(|error| !is_blank(error)) {
            return Err(Reported::read(&event));
        }
        let Value::Object(mut event) = event else { return Ok(()) };
        let at = event.get("output_index").and_then(Value::as_u64).unwrap_or(0);
        match kind.as_str() {
            "response.failed" => {
                let response = event.remove("response").unwrap_or_default();
                return Err(Reported::read(&response));
            }
            "response.output_item.added" => {
                if let Some(item) = event.remove("item") {
                    self.begin(at, item, deltas);
                }
            }
            "response.output_item.done" => {
                if let Some(item) = event.remove("item") {
                    if !self.items.contains_key(&at) {
                        self.begin(at, item.clone(), deltas);
                    }
                    self.items.insert(at, item);
                }
            }
            "response.completed"
            | "response.incomplete"
            | "response.done"
            | "response.cancelled" => {
                self.ended = true;
                self.response(event.remove("response"));
            }
            _ if event.contains_key("response") => self.response(event.remove("response")),
            _ => self.delta(&kind, at, &event, deltas),
        }
        Ok(())
    }

    fn mark_done(&mut self) {}

    fn is_whole(&self) -> bool {
        self.ended
    }

    fn is_done(&self) -> bool {
        self.ended
    }

    fn value(&self) -> Value {
        let mut body = self.response.clone();
        // Some servers leave the output of the last event empty.
        if body.get("output").is_none_or(is_blank) {
            body.insert("output".into(), self.items.values().cloned().collect());
        }
        Value::Object(body)
    }
}

impl Assembly {
    fn response(&mut self, response: Option<Value>) {
        if let Some(Value::Object(response)) = response {
            self.response.extend(response);
        }
    }

    fn begin(&mut self, at: u64, item: Value, deltas: &mut Vec<Delta>) {
        if matches!(text(&item, "type"), "function_call" | "custom_tool_call") {
            let name = text(&item, "name").to_owned();
            deltas.push(Delta::ToolCallStarted { index: self.calls.len(), name });
            self.calls.push(at);
        }
        self.items.insert(at, item);
    }

    fn delta(&mut self, kind: &str, at: u64, event: &Map<String, Value>, deltas: &mut Vec<Delta>) {
        let Some(more) = event.get("delta").and_then(Value::as_str) else { return };
        let Some(Value::Object(item)) = self.items.get_mut(&at) else { return };
        let more = more.to_owned();
        let number = |key: &str| event.get(key).and_then(Value::as_u64);
        match kind {
            "response.output_text.delta" => {
                extend(item, "content", number("content_index"), ("output_text", "text"), &more);
                deltas.push(Delta::Text(more));
            }
            "response.refusal.delta" => {
                extend(item, "content", number("content_index"), ("refusal", "refusal"), &more);
                deltas.push(Delta::Text(more));
            }
            "response.reasoning_summary_text.delta" => {
                extend(item, "summary", number("summary_index"), ("summary_text", "text"), &more);
                deltas.push(Delta::Reasoning(more));
            }
            "response.reasoning_text.delta" => {
                extend(item, "content", number("content_index"), ("reasoning_text", "text"), &more);
                deltas.push(Delta::Reasoning(more));
            }
            "response.function_call_arguments.delta" | "response.custom_tool_call_input.delta" => {
                let free_form = kind == "response.custom_tool_call_input.delta";
                append(item, if free_form { "input" } else { "arguments" }, &more);
                let index = self.calls.iter().position(|call| *call == at).unwrap_or(0);
                deltas.push(Delta::Arguments { index, text: more });
            }
            _ => {}
        }
    }
}

/// Appends to a block of the list at `key`, which is made where it is not there yet.
fn extend(
    item: &mut Map<String, Value>,
    key: &str,
    at: Option<u64>,
    (kind, field): (&str, &str),
    more: &str,
) {
    let list = item.entry(key).or_insert_with(|| json!([]));
    let Value::Array(list) = list else { return };
    let at = at.and_then(|at| usize::try_from(at).ok()).unwrap_or(0).min(MAX_BLOCKS);
    while list.len() <= at {
        list.push(json!({"type": kind, field: ""}));
    }
    if let Value::Object(block) = &mut list[at] {
        append(block, field, more);
    }
}
