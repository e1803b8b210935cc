//! Recorded runs: readers of trace formats, and parsers of test reports.
//!
//! Reading is push-based and bounded: [`open`] cuts an input into [`Unit`]s that can be read on
//! several threads; [`Unit::read`] pushes every run's events into a [`RunSink`] as they are parsed,
//! borrowing from the input, so that a run is never held as a whole.

mod content;
mod cursor;
mod detect;
mod documents;
mod escape;
mod exit_code;
mod extent;
mod feed;
mod format;
mod formats;
mod inflate;
mod labels;
mod lenient;
mod lines;
mod message;
pub mod reports;
mod run;
mod session;
mod shape;
mod sink;
mod source;
pub mod spoken;
mod steps;
mod stop;
mod time;
mod units;
mod usage;
mod writer;

pub use exit_code::exit_code;
pub use format::Format;
pub use run::{Label, Outcome, RunEnd, RunMeta};
pub use sink::{Flow, Problem, RunSink};
pub use source::{OpenError, Source, group, open, open_reader, read_bytes};
pub use units::{Unit, Units};
