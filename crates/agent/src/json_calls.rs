//! Calls as structured output, for models that cannot call tools (C2, C7).
//!
//! The model is asked for one JSON object per reply that names a tool and its arguments. The object
//! becomes an ordinary call, stands as such in the journal, and goes back to the model as the
//! object it was. Nothing else of the runtime knows of it.

use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use steersman_wire::{
    Answer, Delta, Failure, Message, Part, Request, Role, Schema, ToolChoice, ToolSpec,
    parse_arguments, repair_tool_call,
};

use crate::control;
use crate::seam::{Model, ModelCall, Work};

/// The name of the schema at the server.
const NAME: &str = "next_step";

/// Keys of the object. Servers that hold a model to a schema have it write the keys in the order of
/// the alphabet: the model thinks first, then names the tool, then writes what goes with it.
const THOUGHT: &str = "thought";
const TOOL: &str = "tool";
const WITH: &str = "with";

/// What models write for [`WITH`] where nothing holds them to the schema.
const ALSO: [&str; 4] = ["arguments", "parameters", "args", "input"];

/// Stands for a reply in text, for an agent that has no tool to finish with.
const ANSWER: &str = "answer";

/// A model that is asked for its calls as structured output, where the agent's setup says so.
pub struct JsonCalls {
    model: Arc<dyn Model>,
}

impl JsonCalls {
    /// Wraps a model.
    #[must_use]
    pub const fn new(model: Arc<dyn Model>) -> Self {
        Self { model }
    }

    async fn ask(
        &self,
        call: ModelCall<'_>,
        on_delta: &mut (dyn FnMut(&Delta) + Send),
    ) -> Result<Answer, Failure> {
        let asked = call.request;
        let system = system(asked.system, asked.tools);
        let messages: Vec<Message> = asked.messages.iter().map(told).collect();
        let schema = schema(asked.tools);
        let free = asked.tool_choice == ToolChoice::None;
        let request = Request {
            system: &system,
            messages: &messages,
            tools: &[],
            parallel_tool_calls: None,
            schema: (!free).then_some(&schema),
            ..asked
        };
        // Pieces of the object mean nothing to whoever watches; what it says is told at its end.
        let mut thoughts = |delta: &Delta| {
            if matches!(delta, Delta::Reasoning(_)) {
                on_delta(delta);
            }
        };
        let answer = self.model.reply(ModelCall { request, ..call }, &mut thoughts).await?;
        let id = format!("call_{}_{}", call.attempt, asked.messages.len());
        let read = if free { in_text(answer) } else { read(answer, asked.tools, id) };
        read.message.parts.iter().for_each(|part| tell(part, on_delta));
        Ok(read)
    }
}

impl Model for JsonCalls {
    fn reply<'a>(
        &'a self,
        call: ModelCall<'a>,
        on_delta: &'a mut (dyn FnMut(&Delta) + Send),
    ) -> Work<'a, Result<Answer, Failure>> {
        if call.json_calls && !call.request.tools.is_empty() {
            Box::pin(self.ask(call, on_delta))
        } else {
            self.model.reply(call, on_delta)
        }
    }
}

/// The system prompt with the tools, which no other field tells the model of.
fn system(system: &str, tools: &[ToolSpec]) -> String {
    let mut text = system.to_owned();
    let gap = if text.is_empty() { "" } else { "\n\n" };
    // Writing to a string cannot fail.
    let _ = write!(
        text,
        "{gap}## Replies\n\nEvery reply is one JSON object: `{THOUGHT}` is a sentence on what to \
         do next, `{TOOL}` the one tool to call, `{WITH}` its arguments. For example:\n\
         {{\"{THOUGHT}\": \"…\", \"{TOOL}\": \"{}\", \"{WITH}\": {{…}}}}\nThe result follows as \
         a message. The arguments of each tool:",
        tools.first().map_or(ANSWER, |tool| tool.name.as_str()),
    );
    for tool in tools {
        let _ = write!(text, "\n* `{}` — {}\n  {}", tool.name, tool.description, takes(tool));
    }
    if !finishes(tools) {
        let _ = write!(text, "\n* `{ANSWER}` — Reply to the user.\n  text: string, required");
    }
    text
}

/// The arguments of a tool in a line.
fn takes(tool: &ToolSpec) -> String {
    let Some(properties) = tool.parameters["properties"].as_object().filter(|all| !all.is_empty())
    else {
        return "no arguments".to_owned();
    };
    let required = tool.parameters["required"].as_array();
    let is_required = |name: &str| required.is_some_and(|all| all.iter().any(|one| one == name));
    let describe = |(name, schema): (&String, &Value)| {
        let kind = schema["type"].as_str().unwrap_or("value");
        let needed = if is_required(name) { ", required" } else { "" };
        match schema["description"].as_str() {
            Some(what) => format!("{name}: {kind}{needed} ({what})"),
            None => format!("{name}: {kind}{needed}"),
        }
    };
    properties.iter().map(describe).collect::<Vec<_>>().join("; ")
}

fn finishes(tools: &[ToolSpec]) -> bool {
    tools.iter().any(|tool| tool.name == control::FINISH)
}

/// The shape of a reply.
fn schema(tools: &[ToolSpec]) -> Schema {
    let mut names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
    let mut takes: Vec<Value> = tools.iter().map(|tool| held(&tool.parameters)).collect();
    if !finishes(tools) {
        names.push(ANSWER);
        takes.push(object_of(json!({"text": {"type": "string"}}), json!(["text"])));
    }
    let mut distinct: Vec<Value> = Vec::new();
    for one in takes {
        if !distinct.contains(&one) {
            distinct.push(one);
        }
    }
    let properties = json!({
        THOUGHT: {"type": "string"},
        TOOL: {"type": "string", "enum": names},
        // Which of them goes with which tool is left to the model: not every server takes a choice
        // at the root of a schema.
        WITH: {"anyOf": distinct},
    });
    let schema = object_of(properties, json!([THOUGHT, TOOL, WITH]));
    // Strict adherence would ask for every key that a tool may leave out.
    Schema { name: NAME.to_owned(), schema, strict: false }
}

fn object_of(properties: Value, required: Value) -> Value {
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

/// What servers can hold a model to: kinds, choices and keys. References, patterns and bounds are
/// refused by some; the tool itself looks at those.
fn held(schema: &Value) -> Value {
    let mut kept = Map::new();
    for key in ["type", "enum"] {
        if let Some(value) = schema.get(key) {
            kept.insert(key.to_owned(), value.clone());
        }
    }
    if let Some(items) = schema.get("items") {
        kept.insert("items".to_owned(), held(items));
    }
    let properties = schema.get("properties").and_then(Value::as_object);
    match properties {
        Some(properties) => {
            let held = properties.iter().map(|(name, schema)| (name.clone(), held(schema)));
            let required = schema.get("required").cloned().unwrap_or_else(|| json!([]));
            object_of(Value::Object(held.collect()), required)
        }
        None => Value::Object(kept),
    }
}

/// A message of the conversation as the model is shown it: no calls and results, but their texts.
fn told(message: &Message) -> Message {
    let calls = message.parts.iter().any(|part| matches!(part, Part::ToolCall { .. }));
    let mut thought = if calls { message.text().into_owned() } else { String::new() };
    let mut parts = Vec::new();
    for part in &message.parts {
        match part {
            Part::Text(_) if calls => {}
            Part::ToolCall { name, arguments, .. } => {
                let step = object(&std::mem::take(&mut thought), name, arguments);
                parts.push(Part::Text(step));
            }
            Part::ToolResult { name, content, is_error, .. } => {
                let failed = if *is_error { " (it failed)" } else { "" };
                parts.push(Part::Text(format!("Result of `{name}`{failed}:\n{content}")));
            }
            other => parts.push(other.clone()),
        }
    }
    let role = if message.role == Role::Tool { Role::User } else { message.role };
    Message { role, parts }
}

/// A call as the object that it was; the keys in the order they are asked for.
fn object(thought: &str, name: &str, arguments: &str) -> String {
    let with = parse_arguments(arguments).map_or_else(|_| Value::from(arguments), Value::Object);
    json!({THOUGHT: thought, TOOL: name, WITH: with}).to_string()
}

/// The answer with the call that its text is; an answer that is none stays as it is.
fn read(mut answer: Answer, tools: &[ToolSpec], id: String) -> Answer {
    let text = answer.message.text();
    let Some((thought, name, with)) = step_of(&text) else {
        return repair_tool_call(&answer, tools).unwrap_or(answer);
    };
    let offered = tools.iter().any(|tool| tool.name == name);
    let mut parts = Vec::new();
    let said = if name == ANSWER && !offered { with["text"].as_str() } else { None };
    let words = said.map_or(thought, str::to_owned);
    if !words.trim().is_empty() {
        parts.push(Part::Text(words));
    }
    if said.is_none() {
        let arguments = match with {
            Value::String(text) => text,
            other => other.to_string(),
        };
        parts.push(Part::ToolCall { id, name, arguments, raw: None });
    }
    replace_text(&mut answer.message, parts);
    answer
}

/// An answer for which no tool may be called: what it says, also where it is an object by habit.
fn in_text(mut answer: Answer) -> Answer {
    let text = answer.message.text();
    let Some((thought, _, with)) = step_of(&text) else { return answer };
    let said = ["summary", "text", "question"].iter().find_map(|key| with[*key].as_str());
    let words = said.filter(|said| !said.trim().is_empty()).map_or(thought, str::to_owned);
    replace_text(&mut answer.message, vec![Part::Text(words)]);
    answer
}

/// Thought, tool and arguments of a reply; `None` if it is no such object.
fn step_of(text: &str) -> Option<(String, String, Value)> {
    // No text at all reads as an object without keys.
    let mut step: Map<String, Value> = parse_arguments(text).ok()?;
    let name = step.get(TOOL)?.as_str()?.to_owned();
    let thought = step.get(THOUGHT).and_then(Value::as_str).unwrap_or_default().to_owned();
    let with = step.remove(WITH).or_else(|| ALSO.iter().find_map(|key| step.remove(*key)));
    Some((thought, name, with.unwrap_or_else(|| json!({}))))
}

/// Puts parts in the place of the texts; reasoning stays before them.
fn replace_text(message: &mut Message, parts: Vec<Part>) {
    message.parts.retain(|part| matches!(part, Part::Reasoning { .. }));
    message.parts.extend(parts);
}

fn tell(part: &Part, on_delta: &mut (dyn FnMut(&Delta) + Send)) {
    match part {
        Part::Text(text) => on_delta(&Delta::Text(text.clone())),
        Part::ToolCall { name, arguments, .. } => {
            on_delta(&Delta::ToolCallStarted { index: 0, name: name.clone() });
            on_delta(&Delta::Arguments { index: 0, text: arguments.clone() });
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemas_hold_kinds_choices_and_keys() {
        let cases = [
            (json!({}), json!({})),
            (json!({"$ref": "#/$defs/a", "description": "x"}), json!({})),
            (
                json!({"type": "string", "pattern": "^a", "enum": ["a"]}),
                json!({"type": "string", "enum": ["a"]}),
            ),
            (
                json!({"type": "array", "items": {"type": "integer", "minimum": 1}}),
                json!({"type": "array", "items": {"type": "integer"}}),
            ),
            (
                json!({"type": "object", "properties": {"a": {"type": "number", "maximum": 2}}}),
                object_of(json!({"a": {"type": "number"}}), json!([])),
            ),
        ];
        for (schema, expected) in cases {
            assert_eq!(held(&schema), expected, "{schema}");
        }
    }

    #[test]
    fn steps_are_read_in_every_spelling() {
        let cases = [
            (r#"{"thought": "t", "tool": "read", "with": {"a": 1}}"#, Some(r#"t read {"a":1}"#)),
            (r#"{"tool": "read", "arguments": {"a": 1}}"#, Some(r#" read {"a":1}"#)),
            ("```json\n{\"tool\": \"read\", \"args\": 1}\n```", Some(" read 1")),
            (r#"{"tool": "read"}"#, Some(" read {}")),
            (r#"{"tool": 5, "with": {}}"#, None),
            (r#"{"thought": "t"}"#, None),
            ("Done.", None),
            ("", None),
        ];
        for (text, expected) in cases {
            let read =
                step_of(text).map(|(thought, name, with)| format!("{thought} {name} {with}"));
            assert_eq!(read.as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn calls_without_valid_arguments_go_back_as_text() {
        let back = object("", "read", "half {");
        assert_eq!(back, r#"{"thought":"","tool":"read","with":"half {"}"#);
    }
}
