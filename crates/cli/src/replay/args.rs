//! The command line of `steersman replay`, as it is written.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use crate::reading::GroupBy;

const EXAMPLES: &str = "\
Examples:
  steersman replay runs.jsonl.gz                      judge recorded runs
  steersman replay ~/.claude/projects                 every session in a folder
  steersman replay 'logs/**/*.json' --policy strict.yaml
  zcat runs.jsonl.gz | steersman replay -             read standard input
  steersman replay runs.jsonl --run 4711 --explain    one run, turn by turn
  steersman replay runs.jsonl --json | jq .first_ending
  steersman replay runs.jsonl --html report.html      a page with a chart per run
  steersman replay runs.jsonl --policy default --shadow-diff classic

Exit status:
  0    everything was read and judged
  1    nothing could be judged, the policy is bad, or writing failed
  2    the command line is wrong, or does not say which run to explain
  3    runs were judged, but parts of the input could not be read
  130  interrupted; the totals so far were printed";

/// Arguments of `steersman replay`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ReplayArgs {
    /// Files, folders, patterns such as 'logs/**/*.jsonl', or - for standard input
    ///
    /// The format of every file is found out from its content; compressed files are unpacked.
    /// Folders are searched to any depth; hidden entries and links to folders are left out.
    #[arg(value_name = "PATH", required = true)]
    pub(crate) paths: Vec<PathBuf>,

    /// Policy to judge by: a built-in name or a file
    ///
    /// Without it the policy file of this folder is used, if there is one, else `default`.
    #[arg(long, short, value_name = "NAME|FILE", help_heading = "Policy")]
    pub(crate) policy: Option<String>,

    /// Change one key of the policy, e.g. limits.max_turns=40; may be repeated
    #[arg(
        long,
        value_name = "KEY=VALUE",
        value_parser = crate::config::pair,
        help_heading = "Policy"
    )]
    pub(crate) set: Vec<(String, String)>,

    /// Judge by a second policy too, and show where the two differ
    #[arg(long, value_name = "NAME|FILE", help_heading = "Policy")]
    pub(crate) shadow_diff: Option<String>,

    /// One JSON object per run and line (schema/replay.schema.json)
    #[arg(long, help_heading = "Output", conflicts_with_all = ["summary_json", "explain", "run"])]
    pub(crate) json: bool,

    /// Only the totals, as one JSON object
    #[arg(long, help_heading = "Output", conflicts_with_all = ["explain", "run"])]
    pub(crate) summary_json: bool,

    /// Also write a page with a chart per run
    #[arg(
        long,
        value_name = "FILE",
        help_heading = "Output",
        conflicts_with_all = ["explain", "run"]
    )]
    pub(crate) html: Option<PathBuf>,

    /// Which run to explain: its id, a beginning or end of it that is unique, or FILE:LINE
    #[arg(long, value_name = "ID", help_heading = "Output")]
    pub(crate) run: Option<String>,

    /// Show a run turn by turn, with signals and decisions
    #[arg(long, help_heading = "Output")]
    pub(crate) explain: bool,

    /// Runs shown in the table, the most interesting first
    #[arg(long, value_name = "N", default_value_t = 40, help_heading = "Output")]
    pub(crate) limit: usize,

    /// Show all runs, in the order of the input
    #[arg(long, help_heading = "Output", conflicts_with_all = ["limit", "shadow_diff"])]
    pub(crate) all: bool,

    /// What graded runs are grouped by
    #[arg(long, value_enum, default_value_t, help_heading = "Output")]
    pub(crate) by: GroupBy,

    /// Threads that judge [default: one per core]
    #[arg(long, short, value_name = "N")]
    pub(crate) jobs: Option<NonZeroUsize>,

    /// Show no progress bar
    #[arg(long)]
    pub(crate) no_progress: bool,
}
