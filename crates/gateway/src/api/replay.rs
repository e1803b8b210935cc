//! Recorded runs, judged as `steersman replay` does.

use schemars::JsonSchema;
use serde::Serialize;
use steersman_timeline::{RunLine, Timeline};

/// A file of recorded runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Replayed {
    /// The format that its content has.
    pub format: String,
    /// Its runs in order, at most 1,000.
    pub runs: Vec<RunLine>,
    /// Runs that are left out of the list.
    pub more_runs: u64,
    /// The run that was asked for, or the first; null if there is none of that id.
    pub timeline: Option<Timeline>,
    /// What could not be read, at most 20 sentences.
    pub problems: Vec<String>,
}
