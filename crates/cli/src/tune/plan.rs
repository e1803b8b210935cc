//! What the command line means.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use steersman_config::Loaded;
use steersman_engine::Policy;
use steersman_engine::policy::{Risk, RiskTable};
use steersman_evaluation::Options;

use super::args::TuneArgs;
use super::journal::{self, Heard};
use crate::graded::{Filter, Setup};
use crate::policy::{Named, loaded};
use crate::reading::{Argument, GroupBy, jobs};

/// What to do.
#[derive(Debug)]
pub(crate) struct Plan {
    /// What to read.
    pub(crate) arguments: Vec<Argument>,
    /// How to judge.
    pub(crate) setup: Setup,
    /// The policy to build on.
    pub(crate) policy: Policy,
    /// The built-in policy over which it is written.
    pub(crate) base: &'static str,
    /// Share of good runs that may be stopped.
    pub(crate) alpha: f64,
    /// Where to write the result; `None` writes nothing.
    pub(crate) out: Option<PathBuf>,
    /// How intervals are made.
    pub(crate) options: Options,
    /// What counts as a source.
    pub(crate) by: GroupBy,
    /// Whether to print JSON.
    pub(crate) json: bool,
    /// Threads.
    pub(crate) jobs: NonZeroUsize,
    /// Whether a progress bar may be shown.
    pub(crate) progress: bool,
    /// What is worth knowing about the policy.
    pub(crate) notices: Vec<String>,
    /// What was learned from a journal.
    pub(crate) heard: Heard,
}

impl Plan {
    /// The plan behind the arguments, or what is wrong with them.
    pub(crate) fn new(args: TuneArgs) -> Result<Self, String> {
        let mut notices = Vec::new();
        let Loaded { mut policy, base, .. } =
            loaded(args.policy.as_deref(), &args.set, &mut notices)?;
        if !args.dry_run {
            check_place(&args.out)?;
        }
        if !args.dry_run && !args.force && args.out.exists() {
            let out = args.out.display();
            return Err(format!(
                "{out} is there already: --force writes over it, --out FILE writes elsewhere"
            ));
        }
        let heard = match &args.journal {
            Some(path) => journal::hear(path, &mut policy)?,
            None => Heard::default(),
        };
        let watched =
            Named { name: policy.name.as_str().into(), policy: Arc::new(watched(&policy)) };
        let setup = Setup {
            policies: vec![watched],
            comparisons: Vec::new(),
            by: args.by,
            filter: Filter { only: args.sources, without: args.exclude },
            moments: true,
        };
        Ok(Self {
            arguments: args.paths.iter().map(|path| Argument::parse(path)).collect(),
            setup,
            policy,
            base,
            alpha: args.alpha,
            out: (!args.dry_run).then_some(args.out),
            options: Options { resamples: args.resamples, seed: args.seed },
            by: args.by,
            json: args.json,
            jobs: NonZeroUsize::new(jobs(args.jobs)).unwrap_or(NonZeroUsize::MIN),
            progress: !args.no_progress,
            notices,
            heard,
        })
    }
}

/// Whether a file can be there: said before anything is read, for learning takes its time.
fn check_place(out: &Path) -> Result<(), String> {
    let shown = out.display();
    if out.is_dir() {
        return Err(format!("{shown} is a folder: --out takes the name of a file"));
    }
    match out.parent() {
        Some(folder) if !folder.as_os_str().is_empty() && !folder.is_dir() => {
            Err(format!("{shown} cannot be written: there is no folder {}", folder.display()))
        }
        _ => Ok(()),
    }
}

/// A policy that measures the risk and decides nothing by it.
fn watched(policy: &Policy) -> Policy {
    let mut risk = Risk::default();
    risk.tables.length = RiskTable { up_to: vec![0.0], add: vec![0.0, 0.0] };
    Policy { risk, ..policy.clone() }
}
