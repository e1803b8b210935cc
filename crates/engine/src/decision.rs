//! What to do: the engine's only output.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use serde::{Deserialize, Serialize};

use crate::reason::Reason;
use crate::signals::Signals;

/// What should happen next.
///
/// Ordered by how much it takes from the agent.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Nothing: the agent's own course stands. After a reply without tool calls this means the
    /// reply is accepted and the turn goes back to the user.
    #[default]
    Continue,
    /// Go on, with a hint in the conversation.
    Nudge,
    /// Go on, with the advice to begin the final answer.
    NudgeSynthesis,
    /// Go on, with the demand to reconsider the strategy, naming what was tried.
    ReEvaluate,
    /// Send the same model call again, after a delay.
    Retry,
    /// Withdraw the tools and ask for the final answer.
    ForceSynthesis,
    /// Restore workspace and conversation, and begin a new attempt.
    StartOver,
    /// End the run.
    Stop,
}

impl Action {
    /// Whether the action ends the run or the attempt.
    #[must_use]
    pub const fn ends_run(self) -> bool {
        matches!(self, Self::ForceSynthesis | Self::StartOver | Self::Stop)
    }

    /// The name used in files and output.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Continue => "continue",
            Self::Nudge => "nudge",
            Self::NudgeSynthesis => "nudge_synthesis",
            Self::ReEvaluate => "re_evaluate",
            Self::Retry => "retry",
            Self::ForceSynthesis => "force_synthesis",
            Self::StartOver => "start_over",
            Self::Stop => "stop",
        }
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A decision, with everything that explains it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    /// What to do.
    pub action: Action,
    /// Why, with the numbers.
    pub reason: Reason,
    /// Decided and recorded, but not to be acted on: the policy only watches, or whoever drives
    /// the run [leaves it alone](Self::in_shadow_unless).
    pub shadow: bool,
    /// Turn it was made in; the first is 1, 0 before any reply.
    pub turn: u32,
    /// Tool calls made so far in the run.
    pub call: u32,
    /// The hybrid score of document A, 0 (stop exploring) to 1 (go on).
    pub score: f32,
    /// The signals at this moment.
    pub signals: Signals,
    /// Where to look: what the reason rests on.
    pub evidence: Evidence,
    /// The message to put into the conversation; `None` for actions that need none.
    pub intervention: Option<Intervention>,
    /// How long to wait before a retry, in milliseconds; `None` for other actions.
    pub delay_ms: Option<u64>,
    /// The driver should run the configured check now (B1, beyond 4).
    pub run_check: bool,
}

impl Decision {
    /// The same decision, not to be acted on if the run is only watched.
    ///
    /// A policy in [shadow mode](Self::shadow) is not the only reason to leave a run alone; what is
    /// recorded must tell what was done.
    #[must_use]
    pub fn in_shadow_unless(mut self, acts: bool) -> Self {
        self.shadow |= !acts;
        self
    }
}

/// The turns a reason rests on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Evidence {
    /// Turn numbers, ascending, at most [`Evidence::MAX_TURNS`], the latest kept.
    pub turns: Vec<u32>,
    /// The call or text in question, shortened; empty if there is none.
    pub excerpt: String,
}

impl Evidence {
    /// How many turns are named.
    pub const MAX_TURNS: usize = 8;
    /// How many bytes of a call or text are quoted.
    pub const MAX_EXCERPT: usize = 160;

    /// Evidence out of turns and a text, which is shortened.
    pub(crate) fn new(turns: Vec<u32>, excerpt: &str) -> Self {
        let end = excerpt.floor_char_boundary(Self::MAX_EXCERPT);
        Self { turns, excerpt: excerpt[..end].into() }
    }
}

/// A message put into the conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Intervention {
    /// The text for the model.
    pub text: String,
    /// The template it was made from.
    pub template: String,
    /// Which of the template's texts it is, from 0.
    #[serde(default)]
    pub variant: u32,
}
