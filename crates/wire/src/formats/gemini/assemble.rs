//! Streams of Gemini.

use serde_json::{Map, Value, json};

use crate::Delta;
use crate::failure::Reported;
use crate::formats::Assemble;
use crate::json::{append, is_blank, text};

/// The body so far.
#[derive(Debug, Default)]
pub(in crate::formats) struct Assembly {
    top: Map<String, Value>,
    candidate: Map<String, Value>,
    parts: Vec<Value>,
    calls: usize,
    begun: bool,
}

impl Assemble for Assembly {
    fn take(&mut self, event: Value, deltas: &mut Vec<Delta>) -> Result<(), Reported> {
        if event.get("error").is_some_and(|error| !is_blank(error)) {
            return Err(Reported::read(&event));
        }
        let Value::Object(mut event) = event else { return Ok(()) };
        if let Some(Value::Object(inner)) = event.remove("response") {
            event = inner;
        }
        if let Some(Value::Array(candidates)) = event.remove("candidates")
            && let Some(Value::Object(candidate)) = candidates.into_iter().next()
        {
            self.begun = true;
            self.candidate(candidate, deltas);
        }
        for (key, value) in event {
            if !is_blank(&value) {
                self.top.insert(key, value);
            }
        }
        Ok(())
    }

    fn is_whole(&self) -> bool {
        let blocked = self.top.get("promptFeedback").map(|told| text(told, "blockReason"));
        self.candidate.contains_key("finishReason") || blocked.is_some_and(|why| !why.is_empty())
    }

    /// The usage may come behind the end.
    fn is_done(&self) -> bool {
        false
    }

    fn value(&self) -> Value {
        let mut body = self.top.clone();
        if self.begun {
            let mut candidate = self.candidate.clone();
            candidate.insert("content".into(), json!({"parts": self.parts}));
            body.insert("candidates".into(), Value::Array(vec![Value::Object(candidate)]));
        }
        Value::Object(body)
    }
}

impl Assembly {
    fn candidate(&mut self, mut candidate: Map<String, Value>, deltas: &mut Vec<Delta>) {
        if let Some(Value::Object(mut content)) = candidate.remove("content")
            && let Some(Value::Array(parts)) = content.remove("parts")
        {
            for part in parts {
                self.part(part, deltas);
            }
        }
        candidate.retain(|_, value| !is_blank(value));
        self.candidate.extend(candidate);
    }

    fn part(&mut self, part: Value, deltas: &mut Vec<Delta>) {
        if let Some(function) = part.get("functionCall") {
            let (index, name) = (self.calls, text(function, "name").to_owned());
            deltas.push(Delta::ToolCallStarted { index, name });
            if let Some(args) = function.get("args") {
                deltas.push(Delta::Arguments { index, text: args.to_string() });
            }
            self.calls += 1;
        }
        let said = text(&part, "text").to_owned();
        if !said.is_empty() {
            let thought = part.get("thought") == Some(&Value::Bool(true));
            deltas.push(if thought { Delta::Reasoning(said) } else { Delta::Text(said) });
        }
        push(&mut self.parts, part);
    }
}

/// Joins neighbouring pieces of text, as a stream cuts them.
pub(super) fn join(parts: Vec<Value>) -> Vec<Value> {
    let mut joined = Vec::with_capacity(parts.len());
    for part in parts {
        push(&mut joined, part);
    }
    joined
}

/// Adds a part: text of the same kind continues the last one, unless that one is signed already.
fn push(parts: &mut Vec<Value>, part: Value) {
    let is_text = |part: &Value| part.get("text").is_some_and(Value::is_string);
    let thought = |part: &Value| part.get("thought") == Some(&Value::Bool(true));
    let joins = is_text(&part)
        && parts.last().is_some_and(|last| {
            let signed = last.get("thoughtSignature").is_some();
            is_text(last) && !signed && thought(last) == thought(&part)
        });
    match (parts.last_mut(), part) {
        (Some(Value::Object(last)), Value::Object(part)) if joins => {
            for (key, value) in part {
                match value {
                    Value::String(more) if key == "text" => append(last, "text", &more),
                    value => {
                        last.insert(key, value);
                    }
                }
            }
        }
        (_, part) => parts.push(part),
    }
}
