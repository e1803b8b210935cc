//! Section `ladder`: how interventions follow each other.

use serde::{Deserialize, Serialize};

/// Escalation: nudge, then nudge synthesis or re-evaluate, then start over or force synthesis,
/// then stop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Ladder {
    /// Turns between two interventions that do not end the run, 0–100, default 3.
    pub cooldown_turns: u32,
    /// Turns of progress after which what was said before is forgotten, 1–1000, default 8.
    pub forget_after_turns: u32,
    /// Interventions of the first two steps in a run; further ones are not shown, 0–1000,
    /// default 12.
    pub max_interventions: u32,
    /// Turns a forced answer may take before the run is stopped, 1–10, default 2.
    pub answer_turns: u32,
}

impl Default for Ladder {
    fn default() -> Self {
        Self { cooldown_turns: 3, forget_after_turns: 8, max_interventions: 12, answer_turns: 2 }
    }
}
