//! Every number a decision depends on.
//!
//! A [`Policy`] is plain data: it is read from a file by a crate that knows files, checked once by
//! [`Policy::validate`], and never changes during a run. The sections `continuation`, `task_types`,
//! `model_overrides` and `global` are those of documents A and D; the others are ours.

mod check;
mod continuation;
mod ladder;
mod limits;
mod loops;
mod overrides;
mod presets;
mod retry;
mod risk;
mod rules;
mod task_types;
mod test_progress;
mod wording;

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

pub use crate::risk::RiskTables;
pub use check::PolicyError;
pub use continuation::{
    Complexities, ComplexityLimits, Continuation, Progress, Protocol, ScoreWeights, TokenBudgets,
};
pub use ladder::Ladder;
pub use limits::Limits;
pub use loops::{Loops, Steps};
pub use overrides::{ModelOverride, glob_matches};
pub use presets::Preset;
pub use retry::Retry;
pub use risk::{Risk, RiskLine, RiskProfile, RiskTable};
pub use rules::{Ceiling, RuleId, Rules};
pub use task_types::{TaskLimits, TaskTypes};
pub use test_progress::TestProgress;
pub use wording::{LearnedWording, Wording, WordingOutcome};

use crate::tool::ToolKind;

/// Every number a decision depends on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Policy {
    /// Version of the file format; 1 is the only one so far.
    pub version: u32,
    /// Name shown with every decision. Default `default`.
    pub name: String,
    /// Whether decisions are acted on. Default `act`.
    pub mode: Mode,
    /// How far each rule may go, and its off switch.
    pub rules: Rules,
    /// Progress, complexity, token budgets, score and protocol (documents A and C).
    pub continuation: Continuation,
    /// Limits per task type (document D).
    pub task_types: TaskTypes,
    /// Settings per model, by glob over the model's name (document D). The longest glob that
    /// matches wins. Default: none.
    pub model_overrides: BTreeMap<String, ModelOverride>,
    /// Limits for every task type and model (document D).
    pub global: Global,
    /// Loop detectors.
    pub loops: Loops,
    /// Progress by test results (document B).
    pub tests: TestProgress,
    /// Escalation: how interventions follow each other.
    pub ladder: Ladder,
    /// Budgets of a run. Default: none.
    pub limits: Limits,
    /// Retries of failed model calls (document E).
    pub retry: Retry,
    /// A learned estimate of how a run will end, as `steersman tune` writes it (A9). Default: none.
    pub risk: Risk,
    /// Kinds of tools, by glob over the tool's name; they come before the built-in tables.
    pub tools: BTreeMap<String, ToolKind>,
    /// Texts of interventions by template name, in place of the built-in ones. `{name}` stands for
    /// a parameter. Default: none.
    pub texts: BTreeMap<String, Vec<String>>,
    /// Which of several texts is shown, and what came of each so far, as `steersman tune` writes it
    /// (A9). Default: nothing learned.
    pub wording: Wording,
}

/// Whether decisions are acted on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Decide and act.
    #[default]
    Act,
    /// Decide and record, act on nothing.
    Shadow,
}

/// Limits for every task type and model (document D, section `global`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Global {
    /// Turns with tool calls after which a run is forced to its answer; `None` (`null`) is no
    /// limit. `classic` 50 (D2); `default` none, because fixed caps cut off solved runs
    /// (evidence, fact 3).
    pub max_total_iterations: Option<u32>,
    /// A reply without tool calls shorter than this counts as low output. Characters, default 150.
    pub min_content_threshold: u32,
    /// How many recent call signatures `task_types.*.loop_repeat_threshold` looks at, 1–64,
    /// default 10.
    pub signature_history_size: u32,
}

impl Default for Global {
    fn default() -> Self {
        Self { max_total_iterations: None, min_content_threshold: 150, signature_history_size: 10 }
    }
}
