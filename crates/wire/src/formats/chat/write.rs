//! Requests of Chat Completions.

use serde_json::{Map, Value, json};

use super::super::{fields, temperature};
use crate::dialogue::{Returned, Said, Turn, turns};
use crate::{Format, Message, Part, Raw, Request, ToolChoice, arguments};

const FORMAT: Format = Format::OpenAiChat;

pub(in crate::formats) fn write(request: &Request<'_>) -> Map<String, Value> {
    let mut body = fields(json!({"model": request.model, "messages": messages(request)}));
    if let Some(limit) = request.max_output_tokens {
        body.insert(limit_field(request.model).into(), limit.into());
    }
    if let Some(number) = request.temperature {
        body.insert("temperature".into(), temperature(number));
    }
    if request.stream {
        body.insert("stream".into(), true.into());
        body.insert("stream_options".into(), json!({"include_usage": true}));
    }
    if let Some(schema) = request.schema {
        let asked = json!({"name": schema.name, "schema": schema.schema, "strict": schema.strict});
        let asked = json!({"type": "json_schema", "json_schema": asked});
        body.insert("response_format".into(), asked);
    }
    if !request.tools.is_empty() {
        let tools = request.tools.iter().map(|tool| {
            json!({"type": "function", "function": {
                "name": tool.name, "description": tool.description, "parameters": tool.parameters,
            }})
        });
        body.insert("tools".into(), tools.collect());
        match request.tool_choice {
            ToolChoice::Auto => None,
            ToolChoice::None => body.insert("tool_choice".into(), "none".into()),
            ToolChoice::Required => body.insert("tool_choice".into(), "required".into()),
        };
        if let Some(parallel) = request.parallel_tool_calls {
            body.insert("parallel_tool_calls".into(), parallel.into());
        }
    }
    body
}

/// `OpenAI`'s reasoning models refuse `max_tokens`, and other servers know nothing else.
pub(in crate::formats) fn limit_field(model: &str) -> &'static str {
    let model = model.rsplit('/').next().unwrap_or(model);
    let own = ["gpt-", "o1", "o3", "o4", "chatgpt"].iter().any(|name| model.starts_with(name));
    if own && !model.starts_with("gpt-oss") { "max_completion_tokens" } else { "max_tokens" }
}

fn messages(request: &Request<'_>) -> Vec<Value> {
    let mut messages = Vec::new();
    if !request.system.is_empty() {
        messages.push(json!({"role": "system", "content": request.system}));
    }
    messages.extend(items(request.messages));
    messages
}

/// The messages of a conversation without its system prompt.
pub(in crate::formats) fn items(conversation: &[Message]) -> Vec<Value> {
    let mut messages = Vec::new();
    for turn in turns(conversation) {
        match turn {
            Turn::User(said) => messages.push(user(&said)),
            Turn::Assistant(parts) => messages.push(assistant(&parts)),
            Turn::Results(results) => messages.extend(results.iter().map(result)),
        }
    }
    messages
}

fn result(result: &Returned<'_>) -> Value {
    json!({"role": "tool", "tool_call_id": result.id, "content": result.content})
}

/// The content of a message: one text where there is nothing else, because the templates of small
/// servers take no lists.
#[derive(Default)]
struct Content {
    blocks: Vec<Value>,
    mixed: bool,
}

impl Content {
    fn text(&mut self, text: &str) {
        if !text.is_empty() {
            self.blocks.push(json!({"type": "text", "text": text}));
        }
    }

    fn block(&mut self, block: &Value) {
        self.blocks.push(block.clone());
        self.mixed = true;
    }

    fn into_value(self) -> Option<Value> {
        if self.mixed {
            return Some(Value::Array(self.blocks));
        }
        let texts = self.blocks.iter().filter_map(|block| block.get("text")?.as_str());
        let texts: Vec<_> = texts.collect();
        if texts.is_empty() { None } else { Some(texts.join("\n").into()) }
    }
}

fn user(said: &[Said<'_>]) -> Value {
    let mut content = Content::default();
    for said in said {
        match said {
            Said::Part(Part::Text(text)) => content.text(text),
            Said::Orphan(text) => content.text(text),
            Said::Part(Part::Other { format: FORMAT, value }) => content.block(value),
            Said::Part(_) => {}
        }
    }
    json!({"role": "user", "content": content.into_value().unwrap_or_else(|| "".into())})
}

fn assistant(parts: &[&Part]) -> Value {
    let mut message = fields(json!({"role": "assistant"}));
    let mut content = Content::default();
    let mut calls = Vec::new();
    for part in parts {
        match part {
            Part::Text(text) => content.text(text),
            Part::Reasoning { raw: Some(Raw { format: FORMAT, value }), .. }
            | Part::Other { format: FORMAT, value } => match value {
                // A block of the content, as Mistral's thinking is.
                Value::Object(block) if block.contains_key("type") => content.block(value),
                Value::Object(own) => {
                    if own.contains_key("refusal") {
                        content.blocks.pop();
                    }
                    message.extend(own.clone());
                }
                _ => {}
            },
            Part::ToolCall { id, name, arguments, raw } => {
                calls.push(call(id, name, arguments, raw.as_ref()));
            }
            Part::Reasoning { .. } | Part::Other { .. } | Part::ToolResult { .. } => {}
        }
    }
    let silent = if calls.is_empty() { "".into() } else { Value::Null };
    message.insert("content".into(), content.into_value().unwrap_or(silent));
    if !calls.is_empty() {
        message.insert("tool_calls".into(), calls.into());
    }
    Value::Object(message)
}

fn call(id: &str, name: &str, arguments: &str, raw: Option<&Raw>) -> Value {
    let raw = raw.and_then(|raw| raw.of(FORMAT)).and_then(Value::as_object);
    let mut call = raw.cloned().unwrap_or_default();
    let arguments = arguments::json_text(arguments);
    call.insert("id".into(), id.into());
    call.insert("type".into(), "function".into());
    let function = call.entry("function").or_insert_with(|| json!({}));
    function["name"] = name.into();
    function["arguments"] = arguments.into();
    Value::Object(call)
}
