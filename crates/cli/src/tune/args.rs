//! The command line of `steersman tune`, as it is written.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use crate::reading::GroupBy;

const EXAMPLES: &str = "\
Examples:
  steersman tune runs/                          stop at most 5 % of good runs; writes steersman.yaml
  steersman tune runs/ --alpha 1%               stop at most 1 %
  steersman tune runs/ --policy mine.yaml --out tuned.yaml
  steersman tune runs/ --dry-run                the figures only
  steersman tune --journal marks.jsonl --force  what people thought of interventions
  steersman eval runs/ --policy steersman.yaml  how the result does on other runs

Runs need an outcome, solved or unsolved; docs/evaluation.md says how the figures come about.

Exit status:
  0    the policy was written
  1    there is too little to learn from, the policy is bad, or writing failed
  2    the command line is wrong, or names a source that does not exist
  3    the policy was written, but parts of the input could not be read
  130  interrupted; nothing was written";

/// Arguments of `steersman tune`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct TuneArgs {
    /// Files, folders, patterns such as 'logs/**/*.jsonl', or - for standard input
    ///
    /// The format of every file is found out from its content; compressed files are unpacked.
    /// Folders are searched to any depth; hidden entries and links to folders are left out.
    #[arg(value_name = "PATH", required_unless_present = "journal")]
    pub(crate) paths: Vec<PathBuf>,

    /// Share of good runs that may be stopped, above 0 to 0.5: 0.05 or 5%
    #[arg(long, short, value_name = "SHARE", default_value = "5%", value_parser = share)]
    pub(crate) alpha: f64,

    /// Policy to build on: a built-in name or a file [default: steersman.yaml here, else default]
    #[arg(long, short, value_name = "NAME|FILE", help_heading = "Policy")]
    pub(crate) policy: Option<String>,

    /// Change one key of that policy, e.g. limits.max_turns=40; may be repeated
    #[arg(
        long,
        value_name = "KEY=VALUE",
        value_parser = crate::config::pair,
        help_heading = "Policy"
    )]
    pub(crate) set: Vec<(String, String)>,

    /// Journal of interventions: marks move thresholds, outcomes choose wordings
    ///
    /// JSON lines of what was said to agents, what people thought of it and what followed
    /// (docs/tuning.md). Without PATH, nothing else is learned.
    #[arg(long, value_name = "FILE", help_heading = "Policy")]
    pub(crate) journal: Option<PathBuf>,

    /// Learn only from these sources: names as the table shows them, or paths
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', help_heading = "Runs")]
    pub(crate) sources: Vec<String>,

    /// Leave these sources out
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', help_heading = "Runs")]
    pub(crate) exclude: Vec<String>,

    /// What counts as one source; sources count the same, whatever their size
    #[arg(long, value_enum, default_value_t, help_heading = "Runs")]
    pub(crate) by: GroupBy,

    /// Policy file to write
    #[arg(
        long,
        short,
        value_name = "FILE",
        default_value = "steersman.yaml",
        help_heading = "Output"
    )]
    pub(crate) out: PathBuf,

    /// Write over a file that is there
    #[arg(long, help_heading = "Output")]
    pub(crate) force: bool,

    /// Write no file
    #[arg(long, conflicts_with = "force", help_heading = "Output")]
    pub(crate) dry_run: bool,

    /// Resamples for the 95 % intervals, at most 10000; 0 for none
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1000,
        value_parser = clap::value_parser!(u32).range(..=10_000),
        help_heading = "Output"
    )]
    pub(crate) resamples: u32,

    /// Seed of the resamples: the same seed, the same intervals
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Output")]
    pub(crate) seed: u64,

    /// The figures as one JSON object (schema/tune.schema.json)
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,

    /// Threads that read and learn [default: one per core]
    #[arg(long, short, value_name = "N")]
    pub(crate) jobs: Option<NonZeroUsize>,

    /// Show no progress bar
    #[arg(long)]
    pub(crate) no_progress: bool,
}

/// A share: `0.05` or `5%`.
fn share(text: &str) -> Result<f64, String> {
    let number = |text: &str| text.trim().parse::<f64>();
    let share = match text.trim().strip_suffix('%') {
        Some(percent) => number(percent).map(|percent| percent / 100.0),
        None => number(text),
    };
    share
        .ok()
        .filter(|share| *share > 0.0 && *share <= 0.5)
        .ok_or_else(|| "a share is above 0 and at most 0.5: 0.05 or 5%".to_owned())
}

#[cfg(test)]
mod tests {
    use super::share;

    #[test]
    fn shares_are_written_as_numbers_or_percent() {
        let cases =
            [("0.05", Some(0.05)), ("5%", Some(0.05)), (" 1 % ", Some(0.01)), ("0.5", Some(0.5))];
        for (text, expected) in cases {
            assert_eq!(share(text).ok(), expected, "{text}");
        }
        for text in ["0", "-1%", "51%", "5", "NaN", "inf", "", "%", "five"] {
            assert!(share(text).is_err(), "{text}");
        }
    }
}
