//! Where parsed runs go.

use std::path::PathBuf;

use steersman_engine::{Event, Timestamp};

use crate::run::{RunEnd, RunMeta};

/// Whether to go on reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// Go on.
    Continue,
    /// Nothing more is wanted from this input.
    Break,
}

/// Receives runs as they are parsed: per run one `run_started`, its events in order, one
/// `run_ended`. Runs do not interleave.
pub trait RunSink {
    /// A run begins.
    fn run_started(&mut self, meta: &RunMeta<'_>) -> Flow;
    /// The next event of the current run. `line` is its line in the input, 0 if unknown.
    fn event(&mut self, at: Timestamp, event: &Event<'_>, line: u64) -> Flow;
    /// The current run is over.
    fn run_ended(&mut self, end: RunEnd) -> Flow;
    /// Something could not be read and was skipped; reading goes on where it can.
    fn problem(&mut self, problem: Problem);
}

/// Something in an input that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{}{}: {what}",
    path.display(),
    if *line == 0 { String::new() } else { format!(":{line}") }
)]
pub struct Problem {
    /// The input; `-` for standard input.
    pub path: PathBuf,
    /// Line in the input, from 1; 0 if unknown.
    pub line: u64,
    /// What is wrong, in lower case and without a full stop.
    pub what: String,
}
