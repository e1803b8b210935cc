//! Sums over all runs, and the measures of graded runs.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;
use steersman_engine::Usage;
use steersman_trace::Outcome;

use super::report::{Kind, RunReport, Verdict};

/// Sums over all runs.
#[derive(Debug, Default)]
pub(crate) struct Totals {
    /// The policy's name, and that of the policy to compare with.
    pub(crate) policies: Vec<String>,
    /// Runs judged.
    pub(crate) runs: u64,
    /// Runs that broke off or had parts that could not be read.
    pub(crate) incomplete: u64,
    /// Model replies.
    pub(crate) turns: u64,
    /// Tool calls.
    pub(crate) calls: u64,
    /// Tokens and money.
    pub(crate) usage: Usage,
    /// Runs with any decision other than continue.
    pub(crate) decided: u64,
    /// Runs that would have been ended.
    pub(crate) ended: u64,
    /// Tool calls after the first decision that ends the run.
    pub(crate) calls_after_ending: u64,
    /// Tokens after it.
    pub(crate) tokens_after_ending: u64,
    /// By action and reason.
    pub(crate) kinds: BTreeMap<Kind, KindTotals>,
}

/// Sums of one action and reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct KindTotals {
    /// Runs in which it was decided.
    pub(crate) runs: u64,
    /// Of them the solved ones.
    pub(crate) solved: u64,
    /// Of them the unsolved ones.
    pub(crate) unsolved: u64,
    /// How often it was decided.
    pub(crate) decisions: u64,
}

impl Totals {
    /// Adds a run.
    pub(crate) fn add(&mut self, report: &RunReport) {
        let add = |sum: &mut u64, value: u64| *sum = sum.saturating_add(value);
        let verdict = &report.verdict;
        self.runs += 1;
        self.incomplete += u64::from(report.truncated || !report.problems.is_empty());
        add(&mut self.turns, u64::from(report.turns));
        add(&mut self.calls, u64::from(report.calls));
        add(&mut self.usage.input_tokens, report.usage.input_tokens);
        add(&mut self.usage.output_tokens, report.usage.output_tokens);
        add(&mut self.usage.cost_nanodollars, report.usage.cost_nanodollars);
        self.decided += u64::from(verdict.first.is_some());
        if let Some(ending) = &verdict.ending {
            let after = report.after(ending);
            self.ended += 1;
            add(&mut self.calls_after_ending, u64::from(after.calls));
            add(&mut self.tokens_after_ending, after.tokens);
        }
        for &(kind, count) in &verdict.kinds {
            let sums = self.kinds.entry(kind).or_default();
            sums.runs += 1;
            sums.solved += u64::from(report.outcome == Some(Outcome::Solved));
            sums.unsolved += u64::from(report.outcome == Some(Outcome::Unsolved));
            add(&mut sums.decisions, u64::from(count));
        }
    }

    /// Tokens sent and generated.
    pub(crate) const fn tokens(&self) -> u64 {
        self.usage.input_tokens.saturating_add(self.usage.output_tokens)
    }
}

/// The measures of graded runs of one source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Grades {
    /// Runs, graded or not.
    pub(crate) runs: u64,
    /// Solved runs.
    pub(crate) solved: u64,
    /// Unsolved runs.
    pub(crate) unsolved: u64,
    harmed: u64,
    disturbed: u64,
    noticed: u64,
    unsolved_calls: u64,
    saved_calls: u64,
}

impl Grades {
    /// Adds a run, seen with one policy's verdict.
    pub(crate) fn add(&mut self, report: &RunReport, verdict: &Verdict) {
        self.runs += 1;
        let decided = report.before_last_turn(verdict.first.as_ref());
        let ended = report.before_last_turn(verdict.ending.as_ref());
        match report.outcome {
            Some(Outcome::Solved) => {
                self.solved += 1;
                self.harmed += u64::from(ended);
                self.disturbed += u64::from(decided);
            }
            Some(Outcome::Unsolved) => {
                self.unsolved += 1;
                self.noticed += u64::from(decided);
                self.unsolved_calls += u64::from(report.calls);
                let after = verdict.ending.as_ref().map(|ending| report.after(ending).calls);
                self.saved_calls += u64::from(after.unwrap_or(0));
            }
            None => {}
        }
    }

    /// Adds the runs of another source.
    pub(crate) const fn merge(&mut self, other: &Self) {
        self.runs += other.runs;
        self.solved += other.solved;
        self.unsolved += other.unsolved;
        self.harmed += other.harmed;
        self.disturbed += other.disturbed;
        self.noticed += other.noticed;
        self.unsolved_calls += other.unsolved_calls;
        self.saved_calls += other.saved_calls;
    }

    /// Whether any run has an outcome.
    pub(crate) const fn is_graded(&self) -> bool {
        self.solved + self.unsolved > 0
    }

    /// The measures.
    pub(crate) fn measures(&self) -> Measures {
        Measures {
            harm: share(self.harmed, self.solved),
            disturbance: share(self.disturbed, self.solved),
            saved: share(self.saved_calls, self.unsolved_calls),
            noticed: share(self.noticed, self.unsolved),
        }
    }
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// Measures of graded runs; `None` where there is nothing to take a share of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Measures {
    /// Share of solved runs with a decision that ends the run before the last turn.
    pub(crate) harm: Option<f64>,
    /// Share of solved runs with any decision other than continue before the last turn.
    pub(crate) disturbance: Option<f64>,
    /// Share of the tool calls of unsolved runs after the first decision that ends the run.
    pub(crate) saved: Option<f64>,
    /// Share of unsolved runs with any decision other than continue before the last turn.
    pub(crate) noticed: Option<f64>,
}

impl Measures {
    /// The lines that say what the measures are.
    pub(crate) const DEFINITIONS: [(&'static str, &'static str); 4] = [
        (
            "harm",
            "share of solved runs in which a decision that ends the run (stop, forced synthesis, \
             start over) comes before the last turn",
        ),
        (
            "disturbance",
            "share of solved runs with any decision other than continue before the last turn",
        ),
        (
            "saved",
            "share of the tool calls of unsolved runs that lie after the first decision that ends \
             the run",
        ),
        (
            "noticed",
            "share of unsolved runs with any decision other than continue before the last turn",
        ),
    ];

    /// The measures by name, in the order of the definitions.
    pub(crate) const fn in_order(&self) -> [Option<f64>; 4] {
        [self.harm, self.disturbance, self.saved, self.noticed]
    }
}

/// What counts as one source of graded runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum GroupBy {
    /// Every input file.
    #[default]
    File,
    /// Every folder: for traces with one run per file.
    Folder,
    /// Every agent.
    Agent,
    /// Every model.
    Model,
}

impl GroupBy {
    /// The source a run belongs to.
    fn key(self, report: &RunReport) -> &str {
        let name = match self {
            Self::File => &report.source.name,
            Self::Folder => report.source.folder(),
            Self::Agent => &report.agent,
            Self::Model => &report.model,
        };
        if name.is_empty() { "(unknown)" } else { name }
    }
}

/// Measures by source.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    by: GroupBy,
    index: HashMap<String, usize>,
    sources: Vec<(String, Vec<Grades>)>,
}

impl Sources {
    /// Sources told apart; the runs of later ones are counted together.
    pub(crate) const MAX: usize = 2_000;
    const OTHERS: &'static str = "(others)";

    /// No runs yet.
    pub(crate) fn new(by: GroupBy) -> Self {
        Self { by, ..Self::default() }
    }

    /// Adds a run with the verdicts of the policies.
    pub(crate) fn add(&mut self, report: &RunReport) {
        let key = self.by.key(report);
        let position = match self.index.get(key) {
            Some(&position) => position,
            None => self.add_source(key.to_owned()),
        };
        let (_, grades) = &mut self.sources[position];
        let verdicts = std::iter::once(&report.verdict).chain(&report.other);
        for (i, verdict) in verdicts.enumerate() {
            if grades.len() == i {
                grades.push(Grades::default());
            }
            grades[i].add(report, verdict);
        }
    }

    fn add_source(&mut self, key: String) -> usize {
        let full = self.sources.len() >= Self::MAX;
        if full && self.sources.len() > Self::MAX {
            return Self::MAX;
        }
        let key = if full { Self::OTHERS.to_owned() } else { key };
        self.index.insert(key.clone(), self.sources.len());
        self.sources.push((key, Vec::new()));
        self.sources.len() - 1
    }

    /// What a source is.
    pub(crate) const fn by(&self) -> GroupBy {
        self.by
    }

    /// Name and grades of each source that has graded runs, in order of appearance, by the
    /// verdict of policy `which` (0 or 1).
    pub(crate) fn graded(&self, which: usize) -> Vec<(&str, &Grades)> {
        let all = self
            .sources
            .iter()
            .filter_map(|(name, grades)| grades.get(which).map(|grades| (name.as_str(), grades)));
        all.filter(|(_, grades)| grades.is_graded()).collect()
    }

    /// The mean of each measure over the sources that have it.
    pub(crate) fn mean(&self, which: usize) -> Measures {
        let measures: Vec<Measures> =
            self.graded(which).iter().map(|(_, grades)| grades.measures()).collect();
        let mean = |of: fn(&Measures) -> Option<f64>| {
            let values: Vec<f64> = measures.iter().filter_map(of).collect();
            (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
        };
        Measures {
            harm: mean(|it| it.harm),
            disturbance: mean(|it| it.disturbance),
            saved: mean(|it| it.saved),
            noticed: mean(|it| it.noticed),
        }
    }

    /// The runs of all sources together.
    pub(crate) fn pooled(&self, which: usize) -> Grades {
        let mut sum = Grades::default();
        self.graded(which).iter().for_each(|(_, grades)| sum.merge(grades));
        sum
    }
}

#[cfg(test)]
mod tests {
    use steersman_engine::Action;

    use super::*;
    use crate::replay::samples::run;

    #[test]
    fn a_decision_in_the_last_turn_comes_too_late_to_matter() {
        let cases = [
            // Solved, decision, turn of ten; harm, disturbance, saved, noticed.
            (true, Action::Stop, 9, [Some(1.0), Some(1.0), None, None]),
            (true, Action::Stop, 10, [Some(0.0), Some(0.0), None, None]),
            (true, Action::Nudge, 9, [Some(0.0), Some(1.0), None, None]),
            (true, Action::Retry, 1, [Some(0.0), Some(1.0), None, None]),
            (true, Action::StartOver, 1, [Some(1.0), Some(1.0), None, None]),
            (false, Action::ForceSynthesis, 4, [None, None, Some(0.6), Some(1.0)]),
            (false, Action::Stop, 10, [None, None, Some(0.0), Some(0.0)]),
            (false, Action::Nudge, 4, [None, None, Some(0.0), Some(1.0)]),
        ];
        for (solved, action, turn, expected) in cases {
            let report = run("a").graded(solved).with(action, turn);
            let mut grades = Grades::default();
            grades.add(&report, &report.verdict);
            assert_eq!(grades.measures().in_order(), expected, "{action} in turn {turn}");
        }
    }

    #[test]
    fn the_mean_is_over_sources_not_over_runs() {
        let mut sources = Sources::new(GroupBy::Agent);
        let of = |agent: &str, report: RunReport| RunReport { agent: agent.to_owned(), ..report };
        for _ in 0..3 {
            sources.add(&of("careful", run("a").graded(true)));
        }
        sources.add(&of("hasty", run("b").graded(true).with(Action::Stop, 2)));
        sources.add(&of("failing", run("c").graded(false).with(Action::Stop, 5)));
        sources.add(&of("ungraded", run("d")));
        let names: Vec<&str> = sources.graded(0).iter().map(|(name, _)| *name).collect();
        assert_eq!(names, ["careful", "hasty", "failing"]);
        assert_eq!(sources.mean(0).in_order(), [Some(0.5), Some(0.5), Some(0.5), Some(1.0)]);
        assert_eq!(sources.pooled(0).measures().harm, Some(0.25));
    }

    #[test]
    fn very_many_sources_are_counted_together() {
        let mut sources = Sources::new(GroupBy::Agent);
        for i in 0..Sources::MAX + 50 {
            sources.add(&RunReport { agent: i.to_string(), ..run("a").graded(true) });
        }
        let graded = sources.graded(0);
        assert_eq!(graded.len(), Sources::MAX + 1);
        assert_eq!(
            graded.last().map(|(name, grades)| (*name, grades.solved)),
            Some(("(others)", 50))
        );
    }
}
