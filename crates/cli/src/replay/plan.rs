//! What the command line means.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

use super::args::ReplayArgs;
use super::inputs::Argument;
use super::judge::{Detail, Named, Setup};
use super::table::Rows;
use super::totals::GroupBy;
use super::wanted::Wanted;

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
    /// More threads than this are never started.
    const MAX_JOBS: usize = 64;

    /// The plan behind the arguments, or what is wrong with the policies.
    pub(crate) fn new(args: ReplayArgs) -> Result<Self, String> {
        let mut notices = Vec::new();
        let policy = load(args.policy.as_deref(), &args.set, &mut notices)?;
        let other = match &args.shadow_diff {
            Some(name) => Some(load(Some(name), &[], &mut notices)?),
            None => None,
        };
        let view = view(&args);
        let detail = match &view {
            View::Explain(wanted) => Detail::Timeline(wanted.clone()),
            _ if args.html.is_some() => Detail::Series,
            _ => Detail::Summary,
        };
        let cores = || std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        Ok(Self {
            arguments: args.paths.iter().map(|path| Argument::parse(path)).collect(),
            setup: Setup { policy, other, detail },
            view,
            html: args.html,
            by: args.by,
            jobs: args.jobs.map_or_else(cores, NonZeroUsize::get).min(Self::MAX_JOBS),
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

/// Loads a policy by name or path; without one, the policy file that holds here, else `default`.
fn load(
    name: Option<&str>,
    set: &[(String, String)],
    notices: &mut Vec<String>,
) -> Result<Named, String> {
    let loaded = match name {
        Some(name) => steersman_config::resolve(name),
        None => match std::env::current_dir().ok().and_then(|here| steersman_config::find(&here)) {
            Some(path) => steersman_config::load(&path),
            None => steersman_config::resolve("default"),
        },
    };
    let loaded = loaded.map_err(|error| error.to_string())?;
    notices.extend(loaded.notices.iter().map(ToString::to_string));
    let mut policy = loaded.policy;
    if !set.is_empty() {
        let set: Vec<(&str, &str)> =
            set.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        policy = steersman_config::with_overrides(policy, &set).map_err(|it| it.to_string())?;
    }
    let name = Arc::from(policy.name.as_str());
    Ok(Named { policy: Arc::new(policy), name })
}
