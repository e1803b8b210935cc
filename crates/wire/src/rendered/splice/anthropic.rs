//! Streams of Anthropic Messages: blocks are numbered on, the last usage is the sum.

use serde_json::{Value, json};

use super::seam::{Seam, add, has_any, object_at, update, values};
use crate::json::{is_blank, text};

#[derive(Debug, Default)]
pub(super) struct Anthropic {
    /// What the first stream told at its beginning.
    first: Value,
    /// How many blocks the client has.
    blocks: u64,
    /// How many of them came from the streams before this one.
    before: u64,
    /// What those streams used.
    usage: Value,
    /// What this stream told at its beginning.
    begun: Value,
}

impl Seam for Anthropic {
    fn is_end(&self, frame: &[u8]) -> bool {
        let ends = |event: Value| matches!(text(&event, "type"), "message_delta" | "message_stop");
        has_any(frame, &["message_delta", "message_stop"]) && values(frame).any(ends)
    }

    fn note(&mut self, frame: &[u8]) {
        if !has_any(frame, &["message_start", "content_block_start"]) {
            return;
        }
        for mut event in values(frame) {
            match text(&event, "type") {
                "message_start" => {
                    if let Some(usage) = event.pointer_mut("/message/usage") {
                        self.first = usage.take();
                    }
                }
                "content_block_start" => {
                    let index = event.get("index").and_then(Value::as_u64).unwrap_or(0);
                    self.blocks = self.blocks.max(index.saturating_add(1));
                }
                _ => {}
            }
        }
    }

    fn turn(&mut self, held: Vec<Value>) -> Vec<Value> {
        self.usage = self.first.clone();
        for event in held {
            if let Some(usage) = event.get("usage") {
                update(&mut self.usage, usage);
            }
        }
        self.before = self.blocks;
        self.begun = Value::Null;
        Vec::new()
    }

    fn adapt(&mut self, mut event: Value) -> Option<Value> {
        match text(&event, "type") {
            "message_start" => {
                if let Some(message) = object_at(&mut event, "message") {
                    self.begun = message.remove("usage").unwrap_or_default();
                }
                return None;
            }
            "message_delta" => {
                let mut usage = std::mem::take(&mut self.begun);
                if let Some(own) = event.get("usage") {
                    update(&mut usage, own);
                }
                // It may be told more than once, always as it stands.
                self.begun = usage.clone();
                add(&mut usage, &self.usage);
                if !is_blank(&usage) {
                    event["usage"] = usage;
                }
            }
            _ => {
                if let Some(index) = event.get("index").and_then(Value::as_u64) {
                    event["index"] = json!(index.saturating_add(self.before));
                }
            }
        }
        Some(event)
    }
}
