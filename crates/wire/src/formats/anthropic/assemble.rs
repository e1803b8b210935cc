//! Streams of Anthropic Messages.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::Delta;
use crate::failure::Reported;
use crate::formats::Assemble;
use crate::json::{MAX_DEPTH, append, is_shallow, text};

/// The body so far.
#[derive(Debug, Default)]
pub(in crate::formats) struct Assembly {
    message: Map<String, Value>,
    blocks: BTreeMap<u64, Block>,
    calls: usize,
    whole: bool,
    done: bool,
}

#[derive(Debug, Default)]
struct Block {
    fields: Map<String, Value>,
    /// JSON text of the input so far.
    input: String,
    /// Which call it is, if it is one.
    call: Option<usize>,
}

impl Assemble for Assembly {
    fn take(&mut self, event: Value, deltas: &mut Vec<Delta>) -> Result<(), Reported> {
        let kind = text(&event, "type").to_owned();
        if kind == "error" || event.get("error").is_some_and(|error| !error.is_null()) {
            return Err(Reported::read(&event));
        }
        let Value::Object(mut event) = event else { return Ok(()) };
        let at = event.get("index").and_then(Value::as_u64).unwrap_or(0);
        match kind.as_str() {
            "message_start" => {
                if let Some(Value::Object(message)) = event.remove("message") {
                    self.message = message;
                }
            }
            "content_block_start" => {
                if let Some(Value::Object(fields)) = event.remove("content_block") {
                    self.begin(at, fields, deltas);
                }
            }
            "content_block_delta" => {
                if let Some(Value::Object(delta)) = event.remove("delta") {
                    self.delta(at, delta, deltas);
                }
            }
            "message_delta" => self.message_delta(event),
            "message_stop" => {
                self.whole = true;
                self.done = true;
            }
            // Pings, ends of blocks, and events nobody knows.
            _ => {}
        }
        Ok(())
    }

    fn is_whole(&self) -> bool {
        self.whole
    }

    fn is_done(&self) -> bool {
        self.done
    }

    fn value(&self) -> Value {
        let mut body = self.message.clone();
        let content = self.blocks.values().map(|block| {
            let mut fields = block.fields.clone();
            if !block.input.is_empty() {
                let input = serde_json::from_str(&block.input);
                let fits = |input: &Value| input.is_object() && is_shallow(input, MAX_DEPTH - 4);
                let input = input.ok().filter(fits);
                fields.insert("input".into(), input.unwrap_or_else(|| block.input.clone().into()));
            }
            Value::Object(fields)
        });
        body.insert("content".into(), content.collect());
        Value::Object(body)
    }
}

impl Assembly {
    fn begin(&mut self, at: u64, fields: Map<String, Value>, deltas: &mut Vec<Delta>) {
        let told = |key: &str| fields.get(key).and_then(Value::as_str).unwrap_or_default();
        let mut block = Block::default();
        match told("type") {
            "text" if !told("text").is_empty() => deltas.push(Delta::Text(told("text").to_owned())),
            "thinking" if !told("thinking").is_empty() => {
                deltas.push(Delta::Reasoning(told("thinking").to_owned()));
            }
            "tool_use" => {
                let name = told("name").to_owned();
                deltas.push(Delta::ToolCallStarted { index: self.calls, name });
                block.call = Some(self.calls);
                self.calls += 1;
            }
            _ => {}
        }
        block.fields = fields;
        self.blocks.insert(at, block);
    }

    fn delta(&mut self, at: u64, delta: Map<String, Value>, deltas: &mut Vec<Delta>) {
        let block = self.blocks.entry(at).or_default();
        for (key, value) in delta {
            match (key.as_str(), value) {
                ("type", _) => {}
                ("partial_json", Value::String(more)) => {
                    block.input.push_str(&more);
                    if let (Some(index), false) = (block.call, more.is_empty()) {
                        deltas.push(Delta::Arguments { index, text: more });
                    }
                }
                // One citation of a list.
                ("citation", value) => {
                    let list = block.fields.entry("citations").or_insert_with(|| json!([]));
                    match list {
                        Value::Array(list) => list.push(value),
                        list => *list = json!([value]),
                    }
                }
                // Text, thinking, signatures, and whatever else comes in pieces.
                (_, Value::String(more)) => {
                    append(&mut block.fields, &key, &more);
                    match key.as_str() {
                        "text" => deltas.push(Delta::Text(more)),
                        "thinking" => deltas.push(Delta::Reasoning(more)),
                        _ => {}
                    }
                }
                (_, value) => {
                    block.fields.insert(key, value);
                }
            }
        }
    }

    fn message_delta(&mut self, mut event: Map<String, Value>) {
        if let Some(Value::Object(delta)) = event.remove("delta") {
            self.whole |= delta.get("stop_reason").is_some_and(Value::is_string);
            self.message.extend(delta);
        }
        if let Some(Value::Object(usage)) = event.remove("usage") {
            let kept = self.message.entry("usage").or_insert_with(|| json!({}));
            if let Value::Object(kept) = kept {
                kept.extend(usage.into_iter().filter(|(_, value)| !value.is_null()));
            }
        }
        // Fields beside the two belong to the message (context_management).
        event.remove("type");
        self.message.extend(event);
    }
}
