//! `steersman eval`: how good policies are on recorded runs whose outcome is known.
//!
//! [`args`] is the command line as it is written, [`plan`] what it means. [`crate::reading`] reads
//! on several threads, [`crate::graded`] lets all policies and rules see each run there, and a
//! [`session`] gathers the episodes, which `steersman-evaluation` measures once all are in.

mod args;
mod html;
pub(crate) mod json;
pub(crate) mod plan;
#[cfg(test)]
mod samples;
mod session;
pub(crate) mod table;

use std::process::ExitCode;

pub(crate) use args::EvalArgs;

use crate::reading::Ending;
use crate::screen::{Colour, Screen, say};
use plan::Plan;

/// Runs the verb.
pub(crate) fn run(args: EvalArgs, colour: Colour) -> ExitCode {
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
