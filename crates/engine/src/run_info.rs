//! What is known about a run when it begins.

use alloc::string::String;

use serde::{Deserialize, Serialize};

use crate::classify::{Complexity, TaskType};

/// What is known about a run when it begins. Everything may be unknown.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunInfo {
    /// Identity of the run; spreads retries (jitter). May be empty.
    pub id: String,
    /// The task in the user's words; empty if the first user message states it.
    pub task: String,
    /// The agent's name, for the profiles of the section `risk`. May be empty.
    pub agent: String,
    /// The model's name, for overrides by glob. May be empty.
    pub model: String,
    /// The model's context window in tokens; `None` takes the override's or the policy's.
    pub context_window: Option<u64>,
    /// Kind of task; `None` lets the engine classify the text.
    pub task_type: Option<TaskType>,
    /// Complexity; `None` lets the engine classify the text.
    pub complexity: Option<Complexity>,
    /// Whether the driver can restore the workspace (start over). Default false.
    pub can_start_over: bool,
    /// Whether the driver can run a check. Default false.
    pub has_check: bool,
    /// How deep in nested agents this run is; 0 is the outermost (C4).
    pub depth: u32,
}
