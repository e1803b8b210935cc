//! Harm, disturbance, saved, noticed.

use serde::Serialize;

use crate::{Course, Episode};

/// Measures of graded runs; `None` where there is nothing to take a share of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Measures {
    /// Share of solved runs with a decision that ends the run before the last turn.
    pub harm: Option<f64>,
    /// Share of solved runs with any decision other than continue before the last turn.
    pub disturbance: Option<f64>,
    /// Share of the tool calls of unsolved runs after the first decision that ends the run.
    pub saved: Option<f64>,
    /// Share of unsolved runs with any decision other than continue before the last turn.
    pub noticed: Option<f64>,
}

impl Measures {
    /// The lines that say what the measures are.
    pub const DEFINITIONS: [(&'static str, &'static str); 4] = [
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

    /// The measures in the order of the definitions.
    #[must_use]
    pub const fn in_order(&self) -> [Option<f64>; 4] {
        [self.harm, self.disturbance, self.saved, self.noticed]
    }

    /// The mean of each measure over the sources that have it.
    #[must_use]
    pub fn mean(sources: &[Self]) -> Self {
        let mean = |of: fn(&Self) -> Option<f64>| {
            let values: Vec<f64> = sources.iter().filter_map(of).collect();
            (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
        };
        Self {
            harm: mean(|it| it.harm),
            disturbance: mean(|it| it.disturbance),
            saved: mean(|it| it.saved),
            noticed: mean(|it| it.noticed),
        }
    }
}

/// A run as far as the measures are concerned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Graded {
    /// Whether the task was solved; `None` if the run was not graded.
    pub solved: Option<bool>,
    /// A decision other than continue came before the last turn.
    pub decided: bool,
    /// A decision that ends the run came before the last turn.
    pub ended: bool,
    /// Tool calls.
    pub calls: u32,
    /// Tool calls after the first decision that ends the run; 0 if there is none.
    pub calls_after: u32,
}

impl Graded {
    /// An episode, seen with what one subject decided.
    #[must_use]
    pub fn of(episode: &Episode, course: &Course) -> Self {
        let (first, ending) = (course.first(), course.ending());
        let calls = episode.counts.calls;
        Self {
            solved: episode.solved,
            decided: first.is_some_and(|it| episode.is_in_time(it.turn)),
            ended: ending.is_some_and(|it| episode.is_in_time(it.turn)),
            calls,
            calls_after: ending.map_or(0, |it| calls.saturating_sub(it.call)),
        }
    }
}

/// The sums that the measures are shares of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Runs, graded or not.
    pub runs: u64,
    /// Solved runs.
    pub solved: u64,
    /// Unsolved runs.
    pub unsolved: u64,
    /// Solved runs that would have been ended.
    pub harmed: u64,
    /// Solved runs with any decision.
    pub disturbed: u64,
    /// Unsolved runs with any decision.
    pub noticed: u64,
    /// Tool calls of unsolved runs.
    pub unsolved_calls: u64,
    /// Those of them that lie after the end.
    pub saved_calls: u64,
}

impl Tally {
    /// Adds a run.
    pub fn add(&mut self, run: Graded) {
        self.runs += 1;
        match run.solved {
            Some(true) => {
                self.solved += 1;
                self.harmed += u64::from(run.ended);
                self.disturbed += u64::from(run.decided);
            }
            Some(false) => {
                self.unsolved += 1;
                self.noticed += u64::from(run.decided);
                self.unsolved_calls += u64::from(run.calls);
                self.saved_calls += u64::from(run.calls_after);
            }
            None => {}
        }
    }

    /// Adds the runs of another tally.
    pub const fn merge(&mut self, other: &Self) {
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
    #[must_use]
    pub const fn is_graded(&self) -> bool {
        self.solved + self.unsolved > 0
    }

    /// The measures.
    #[must_use]
    pub fn measures(&self) -> Measures {
        Measures {
            harm: share(self.harmed, self.solved),
            disturbance: share(self.disturbed, self.solved),
            saved: share(self.saved_calls, self.unsolved_calls),
            noticed: share(self.noticed, self.unsolved),
        }
    }
}

/// A share; `None` if there is nothing to take a share of.
#[must_use]
pub fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

#[cfg(test)]
mod tests {
    use steersman_engine::Action;

    use super::*;
    use crate::samples::run;

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
            let run = run("a").graded(solved).decided(action, turn);
            let mut tally = Tally::default();
            tally.add(Graded::of(&run, &run.courses[0]));
            assert_eq!(tally.measures().in_order(), expected, "{action} in turn {turn}");
        }
    }

    #[test]
    fn shares_are_of_sums() {
        let mut tally = Tally::default();
        let runs = [
            run("a").graded(true),
            run("b").graded(true).decided(Action::Nudge, 2),
            run("c").graded(true).decided(Action::Stop, 2),
            run("d").graded(true),
            run("e").graded(false),
            run("f").graded(false).decided(Action::Nudge, 3).decided(Action::Stop, 5),
            run("g").decided(Action::Stop, 1),
        ];
        runs.iter().for_each(|run| tally.add(Graded::of(run, &run.courses[0])));
        assert_eq!((tally.runs, tally.solved, tally.unsolved), (7, 4, 2));
        let expected = [Some(0.25), Some(0.5), Some(5.0 / 20.0), Some(0.5)];
        assert_eq!(tally.measures().in_order(), expected);
        let mut double = tally;
        double.merge(&tally);
        assert_eq!(double.measures(), tally.measures());
        assert_eq!(double.runs, 14);
    }

    #[test]
    fn a_mean_leaves_out_what_a_source_does_not_have() {
        let of = |harm, saved| Measures { harm, saved, ..Measures::default() };
        let mean = Measures::mean(&[of(Some(0.5), None), of(Some(0.1), Some(0.2)), of(None, None)]);
        assert_eq!(mean, of(Some(0.3), Some(0.2)));
        assert_eq!(Measures::mean(&[]), Measures::default());
    }
}
