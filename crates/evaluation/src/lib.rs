//! How good decisions were on recorded runs: what is kept of a judged run, measures with
//! intervals, and rules of other tools to compare with.
//!
//! Nothing here reads a file. Whoever reads recordings feeds each event to the engines and to a
//! [`compare::Watch`], keeps an [`Episode`] per run, and hands the episodes to what is wanted:
//!
//! * [`measure`]: harm, disturbance, saved, noticed, by source and as the mean over sources;
//! * [`reasons`]: how often the reason of a decision was right;
//! * [`delay`]: how soon after a labelled onset or mistake a decision comes;
//! * [`bootstrap`]: the 95 % interval of each of these, by resampling task instances;
//! * [`evaluate()`]: all of them at once;
//! * [`learn`]: a risk model and its lines, from one's own runs.
//!
//! What people said of interventions, and what came of them, is read by [`journal`]: marks move
//! thresholds ([`feedback`]), outcomes say which text works best with which model ([`wording`]).

pub mod bootstrap;
pub mod compare;
mod credible;
pub mod delay;
mod episode;
mod evaluate;
pub mod feedback;
pub mod folds;
pub mod journal;
pub mod learn;
pub mod measure;
pub mod reasons;
pub mod wording;

#[cfg(test)]
mod samples;

pub use bootstrap::Estimate;
pub use episode::{Counts, Course, Decided, Episode, Label};
pub use evaluate::{Evaluation, Measured, Options, SourceRow, SubjectRow, evaluate};
