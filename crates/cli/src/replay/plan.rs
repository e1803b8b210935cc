//! What the command line means.

use std::path::PathBuf;

use super::args::ReplayArgs;
use super::judge::{Detail, Setup};
use super::table::Rows;
use super::wanted::Wanted;
use crate::policy::Named;
use crate::reading::{Argument, GroupBy, jobs};

/// What to do.
#[derive(Debug)]
pub(crate) struct Plan {
    /// What to read.
    pub(crate) arguments: Vec<Argument>,
    /// How to judge.
    pub(crate) setup: Setup,
    /// What to print.
    pub(crate) view: View,
    /// Where to write a page.
    pub(crate) html: Option<PathBuf>,
    /// What graded runs are grouped by.
    pub(crate) by: GroupBy,
    /// Threads that judge.
    pub(crate) jobs: usize,
    /// Whether a progress bar may be shown.
    pub(crate) progress: bool,
    /// What is worth knowing about the policies.
    pub(crate) notices: Vec<String>,
}

/// What to print.
#[derive(Clone, Debug)]
pub(crate) enum View {
    /// The report for people.
    Table(Rows),
    /// One JSON object per run.
    Json,
    /// The totals as a JSON object.
    SummaryJson,
    /// One run, turn by turn.
    Explain(Wanted),
    /// Where two policies differ, with so many runs.
    Diff(usize),
}

impl Plan {
    /// The plan behind the arguments, or what is wrong with the policies.
    pub(crate) fn new(args: ReplayArgs) -> Result<Self, String> {
        let mut notices = Vec::new();
        let policy = Named::load(args.policy.as_deref(), &args.set, &mut notices)?;
        let other = match &args.shadow_diff {
            Some(name) => Some(Named::load(Some(name), &[], &mut notices)?),
            None => None,
        };
        let view = view(&args);
        let detail = match &view {
            View::Explain(wanted) => Detail::Timeline(wanted.clone()),
            _ if args.html.is_some() => Detail::Series,
            _ => Detail::Summary,
        };
        Ok(Self {
            arguments: args.paths.iter().map(|path| Argument::parse(path)).collect(),
            setup: Setup { policy, other, detail },
            view,
            html: args.html,
            by: args.by,
            jobs: jobs(args.jobs),
            progress: !args.no_progress,
            notices,
        })
    }
}

fn view(args: &ReplayArgs) -> View {
    match &args.run {
        Some(id) => View::Explain(Wanted::Named(id.clone())),
        None if args.explain => View::Explain(Wanted::TheOnly),
        None if args.json => View::Json,
        None if args.summary_json => View::SummaryJson,
        None if args.shadow_diff.is_some() => View::Diff(args.limit),
        None if args.all => View::Table(Rows::All),
        None => View::Table(Rows::Most(args.limit)),
    }
}
