//! The command line of `steersman eval`, as it is written.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use steersman_evaluation::compare::Comparison;

use crate::reading::GroupBy;

const EXAMPLES: &str = "\
Examples:
  steersman eval runs/                                the built-in policies and rules of other tools
  steersman eval runs/ --policy strict.yaml           one policy of your own
  steersman eval runs/ --policy default --policy strict.yaml --compare none
  steersman eval runs/ --set loops.repeat_hint=4      a change to `default`, beside it unchanged
  steersman eval runs/ --exclude mint_bench --html eval.html
  steersman eval runs/ --json | jq '.subjects[0].mean'

Runs need an outcome, solved or unsolved; docs/traces.md says where each format has it.

Exit status:
  0    everything was read and measured
  1    nothing could be measured, the policy is bad, or writing failed
  2    the command line is wrong, or names a source that does not exist
  3    runs were measured, but parts of the input could not be read
  130  interrupted; the figures for what was read so far were printed";

/// Arguments of `steersman eval`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct EvalArgs {
    /// Files, folders, patterns such as 'logs/**/*.jsonl', or - for standard input
    ///
    /// The format of every file is found out from its content; compressed files are unpacked.
    /// Folders are searched to any depth; hidden entries and links to folders are left out.
    #[arg(value_name = "PATH", required = true)]
    pub(crate) paths: Vec<PathBuf>,

    /// Policy to measure: a built-in name or a file; may be repeated
    ///
    /// The first is the one that is shown in detail. Without any, `default` and the other built-in
    /// policies are measured.
    #[arg(long, short, value_name = "NAME|FILE", help_heading = "Policy")]
    pub(crate) policy: Vec<String>,

    /// Change one key of the first policy, e.g. limits.max_turns=40; may be repeated
    #[arg(
        long,
        value_name = "KEY=VALUE",
        value_parser = crate::config::pair,
        help_heading = "Policy"
    )]
    pub(crate) set: Vec<(String, String)>,

    /// Rules of other tools to compare with: all, none, or names
    #[arg(
        long,
        value_name = "all|none|NAME,…",
        value_delimiter = ',',
        default_value = "all",
        value_parser = comparison,
        help_heading = "Policy"
    )]
    pub(crate) compare: Vec<Compare>,

    /// Measure only these sources: names as the table shows them, or paths
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', help_heading = "Runs")]
    pub(crate) sources: Vec<String>,

    /// Leave these sources out
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', help_heading = "Runs")]
    pub(crate) exclude: Vec<String>,

    /// What counts as one source; means are taken over sources
    #[arg(long, value_enum, default_value_t, help_heading = "Runs")]
    pub(crate) by: GroupBy,

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

    /// Everything that was measured, as one JSON object (schema/eval.schema.json)
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,

    /// Also write a page with the frontier of harm and saved calls
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) html: Option<PathBuf>,

    /// Threads that judge [default: one per core]
    #[arg(long, short, value_name = "N")]
    pub(crate) jobs: Option<NonZeroUsize>,

    /// Show no progress bar
    #[arg(long)]
    pub(crate) no_progress: bool,
}

/// One word of `--compare`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Compare {
    /// All rules.
    All,
    /// No rule.
    None,
    /// This one.
    One(Comparison),
}

fn comparison(word: &str) -> Result<Compare, String> {
    match word {
        "all" => Ok(Compare::All),
        "none" => Ok(Compare::None),
        name => Comparison::named(name).map(Compare::One).ok_or_else(|| {
            let names: Vec<&str> = Comparison::ALL.iter().map(|it| it.name).collect();
            format!("there is no such rule; there are all, none, {}", names.join(", "))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_to_compare_with_have_names() {
        assert_eq!(comparison("all"), Ok(Compare::All));
        assert_eq!(comparison("none"), Ok(Compare::None));
        assert!(matches!(comparison("cap_30"), Ok(Compare::One(it)) if it.name == "cap_30"));
        let error = comparison("cap_31").unwrap_err();
        assert!(error.contains("identical_calls_3, ") && error.contains("conformal_steps"));
    }
}
