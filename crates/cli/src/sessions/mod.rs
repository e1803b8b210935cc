//! `steersman sessions`: what was run, how it stands, and what is to become of it.
//!
//! Exit codes: 0 done, 1 it could not be done, 2 wrong arguments; `resume` and a `stop` that ends
//! the session itself end as `steersman run` does.

mod args;
mod ask;
mod find;
mod list;
mod marks;
mod remove;
mod show;
mod standing;
mod story;
mod transfer;
mod watched;

use std::process::ExitCode;

pub(crate) use args::SessionsArgs;

use crate::run::{First, Place, take_up};
use crate::screen::{Colour, Screen, Tone, complain};
use args::{ResumeArgs, Verb};

/// Runs the verb.
pub(crate) fn run(args: SessionsArgs, colour: Colour) -> ExitCode {
    let screen = Screen::stdout(colour);
    let outcome = match args.verb {
        Verb::List(args) => list::list(&args, screen),
        Verb::Show(args) => show::show(&args, screen),
        Verb::Resume(args) => resume(args, colour),
        Verb::Stop(args) => ask::stop(&args, colour),
        Verb::Say(args) => ask::say(&args),
        Verb::Export(args) => transfer::write(&args),
        Verb::Import(args) => transfer::read(&args),
        Verb::Marks(args) => marks::write(&args),
        Verb::Delete(args) => remove::delete(&args),
    };
    outcome.unwrap_or_else(|message| {
        complain(Screen::stderr(colour), Tone::Bad, "error", &message);
        ExitCode::from(1)
    })
}

fn resume(args: ResumeArgs, colour: Colour) -> Result<ExitCode, String> {
    let place = Place::of(&args.store)?;
    let id = find::id_of(&place, &args.id)?;
    let first = match args.text {
        Some(text) if text.trim().is_empty() => return Err("the text is empty".to_owned()),
        Some(text) => First::Say(text),
        None => First::GoOn,
    };
    take_up(&place, &id, first, &args.show, colour)
}
