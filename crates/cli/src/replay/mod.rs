//! `steersman replay`: judges recorded agent runs.
//!
//! [`args`] is the command line as it is written, [`plan`] what it means. The [`pipeline`] reads
//! and judges on several threads and gives results in the order of the input; a [`session`] takes
//! them and feeds what is to be shown.

mod args;
mod calls;
mod diff;
mod explain;
mod html;
mod inputs;
mod json;
mod judge;
mod pipeline;
mod plan;
mod progress;
mod report;
#[cfg(test)]
mod samples;
mod series;
mod session;
mod summary;
mod table;
mod timeline;
mod top;
mod totals;
mod wanted;

use std::process::ExitCode;

pub(crate) use args::ReplayArgs;

use crate::screen::{Colour, Screen, say};
use plan::Plan;

/// How `steersman replay` ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// Everything was read and judged.
    Complete,
    /// Nothing could be judged, the policy is bad, or writing failed.
    Failed,
    /// The command line is wrong: it does not say which run to explain.
    Unclear,
    /// Runs were judged, but parts of the input could not be read.
    Partial,
    /// Interrupted by the user.
    Interrupted,
}

impl From<Ending> for ExitCode {
    fn from(ending: Ending) -> Self {
        Self::from(match ending {
            Ending::Complete => 0,
            Ending::Failed => 1,
            Ending::Unclear => 2,
            Ending::Partial => 3,
            Ending::Interrupted => 130,
        })
    }
}

/// Runs the verb.
pub(crate) fn run(args: ReplayArgs, colour: Colour) -> ExitCode {
    let errors = Screen::stderr(colour);
    let plan = match Plan::new(args) {
        Ok(plan) => plan,
        Err(error) => {
            say(&error);
            return Ending::Failed.into();
        }
    };
    for notice in &plan.notices {
        say(notice);
    }
    session::run(plan, Screen::stdout(colour), errors).into()
}
