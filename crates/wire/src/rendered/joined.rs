//! One body out of two.

use serde_json::{Map, Value, json};

use super::splice::{add, chunk};
use crate::formats;
use crate::json::is_blank;
use crate::stream::parse;
use crate::{Format, WireError};

impl Format {
    /// One body with the content of both: what [`Splice`](crate::Splice) does for streams.
    ///
    /// Id and time are the first's; stop reason, calls and everything else the second's; what both
    /// used is added up.
    ///
    /// # Errors
    /// If one of them is no answer of the format in one piece.
    pub fn joined(self, first_body: &[u8], second_body: &[u8]) -> Result<Vec<u8>, WireError> {
        let mut first = self.whole(first_body)?;
        let mut second = self.whole(second_body)?;
        match self {
            Self::OpenAiChat => chat(&mut first, &mut second),
            Self::OpenAiResponses => {
                lists(first.get_mut("output"), second.get_mut("output"));
                keep(&mut first, &mut second, &["id", "created_at"], "usage");
                texts(&mut first, &mut second, "output_text");
            }
            Self::Anthropic => {
                lists(first.get_mut("content"), second.get_mut("content"));
                keep(&mut first, &mut second, &["id"], "usage");
            }
            Self::Gemini => gemini(&mut first, &mut second),
        }
        Ok(second.to_string().into_bytes())
    }

    fn whole(self, body: &[u8]) -> Result<Value, WireError> {
        let value =
            parse(body).map_err(|problem| crate::stream::not_json("the body", problem, body))?;
        let value = match value {
            Value::Array(mut list) if list.len() == 1 => list.pop().unwrap_or_default(),
            value => value,
        };
        formats::answer(self, value.clone())?;
        Ok(value)
    }
}

/// Puts the first list before the second one.
fn lists(first: Option<&mut Value>, second: Option<&mut Value>) {
    if let (Some(Value::Array(first)), Some(Value::Array(second))) = (first, second) {
        first.append(second);
        *second = std::mem::take(first);
    }
}

/// Keeps the first's fields, and adds up what both used.
fn keep(first: &mut Value, second: &mut Value, own: &[&str], usage: &str) {
    let (Value::Object(first), Value::Object(second)) = (first, second) else { return };
    for key in own {
        if let Some(value) = first.remove(*key).filter(|value| !is_blank(value)) {
            second.insert((*key).to_owned(), value);
        }
    }
    if let Some(used) = first.remove(usage).filter(|used| !is_blank(used)) {
        add(second.entry(usage).or_insert(Value::Null), &used);
    }
}

/// Puts the first's text before the second's; lists of blocks likewise.
fn texts(first: &mut Value, second: &mut Value, key: &str) {
    let (Value::Object(first), Value::Object(second)) = (first, second) else { return };
    let Some(one) = first.remove(key).filter(|one| !is_blank(one)) else { return };
    let two = second.remove(key).unwrap_or_default();
    let both = match (one, two) {
        (one, two) if is_blank(&two) => one,
        (Value::String(one), Value::String(two)) => Value::String(one + &two),
        (one, two) => Value::Array([blocks(one), blocks(two)].concat()),
    };
    second.insert(key.to_owned(), both);
}

fn blocks(content: Value) -> Vec<Value> {
    match content {
        Value::Array(blocks) => blocks,
        Value::String(text) => vec![json!({"type": "text", "text": text})],
        _ => Vec::new(),
    }
}

/// Everything a message says in texts and lists, its calls apart.
fn chat(first: &mut Value, second: &mut Value) {
    let message = |body: &mut Value| body.pointer_mut("/choices/0/message").map(Value::take);
    if let Some(mut one) = message(first) {
        let mut two = message(second).filter(Value::is_object);
        let into = two.get_or_insert_with(|| Value::Object(Map::new()));
        for key in ["content", "refusal", "reasoning_content", "reasoning", "thinking"] {
            texts(&mut one, into, key);
        }
        lists(one.get_mut("reasoning_details"), into.get_mut("reasoning_details"));
        if let (Value::Object(one), Value::Object(into)) = (one, &mut *into) {
            for (key, value) in one {
                // What only the first has.
                if into.get(&key).is_none_or(is_blank) {
                    into.insert(key, value);
                }
            }
        }
        if let (Some(place), Some(both)) = (second.pointer_mut("/choices/0/message"), two) {
            *place = both;
        }
    }
    keep(first, second, &["id", "created"], "usage");
}

fn gemini(first: &mut Value, second: &mut Value) {
    let (Some(first), Some(second)) = (chunk(first), chunk(second)) else { return };
    let parts = "/candidates/0/content/parts";
    if let Some(Value::Object(candidate)) =
        second.get_mut("candidates").and_then(|all| all.get_mut(0))
    {
        // An answer that says nothing has no parts.
        if candidate.get("content").is_none_or(|content| content.get("parts").is_none()) {
            candidate.insert("content".into(), json!({"parts": [], "role": "model"}));
        }
    } else if let Some(mut candidates) = first.remove("candidates") {
        // One that was blocked has no candidate.
        if let Some(Value::Object(candidate)) = candidates.get_mut(0) {
            candidate.remove("finishReason");
        }
        second.insert("candidates".into(), candidates);
    }
    let mut one = Value::Object(std::mem::take(first));
    let mut two = Value::Object(std::mem::take(second));
    lists(one.pointer_mut(parts), two.pointer_mut(parts));
    keep(&mut one, &mut two, &["responseId"], "usageMetadata");
    if let Value::Object(two) = two {
        *second = two;
    }
}
