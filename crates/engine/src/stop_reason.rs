//! Why a model stopped generating (document E).

use serde::{Deserialize, Serialize};

/// The stop reasons of document E; every provider's own words map onto them (E1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// Ended by itself, with an answer or with tool calls.
    Stop,
    /// Hit the limit on generated tokens.
    Length,
    /// Hit the server's limit on tool calls.
    ToolLimit,
    /// Hit the server's time limit.
    TimeLimit,
    /// Failed.
    Error,
    /// Interrupted by a person or the system.
    Interrupted,
    /// The conversation no longer fits the context window.
    InsufficientContext,
    /// The server sent a word that nobody knows.
    Unknown,
}
impl core::fmt::Display for StopReason {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{self:?}")
    }
}
