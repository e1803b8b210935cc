//! `steersman replay`: judges recorded agent runs.
//!
//! [`args`] is the command line as it is written, [`plan`] what it means. [`crate::reading`] reads
//! on several threads, [`judge`] judges there, and a [`session`] takes the results in the order of
//! the input and feeds what is to be shown.

mod args;
mod diff;
mod explain;
mod html;
mod json;
mod judge;
mod plan;
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

use crate::reading::Ending;
use crate::screen::{Colour, Screen, say};
use plan::Plan;

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
