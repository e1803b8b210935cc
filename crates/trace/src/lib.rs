//! Recorded runs: readers of trace formats, and parsers of test reports.
//!
//! Reading is push-based and bounded: [`open`] cuts an input into [`Unit`]s that can be read on
//! several threads; [`Unit::read`] pushes every run's events into a [`RunSink`] as they are parsed,
//! borrowing from the input, so that a run is never held as a whole.

pub mod reports;
mod run;
mod sink;

pub use run::{Outcome, RunEnd, RunMeta};
pub use sink::{Flow, Problem, RunSink};
