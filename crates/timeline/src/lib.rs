//! A session turn by turn, in one shape for sessions of the gateway, sessions of `steersman run`
//! and recorded runs.
//!
//! A [`Timeline`] is what is shown; [`Draft`] makes it from what happened, told in order. Nothing
//! here does IO.

pub mod bound;
mod call;
pub mod calls;
mod decided;
mod draft;
mod drive;
mod glance;
mod recorded;
mod thresholds;
mod timeline;
mod turn;
mod whole;

pub use call::{TestNames, call_of, file_of, outcome_of, results};
pub use decided::{Decided, Evidence, Mark, Note, Put, Said};
pub use draft::{About, Back, Draft, MAX_CALLS, Place, Wanted};
pub use drive::{pass_time, run_info};
pub use glance::{Glance, LastDecision, MAX_SCORES};
pub use recorded::{MAX_RUNS, Recorded, RunLine, read_runs};
pub use thresholds::{PRESETS, Threshold, Thresholds, thresholds};
pub use timeline::{Concluded, Source, Timeline};
pub use turn::{
    Call, CheckRun, Claimed, FailingTest, Kind, Outcome, Signals, Spent, TestResults, Turn,
};
pub use whole::{Attempt, Budget, FileSeen, Letter, Standing, TestPoint, TestSeen, Whole};
