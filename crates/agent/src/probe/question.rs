//! The requests of a probe.

use serde_json::{Value, json};
use steersman_wire::{Message, Part, Request, Schema, ToolChoice, ToolSpec};

use super::plan::Probe;
use super::step::Step;

/// The one tool there is.
pub(super) const TOOL: &str = "get_weather";

/// What the system prompt alone tells.
pub(super) const CODE_WORD: &str = "pelican";

/// Most tokens of the reply that is to run into its limit; the least that `OpenAI` Responses takes.
pub(super) const FEW_TOKENS: u32 = 16;

/// More tokens than any model gives.
pub(super) const TOO_MANY_TOKENS: u32 = 100_000_000;

/// What stands in for a model that does not exist.
const NO_MODEL: &str = "steersman-probe-no-such-model";

/// A question of a probe, without the options that stay at their defaults.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    model: String,
    system: String,
    messages: Vec<Message>,
    tools: Vec<ToolSpec>,
    tool_choice: ToolChoice,
    schema: Option<Schema>,
    stream: bool,
    most: u32,
}

impl Question {
    /// A question without words.
    fn plain(probe: &Probe) -> Self {
        Self {
            model: probe.model().to_owned(),
            system: "You answer briefly.".to_owned(),
            messages: Vec::new(),
            tools: Vec::new(),
            tool_choice: ToolChoice::Auto,
            schema: None,
            stream: false,
            most: probe.max_output_tokens(),
        }
    }

    /// The question of a step; `None` for the list of models, which has none, and for the result
    /// of a call that never came.
    #[must_use]
    pub fn of(step: Step, probe: &Probe) -> Option<Self> {
        let plain = Self::plain(probe);
        let ask = |words: &str| vec![Message::user(words)];
        let tools = || vec![tool()];
        let weather = "What is the weather in Oslo? Use the tool.";
        Some(match step {
            Step::Listing => return None,
            Step::Format(_) => Self {
                system: format!("You answer briefly. The code word is \"{CODE_WORD}\"."),
                messages: ask("What is the code word? Reply with that word alone."),
                ..plain
            },
            Step::WrongModel => {
                Self { model: NO_MODEL.to_owned(), messages: ask("Say hello."), ..plain }
            }
            Step::Length => Self {
                messages: ask("Write the numbers from 1 to 200, separated by spaces."),
                most: FEW_TOKENS,
                ..plain
            },
            Step::Stream => Self {
                messages: ask("Write the numbers from 1 to 30, separated by spaces."),
                stream: true,
                ..plain
            },
            Step::Call | Step::ObjectCall => {
                Self { messages: ask(weather), tools: tools(), ..plain }
            }
            Step::StreamedCall => {
                Self { messages: ask(weather), tools: tools(), stream: true, ..plain }
            }
            Step::Returned => {
                let mut messages = ask(weather);
                messages.extend(returned(probe)?);
                Self { messages, tools: tools(), ..plain }
            }
            Step::ParallelCalls | Step::StreamedParallel => Self {
                messages: ask("What is the weather in Oslo and in Lima? Call the tool once for \
                     each city, both calls in one reply."),
                tools: tools(),
                stream: step == Step::StreamedParallel,
                ..plain
            },
            Step::NoCall => Self {
                messages: ask(weather),
                tools: tools(),
                tool_choice: ToolChoice::None,
                ..plain
            },
            Step::ForcedCall => Self {
                messages: ask("Say hello."),
                tools: tools(),
                tool_choice: ToolChoice::Required,
                ..plain
            },
            Step::Schema => Self {
                messages: ask("How many legs does a spider have?"),
                schema: Some(legs()),
                ..plain
            },
            Step::Limits => {
                Self { messages: ask("Say hello."), stream: true, most: TOO_MANY_TOKENS, ..plain }
            }
        })
    }

    /// The request.
    #[must_use]
    pub fn request(&self) -> Request<'_> {
        Request {
            system: &self.system,
            tools: &self.tools,
            tool_choice: self.tool_choice,
            max_output_tokens: Some(self.most),
            stream: self.stream,
            schema: self.schema.as_ref(),
            // Nothing here is long enough for a cache, and its marks cost.
            cache: false,
            ..Request::new(&self.model, &self.messages)
        }
    }
}

/// The tool.
pub(super) fn tool() -> ToolSpec {
    ToolSpec {
        name: TOOL.to_owned(),
        description: "The weather in a city at this moment.".to_owned(),
        parameters: json!({
            "type": "object",
            "properties": {
                "city": {"type": "string", "description": "Name of the city"},
                "unit": {"type": "string", "enum": ["celsius", "fahrenheit"]},
            },
            "required": ["city"],
            "additionalProperties": false,
        }),
    }
}

fn legs() -> Schema {
    let schema: Value = json!({
        "type": "object",
        "properties": {"animal": {"type": "string"}, "legs": {"type": "integer"}},
        "required": ["animal", "legs"],
        "additionalProperties": false,
    });
    Schema { name: "legs".to_owned(), schema, strict: true }
}

/// The reply that called, and the result of every call in it.
fn returned(probe: &Probe) -> Option<[Message; 2]> {
    let called = probe.called()?;
    let result = |part: &Part| match part {
        Part::ToolCall { id, name, .. } => Some(Part::ToolResult {
            call_id: id.clone(),
            name: name.clone(),
            content: r#"{"temperature": -3, "unit": "celsius", "sky": "snow"}"#.to_owned(),
            is_error: false,
        }),
        _ => None,
    };
    let results = called.message.parts.iter().filter_map(result).collect();
    Some([called.message, Message::results(results)])
}
