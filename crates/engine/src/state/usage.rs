//! What a run has used: tokens, money, time.

use serde::{Deserialize, Serialize};

use crate::event::{Timestamp, Usage};

/// What a run has used so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Used {
    /// Tokens sent over all calls.
    pub input_tokens: u64,
    /// Tokens generated over all calls.
    pub output_tokens: u64,
    /// Tokens in the conversation now: those of the last call, or an estimate of four bytes a
    /// token where the source counts none.
    pub context_tokens: u64,
    /// Nano-dollars over all calls.
    pub cost_nanodollars: u64,
    /// Milliseconds in which the agent worked; waiting for the user does not count.
    pub working_ms: u64,
    /// When the run began.
    pub started_at: Timestamp,
    /// The latest moment known.
    pub now: Timestamp,
    /// The turn is the user's: time does not count as work.
    pub waiting: bool,
    counted: bool,
    bytes: u64,
}

impl Used {
    /// Time went on to `at`.
    pub(crate) fn advance(&mut self, at: Timestamp) {
        if at == Timestamp::UNKNOWN {
            return;
        }
        if self.started_at == Timestamp::UNKNOWN {
            self.started_at = at;
        } else if !self.waiting {
            self.working_ms = self.working_ms.saturating_add(at.since_ms(self.now));
        }
        self.now = self.now.max(at);
    }

    /// A model call used `usage`.
    pub(crate) fn add(&mut self, usage: &Usage) {
        self.input_tokens = self.input_tokens.saturating_add(usage.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(usage.output_tokens);
        self.cost_nanodollars = self.cost_nanodollars.saturating_add(usage.cost_nanodollars);
        if usage.input_tokens > 0 {
            self.counted = true;
            self.context_tokens = usage.input_tokens.saturating_add(usage.output_tokens);
        }
    }

    /// Text of `len` bytes entered the conversation.
    pub(crate) fn add_text(&mut self, len: usize) {
        self.bytes = self.bytes.saturating_add(len as u64);
        if !self.counted {
            self.context_tokens = self.bytes / 4;
        }
    }

    /// Whether the source counts tokens, so that `context_tokens` is no estimate.
    pub(crate) const fn is_counted(&self) -> bool {
        self.counted
    }

    /// The conversation was shortened to `tokens`.
    pub(crate) fn compact(&mut self, tokens: Option<u64>) {
        self.context_tokens = tokens.unwrap_or(self.context_tokens / 4);
        self.bytes = self.context_tokens.saturating_mul(4);
    }

    /// Milliseconds since the run began.
    #[must_use]
    pub const fn wall_ms(&self) -> u64 {
        self.now.since_ms(self.started_at)
    }
}
