//! Streams of Gemini: chunks as they come, usage in every one.

use serde_json::{Map, Value};

use super::seam::{Seam, add, has_any, may_tell, values};
use crate::json::{is_blank, text};

#[derive(Debug, Default)]
pub(super) struct Gemini {
    /// The last frame that tells usage. Every frame may: they are read only when it matters.
    usage_frame: Vec<u8>,
    /// What the streams before this one used; null if they did not say.
    usage: Value,
    /// Whether this stream told its usage.
    told: bool,
}

impl Seam for Gemini {
    fn is_end(&self, frame: &[u8]) -> bool {
        let may = ["finishReason", "blockReason"].iter().any(|key| may_tell(frame, key));
        may && values(frame).any(|mut event| chunk(&mut event).is_some_and(|chunk| ends(chunk)))
    }

    fn note(&mut self, frame: &[u8]) {
        if has_any(frame, &["usageMetadata"]) {
            self.usage_frame.clear();
            self.usage_frame.extend_from_slice(frame);
        }
    }

    fn turn(&mut self, held: Vec<Value>) -> Vec<Value> {
        let mut usage = Value::Null;
        let mut take = |event: &mut Value| {
            let told = chunk(event).and_then(|chunk| chunk.get("usageMetadata"));
            if let Some(told) = told.filter(|told| !is_blank(told)) {
                usage = told.clone();
            }
        };
        values(&self.usage_frame).for_each(|mut event| take(&mut event));
        let mut held = held;
        held.iter_mut().for_each(take);
        self.usage = usage;
        self.usage_frame.clear();
        self.told = false;
        held.retain_mut(|event| chunk(event).is_some_and(unfinish));
        held
    }

    fn adapt(&mut self, mut event: Value) -> Option<Value> {
        if let Some(chunk) = chunk(&mut event) {
            let ended = ends(chunk);
            match chunk.get_mut("usageMetadata") {
                Some(usage) if !is_blank(usage) => {
                    add(usage, &self.usage);
                    self.told = true;
                }
                _ if ended && !self.told && !is_blank(&self.usage) => {
                    chunk.insert("usageMetadata".into(), self.usage.clone());
                }
                _ => {}
            }
        }
        Some(event)
    }
}

/// The chunk itself; Code Assist servers wrap it.
pub(in crate::rendered) fn chunk(event: &mut Value) -> Option<&mut Map<String, Value>> {
    let wrapped = event.get("response").is_some_and(Value::is_object);
    let chunk = if wrapped { event.get_mut("response")? } else { event };
    chunk.as_object_mut()
}

fn ends(chunk: &Map<String, Value>) -> bool {
    let candidates = chunk.get("candidates").and_then(Value::as_array);
    let first = candidates.and_then(|list| list.first());
    first.is_some_and(|first| !text(first, "finishReason").is_empty())
        || chunk.get("promptFeedback").is_some_and(|told| !text(told, "blockReason").is_empty())
}

/// Takes the end out of a chunk and tells whether anything is left that the client must have.
fn unfinish(chunk: &mut Map<String, Value>) -> bool {
    let candidates = chunk.get_mut("candidates").and_then(Value::as_array_mut);
    let Some(Value::Object(first)) = candidates.and_then(|list| list.first_mut()) else {
        return false;
    };
    first.retain(|key, _| !["finishReason", "finishMessage"].contains(&key.as_str()));
    let parts = first.get("content").and_then(|content| content.get("parts"));
    let says = |part: &Value| {
        part.as_object().is_some_and(|part| {
            part.iter().any(|(key, value)| key != "thought" && !is_blank(value))
        })
    };
    parts.and_then(Value::as_array).is_some_and(|parts| parts.iter().any(says))
}
