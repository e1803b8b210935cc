//! `steersman tune`: learns a policy from one's own graded runs.
//!
//! [`args`] is the command line as it is written, [`plan`] what it means. [`crate::graded`] judges
//! the runs by the policy to build on, a [`session`] learns from them, [`grounds`] says when there
//! is too little to learn from, and [`report`] shows what came of it.

mod args;
mod grounds;
mod journal;
mod plan;
mod report;
mod session;

use std::process::ExitCode;

pub(crate) use args::TuneArgs;

use crate::reading::Ending;
use crate::screen::{Colour, Screen, say};
use plan::Plan;

/// Runs the verb.
pub(crate) fn run(args: TuneArgs, colour: Colour) -> ExitCode {
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
