//! Classifiers: what kind of task, how complex, what a reply intends, what a result says.

use serde::{Deserialize, Serialize};

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

mod chant;
pub use chant::chants;
/// Stub.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// o
    Ok,
    /// e
    Empty,
    /// x
    Error {
        /// s
        signature: u64,
        /// t
        transient: bool,
    },
}
/// Stub.
#[must_use]
pub fn task_type(_t: &str) -> TaskType {
    TaskType::General
}
/// Stub.
#[must_use]
pub fn complexity(_t: &str, _c: Option<u64>) -> Complexity {
    Complexity::Medium
}
/// Stub.
#[must_use]
pub fn intent(t: &str) -> Intent {
    if t.trim().is_empty() {
        Intent::Empty
    } else if t.ends_with('?') {
        Intent::AsksUser
    } else {
        Intent::Finished
    }
}
/// Stub.
#[must_use]
pub fn claims_success(_t: &str) -> bool {
    false
}
/// Stub.
#[must_use]
pub fn outcome(c: &str, e: Option<bool>, x: Option<i32>, _k: crate::tool::ToolKind) -> Outcome {
    if e == Some(true)
        || c.starts_with("Error")
        || x.is_some_and(|x| x != 0)
        || c.contains("o such file")
    {
        Outcome::Error {
            signature: crate::digest::hash_bytes(&c.as_bytes()[..c.len().min(12)]),
            transient: c.contains("429") || c.contains("timed out"),
        }
    } else if c.trim().is_empty() || c.contains("No matches") {
        Outcome::Empty
    } else {
        Outcome::Ok
    }
}
