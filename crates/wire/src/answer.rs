//! What a model answered.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use steersman_engine::{Reply, StopReason, Usage};

use crate::{Message, Role};

/// One answer of a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The reply, of role [`Role::Assistant`].
    pub message: Message,
    /// Why the model stopped; `None` if the server did not say.
    #[serde(default)]
    pub stop: Option<StopReason>,
    /// The server's own word for it; `None` if it sent none.
    #[serde(default)]
    pub stop_word: Option<String>,
    /// What the call used.
    #[serde(default)]
    pub usage: Tokens,
    /// The model that answered, as the server names it; `None` if it does not.
    #[serde(default)]
    pub model: Option<String>,
    /// The server's id of the answer; `None` if it sent none.
    #[serde(default)]
    pub id: Option<String>,
    /// Fields of the answer that have no place above.
    #[serde(default)]
    pub extra: Map<String, Value>,
}

/// What one call used, in every provider's way of counting made alike. Zero means unknown or none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Tokens {
    /// Tokens sent, cached ones included.
    pub input: u64,
    /// Tokens generated, reasoning included.
    pub output: u64,
    /// The part of the input that was read from the server's cache.
    pub cached_input: u64,
    /// The part of the input that was written into the server's cache, where that is counted apart.
    #[serde(skip_serializing_if = "is_zero")]
    pub cache_write: u64,
    /// The part of the output that is reasoning.
    pub reasoning: u64,
    /// The price as the server told it, in nano-dollars (10⁻⁹ USD).
    pub cost_nanodollars: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature serde asks for")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Tokens {
    /// Whether the server told anything: an answer without tokens is one whose use is unknown.
    #[must_use]
    pub const fn is_told(self) -> bool {
        self.input > 0 || self.output > 0 || self.cost_nanodollars > 0
    }

    /// The engine's view of it.
    #[must_use]
    pub const fn usage(self) -> Usage {
        Usage {
            input_tokens: self.input,
            output_tokens: self.output,
            cost_nanodollars: self.cost_nanodollars,
        }
    }
}

impl Answer {
    /// The event of this answer; it borrows from the message.
    #[must_use]
    pub fn reply(&self) -> Reply<'_> {
        Reply { stop: self.stop, usage: self.usage.usage(), ..self.message.reply() }
    }

    /// An answer that says nothing.
    pub(crate) fn empty() -> Self {
        Self {
            message: Message { role: Role::Assistant, parts: Vec::new() },
            stop: None,
            stop_word: None,
            usage: Tokens::default(),
            model: None,
            id: None,
            extra: Map::new(),
        }
    }

    /// Whether there is anything in it that a caller could use.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.message.parts.is_empty()
    }

    /// Takes the server's word for why it stopped.
    pub(crate) fn stopped(&mut self, word: &str) {
        if !word.is_empty() {
            self.stop = Some(StopReason::from_wire(word));
            self.stop_word = Some(word.to_owned());
        }
    }
}
