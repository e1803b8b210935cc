//! Reading recorded runs for any verb: inputs, threads, progress, what could not be read.

mod ending;
mod inputs;
mod pass;
mod pipeline;
mod progress;
mod source;

pub(crate) use ending::Ending;
pub(crate) use inputs::Argument;
pub(crate) use pass::{Pass, Taker, interruption, jobs};
pub(crate) use pipeline::{BATCH_WEIGHT, Emit, Item, Judges, Pipeline};
pub(crate) use source::{GroupBy, Source};
pub(crate) use steersman_timeline::{pass_time, run_info};

use steersman_trace::Outcome;

/// Whether a run was solved.
pub(crate) fn outcome(outcome: Option<Outcome>) -> Option<bool> {
    outcome.map(|outcome| outcome == Outcome::Solved)
}
