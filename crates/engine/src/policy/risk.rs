//! Section `risk`: a learned estimate of how a run will end, and where to stop it.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::risk::{RiskFeature, RiskTables};

/// A model of the risk that a run fails, fitted on recorded runs whose outcome is known, and the
/// lines at which it ends a run.
///
/// The risk is a sum: `base`, and from each feature what its table says. Every part can be shown
/// and understood by itself. Numbers are log odds: +0.7 doubles the odds that the run fails.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Risk {
    /// Where the sum begins. Default 0.
    pub base: f32,
    /// What each feature adds.
    pub tables: RiskTables,
    /// The profile of runs that `profiles` does not name.
    pub others: RiskLine,
    /// Agents and models of which enough runs were seen. At most 1,000. Default: none.
    pub profiles: Vec<RiskProfile>,
}

/// What one feature adds to the risk, by its value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct RiskTable {
    /// Upper ends of the steps, rising; at most 64. A value belongs to the first step whose end is
    /// not below it. Default: none.
    pub up_to: Vec<f32>,
    /// What each step adds, and last what a value beyond all ends adds: one number more than ends.
    /// Default 0.
    pub add: Vec<f32>,
}

impl Default for RiskTable {
    fn default() -> Self {
        Self { up_to: Vec::new(), add: vec![0.0] }
    }
}

impl RiskTable {
    /// Most steps of a table.
    pub const MAX_STEPS: usize = 64;

    /// Whether the table adds nothing to any risk.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.up_to.is_empty() && self.add.iter().all(|add| *add == 0.0)
    }

    /// What a value adds.
    #[must_use]
    pub fn at(&self, value: f32) -> f32 {
        let step = self.up_to.iter().position(|end| value <= *end).unwrap_or(self.up_to.len());
        self.add.get(step).copied().unwrap_or_default()
    }
}

/// What is usual for a kind of run, and where it is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct RiskLine {
    /// Turns that successful runs usually take (geometric mean), above 0. Default 1.
    pub usual_turns: f32,
    /// By which factor that varies (geometric standard deviation), above 1. Default 2.72.
    pub spread: f32,
    /// Log odds that such a run succeeds. Default 0.
    pub success: f32,
    /// A risk above this line ends the run; `None` (`null`) never. Default `None`.
    pub line: Option<f32>,
    /// Good runs that the line rests on, for people. Default 0.
    pub good_runs: u32,
}

impl Default for RiskLine {
    fn default() -> Self {
        Self { usual_turns: 1.0, spread: 2.72, success: 0.0, line: None, good_runs: 0 }
    }
}

/// The line of one agent, or of one agent with one model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct RiskProfile {
    /// The agent's name.
    pub agent: String,
    /// The model's name; `None` (`null`) stands for the agent's other models.
    pub model: Option<String>,
    /// What is usual, and where to stop.
    #[serde(flatten)]
    pub line: RiskLine,
}

impl Risk {
    /// Whether a risk is measured at all: some table adds something.
    #[must_use]
    pub fn is_on(&self) -> bool {
        RiskFeature::ALL.iter().any(|feature| !self.tables.of(*feature).is_empty())
    }

    /// Most profiles.
    pub const MAX_PROFILES: usize = 1000;

    /// What holds for an agent and a model: their own profile, else the agent's, else `others`.
    #[must_use]
    pub fn line_of(&self, agent: &str, model: &str) -> RiskLine {
        let of_agent = || self.profiles.iter().filter(|profile| profile.agent == agent);
        of_agent()
            .find(|profile| profile.model.as_deref() == Some(model))
            .or_else(|| of_agent().find(|profile| profile.model.is_none()))
            .map_or(self.others, |profile| profile.line)
    }
}
