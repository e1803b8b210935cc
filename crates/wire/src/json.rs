//! Reading of JSON values that may be anything.

use serde_json::{Map, Value};

/// Texts read out of errors and excerpts are cut here, in characters.
pub(crate) const EXCERPT: usize = 200;

/// How deep JSON of a server may nest. What is kept of it is stored inside other JSON, and parsers
/// stop at 128 levels: what is read once must be readable from a journal.
pub(crate) const MAX_DEPTH: usize = 64;

/// Whether a value nests no deeper than `levels`.
pub(crate) fn is_shallow(value: &Value, levels: usize) -> bool {
    match value {
        Value::Array(list) => levels > 0 && list.iter().all(|one| is_shallow(one, levels - 1)),
        Value::Object(object) => {
            levels > 0 && object.values().all(|one| is_shallow(one, levels - 1))
        }
        _ => true,
    }
}

/// The text at `key`; empty if there is none.
pub(crate) fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// The text at `key`, taken out of the object; `None` if there is no text or it is empty.
pub(crate) fn take_text(object: &mut Map<String, Value>, key: &str) -> Option<String> {
    match object.remove(key) {
        Some(Value::String(text)) if !text.is_empty() => Some(text),
        _ => None,
    }
}

/// The list at `key`, taken out of the object; empty if there is none.
pub(crate) fn take_list(object: &mut Map<String, Value>, key: &str) -> Vec<Value> {
    match object.remove(key) {
        Some(Value::Array(list)) => list,
        _ => Vec::new(),
    }
}

/// The number at a JSON pointer; zero if there is none.
pub(crate) fn count(value: &Value, pointer: &str) -> u64 {
    let number = value.pointer(pointer);
    let whole = number.and_then(Value::as_u64);
    whole.or_else(|| number.and_then(Value::as_f64).map(|n| n as u64)).unwrap_or(0)
}

/// Whether a value says nothing: null, an empty text, list or object.
pub(crate) fn is_blank(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(object) => object.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Whether the object holds anything beside `known` keys that says something.
pub(crate) fn holds_more(value: &Value, known: &[&str]) -> bool {
    let unknown =
        |(key, value): (&String, &Value)| !known.contains(&key.as_str()) && !is_blank(value);
    value.as_object().is_some_and(|object| object.iter().any(unknown))
}

/// Merges `from` into `into`: objects into objects, other values replace, null removes.
pub(crate) fn merge(into: &mut Map<String, Value>, from: &Map<String, Value>) {
    for (key, value) in from {
        match (into.get_mut(key), value) {
            (_, Value::Null) => {
                into.remove(key);
            }
            (Some(Value::Object(into)), Value::Object(from)) => merge(into, from),
            _ => {
                into.insert(key.clone(), value.clone());
            }
        }
    }
}

/// Appends `more` to the text at `key`, which becomes a text if it is none.
pub(crate) fn append(object: &mut Map<String, Value>, key: &str, more: &str) {
    match object.get_mut(key) {
        Some(Value::String(text)) => text.push_str(more),
        _ => {
            object.insert(key.to_owned(), Value::from(more));
        }
    }
}

/// The first `limit` characters, with a mark where something was cut off.
pub(crate) fn cut(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// An id for a call whose server sent none: the same call of the same answer gets the same one,
/// streamed or not.
pub(crate) fn made_id(answer: &str, index: usize, name: &str, arguments: &str) -> String {
    // FNV-1a: small, stable, and nothing depends on it being hard to invert.
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for text in [answer, name, arguments] {
        for byte in text.bytes().chain([0]) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    format!("call_{hash:016x}_{index}")
}
