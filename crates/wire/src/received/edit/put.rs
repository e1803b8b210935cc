//! Messages that are put in among the client's items.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::super::hear::speaker;
use super::super::scan::{Key, names};
use super::super::{Received, Speaker, walk};
use super::{Edit, Patches};
use crate::{Format, Message, formats};

/// What comes where.
#[derive(Default)]
struct Plan {
    /// Contents of new messages that go into the client's user message at a place.
    into: BTreeMap<usize, Vec<Value>>,
    /// New items before the client's item at a place.
    before: BTreeMap<usize, Vec<Value>>,
}

impl Received<'_> {
    /// Puts in what is said.
    ///
    /// # Errors
    /// If there is no list to put it into.
    pub(super) fn put_all(
        &self,
        edits: &[Edit<'_>],
        patches: &mut Patches<'_>,
    ) -> Result<(), &'static str> {
        let plan = self.plan(edits);
        for (at, contents) in plan.into {
            self.extend_message(at, contents, patches);
        }
        if plan.before.is_empty() { Ok(()) } else { self.insert(plan.before, patches) }
    }

    fn plan(&self, edits: &[Edit<'_>]) -> Plan {
        let count = self.item_count();
        let mut said: Vec<(usize, Vec<Value>)> = Vec::new();
        for edit in edits {
            let (at, items) = match *edit {
                Edit::Say { text, .. } if text.trim().is_empty() => continue,
                Edit::Say { at, text } => (at, formats::items(self.format, &Message::user(text))),
                Edit::Replied { message, .. } if message.parts.is_empty() => continue,
                Edit::Replied { at, message } => (at, formats::items(self.format, message)),
                Edit::GoesOn { items, .. } if self.format == Format::OpenAiResponses => {
                    (0, items.iter().filter_map(|item| item_of(item)).collect())
                }
                _ => continue,
            };
            said.push((at.min(count), items));
        }
        // Stable: what was said at the same place stays in order.
        said.sort_by_key(|(at, _)| *at);
        let mut plan = Plan::default();
        let mut last = None;
        let mut replied = false;
        for (at, items) in said {
            replied &= last == Some(at);
            last = Some(at);
            for item in items {
                replied |= !is_user(&item);
                self.plan_item(item, at, replied, &mut plan);
            }
        }
        plan
    }

    /// Finds the place of a new item. Unless the model `replied` at this place already, words of
    /// the user belong to the client's message before it.
    fn plan_item(&self, item: Value, at: usize, replied: bool, plan: &mut Plan) {
        let merges = self.format != Format::OpenAiResponses && is_user(&item);
        let mut place = at;
        if merges && !replied {
            place = self.behind_user(at);
            if let Some(before) = place.checked_sub(1).filter(|own| self.takes_more(*own)) {
                plan.into.entry(before).or_default().push(content(self.format, item));
                return;
            }
        }
        let fresh = plan.before.entry(place).or_default();
        match fresh.last_mut() {
            Some(last) if merges && is_user(last) => {
                extend(self.format, last, content(self.format, item));
            }
            _ => fresh.push(item),
        }
    }

    /// Where words of the user may stand: in Anthropic's list, instructions must follow them and
    /// not come before them.
    fn behind_user(&self, at: usize) -> usize {
        if self.format != Format::Anthropic {
            return at;
        }
        let instructions = |own: &usize| {
            let item = self.item_text(*own);
            item.is_some_and(|item| speaker(self.format, item) == Speaker::Instructions)
        };
        at - (0..at).rev().take_while(instructions).count()
    }

    /// Whether the item is a user message whose content can be added to.
    fn takes_more(&self, at: usize) -> bool {
        let Some(item) = self.item_text(at) else { return false };
        let by_user = match walk::text_at(item, "role").as_deref() {
            Some(role) => role == "user",
            None => self.format == Format::Gemini,
        };
        let content = walk::member(item, content_key(self.format)).unwrap_or_default();
        let is_text = content.starts_with('"') && self.format != Format::Gemini;
        by_user && (is_text || content.starts_with('['))
    }

    /// Adds contents to a user message of the client.
    fn extend_message(&self, at: usize, contents: Vec<Value>, patches: &mut Patches<'_>) {
        let item = self.item_text(at).unwrap_or_default();
        let Some(own) = walk::member(item, content_key(self.format)) else { return };
        let mut all = Value::Array(Vec::new());
        for content in contents {
            add(&mut all, content);
        }
        let said = joined(all.as_array().into_iter().flatten());
        if own.starts_with('[') {
            patches.append(own, &said);
            return;
        }
        let blank = walk::text(own).is_some_and(|text| text.trim().is_empty());
        let inside = own.get(1..own.len().saturating_sub(1)).unwrap_or_default();
        let text = match self.format {
            // One text stays one text: templates of small servers take no lists.
            Format::OpenAiChat => {
                let texts = all.as_array().into_iter().flatten();
                let texts: Vec<_> = texts.filter_map(|block| block["text"].as_str()).collect();
                let more = Value::from(texts.join("\n\n")).to_string();
                if blank { more } else { format!("\"{inside}\\n\\n{}", &more[1..]) }
            }
            _ if blank => format!("[{said}]"),
            _ => format!(r#"[{{"type":"text","text":"{inside}"}},{said}]"#),
        };
        patches.replace(own, text);
    }

    /// Puts new items in between those of the client.
    fn insert(
        &self,
        mut fresh: BTreeMap<usize, Vec<Value>>,
        patches: &mut Patches<'_>,
    ) -> Result<(), &'static str> {
        let name = names(self.format).iter().find(|(_, key)| *key == Key::Items);
        let name = name.map_or("", |(name, _)| *name);
        let Some(whole) = self.whole() else {
            let Some(first) = self.item_text(0) else {
                let all = joined(fresh.values().flatten());
                patches.add(name, &format!("[{all}]"));
                return Ok(());
            };
            for (at, items) in fresh {
                let said = joined(items.iter());
                match at.checked_sub(1).and_then(|before| self.item_text(before)) {
                    Some(before) => patches.behind(before, format!(",{said}")),
                    None => patches.before(first, format!("{said},")),
                }
            }
            return Ok(());
        };
        match whole.as_bytes().first() {
            Some(b'[') => patches.append(whole, &joined(fresh.values().flatten())),
            Some(b'n') => {
                let all = joined(fresh.values().flatten());
                patches.replace(whole, format!("[{all}]"));
            }
            Some(b'"') if self.format == Format::OpenAiResponses => {
                let content = format!(r#"[{{"type":"input_text","text":{whole}}}]"#);
                let own = format!(r#"{{"type":"message","role":"user","content":{content}}}"#);
                let first = fresh.remove(&0).unwrap_or_default();
                let parts = [joined(first.iter()), own, joined(fresh.values().flatten())];
                let parts = parts.into_iter().filter(|part| !part.is_empty());
                let parts: Vec<_> = parts.collect();
                patches.replace(whole, format!("[{}]", parts.join(",")));
            }
            _ => return Err("its items are no list"),
        }
        Ok(())
    }
}

/// An item of Responses by its JSON text.
fn item_of(text: &str) -> Option<Value> {
    match serde_json::from_str(text).ok()? {
        Value::String(text) => Some(json!({"type": "message", "role": "user", "content": text})),
        item => Some(item),
    }
}

fn is_user(item: &Value) -> bool {
    item.get("role").and_then(Value::as_str) == Some("user")
}

const fn content_key(format: Format) -> &'static str {
    match format {
        Format::Gemini => "parts",
        _ => "content",
    }
}

/// The content of a new message.
fn content(format: Format, mut item: Value) -> Value {
    item.get_mut(content_key(format)).map(Value::take).unwrap_or_default()
}

/// Adds a content to a new message.
fn extend(format: Format, message: &mut Value, content: Value) {
    match (message.get_mut(content_key(format)), content) {
        (Some(Value::String(text)), Value::String(more)) => {
            text.push_str("\n\n");
            text.push_str(&more);
        }
        (Some(own), content) => add(own, content),
        (None, _) => {}
    }
}

/// Adds a content to a list of blocks.
fn add(blocks: &mut Value, content: Value) {
    let Value::Array(blocks) = blocks else { return };
    match content {
        Value::Array(more) => blocks.extend(more),
        Value::String(text) => blocks.push(json!({"type": "text", "text": text})),
        _ => {}
    }
}

fn joined<'a>(values: impl Iterator<Item = &'a Value>) -> String {
    let texts: Vec<_> = values.map(Value::to_string).collect();
    texts.join(",")
}
