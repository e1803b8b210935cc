//! Calls that a small model wrote as text.

use serde_json::Value;

use crate::json::{made_id, text};
use crate::{Answer, Part, ToolSpec, parse_arguments};

/// Longest text that is looked at, in bytes.
const LOOK: usize = 64 * 1024;

/// Marks around a call, beside a text that is nothing else.
const MARKS: &[(&str, &str)] =
    &[("```", "```"), ("<tool_call>", "</tool_call>"), ("<function_call>", "</function_call>")];

/// An answer in which calls that stand in the text are calls; `None` if there are none.
///
/// Small models write the right call as JSON in a code fence, in tags, or bare, which their server
/// passes on as text. A call is taken for one if it is a JSON object with the name of a known tool
/// and an object of arguments; an answer that has calls already is left alone. What stands around
/// the calls stays as text.
#[must_use]
pub fn repair_tool_call(answer: &Answer, tools: &[ToolSpec]) -> Option<Answer> {
    let called = |part: &Part| matches!(part, Part::ToolCall { .. });
    if tools.is_empty() || answer.message.parts.iter().any(called) {
        return None;
    }
    let mut repaired = answer.clone();
    let mut found = Vec::new();
    let mut changed = false;
    repaired.message.parts.retain_mut(|part| match part {
        Part::Text(said) if said.len() <= LOOK => {
            let before = found.len();
            let kept = take_calls(said, tools, &mut found);
            changed = found.len() > before;
            if changed {
                *said = kept;
            }
            !said.is_empty()
        }
        // The text's own block, which would bring the call back as text.
        Part::Other { .. } => !changed,
        _ => {
            changed = false;
            true
        }
    });
    if found.is_empty() {
        return None;
    }
    let answer_id = repaired.id.clone().unwrap_or_default();
    let calls = found.into_iter().enumerate().map(|(index, (name, arguments))| Part::ToolCall {
        id: made_id(&answer_id, index, &name, &arguments),
        name,
        arguments,
        raw: None,
    });
    repaired.message.parts.extend(calls);
    Some(repaired)
}

type Call = (String, String);

/// Moves the calls of a text into `found` and gives what is left of it.
fn take_calls(said: &str, tools: &[ToolSpec], found: &mut Vec<Call>) -> String {
    let mut bare = calls_of(said.trim(), tools);
    if !bare.is_empty() {
        found.append(&mut bare);
        return String::new();
    }
    let (mut kept, mut rest) = (String::new(), said);
    while let Some((at, open, close)) = next_mark(rest) {
        let inside = &rest[at + open.len()..];
        let Some(end) = inside.find(close) else { break };
        let whole = &rest[at..at + open.len() + end + close.len()];
        let body = if open == "```" { crate::arguments::unfence(whole) } else { &inside[..end] };
        let mut calls = calls_of(body.trim(), tools);
        kept.push_str(if calls.is_empty() { &rest[..at + whole.len()] } else { &rest[..at] });
        found.append(&mut calls);
        rest = &rest[at + whole.len()..];
    }
    kept.push_str(rest);
    kept.trim().to_owned()
}

fn next_mark(text: &str) -> Option<(usize, &'static str, &'static str)> {
    let found = MARKS.iter().filter_map(|(open, close)| Some((text.find(open)?, *open, *close)));
    found.min_by_key(|(at, ..)| *at)
}

/// The calls a JSON text consists of: an object, a list of them, or one per line.
fn calls_of(text: &str, tools: &[ToolSpec]) -> Vec<Call> {
    if !text.starts_with(['{', '[']) {
        return Vec::new();
    }
    let mut calls = Vec::new();
    for value in serde_json::Deserializer::from_str(text).into_iter::<Value>() {
        let list = match value {
            Ok(Value::Array(list)) => list,
            Ok(value) => vec![value],
            Err(_) => return Vec::new(),
        };
        for value in &list {
            match call_of(value, tools) {
                Some(call) => calls.push(call),
                None => return Vec::new(),
            }
        }
    }
    calls
}

fn call_of(value: &Value, tools: &[ToolSpec]) -> Option<Call> {
    let value = value.get("function").filter(|inner| inner.is_object()).unwrap_or(value);
    let name = ["name", "tool", "tool_name", "function"].map(|key| text(value, key));
    let name = name.into_iter().find(|name| !name.is_empty())?;
    if !tools.iter().any(|tool| tool.name == name) {
        return None;
    }
    let keys = ["arguments", "parameters", "args", "input", "tool_input"];
    let arguments = match keys.iter().find_map(|key| value.get(key)) {
        Some(Value::Object(own)) => Value::Object(own.clone()),
        Some(Value::String(text)) => Value::Object(parse_arguments(text).ok()?),
        _ => return None,
    };
    Some((name.to_owned(), arguments.to_string()))
}
