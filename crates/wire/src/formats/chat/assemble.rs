//! Streams of Chat Completions, and of servers that send JSON objects by line.

use serde_json::{Map, Value, json};

use super::REASONING;
use super::read::stop_word;
use crate::Delta;
use crate::failure::Reported;
use crate::formats::Assemble;
use crate::json::{append, is_blank, text};

/// The body so far.
#[derive(Debug, Default)]
pub(in crate::formats) struct Assembly {
    /// Everything beside the choice.
    top: Map<String, Value>,
    message: Map<String, Value>,
    calls: Vec<Map<String, Value>>,
    /// The server's own number of each call, where it sends one.
    numbers: Vec<Option<u64>>,
    finish_reason: Option<Value>,
    done: bool,
}

impl Assemble for Assembly {
    fn take(&mut self, event: Value, deltas: &mut Vec<Delta>) -> Result<(), Reported> {
        if event.get("error").is_some_and(|error| !is_blank(error)) {
            return Err(Reported::read(&event));
        }
        let Value::Object(mut event) = event else { return Ok(()) };
        if let Some(Value::Array(choices)) = event.remove("choices") {
            for choice in choices {
                self.choice(choice, deltas);
            }
        }
        match event.remove("message") {
            Some(Value::Object(message)) => self.delta(message, deltas),
            Some(Value::String(text)) => self.text("content", &text, deltas),
            _ => {}
        }
        if let Some(Value::String(text)) = event.remove("response") {
            self.text("content", &text, deltas);
        }
        for (key, value) in event {
            let kept = key == "id" && self.top.contains_key("id");
            if !is_blank(&value) && !kept {
                self.top.insert(key, value);
            }
        }
        Ok(())
    }

    fn mark_done(&mut self) {
        self.done = true;
    }

    fn is_whole(&self) -> bool {
        let told = |key: &str| self.top.contains_key(key);
        self.done
            || self.finish_reason.is_some()
            || self.top.get("done") == Some(&Value::Bool(true))
            || told("response_text")
            || told("statistics")
            || !stop_word(&mut self.top.clone()).is_empty()
    }

    fn is_done(&self) -> bool {
        self.done
    }

    fn value(&self) -> Value {
        let mut message = self.message.clone();
        if !self.calls.is_empty() {
            let calls = self.calls.iter().cloned().map(Value::Object);
            message.insert("tool_calls".into(), calls.collect());
        }
        let mut body = self.top.clone();
        let choice = json!({"message": message, "finish_reason": self.finish_reason});
        body.insert("choices".into(), Value::Array(vec![choice]));
        Value::Object(body)
    }
}

impl Assembly {
    fn choice(&mut self, choice: Value, deltas: &mut Vec<Delta>) {
        let Value::Object(mut choice) = choice else { return };
        if choice.get("index").and_then(Value::as_u64).unwrap_or(0) > 0 {
            return;
        }
        match choice.remove("delta").or_else(|| choice.remove("message")) {
            Some(Value::Object(delta)) => self.delta(delta, deltas),
            _ => {
                if let Some(Value::String(text)) = choice.remove("text") {
                    self.text("content", &text, deltas);
                }
            }
        }
        if let Some(reason) = choice.remove("finish_reason").filter(|reason| !is_blank(reason)) {
            self.finish_reason = Some(reason);
        }
    }

    fn delta(&mut self, delta: Map<String, Value>, deltas: &mut Vec<Delta>) {
        for (key, value) in delta {
            match (key.as_str(), value) {
                ("tool_calls", Value::Array(calls)) => {
                    for call in calls {
                        self.call(call, deltas);
                    }
                }
                ("content", Value::Array(blocks)) => self.blocks(blocks, deltas),
                ("reasoning_details", Value::Array(details)) => self.details(details),
                ("content" | "refusal", Value::String(more)) => self.text(&key, &more, deltas),
                (field, Value::String(more)) if REASONING.contains(&field) => {
                    // Some servers send the same reasoning under two names.
                    let first = REASONING.iter().find(|name| self.message.contains_key(**name));
                    let shown = first.is_none_or(|name| *name == field);
                    append(&mut self.message, field, &more);
                    if shown && !more.is_empty() {
                        deltas.push(Delta::Reasoning(more));
                    }
                }
                ("function_call", Value::Object(function)) => self.legacy(&function),
                (_, value) if is_blank(&value) => {}
                (_, value) => {
                    self.message.insert(key, value);
                }
            }
        }
    }

    fn text(&mut self, key: &str, more: &str, deltas: &mut Vec<Delta>) {
        if more.is_empty() {
            return;
        }
        match self.message.get_mut(key) {
            Some(Value::Array(blocks)) => blocks.push(json!({"type": "text", "text": more})),
            _ => append(&mut self.message, key, more),
        }
        deltas.push(Delta::Text(more.to_owned()));
    }

    /// Content that comes as a list of blocks, as Mistral's does when it thinks.
    fn blocks(&mut self, more: Vec<Value>, deltas: &mut Vec<Delta>) {
        let content = self.message.entry("content").or_insert_with(|| json!([]));
        if let Value::String(text) = content {
            *content = json!([{"type": "text", "text": text}]);
        }
        let Value::Array(blocks) = content else { return };
        for block in more {
            let thinking = block.get("thinking").and_then(Value::as_array);
            let said: String =
                thinking.into_iter().flatten().map(|one| text(one, "text")).collect();
            if !said.is_empty() {
                deltas.push(Delta::Reasoning(said));
            }
            if text(&block, "type") == "text" && !text(&block, "text").is_empty() {
                deltas.push(Delta::Text(text(&block, "text").to_owned()));
            }
            let last = blocks.last_mut();
            let last = last.filter(|last| text(last, "type") == "thinking");
            match (last.and_then(|last| last.get_mut("thinking")), block.get("thinking")) {
                (Some(Value::Array(kept)), Some(Value::Array(more))) => kept.extend(more.clone()),
                _ => blocks.push(block),
            }
        }
    }

    /// `OpenRouter`'s blocks of reasoning: pieces with the same index are one block.
    fn details(&mut self, more: Vec<Value>) {
        let kept = self.message.entry("reasoning_details").or_insert_with(|| json!([]));
        let Value::Array(kept) = kept else { return };
        for detail in more {
            let same = |one: &&mut Value| {
                detail.get("index").is_some() && one.get("index") == detail.get("index")
            };
            let (Some(Value::Object(into)), Value::Object(from)) =
                (kept.iter_mut().find(same), &detail)
            else {
                kept.push(detail);
                continue;
            };
            for (key, value) in from {
                match value {
                    Value::String(more) if ["text", "summary", "data"].contains(&key.as_str()) => {
                        append(into, key, more);
                    }
                    value if is_blank(value) => {}
                    value => {
                        into.insert(key.clone(), value.clone());
                    }
                }
            }
        }
    }

    /// A piece of a call. Servers number them, or only name a new id, or send each in one piece.
    fn call(&mut self, piece: Value, deltas: &mut Vec<Delta>) {
        let Value::Object(mut piece) = piece else { return };
        let number = piece.remove("index").and_then(|index| index.as_u64());
        let id = piece.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
        let mut function = match piece.remove("function") {
            Some(Value::Object(function)) => function,
            _ => Map::new(),
        };
        let named = function.get("name").and_then(Value::as_str).is_some_and(|n| !n.is_empty());
        let index = self.place(number, &id, named);
        let call = &mut self.calls[index];
        for (key, value) in piece {
            if !is_blank(&value) {
                call.insert(key, value);
            }
        }
        let kept = call.entry("function").or_insert_with(|| json!({}));
        let Value::Object(kept) = kept else { return };
        let began = kept.contains_key("name");
        let name = function.remove("name");
        if let (false, Some(Value::String(name))) = (began, name)
            && !name.is_empty()
        {
            kept.insert("name".into(), name.clone().into());
            deltas.push(Delta::ToolCallStarted { index, name });
        }
        let more = match function.remove("arguments") {
            Some(Value::String(text)) => text,
            None | Some(Value::Null) => String::new(),
            Some(value) => value.to_string(),
        };
        append(kept, "arguments", &more);
        if !more.is_empty() {
            deltas.push(Delta::Arguments { index, text: more });
        }
        kept.extend(function);
    }

    /// Which call a piece belongs to; a new one where it begins one.
    fn place(&mut self, number: Option<u64>, id: &str, named: bool) -> usize {
        let known = match number {
            Some(_) => self.numbers.iter().rposition(|kept| *kept == number),
            None => self.calls.len().checked_sub(1),
        };
        if let Some(index) = known {
            let kept = self.calls[index].get("id").and_then(Value::as_str).unwrap_or_default();
            let begins = if id.is_empty() {
                number.is_none() && named
            } else {
                named && !kept.is_empty() && kept != id
            };
            if !begins {
                return index;
            }
        }
        self.calls.push(Map::new());
        self.numbers.push(number);
        self.calls.len() - 1
    }

    fn legacy(&mut self, piece: &Map<String, Value>) {
        let kept = self.message.entry("function_call").or_insert_with(|| json!({}));
        let Value::Object(kept) = kept else { return };
        for (key, value) in piece {
            if let Value::String(more) = value {
                append(kept, key, more);
            }
        }
    }
}
