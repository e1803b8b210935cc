//! Classifiers: what kind of task, how complex, what a reply intends, what a result says.

mod chant;
mod error_words;
mod essence;
mod intent;
mod intent_words;
mod outcome;
pub(crate) mod phrases;
mod task;
mod task_words;

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub use chant::chants;
pub(crate) use intent::sentences;
pub use intent::{claims_success, intent};
pub use outcome::{Outcome, outcome};
pub(crate) use task::read as read_task;
pub use task::{complexity, task_type};

/// What kind of task a run pursues (D1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskType {
    /// Modify existing files.
    Edit,
    /// Create files that depend on what exists.
    Create,
    /// Create files that stand alone.
    CreateSimple,
    /// Find code or files.
    Search,
    /// Count, measure, explain code.
    Analyze,
    /// Research on the web.
    Research,
    /// Plan without tools.
    Design,
    /// Anything else.
    #[default]
    General,
}

/// How complex a task is (A2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Complexity {
    /// A question or a one-step task.
    Simple,
    /// Everything else.
    #[default]
    Medium,
    /// A whole code base, several deliverables.
    Complex,
    /// Writing something new.
    Generation,
}

/// What a reply without tool calls intends (A6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Intent {
    /// Gives the answer or reports the work as done.
    Finished,
    /// Announces work and does not do it.
    WillContinue,
    /// Asks the user something.
    AsksUser,
    /// Cannot go on: something outside is missing or forbidden.
    Blocked,
    /// Says itself that it is going round in circles.
    Stuck,
    /// Says nothing.
    Empty,
}
