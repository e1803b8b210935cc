//! Arguments of calls as models write them.

use serde_json::{Map, Value};

use crate::json::{EXCERPT, cut};

/// Arguments that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the arguments are not a JSON object ({problem}): {excerpt}")]
pub struct ArgumentsError {
    /// What the parser says.
    pub problem: String,
    /// Their beginning, at most 200 characters.
    pub excerpt: String,
}

/// Reads the arguments of a call, forgiving what models get wrong without changing what they mean:
/// nothing at all (no arguments), code fences, raw line ends inside texts, commas before a closing
/// bracket, brackets too many at the end, JSON inside a JSON text.
///
/// What was cut off in the middle stays an error: half a file is not what the model meant to write.
///
/// # Errors
/// If they are no JSON object even so.
pub fn parse_arguments(arguments: &str) -> Result<Map<String, Value>, ArgumentsError> {
    let text = unfence(arguments.trim());
    if text.is_empty() || text == "null" {
        return Ok(Map::new());
    }
    let problem = match first_value(text) {
        Ok(Value::Object(object)) => return Ok(object),
        // Some servers encode the arguments twice.
        Ok(Value::String(inner)) => match first_value(inner.trim()) {
            Ok(Value::Object(object)) => return Ok(object),
            _ => "a text".to_owned(),
        },
        Ok(_) => "another kind of value".to_owned(),
        Err(problem) => match first_value(&mend(text)) {
            Ok(Value::Object(object)) => return Ok(object),
            _ => problem,
        },
    };
    Err(ArgumentsError { problem, excerpt: cut(arguments, EXCERPT) })
}

/// The object to send back for a call: the arguments, or what was written under `_malformed`.
pub(crate) fn object(arguments: &str) -> Map<String, Value> {
    parse_arguments(arguments)
        .unwrap_or_else(|_| Map::from_iter([("_malformed".to_owned(), Value::from(arguments))]))
}

/// The JSON text to send back for a call: as the model wrote it wherever that is an object, so
/// that caches stay valid. llama.cpp answers 500 to anything else.
pub(crate) fn json_text(arguments: &str) -> String {
    match serde_json::from_str::<Value>(arguments) {
        Ok(Value::Object(_)) => arguments.to_owned(),
        _ => Value::Object(object(arguments)).to_string(),
    }
}

/// The value a text begins with; only closing brackets may follow.
fn first_value(text: &str) -> Result<Value, String> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter();
    let first = values.next().unwrap_or(Ok(Value::Null)).map_err(|error| error.to_string())?;
    let rest = text[values.byte_offset()..].trim_start();
    let closing = rest.chars().all(|c| matches!(c, '}' | ']') || c.is_whitespace());
    if closing { Ok(first) } else { Err("something follows it".to_owned()) }
}

/// The inside of a code fence that holds the whole text.
pub(crate) fn unfence(text: &str) -> &str {
    let inside = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    let Some(inside) = inside else { return text };
    let body = inside.find('\n').map_or(inside, |end| {
        let label = inside[..end].trim();
        if label.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            &inside[end + 1..]
        } else {
            inside
        }
    });
    body.trim()
}

/// Escapes control characters inside texts, and drops commas before a closing bracket.
fn mend(text: &str) -> String {
    let mut mended = String::with_capacity(text.len() + 8);
    let (mut in_text, mut escaped) = (false, false);
    for c in text.chars() {
        match c {
            '\n' if in_text => mended.push_str("\\n"),
            '\r' if in_text => mended.push_str("\\r"),
            '\t' if in_text => mended.push_str("\\t"),
            '}' | ']' if !in_text => {
                let kept = mended.trim_end();
                if let Some(kept) = kept.strip_suffix(',') {
                    mended.truncate(kept.len());
                }
                mended.push(c);
            }
            _ => mended.push(c),
        }
        in_text ^= c == '"' && !escaped;
        escaped = in_text && c == '\\' && !escaped;
    }
    mended
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_forgiven() {
        let cases = [
            ("", Some("{}")),
            ("null", Some("{}")),
            (r#"{"a": 1}"#, Some(r#"{"a":1}"#)),
            (r#"{"a": 1}}"#, Some(r#"{"a":1}"#)),
            ("```json\n{\"a\": 1}\n```", Some(r#"{"a":1}"#)),
            (r#""{\"a\": 1}""#, Some(r#"{"a":1}"#)),
            (r#"{"a": [1, 2,], }"#, Some(r#"{"a":[1,2]}"#)),
            ("{\"a\": \"x\ny,}\"}", Some(r#"{"a":"x\ny,}"}"#)),
            (r#"{"a": "\\", "b": ",]"}"#, Some(r#"{"a":"\\","b":",]"}"#)),
            (r#"{"path": "a.txt", "content": "half"#, None),
            ("ls -la", None),
            ("[1]", None),
            (r#"{"a": 1} {"b": 2}"#, None),
        ];
        for (text, expected) in cases {
            let read = parse_arguments(text).ok().map(|object| Value::Object(object).to_string());
            assert_eq!(read.as_deref(), expected, "{text}");
        }
        assert_eq!(
            parse_arguments("ls").unwrap_err().to_string(),
            "the arguments are not a JSON object (expected value at line 1 column 1): ls"
        );
    }

    #[test]
    fn what_is_sent_back_is_an_object() {
        assert_eq!(json_text(r#"{"b": 1,  "a": 2}"#), r#"{"b": 1,  "a": 2}"#);
        assert_eq!(json_text(""), "{}");
        assert_eq!(json_text(r#"{"a": "ha"#), r#"{"_malformed":"{\"a\": \"ha"}"#);
    }
}
