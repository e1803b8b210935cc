//! Answers of Chat Completions.

use serde_json::{Map, Value};

use super::REASONING;
use crate::json::{count, holds_more, is_blank, made_id, take_list, take_text, text};
use crate::{Answer, Format, Part, Raw, Tokens};

const FORMAT: Format = Format::OpenAiChat;

/// Fields that say nothing: what kind of object it is, when it was made, and random padding.
const NOISE: &[&str] = &["object", "created", "created_at", "obfuscation", "done", "context"];

pub(in crate::formats) fn read(mut body: Map<String, Value>) -> Result<Answer, &'static str> {
    let mut answer = Answer::empty();
    let mut stop = String::new();
    let choices = take_list(&mut body, "choices");
    let choice = choices.into_iter().next();
    let had_choice = choice.is_some();
    let mut message = match choice {
        Some(Value::Object(mut choice)) => {
            stop = take_text(&mut choice, "finish_reason").unwrap_or_default();
            match choice.remove("message").or_else(|| choice.remove("delta")) {
                Some(Value::Object(message)) => message,
                // The completions of old.
                _ => choice.remove("text").map(content_of).unwrap_or_default(),
            }
        }
        Some(_) => return Err("its choice is no object"),
        None => match body.remove("message") {
            Some(Value::Object(message)) => message,
            Some(Value::String(message)) => content_of(message.into()),
            _ => Map::new(),
        },
    };
    let plain = plain_text(&mut body);
    if message.get("content").is_none_or(is_blank)
        && let Some(text) = plain
    {
        message.insert("content".into(), text.into());
    }
    if stop.is_empty() {
        stop = stop_word(&mut body);
    }
    if !had_choice && message.is_empty() && stop.is_empty() {
        return Err("it has neither `choices` nor `message`");
    }
    answer.id = take_text(&mut body, "id");
    answer.model = take_text(&mut body, "model");
    answer.usage = tokens(&mut body);
    answer.message.parts = parts(message, answer.id.as_deref().unwrap_or_default());
    answer.stopped(&stop);
    body.retain(|key, value| !NOISE.contains(&key.as_str()) && !is_blank(value));
    answer.extra = body;
    Ok(answer)
}

fn content_of(content: Value) -> Map<String, Value> {
    Map::from_iter([("content".to_owned(), content)])
}

/// The text of agentic servers and of Ollama's plain completions.
fn plain_text(body: &mut Map<String, Value>) -> Option<String> {
    let texts = ["response_text", "response", "content"].map(|key| match body.get(key) {
        Some(Value::String(_)) => take_text(body, key),
        _ => None,
    });
    texts.into_iter().flatten().next()
}

/// The stop reason at the top level, or among the statistics.
pub(super) fn stop_word(body: &mut Map<String, Value>) -> String {
    let own = ["finish_reason", "done_reason", "stop_reason"];
    if let Some(word) = own.iter().find_map(|key| take_text(body, key)) {
        return word;
    }
    body.get("statistics").map(|told| text(told, "stop_reason").to_owned()).unwrap_or_default()
}

fn tokens(body: &mut Map<String, Value>) -> Tokens {
    let usage = body.remove("usage").unwrap_or_default();
    let first = |pointers: &[&str]| {
        pointers.iter().map(|pointer| count(&usage, pointer)).find(|&n| n > 0).unwrap_or(0)
    };
    let mut own = |key: &str| body.remove(key).as_ref().map_or(0, |value| count(value, ""));
    let (prompt, generated) = (own("prompt_eval_count"), own("eval_count"));
    let told = |sum: u64, own: u64| if sum > 0 { sum } else { own };
    let dollars = usage.get("cost").and_then(Value::as_f64).unwrap_or(0.0);
    Tokens {
        input: told(first(&["/prompt_tokens", "/input_tokens"]), prompt),
        output: told(first(&["/completion_tokens", "/output_tokens"]), generated),
        cached_input: first(&["/prompt_tokens_details/cached_tokens", "/prompt_cache_hit_tokens"]),
        cache_write: first(&["/prompt_tokens_details/cache_write_tokens"]),
        reasoning: count(&usage, "/completion_tokens_details/reasoning_tokens"),
        // A cast of a negative or absurd number saturates.
        cost_nanodollars: (dollars * 1e9).round() as u64,
    }
}

pub(super) fn parts(mut message: Map<String, Value>, answer: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    parts.extend(reasoning(&mut message));
    match message.remove("content") {
        Some(Value::String(text)) if !text.is_empty() => parts.push(Part::Text(text)),
        Some(Value::Array(blocks)) => blocks.into_iter().for_each(|own| block(own, &mut parts)),
        _ => {}
    }
    if let Some(refusal) = take_text(&mut message, "refusal") {
        parts.push(Part::Text(refusal.clone()));
        let own = Map::from_iter([("refusal".to_owned(), Value::from(refusal))]);
        parts.push(Part::Other { format: FORMAT, value: Value::Object(own) });
    }
    let calls = take_list(&mut message, "tool_calls");
    let legacy = message.remove("function_call").filter(|call| !is_blank(call));
    message.remove("role");
    message.retain(|_, value| !is_blank(value));
    if !message.is_empty() {
        parts.push(Part::Other { format: FORMAT, value: Value::Object(message) });
    }
    for (index, own) in calls.into_iter().enumerate() {
        parts.extend(call(own, index, answer));
    }
    if let Some(function) = legacy {
        let own = Map::from_iter([("function".to_owned(), function)]);
        parts.extend(call(Value::Object(own), 0, answer));
    }
    parts
}

/// The reasoning beside the content, with its fields kept as they came.
fn reasoning(message: &mut Map<String, Value>) -> Option<Part> {
    let mut own = Map::new();
    for key in REASONING.iter().copied().chain(["reasoning_details"]) {
        if let Some(value) = message.remove(key).filter(|value| !is_blank(value)) {
            own.insert(key.to_owned(), value);
        }
    }
    if own.is_empty() {
        return None;
    }
    let mut said = REASONING.iter().find_map(|key| own.get(*key)?.as_str().map(str::to_owned));
    if said.is_none()
        && let Some(details) = own.get("reasoning_details").and_then(Value::as_array)
    {
        let texts = details.iter().map(|one| match text(one, "text") {
            "" => text(one, "summary"),
            text => text,
        });
        said = Some(texts.collect());
    }
    let raw = Some(Raw { format: FORMAT, value: Value::Object(own) });
    Some(Part::Reasoning { text: said.unwrap_or_default(), raw })
}

/// A block of a content that is a list. Neighbouring texts are one text.
pub(super) fn block(own: Value, parts: &mut Vec<Part>) {
    match text(&own, "type") {
        "text" if !holds_more(&own, &["type", "text"]) => {
            match (text(&own, "text"), parts.last_mut()) {
                ("", _) => {}
                (more, Some(Part::Text(text))) => text.push_str(more),
                (more, _) => parts.push(Part::Text(more.to_owned())),
            }
        }
        "thinking" => {
            let said = match own.get("thinking") {
                Some(Value::Array(texts)) => texts.iter().map(|one| text(one, "text")).collect(),
                _ => text(&own, "thinking").to_owned(),
            };
            let raw = Some(Raw { format: FORMAT, value: own });
            parts.push(Part::Reasoning { text: said, raw });
        }
        _ => parts.push(Part::Other { format: FORMAT, value: own }),
    }
}

/// A call; `None` if it names no tool.
fn call(own: Value, index: usize, answer: &str) -> Option<Part> {
    let function = own.get("function")?;
    let name = text(function, "name").to_owned();
    let arguments = match function.get("arguments") {
        Some(Value::String(text)) => text.clone(),
        None | Some(Value::Null) => String::new(),
        Some(value) => value.to_string(),
    };
    if name.is_empty() && arguments.is_empty() {
        return None;
    }
    let id = match text(&own, "id") {
        "" => made_id(answer, index, &name, &arguments),
        id => id.to_owned(),
    };
    let more = holds_more(&own, &["id", "type", "index", "function"])
        || holds_more(function, &["name", "arguments", "index"]);
    let raw = more.then(|| Raw { format: FORMAT, value: without_index(own) });
    Some(Part::ToolCall { id, name, arguments, raw })
}

fn without_index(mut own: Value) -> Value {
    if let Some(own) = own.as_object_mut() {
        own.remove("index");
    }
    own
}
