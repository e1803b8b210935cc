//! Streams of Responses: items and events are numbered on, the last event holds the output of all.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::MAX_HELD_RESPONSES;
use super::seam::{Seam, add, has_any, object_at, values};
use crate::json::{is_blank, text};

const BEGINNINGS: &[&str] = &["response.created", "response.in_progress", "response.queued"];

const ENDS: &[&str] =
    &["response.completed", "response.incomplete", "response.done", "response.cancelled"];

/// Fields of the response that stay the first stream's.
const ALIKE: &[&str] = &["id", "created_at"];

#[derive(Debug, Default)]
pub(super) struct Responses {
    /// The first response's fields that stay.
    head: Map<String, Value>,
    /// The items of all streams by their place in the whole output.
    items: BTreeMap<u64, Value>,
    /// Bytes of the events that `items` came from; at most [`MAX_HELD_RESPONSES`].
    kept: usize,
    /// How many items the client knows of.
    known: u64,
    /// How many of them came from the streams before this one.
    before: u64,
    /// The output of those streams.
    output: Vec<Value>,
    /// What those streams used.
    usage: Value,
    /// The number of the next event; `None` if events have none.
    sequence: Option<u64>,
}

impl Seam for Responses {
    fn is_end(&self, frame: &[u8]) -> bool {
        // An answer whose items cannot be repeated cannot be continued.
        self.kept <= MAX_HELD_RESPONSES
            && has_any(frame, ENDS)
            && values(frame).any(|event| ENDS.contains(&text(&event, "type")))
    }

    fn note(&mut self, frame: &[u8]) {
        let begins = self.head.is_empty() && has_any(frame, BEGINNINGS);
        if !begins && !has_any(frame, &["response.output_item."]) {
            return;
        }
        for mut event in values(frame) {
            let place = event.get("output_index").and_then(Value::as_u64).unwrap_or(0);
            match text(&event, "type") {
                "response.output_item.added" => {
                    self.known = self.known.max(place.saturating_add(1))
                }
                "response.output_item.done" => {
                    self.known = self.known.max(place.saturating_add(1));
                    self.kept = self.kept.saturating_add(frame.len());
                    if self.kept > MAX_HELD_RESPONSES {
                        self.items.clear();
                    } else {
                        self.items.insert(place, event["item"].take());
                    }
                }
                kind if begins && BEGINNINGS.contains(&kind) => {
                    let told = event["response"].take();
                    let own = ALIKE.iter().filter_map(|key| Some((*key, told.get(*key)?)));
                    self.head = own.map(|(key, value)| (key.to_owned(), value.clone())).collect();
                }
                _ => {}
            }
        }
    }

    fn turn(&mut self, held: Vec<Value>) -> Vec<Value> {
        for mut event in held {
            if !ENDS.contains(&text(&event, "type")) {
                continue;
            }
            // The next event takes the number of the one that is dropped.
            self.sequence = event.get("sequence_number").and_then(Value::as_u64);
            let Some(response) = object_at(&mut event, "response") else { continue };
            self.usage = response.remove("usage").unwrap_or_default();
            self.output = match response.remove("output") {
                Some(Value::Array(output)) if !output.is_empty() => output,
                _ => self.items.values().cloned().collect(),
            };
        }
        self.before = self.known.max(self.output.len() as u64);
        Vec::new()
    }

    fn adapt(&mut self, mut event: Value) -> Option<Value> {
        let kind = text(&event, "type").to_owned();
        if BEGINNINGS.contains(&kind.as_str()) {
            return None;
        }
        if let Some(place) = event.get("output_index").and_then(Value::as_u64) {
            event["output_index"] = place.saturating_add(self.before).into();
        }
        if let (Some(next), Some(own)) = (&mut self.sequence, event.get_mut("sequence_number")) {
            *own = (*next).into();
            *next = next.saturating_add(1);
        }
        let ended = ENDS.contains(&kind.as_str());
        if let Some(response) = object_at(&mut event, "response") {
            response.extend(self.head.clone());
            if ended {
                self.finish(response);
            }
        }
        Some(event)
    }
}

impl Responses {
    /// Makes the last response that of all streams.
    fn finish(&self, response: &mut Map<String, Value>) {
        let mut output = self.output.clone();
        match response.remove("output") {
            Some(Value::Array(own)) if !own.is_empty() => output.extend(own),
            _ => output.extend(self.items.range(self.before..).map(|(_, item)| item.clone())),
        }
        response.insert("output".into(), output.into());
        let mut usage = response.remove("usage").unwrap_or_default();
        add(&mut usage, &self.usage);
        if !is_blank(&usage) {
            response.insert("usage".into(), usage);
        }
    }
}
