//! What a person can do to a session that is open.

use serde::{Deserialize, Serialize};

/// Something a person wants of a session. It takes effect with the session's next request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "control", rename_all = "snake_case", deny_unknown_fields)]
pub enum Control {
    /// Whether decisions are acted on. Off is the shadow mode for this session.
    Continuation {
        /// On or off.
        on: bool,
    },
    /// How early the engine acts: `aggressive`, `standard` or `lenient`.
    Aggressiveness {
        /// The preset.
        preset: String,
    },
    /// The final answer is asked for.
    ForceSynthesis,
    /// The agent is told to reconsider its course.
    ReEvaluate,
    /// The session ends: what the client asks next is answered with a final answer of ours.
    Stop,
    /// Words for the agent, put in at the end of the next request. At most 4 KiB.
    Note {
        /// The words.
        text: String,
    },
}

/// Longest note for an agent, in bytes.
pub const MAX_NOTE: usize = 4 << 10;

/// Why a control had no effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ControlError {
    /// No such session is open.
    Unknown,
    /// The control itself is wrong; the sentence says how, and what is allowed.
    Invalid(String),
}

/// Whoever holds the sessions.
pub trait Helm: Send + Sync {
    /// Hands a control to a session. It is journalled with `who`.
    ///
    /// # Errors
    /// There is no such session, or the control makes no sense.
    fn control(&self, session: &str, who: &str, control: Control) -> Result<(), ControlError>;

    /// Sessions in memory; `None` if it is not known.
    fn open_sessions(&self) -> Option<usize> {
        None
    }
}
