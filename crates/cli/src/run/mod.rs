//! `steersman run`: takes an agent to its end.

mod approve;
mod args;
mod attempts;
mod drive;
mod face;
mod mcp;
mod page;
mod parts;
mod place;
mod plan;
mod recall;

use std::process::ExitCode;

use steersman_engine::Policy;

pub(crate) use args::{RunArgs, ServerArgs, ShowArgs, StoreArgs};
pub(crate) use drive::{First, block_on, take_up};
pub(crate) use face::{Lines, count, ending_line, json_line, money, tokens, write};
pub(crate) use parts::endpoint;
pub(crate) use place::{Place, date_and_time, shown};

use crate::policy::loaded;
use crate::screen::{Colour, Screen, Tone, complain};

/// Runs the verb.
pub(crate) fn run(args: &RunArgs, colour: Colour) -> ExitCode {
    match drive::begin(args, colour) {
        Ok(code) => code,
        Err(message) => {
            complain(Screen::stderr(colour), Tone::Bad, "error", &message);
            ExitCode::from(1)
        }
    }
}

/// A policy by name or path with some keys changed.
fn policy(
    name: Option<&str>,
    set: &[(String, String)],
    notices: &mut Vec<String>,
) -> Result<Policy, String> {
    Ok(loaded(name, set, notices)?.policy)
}
