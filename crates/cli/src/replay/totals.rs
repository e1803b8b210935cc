//! Sums over all runs, and the measures of graded runs.

use std::collections::{BTreeMap, HashMap};

use steersman_engine::Usage;
use steersman_evaluation::measure::{Graded, Measures, Tally};
use steersman_trace::Outcome;

use super::report::{Kind, RunReport, Verdict};
use crate::reading::{GroupBy, outcome};

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

/// Measures by source.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    by: GroupBy,
    index: HashMap<String, usize>,
    sources: Vec<(String, Vec<Tally>)>,
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
        let key = self.by.key(&report.source, &report.agent, &report.model);
        let position = match self.index.get(key) {
            Some(&position) => position,
            None => self.add_source(key.to_owned()),
        };
        let (_, grades) = &mut self.sources[position];
        let verdicts = std::iter::once(&report.verdict).chain(&report.other);
        for (i, verdict) in verdicts.enumerate() {
            if grades.len() == i {
                grades.push(Tally::default());
            }
            grades[i].add(graded(report, verdict));
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
    pub(crate) fn graded(&self, which: usize) -> Vec<(&str, &Tally)> {
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
        Measures::mean(&measures)
    }

    /// The runs of all sources together.
    pub(crate) fn pooled(&self, which: usize) -> Tally {
        let mut sum = Tally::default();
        self.graded(which).iter().for_each(|(_, grades)| sum.merge(grades));
        sum
    }
}

/// A run as far as the measures are concerned, seen with one policy's verdict.
fn graded(report: &RunReport, verdict: &Verdict) -> Graded {
    Graded {
        solved: outcome(report.outcome),
        decided: report.before_last_turn(verdict.first.as_ref()),
        ended: report.before_last_turn(verdict.ending.as_ref()),
        calls: report.calls,
        calls_after: verdict.ending.as_ref().map_or(0, |ending| report.after(ending).calls),
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
            let mut grades = Tally::default();
            grades.add(super::graded(&report, &report.verdict));
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
