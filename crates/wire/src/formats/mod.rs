//! One folder per format: `write` makes requests, `read` makes answers, `assemble` makes one whole
//! answer of a stream.
//!
//! A stream is put together into the body that the same answer would have had in one piece, and
//! read by the same function: so both are equal by construction.

mod anthropic;
mod chat;
mod gemini;
mod responses;

use std::fmt::Debug;

use serde_json::{Map, Value};

use crate::failure::Reported;
use crate::json::{self, merge};
use crate::{Answer, Delta, Format, Message, Part, Request, WireError};

/// Puts the body of an answer together from the events of a stream.
pub(crate) trait Assemble: Debug + Send + Sync {
    /// Takes in one event and tells what it added.
    ///
    /// # Errors
    /// What the server reports as an error.
    fn take(&mut self, event: Value, deltas: &mut Vec<Delta>) -> Result<(), Reported>;
    /// The `[DONE]` of OpenAI's streams came.
    fn mark_done(&mut self) {}
    /// Whether the end mark came.
    fn is_whole(&self) -> bool;
    /// Whether nothing can follow.
    fn is_done(&self) -> bool;
    /// The body so far.
    fn value(&self) -> Value;
}

/// The assembly of one stream.
pub(crate) fn assembly(format: Format) -> Box<dyn Assemble> {
    match format {
        Format::OpenAiChat => Box::<chat::Assembly>::default(),
        Format::OpenAiResponses => Box::<responses::Assembly>::default(),
        Format::Anthropic => Box::<anthropic::Assembly>::default(),
        Format::Gemini => Box::<gemini::Assembly>::default(),
    }
}

/// Reads the body of an answer.
///
/// # Errors
/// If it is none, or the server reports an error in it.
pub(crate) fn answer(format: Format, body: Value) -> Result<Answer, WireError> {
    let problem = |problem| WireError::NotAnAnswer { format, problem };
    let body = match body {
        Value::Object(body) => body,
        Value::Array(mut list) if list.len() == 1 => match list.pop() {
            Some(Value::Object(body)) => body,
            _ => return Err(problem("it is no object")),
        },
        _ => return Err(problem("it is no object")),
    };
    if body.get("error").is_some_and(|error| !crate::json::is_blank(error)) {
        let reported = Reported::read(&Value::Object(body));
        return Err(reported.into_error(Answer::empty()));
    }
    let read = match format {
        Format::OpenAiChat => chat::read,
        Format::OpenAiResponses => responses::read,
        Format::Anthropic => anthropic::read,
        Format::Gemini => gemini::read,
    };
    read(body).map_err(problem)
}

impl Format {
    /// The body of a request, as JSON.
    #[must_use]
    pub fn body(self, request: &Request<'_>) -> Vec<u8> {
        let mut body = match self {
            Self::OpenAiChat => chat::write(request),
            Self::OpenAiResponses => responses::write(request),
            Self::Anthropic => anthropic::write(request),
            Self::Gemini => gemini::write(request),
        };
        if let Some(extra) = request.extra {
            merge(&mut body, extra);
        }
        Value::Object(body).to_string().into_bytes()
    }
}

/// The parts of one item of a client's conversation, which is an object; `place` tells calls
/// without an id apart.
pub(crate) fn hear(format: Format, item: Map<String, Value>, place: &str) -> Vec<Part> {
    match format {
        Format::OpenAiChat => chat::hear(item, place),
        Format::OpenAiResponses => responses::hear(item, place),
        Format::Anthropic => anthropic::hear(item, place),
        Format::Gemini => gemini::hear(item, place),
    }
}

/// One message as items of a format, in order; none if the format has no words for it.
pub(crate) fn items(format: Format, message: &Message) -> Vec<Value> {
    let messages = std::slice::from_ref(message);
    match format {
        Format::OpenAiChat => chat::items(messages),
        Format::OpenAiResponses => responses::items(messages),
        Format::Anthropic => anthropic::items(messages),
        Format::Gemini => gemini::items(messages),
    }
}

/// The field of Chat Completions that limits the answer, by the model's name.
pub(crate) fn chat_limit_field(model: &str) -> &'static str {
    chat::limit_field(model)
}

/// What a tool returned, as one text: blocks of text line by line, other blocks by their kind.
fn told(content: Option<Value>) -> String {
    match content {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text,
        Some(Value::Array(blocks)) if blocks.iter().any(Value::is_object) => {
            let texts =
                blocks.iter().map(|block| match block.get("text").and_then(Value::as_str) {
                    Some(text) => text.to_owned(),
                    None => format!("[{}]", json::text(block, "type")),
                });
            texts.collect::<Vec<_>>().join("\n")
        }
        Some(other) => other.to_string(),
    }
}

/// The temperature as it was meant: 0.7 and not 0.699999988.
fn temperature(number: f32) -> Value {
    number.to_string().parse::<f64>().map_or(Value::Null, Value::from)
}

/// An object of fields, for `json!` values that are known to be objects.
fn fields(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}
