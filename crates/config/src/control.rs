//! What a person may want of a session while it goes on, and what of it is laid over a policy.
//!
//! The gateway and the runtime take the same controls; both keep them in their journals, so that
//! the format stays readable.

use serde::{Deserialize, Serialize};
use steersman_engine::{Policy, policy};

/// Something a person wants of a session. In the gateway it takes effect with the
/// session's next request, in a run before the next step.
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
    /// The next request waits until the session is resumed, or its client gives up.
    Pause,
    /// What waits goes on.
    Resume,
    /// Other budgets for this session. If its answer was being forced or it was ended, the agent
    /// may go on.
    Limits(Limits),
    /// The final answer is asked for.
    ForceSynthesis,
    /// The agent is told to reconsider its course.
    ReEvaluate,
    /// The workspace is restored and a new attempt begins. Only of runs that Steersman drives in a
    /// workspace.
    StartOver,
    /// The session ends: what the client asks next is answered with a final answer of ours.
    Stop,
    /// Words for the agent, put in at the end of the next request. At most 4 KiB.
    Note {
        /// The words.
        text: String,
    },
}

impl std::fmt::Display for Control {
    /// As a sentence, for people.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Continuation { on: true } => f.write_str("decisions are acted on again"),
            Self::Continuation { on: false } => f.write_str("decisions are not acted on"),
            Self::Aggressiveness { preset } => write!(f, "the preset is {preset}"),
            Self::Pause => f.write_str("paused"),
            Self::Resume => f.write_str("resumed"),
            Self::Limits(limits) => limits.fmt(f),
            Self::ForceSynthesis => f.write_str("wants the answer now"),
            Self::ReEvaluate => f.write_str("wants the course reconsidered"),
            Self::StartOver => f.write_str("wants a new attempt"),
            Self::Stop => f.write_str("stopped it"),
            Self::Note { text } => write!(f, "note: {text}"),
        }
    }
}

/// Budgets of a session in the place of the policy's. `None` leaves one as it is, 0 lifts it.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Model replies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_turns: Option<u32>,
    /// Tool calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tool_calls: Option<u32>,
    /// Tokens sent and generated over all calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_total_tokens: Option<u64>,
    /// Tokens generated over all calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_output_tokens: Option<u64>,
    /// Money over all calls. Nano-dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_cost_nanodollars: Option<u64>,
    /// Time since the session began. Milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_wall_ms: Option<u64>,
    /// Time in which the agent worked. Milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_working_ms: Option<u64>,
}

impl std::fmt::Display for Limits {
    /// What is given, by name: `max_turns is 50, max_cost_nanodollars is lifted`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let given = [
            ("max_turns", self.max_turns.map(u64::from)),
            ("max_tool_calls", self.max_tool_calls.map(u64::from)),
            ("max_total_tokens", self.max_total_tokens),
            ("max_output_tokens", self.max_output_tokens),
            ("max_cost_nanodollars", self.max_cost_nanodollars),
            ("max_wall_ms", self.max_wall_ms),
            ("max_working_ms", self.max_working_ms),
        ];
        let given = given.into_iter().filter_map(|(name, limit)| Some((name, limit?)));
        for (at, (name, limit)) in given.enumerate() {
            f.write_str(if at == 0 { "" } else { ", " })?;
            match limit {
                0 => write!(f, "{name} is lifted")?,
                limit => write!(f, "{name} is {limit}")?,
            }
        }
        Ok(())
    }
}

impl Limits {
    /// Whether it changes nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// These, and where one is not given that of `before`.
    #[must_use]
    pub fn or(self, before: Self) -> Self {
        Self {
            max_turns: self.max_turns.or(before.max_turns),
            max_tool_calls: self.max_tool_calls.or(before.max_tool_calls),
            max_total_tokens: self.max_total_tokens.or(before.max_total_tokens),
            max_output_tokens: self.max_output_tokens.or(before.max_output_tokens),
            max_cost_nanodollars: self.max_cost_nanodollars.or(before.max_cost_nanodollars),
            max_wall_ms: self.max_wall_ms.or(before.max_wall_ms),
            max_working_ms: self.max_working_ms.or(before.max_working_ms),
        }
    }

    /// Puts them into a policy's.
    pub fn lay_over(&self, limits: &mut policy::Limits) {
        lay(&mut limits.max_turns, self.max_turns, 0);
        lay(&mut limits.max_tool_calls, self.max_tool_calls, 0);
        lay(&mut limits.max_total_tokens, self.max_total_tokens, 0);
        lay(&mut limits.max_output_tokens, self.max_output_tokens, 0);
        lay(&mut limits.max_cost_nanodollars, self.max_cost_nanodollars, 0);
        lay(&mut limits.max_wall_ms, self.max_wall_ms, 0);
        lay(&mut limits.max_working_ms, self.max_working_ms, 0);
    }
}

/// Sets a limit if one is given; `none` lifts it.
fn lay<T: PartialEq>(own: &mut Option<T>, given: Option<T>, none: T) {
    if let Some(given) = given {
        *own = (given != none).then_some(given);
    }
}

/// Longest note for an agent, in bytes.
pub const MAX_NOTE: usize = 4 << 10;

/// A policy with what a person wants laid over it: the numbers of a preset in the place of its own,
/// but for its budgets, and other budgets. A preset that is not known changes nothing.
#[must_use]
pub fn wanted(policy: &Policy, preset: Option<&str>, limits: &Limits) -> Policy {
    let mut wanted = match preset.and_then(Policy::built_in) {
        None => policy.clone(),
        Some(preset) => Policy { limits: policy.limits.clone(), mode: policy.mode, ..preset },
    };
    limits.lay_over(&mut wanted.limits);
    wanted
}
