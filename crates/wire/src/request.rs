//! What a model is asked.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::Message;

/// A tool the model may call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// Letters, digits, `_` and `-`, at most 64: what every provider takes.
    pub name: String,
    /// What it does and when to use it.
    #[serde(default)]
    pub description: String,
    /// JSON Schema of the arguments: an object schema. Adapted where a provider takes less.
    #[serde(default)]
    pub parameters: Value,
}

/// Whether the model may call tools in this reply.
///
/// Tools stay in the request either way, so that the server's prompt cache stays valid and a
/// history with calls is not refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ToolChoice {
    /// The model decides.
    #[default]
    Auto,
    /// No calls: the model has to answer in text.
    None,
    /// At least one call. Servers differ in how strictly they hold to it.
    Required,
}

/// What the text of an answer must be: JSON of this shape.
#[derive(Clone, Debug, PartialEq)]
pub struct Schema {
    /// Letters, digits, `_` and `-`, at most 64.
    pub name: String,
    /// JSON Schema.
    pub schema: Value,
    /// Ask for exact adherence. OpenAI then refuses schemas in which an object lists not all its
    /// properties as required or lets additional ones in.
    pub strict: bool,
}

/// One call of a model.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The model's name as the server knows it.
    pub model: &'a str,
    /// The system prompt; empty for none.
    pub system: &'a str,
    /// The conversation, oldest first. Its end may be a user message, results, or the beginning
    /// of the answer.
    pub messages: &'a [Message],
    /// The tools; none means no tool fields at all.
    pub tools: &'a [ToolSpec],
    /// Whether they may be called; without tools it has no effect.
    pub tool_choice: ToolChoice,
    /// Most tokens to generate, reasoning included. `None`: the server's default, except with
    /// Anthropic, which demands a number and gets 8,192.
    pub max_output_tokens: Option<u32>,
    /// Sampling temperature; `None`: the server's default.
    pub temperature: Option<f32>,
    /// Whether the answer is to come as a stream.
    pub stream: bool,
    /// The shape of the answer's text; `None`: free text.
    pub schema: Option<&'a Schema>,
    /// Whether one reply may hold several calls; `None`: the server's default. Gemini has no such
    /// switch.
    pub parallel_tool_calls: Option<bool>,
    /// Mark the beginning that stays the same for the prompt cache: system prompt, tools, and the
    /// conversation so far. Only Anthropic has marks; others cache by themselves.
    pub cache: bool,
    /// Fields merged into the body last: objects into objects, other values replace, null removes.
    pub extra: Option<&'a Map<String, Value>>,
}

impl<'a> Request<'a> {
    /// A request with every option at its default: no tools, no stream, cache marks on.
    #[must_use]
    pub const fn new(model: &'a str, messages: &'a [Message]) -> Self {
        Self {
            model,
            system: "",
            messages,
            tools: &[],
            tool_choice: ToolChoice::Auto,
            max_output_tokens: None,
            temperature: None,
            stream: false,
            schema: None,
            parallel_tool_calls: None,
            cache: true,
            extra: None,
        }
    }
}
