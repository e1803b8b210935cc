//! Reading recorded runs for any verb: inputs, threads, progress, what could not be read.

mod drive;
mod ending;
mod inputs;
mod pass;
mod pipeline;
mod progress;
mod source;

pub(crate) use drive::{outcome, pass_time, run_info};
pub(crate) use ending::Ending;
pub(crate) use inputs::Argument;
pub(crate) use pass::{Pass, Taker, interruption, jobs};
pub(crate) use pipeline::{BATCH_WEIGHT, Emit, Item, Judges, Pipeline};
pub(crate) use source::{GroupBy, Source};
