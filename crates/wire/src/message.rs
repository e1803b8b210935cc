//! A conversation that belongs to no provider.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use steersman_engine::{Reply, ToolCall};

use crate::Format;

/// Who a message is from. The system prompt is no message: it is a field of the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The user, or who speaks in the user's place.
    User,
    /// The model.
    Assistant,
    /// Results of tools.
    Tool,
}

/// One message of a conversation.
///
/// Its JSON is stored in journals: names and shapes stay what they are, new fields have defaults.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Who it is from.
    pub role: Role,
    /// What it says, in order; may be empty (a model that answered nothing).
    #[serde(default)]
    pub parts: Vec<Part>,
}

/// A piece of a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// Visible text.
    Text(String),
    /// The model's reasoning.
    Reasoning {
        /// What can be read of it; empty if the provider hides it.
        #[serde(default)]
        text: String,
        /// The provider's own block with signature or encrypted content; `None` if it sent none.
        /// It goes back word for word to the format it came from, and to no other.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        raw: Option<Raw>,
    },
    /// A call of a tool.
    ToolCall {
        /// Joins the call and its result; made up where the provider sends none, never empty.
        id: String,
        /// The tool's name.
        name: String,
        /// JSON text as the model wrote it, which may be no valid JSON; see
        /// [`parse_arguments`](crate::parse_arguments).
        #[serde(default)]
        arguments: String,
        /// The provider's own block where it holds more than the fields above (signatures).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        raw: Option<Raw>,
    },
    /// What a call returned.
    ToolResult {
        /// The id of the call.
        call_id: String,
        /// The tool's name.
        #[serde(default)]
        name: String,
        /// What the model is shown.
        #[serde(default)]
        content: String,
        /// Whether the tool failed; only some formats can say so to the model.
        #[serde(default)]
        is_error: bool,
    },
    /// Something that is not understood: kept, and sent back to the format it came from.
    ///
    /// One that follows a text and is itself a block of text (with citations or a signature) is
    /// that text's own block, and is sent in its place.
    Other {
        /// The format it came from.
        format: Format,
        /// The block as it came.
        value: Value,
    },
}

/// A provider's own block, kept as it came.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Raw {
    /// The format it came from.
    pub format: Format,
    /// The block.
    pub value: Value,
}

impl Raw {
    /// The block if it came from `format`.
    #[must_use]
    pub fn of(&self, format: Format) -> Option<&Value> {
        (self.format == format).then_some(&self.value)
    }
}

impl Message {
    /// A message of the user.
    #[must_use]
    pub fn user(text: impl Into<String>) -> Self {
        Self { role: Role::User, parts: vec![Part::Text(text.into())] }
    }

    /// A message of the model that holds text alone.
    #[must_use]
    pub fn assistant(text: impl Into<String>) -> Self {
        Self { role: Role::Assistant, parts: vec![Part::Text(text.into())] }
    }

    /// The results of the calls of one reply.
    #[must_use]
    pub fn results(parts: Vec<Part>) -> Self {
        Self { role: Role::Tool, parts }
    }

    /// The visible text; several pieces are joined by line ends.
    #[must_use]
    pub fn text(&self) -> Cow<'_, str> {
        join(self.parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            _ => None,
        }))
    }

    /// The reasoning that can be read; several pieces are joined by line ends.
    #[must_use]
    pub fn reasoning(&self) -> Cow<'_, str> {
        join(self.parts.iter().filter_map(|part| match part {
            Part::Reasoning { text, .. } => Some(text.as_str()),
            _ => None,
        }))
    }

    /// The calls of tools, as the engine's events hold them.
    pub fn tool_calls(&self) -> impl Iterator<Item = ToolCall<'_>> {
        self.parts.iter().filter_map(|part| match part {
            Part::ToolCall { id, name, arguments, .. } => Some(ToolCall {
                id: id.into(),
                name: name.into(),
                arguments: arguments.into(),
                unrecorded: false,
            }),
            _ => None,
        })
    }

    /// The event of this reply, without stop reason and usage; it borrows from the message.
    #[must_use]
    pub fn reply(&self) -> Reply<'_> {
        Reply {
            text: self.text(),
            reasoning: self.reasoning(),
            tool_calls: self.tool_calls().collect(),
            ..Reply::default()
        }
    }
}

fn join<'a>(mut texts: impl Iterator<Item = &'a str>) -> Cow<'a, str> {
    let mut joined = Cow::Borrowed(texts.next().unwrap_or_default());
    for text in texts.filter(|text| !text.is_empty()) {
        if joined.is_empty() {
            joined = Cow::Borrowed(text);
        } else {
            let joined = joined.to_mut();
            joined.push('\n');
            joined.push_str(text);
        }
    }
    joined
}
