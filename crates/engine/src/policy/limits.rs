//! Section `limits`: budgets of a run.

use serde::{Deserialize, Serialize};

/// Budgets of a run; `None` (`null`) is no limit. Reaching one is a decision, not an error.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Model replies, at least 1.
    pub max_turns: Option<u32>,
    /// Tool calls, at least 1.
    pub max_tool_calls: Option<u32>,
    /// Tokens sent and generated over all calls, at least 1.
    pub max_total_tokens: Option<u64>,
    /// Tokens generated over all calls, at least 1.
    pub max_output_tokens: Option<u64>,
    /// Money over all calls. Nano-dollars (10⁻⁹ USD), at least 1.
    pub max_cost_nanodollars: Option<u64>,
    /// Time since the run began. Milliseconds, at least 1.
    pub max_wall_ms: Option<u64>,
    /// Time in which the agent worked: waiting for the user does not count. Milliseconds, at
    /// least 1.
    pub max_working_ms: Option<u64>,
}
