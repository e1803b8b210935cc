//! What the command line means.

use std::path::PathBuf;

use steersman_evaluation::Options;
use steersman_evaluation::compare::Comparison;

use super::args::{Compare, EvalArgs};
use crate::graded::{Filter, Setup};
use crate::policy::Named;
use crate::reading::{Argument, GroupBy, jobs};

/// What to do.
#[derive(Debug)]
pub(crate) struct Plan {
    /// What to read.
    pub(crate) arguments: Vec<Argument>,
    /// How to judge.
    pub(crate) setup: Setup,
    /// Policies and rules, in the order of the setup.
    pub(crate) subjects: Vec<Subject>,
    /// How intervals are made.
    pub(crate) options: Options,
    /// What counts as a source.
    pub(crate) by: GroupBy,
    /// Whether to print JSON.
    pub(crate) json: bool,
    /// Where to write a page.
    pub(crate) html: Option<PathBuf>,
    /// Threads that judge.
    pub(crate) jobs: usize,
    /// Whether a progress bar may be shown.
    pub(crate) progress: bool,
    /// What is worth knowing about the policies.
    pub(crate) notices: Vec<String>,
}

/// What is measured.
#[derive(Clone, Debug)]
pub(crate) struct Subject {
    /// Its name; no other has it.
    pub(crate) name: String,
    /// What it does, if it is a rule to compare with; `None` for a policy.
    pub(crate) about: Option<&'static str>,
}

impl Plan {
    /// Policies measured if none is named; the first is shown in detail.
    const POLICIES: [&'static str; 4] = ["default", "classic", "aggressive", "lenient"];

    /// The plan behind the arguments, or what is wrong with the policies.
    pub(crate) fn new(args: EvalArgs) -> Result<Self, String> {
        let mut notices = Vec::new();
        let policies = policies(&args, &mut notices)?;
        let comparisons = comparisons(&args.compare);
        let mut subjects: Vec<Subject> = Vec::new();
        for (argument, policy) in &policies {
            let taken = |name: &str| subjects.iter().any(|subject| subject.name == name);
            let mut name = policy.name.to_string();
            if taken(&name) {
                name = format!("{name} ({argument})");
            }
            while taken(&name) {
                name.push('\'');
            }
            subjects.push(Subject { name, about: None });
        }
        subjects.extend(
            comparisons
                .iter()
                .map(|rule| Subject { name: rule.name.to_owned(), about: Some(rule.about) }),
        );
        let setup = Setup {
            policies: policies.into_iter().map(|(_, policy)| policy).collect(),
            comparisons,
            by: args.by,
            filter: Filter { only: args.sources, without: args.exclude },
            moments: false,
        };
        Ok(Self {
            arguments: args.paths.iter().map(|path| Argument::parse(path)).collect(),
            setup,
            subjects,
            options: Options { resamples: args.resamples, seed: args.seed },
            by: args.by,
            json: args.json,
            html: args.html,
            jobs: jobs(args.jobs),
            progress: !args.no_progress,
            notices,
        })
    }
}

/// The policies, with the argument that named each.
fn policies(args: &EvalArgs, notices: &mut Vec<String>) -> Result<Vec<(String, Named)>, String> {
    let mut wanted: Vec<&str> = args.policy.iter().map(String::as_str).collect();
    if wanted.is_empty() {
        wanted = Plan::POLICIES.to_vec();
    }
    let mut policies = Vec::new();
    if !args.set.is_empty() {
        let mut changed = Named::load(Some(wanted[0]), &args.set, notices)?;
        let changes: Vec<String> =
            args.set.iter().map(|(key, value)| format!("{key}={value}")).collect();
        changed.name = format!("{} with {}", changed.name, changes.join(" ")).into();
        policies.push((wanted[0].to_owned(), changed));
        if !args.policy.is_empty() {
            wanted.remove(0);
        }
    }
    for name in wanted {
        policies.push((name.to_owned(), Named::load(Some(name), &[], notices)?));
    }
    Ok(policies)
}

/// The rules named, in the order they are listed in.
fn comparisons(words: &[Compare]) -> Vec<Comparison> {
    let wanted =
        |rule: &Comparison| words.contains(&Compare::All) || words.contains(&Compare::One(*rule));
    Comparison::ALL.iter().filter(|rule| wanted(rule)).copied().collect()
}
