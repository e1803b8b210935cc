//! Measured quantities of a run, each from 0 to 1.

use serde::{Deserialize, Serialize};

/// Measured quantities of a run. 1 speaks for going on, 0 against, unless said otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Signals {
    /// New resources per iteration against the velocity that counts as full (A1).
    pub progress_velocity: f32,
    /// Share of recent results that were new.
    pub novelty: f32,
    /// 1 without consecutive revisits, 0 in a stuck loop (A1).
    pub stuck_loop: f32,
    /// Room in the context window between soft and hard limit (A3).
    pub token_budget: f32,
    /// Share of the tightest budget of the run that is left.
    pub budget_left: f32,
    /// Interventions not yet used up (A4).
    pub intervention_ratio: f32,
    /// Patience that the task's complexity earns (A4).
    pub complexity: f32,
    /// 1 while failing tests reach new lows (or there are none), 0 when stuck (B1).
    pub test_trend: f32,
    /// Share of recent calls that failed; 0 is best.
    pub error_rate: f32,
}
