//! The `steersman` command: one module per verb.

mod agents;
mod config;
mod eval;
mod graded;
mod grid;
mod page;
mod policy;
mod probe;
mod prompt;
mod reading;
mod replay;
mod run;
mod screen;
mod serve;
mod sessions;
mod stop;
mod text;
mod tune;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::screen::Colour;

/// Keeps LLM agents on course.
#[derive(Debug, Parser)]
#[command(name = "steersman", version, about, max_term_width = 100)]
struct Cli {
    /// When to use colours: auto is only on a terminal, and not if NO_COLOR is set
    #[arg(
        long,
        global = true,
        value_enum,
        value_name = "WHEN",
        default_value_t,
        hide_possible_values = true
    )]
    color: Colour,
    #[command(subcommand)]
    verb: Verb,
}

/// What to do.
#[derive(Debug, Subcommand)]
enum Verb {
    /// Take an agent to its end; without arguments, play a rehearsal
    Run(Box<run::RunArgs>),
    /// List, show, take up, stop, say something to, move and delete sessions
    Sessions(sessions::SessionsArgs),
    /// Stand between agents and their model servers
    Serve(serve::ServeArgs),
    /// Ask a model server what it and its model can really do
    Probe(Box<probe::ProbeArgs>),
    /// Judge recorded agent runs: where they got stuck, what would have been decided
    Replay(replay::ReplayArgs),
    /// Measure policies on recorded runs whose outcome is known
    Eval(eval::EvalArgs),
    /// Learn from recorded runs whose outcome is known, and write the policy
    Tune(tune::TuneArgs),
    /// Write, check or show the policy that decisions follow
    Config(config::ConfigArgs),
    /// Show the prompts that agents read, and the files they are made of
    Prompt(prompt::PromptArgs),
    /// List and check the agents of a project
    Agents(agents::AgentsArgs),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    match cli.verb {
        Verb::Run(args) => run::run(&args, cli.color),
        Verb::Sessions(args) => sessions::run(args, cli.color),
        Verb::Serve(args) => serve::run(&args),
        Verb::Probe(args) => probe::run(&args, cli.color),
        Verb::Replay(args) => replay::run(args, cli.color),
        Verb::Eval(args) => eval::run(args, cli.color),
        Verb::Tune(args) => tune::run(args, cli.color),
        Verb::Config(args) => config::run(args),
        Verb::Prompt(args) => prompt::run(args),
        Verb::Agents(args) => agents::run(args),
    }
}
