//! Where two streams of one answer meet.

use std::fmt::Debug;

use serde_json::{Map, Value};

use crate::json::is_blank;
use crate::rendered::event;
use crate::sse::Events;
use crate::stream::parse;

/// What a format needs to make one answer out of several streams.
///
/// Frames are events as bytes, their blank line included.
pub(super) trait Seam: Debug + Send + Sync {
    /// Whether a frame says how the answer ends.
    fn is_end(&self, frame: &[u8]) -> bool;
    /// Remembers what later streams need of a frame that goes to the client.
    fn note(&mut self, frame: &[u8]);
    /// The end that was held is none; gives what of it the client must have.
    fn turn(&mut self, held: Vec<Value>) -> Vec<Value>;
    /// Makes an event of a later stream one of the first; `None` if it has no place there.
    fn adapt(&mut self, event: Value) -> Option<Value>;
    /// What comes before the `[DONE]` of a later stream.
    fn before_done(&mut self) -> Option<Value> {
        None
    }
}

/// An event of a frame.
#[derive(Debug)]
pub(super) struct Parsed {
    pub(super) name: String,
    pub(super) data: Vec<u8>,
    /// The JSON object it is; `None` if it is something else.
    pub(super) value: Option<Value>,
}

/// The events of a frame, or of several.
pub(super) fn events(frame: &[u8]) -> Vec<Parsed> {
    let mut found = Vec::new();
    let mut each = |name: &str, data: &[u8]| {
        let data = data.trim_ascii();
        let value = data.starts_with(b"{").then(|| parse(data).ok()).flatten();
        found.push(Parsed { name: name.to_owned(), data: data.to_owned(), value });
        Ok(())
    };
    let mut events = Events::default();
    // What is longer than any event is none.
    let _ = events.push(frame, &mut each).and_then(|()| events.finish(&mut each));
    found
}

/// The JSON objects of a frame.
pub(super) fn values(frame: &[u8]) -> impl Iterator<Item = Value> {
    events(frame).into_iter().filter_map(|event| event.value)
}

/// The line end that a frame uses.
pub(super) fn line_end(frame: &[u8]) -> &'static str {
    if frame.ends_with(b"\r\n") { "\r\n" } else { "\n" }
}

/// Writes a frame of a later stream as one of the first. What is no JSON stays as it came.
pub(super) fn adapt(seam: &mut dyn Seam, frame: &[u8], out: &mut Vec<u8>) {
    let events = events(frame);
    if events.iter().all(|event| event.value.is_none()) {
        if events.iter().any(|event| event.data == b"[DONE]")
            && let Some(value) = seam.before_done()
        {
            event(out, "", &value, line_end(frame));
        }
        out.extend_from_slice(frame);
        return;
    }
    let by_line = frame.starts_with(b"{");
    for Parsed { name, data, value } in events {
        let from = out.len();
        match value.map(|value| seam.adapt(value)) {
            Some(Some(value)) if by_line => out.extend_from_slice(format!("{value}\n").as_bytes()),
            Some(Some(value)) => event(out, &name, &value, line_end(frame)),
            Some(None) => {}
            None => {
                let lines = data.split(|byte| *byte == b'\n');
                lines.for_each(|line| out.extend_from_slice(&[b"data: ", line, b"\n"].concat()));
                out.push(b'\n');
            }
        }
        seam.note(&out[from..]);
    }
}

/// Whether `key` stands in a frame with something else than null. Texts may look like it: this
/// only says where a closer look is worth its time.
pub(super) fn may_tell(frame: &[u8], key: &str) -> bool {
    memchr::memmem::find_iter(frame, key.as_bytes()).any(|at| {
        let rest = &frame[at + key.len()..];
        let rest = rest.strip_prefix(b"\"").unwrap_or(rest).trim_ascii_start();
        let rest = rest.strip_prefix(b":").unwrap_or(rest).trim_ascii_start();
        !rest.starts_with(b"null")
    })
}

/// Whether any of the words stands in a frame.
pub(super) fn has_any(frame: &[u8], words: &[&str]) -> bool {
    words.iter().any(|word| memchr::memmem::find(frame, word.as_bytes()).is_some())
}

/// Adds up what two calls used: numbers are added, objects field by field, and what only one of
/// them tells is taken over.
pub(in crate::rendered) fn add(into: &mut Value, more: &Value) {
    match (into, more) {
        (Value::Object(into), Value::Object(more)) => {
            for (key, more) in more {
                add(into.entry(key.clone()).or_insert(Value::Null), more);
            }
        }
        (into @ Value::Number(_), Value::Number(_)) => {
            *into = match (into.as_u64(), more.as_u64()) {
                (Some(one), Some(two)) => one.saturating_add(two).into(),
                _ => {
                    let both = [&*into, more].map(|number| number.as_f64().unwrap_or(0.0));
                    both.iter().sum::<f64>().into()
                }
            };
        }
        (into, more) if is_blank(into) => *into = more.clone(),
        _ => {}
    }
}

/// Replaces what a later event of the same call tells anew.
pub(super) fn update(into: &mut Value, later: &Value) {
    match (into, later) {
        (Value::Object(into), Value::Object(later)) => {
            let told = later.iter().filter(|(_, value)| !value.is_null());
            into.extend(told.map(|(key, value)| (key.clone(), value.clone())));
        }
        (into, later) if !is_blank(later) => *into = later.clone(),
        _ => {}
    }
}

/// The object at `key`; `None` if there is none.
pub(super) fn object_at<'a>(value: &'a mut Value, key: &str) -> Option<&'a mut Map<String, Value>> {
    value.get_mut(key)?.as_object_mut()
}
