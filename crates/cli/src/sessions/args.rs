//! Arguments of `steersman sessions`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::run::{ShowArgs, StoreArgs};

/// Shown below the help.
const EXAMPLES: &str = "\
Examples:
  steersman sessions list --text parser
  steersman sessions show last
  steersman sessions resume 20261122-01
  steersman sessions resume last \"Now the documentation.\"
  steersman sessions export last --out run.jsonl
  steersman sessions marks --out marks.jsonl

A session is named by its id, by the beginning of it where that is unique, or as `last`.

Exit codes: 0 done, 1 it could not be done, 2 wrong arguments.
`resume`, and `stop` where nobody drives the session, end as `steersman run` does.";

/// List, show, take up, stop, say something to, move and delete sessions
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SessionsArgs {
    #[command(subcommand)]
    pub(super) verb: Verb,
}

#[derive(Debug, Subcommand)]
pub(super) enum Verb {
    /// List sessions, the latest first
    List(ListArgs),
    /// Tell the story of a session
    Show(OneArgs),
    /// Go on with a session that was left, killed, stopped, or waits for an answer
    Resume(ResumeArgs),
    /// End a session
    Stop(StopArgs),
    /// Tell the agent of a running session something, before its next reply
    Say(SayArgs),
    /// Write a session to a file of JSON lines
    Export(ExportArgs),
    /// Write interventions, people's marks and what followed, for `steersman tune --journal`
    Marks(MarksArgs),
    /// Read a session that `export` has written
    Import(ImportArgs),
    /// Delete a session with its checkpoints and, for a rehearsal, its folder
    Delete(DeleteArgs),
}

#[derive(Debug, Args)]
pub(super) struct ListArgs {
    /// Only sessions that a process drives now
    #[arg(long, conflicts_with = "ended")]
    pub(super) running: bool,
    /// Only sessions that have ended
    #[arg(long)]
    pub(super) ended: bool,
    /// Only sessions whose id, task, agent, model or folder has this in it
    #[arg(long, value_name = "WORD")]
    pub(super) text: Option<String>,
    /// At most that many
    #[arg(long, value_name = "N", default_value_t = 50,
        value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(super) limit: u32,
    /// One JSON object per session and line
    #[arg(long)]
    pub(super) json: bool,
    #[command(flatten)]
    pub(super) store: StoreArgs,
}

#[derive(Debug, Args)]
pub(super) struct OneArgs {
    /// The session: its id, the beginning of it, or `last`
    pub(super) id: String,
    /// Every journal entry as a line of JSON (schema/run.schema.json)
    #[arg(long)]
    pub(super) json: bool,
    /// Replies, calls and results in full
    #[arg(long)]
    pub(super) full: bool,
    /// Only this turn, in full
    #[arg(long, value_name = "N")]
    pub(super) turn: Option<u32>,
    #[command(flatten)]
    pub(super) store: StoreArgs,
}

#[derive(Debug, Args)]
pub(super) struct ResumeArgs {
    /// The session: its id, the beginning of it, or `last`
    pub(super) id: String,
    /// What you say first; needed where the session has ended
    pub(super) text: Option<String>,
    #[command(flatten)]
    pub(super) store: StoreArgs,
    #[command(flatten)]
    pub(super) show: ShowArgs,
}

#[derive(Debug, Args)]
pub(super) struct StopArgs {
    /// The session: its id, the beginning of it, or `last`
    pub(super) id: String,
    #[command(flatten)]
    pub(super) store: StoreArgs,
}

#[derive(Debug, Args)]
pub(super) struct SayArgs {
    /// The session: its id, the beginning of it, or `last`
    pub(super) id: String,
    /// What the agent is told
    pub(super) text: String,
    #[command(flatten)]
    pub(super) store: StoreArgs,
}

#[derive(Debug, Args)]
pub(super) struct ExportArgs {
    /// The session: its id, the beginning of it, or `last`
    pub(super) id: String,
    /// The file, which must not be there yet; default: standard output
    #[arg(long, value_name = "FILE")]
    pub(super) out: Option<PathBuf>,
    #[command(flatten)]
    pub(super) store: StoreArgs,
}

#[derive(Debug, Args)]
pub(super) struct MarksArgs {
    /// Only sessions whose id, task, agent, model or folder has this in it
    #[arg(long, value_name = "WORD")]
    pub(super) text: Option<String>,
    /// The file, which must not be there yet; default: standard output
    #[arg(long, value_name = "FILE")]
    pub(super) out: Option<PathBuf>,
    #[command(flatten)]
    pub(super) store: StoreArgs,
}

#[derive(Debug, Args)]
pub(super) struct ImportArgs {
    /// The file; `-` is standard input
    pub(super) file: PathBuf,
    #[command(flatten)]
    pub(super) store: StoreArgs,
}

#[derive(Debug, Args)]
pub(super) struct DeleteArgs {
    /// The session: its id, the beginning of it, or `last`
    pub(super) id: String,
    /// Needed: what is deleted is gone
    #[arg(long)]
    pub(super) yes: bool,
    #[command(flatten)]
    pub(super) store: StoreArgs,
}
