//! Why a decision was made.

use alloc::string::String;
use core::fmt;

use serde::{Deserialize, Serialize};

use crate::policy::RuleId;
use crate::stop_reason::StopReason;

/// Why a decision was made, with the numbers behind it. `Display` is a sentence for users.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Reason {
    /// Nothing speaks against going on.
    #[default]
    Progressing,
    /// The reply ends the run and is accepted.
    Finished {
        /// A check proved the goal.
        proved: bool,
    },
    /// The reply asks the user; the turn is theirs.
    AwaitingUser,
    /// The reply signals that it goes on (C2).
    SignalledContinue,
    /// A person asked for the stop.
    StopRequested,
    /// A forced answer did not come.
    AnswerOverdue {
        /// Turns since the answer was forced.
        turns: u32,
    },
    /// A model call failed and a retry can help.
    RetryableFailure {
        /// The retry this is, from 1.
        attempt: u32,
        /// Retries allowed.
        allowed: u32,
    },
    /// A model call failed and no retry can help, or all were used.
    CallFailed {
        /// Retries made.
        attempts: u32,
        /// HTTP status; `None` if no answer arrived.
        status: Option<u16>,
        /// The stop reason; `None` if there was none.
        stop: Option<StopReason>,
    },
    /// A budget is used up.
    Budget {
        /// Which one, by its key in the section `limits`.
        budget: String,
        /// What was used.
        used: u64,
        /// What was allowed.
        allowed: u64,
    },
    /// A rule counted something up to its threshold.
    Counted {
        /// The rule.
        rule: RuleId,
        /// What was counted.
        count: u32,
        /// The threshold that was reached.
        threshold: u32,
    },
}

impl Reason {
    /// The reason's name in files and output: the rule's key, or the kind.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Progressing => "progressing",
            Self::Finished { .. } => "finished",
            Self::AwaitingUser => "awaiting_user",
            Self::SignalledContinue => "signalled_continue",
            Self::StopRequested => "stop_requested",
            Self::AnswerOverdue { .. } => "answer_overdue",
            Self::RetryableFailure { .. } | Self::CallFailed { .. } => "failed_call",
            Self::Budget { .. } => "budget",
            Self::Counted { rule, .. } => rule.key(),
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
