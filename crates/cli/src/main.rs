//! The `steersman` command: one module per verb.

mod config;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Keeps LLM agents on course.
#[derive(Debug, Parser)]
#[command(name = "steersman", version, about, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

/// What to do.
#[derive(Debug, Subcommand)]
enum Verb {
    /// Write, check or show the policy that decisions follow
    Config(config::ConfigArgs),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    match cli.verb {
        Verb::Config(args) => config::run(args),
    }
}
