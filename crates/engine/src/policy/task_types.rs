//! Section `task_types` (document D).

use serde::{Deserialize, Serialize};

use crate::classify::TaskType;

/// Limits per task type (D1, D2).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct TaskTypes {
    /// Modify existing files.
    pub edit: TaskLimits,
    /// Create files that depend on what exists.
    pub create: TaskLimits,
    /// Create files that stand alone.
    pub create_simple: TaskLimits,
    /// Find code or files.
    pub search: TaskLimits,
    /// Count, measure, explain code.
    pub analyze: TaskLimits,
    /// Research on the web.
    pub research: TaskLimits,
    /// Plan without tools.
    pub design: TaskLimits,
    /// Anything else.
    pub general: TaskLimits,
}

impl TaskTypes {
    /// The limits of one task type.
    #[must_use]
    pub const fn of(&self, task_type: TaskType) -> &TaskLimits {
        match task_type {
            TaskType::Edit => &self.edit,
            TaskType::Create => &self.create,
            TaskType::CreateSimple => &self.create_simple,
            TaskType::Search => &self.search,
            TaskType::Analyze => &self.analyze,
            TaskType::Research => &self.research,
            TaskType::Design => &self.design,
            TaskType::General => &self.general,
        }
    }
}

impl Default for TaskTypes {
    fn default() -> Self {
        Self {
            edit: TaskLimits::new(8, true, 15, 4),
            create: TaskLimits::new(8, false, 15, 4),
            create_simple: TaskLimits::new(5, false, 10, 4),
            search: TaskLimits::new(15, false, 25, 4),
            analyze: TaskLimits::new(20, false, 30, 5),
            research: TaskLimits::new(20, false, 30, 5),
            design: TaskLimits::new(20, false, 30, 5),
            general: TaskLimits::new(15, false, 50, 4),
        }
    }
}

/// Limits of one task type (D2). The document gives `edit` (8, true, 15, 4), `analyze`
/// (20, false, 30, 5) and the general tool budget (50); the others lie between them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct TaskLimits {
    /// Iterations before the answer (or the action) is forced, before multipliers (D6). At least 1.
    pub max_exploration_iterations: u32,
    /// Once the target was read and nothing changed by the limit, the action is forced (D5).
    pub force_action_after_target_read: bool,
    /// Tool calls allowed, at least 1.
    pub tool_budget: u32,
    /// The same call signature this often within the signature history is a loop, 2 to
    /// `global.signature_history_size` (D7).
    pub loop_repeat_threshold: u32,
}

impl TaskLimits {
    const fn new(iterations: u32, force: bool, tool_budget: u32, repeats: u32) -> Self {
        Self {
            max_exploration_iterations: iterations,
            force_action_after_target_read: force,
            tool_budget,
            loop_repeat_threshold: repeats,
        }
    }
}
