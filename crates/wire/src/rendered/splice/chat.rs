//! Streams of Chat Completions: same id, no second role, usage in the last chunk of all.

use serde_json::{Map, Value, json};

use super::seam::{Seam, add, has_any, may_tell, values};
use crate::json::{is_blank, text};

/// How many events are searched for the id; the first may come without one.
const SEARCHED: u8 = 8;

/// Fields that every chunk of one answer has alike.
const ALIKE: &[&str] = &["id", "created"];

#[derive(Debug, Default)]
pub(super) struct Chat {
    /// The first stream's fields that all chunks have alike.
    head: Map<String, Value>,
    searched: u8,
    /// What the streams before this one used; null if they did not say.
    usage: Value,
    /// Whether this stream told its usage.
    told: bool,
    /// The model of this stream.
    model: Value,
}

impl Seam for Chat {
    fn is_end(&self, frame: &[u8]) -> bool {
        (may_tell(frame, "_reason") && values(frame).any(|event| ends(&event)))
            || (has_any(frame, &["\"done\""]) && values(frame).any(|event| event["done"] == true))
            || (has_any(frame, &["[DONE]"])
                && super::events(frame).iter().any(|event| event.data == b"[DONE]"))
    }

    fn note(&mut self, frame: &[u8]) {
        if self.searched >= SEARCHED {
            return;
        }
        for mut event in values(frame) {
            self.searched += 1;
            if !text(&event, "id").is_empty() {
                self.searched = SEARCHED;
                for key in ALIKE {
                    let value = event[*key].take();
                    if !value.is_null() {
                        self.head.insert((*key).to_owned(), value);
                    }
                }
                return;
            }
        }
    }

    fn turn(&mut self, held: Vec<Value>) -> Vec<Value> {
        self.told = false;
        self.searched = SEARCHED;
        held.into_iter().filter_map(|event| self.unfinished(event)).collect()
    }

    fn adapt(&mut self, mut event: Value) -> Option<Value> {
        let fields = event.as_object_mut()?;
        for (key, value) in &self.head {
            if fields.contains_key(key) {
                fields.insert(key.clone(), value.clone());
            }
        }
        if let Some(model) = fields.get("model") {
            self.model = model.clone();
        }
        let mut says = fields.contains_key("error");
        if let Some(usage) = fields.get_mut("usage").filter(|usage| !is_blank(usage)) {
            add(usage, &self.usage);
            self.told = true;
            says = true;
        }
        let mut silenced = false;
        let choices = fields.get_mut("choices").and_then(Value::as_array_mut);
        for choice in choices.into_iter().flatten() {
            let role = choice.get_mut("delta").and_then(Value::as_object_mut);
            silenced |= role.is_some_and(|delta| delta.remove("role").is_some());
            says |= speaks(choice) || !is_blank(&choice["finish_reason"]);
        }
        (says || !silenced).then_some(event)
    }

    fn before_done(&mut self) -> Option<Value> {
        if self.told || is_blank(&self.usage) {
            return None;
        }
        let mut chunk = json!({
            "object": "chat.completion.chunk",
            "model": self.model,
            "choices": [],
            "usage": self.usage,
        });
        for (key, value) in &self.head {
            chunk[key] = value.clone();
        }
        Some(chunk)
    }
}

impl Chat {
    /// The chunk without its end; `None` if nothing is left.
    fn unfinished(&mut self, mut event: Value) -> Option<Value> {
        let fields = event.as_object_mut()?;
        if let Some(usage) = fields.remove("usage").filter(|usage| !is_blank(usage)) {
            self.usage = usage;
        }
        let choices = fields.get_mut("choices")?.as_array_mut()?;
        for choice in choices.iter_mut().filter_map(Value::as_object_mut) {
            choice.insert("finish_reason".into(), Value::Null);
        }
        choices.retain(speaks);
        (!choices.is_empty()).then_some(event)
    }
}

/// Whether a choice adds anything to the message.
fn speaks(choice: &Value) -> bool {
    let delta = ["delta", "message"].iter().find_map(|key| choice.get(*key)?.as_object());
    let adds = |(key, value): (&String, &Value)| key != "role" && !is_blank(value);
    delta.is_some_and(|delta| delta.iter().any(adds)) || !text(choice, "text").is_empty()
}

/// Whether the first choice has its reason to stop, or the whole chunk.
fn ends(event: &Value) -> bool {
    let choices = event.get("choices").and_then(Value::as_array).into_iter().flatten();
    let first = |choice: &&Value| choice.get("index").and_then(Value::as_u64).unwrap_or(0) == 0;
    let stopped = |told: &Value| told.get("finish_reason").is_some_and(|why| !is_blank(why));
    choices.clone().filter(first).any(stopped)
        || ["finish_reason", "done_reason", "stop_reason"]
            .iter()
            .any(|key| !text(event, key).is_empty())
}
