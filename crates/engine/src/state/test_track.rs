//! Progress by test results: by identity, not by count (B1, B8).

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::streak::Streak;
use crate::test_report::TestReport;

/// How many test suites (commands) are followed at once.
const MAX_SUITES: usize = 8;

/// The results of the test suites of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct TestTrack {
    suites: Vec<Suite>,
    /// Results of the last report, whatever the suite.
    pub(crate) last: Option<LastTests>,
    /// Results without a new low in the suite reported last.
    pub(crate) stuck: Streak,
    /// Reports so far.
    pub(crate) reports: u32,
}

/// The last report in short.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LastTests {
    pub(crate) turn: u32,
    pub(crate) passed: u32,
    pub(crate) failed: u32,
    pub(crate) broken: bool,
}

impl LastTests {
    pub(crate) const fn failing(&self) -> bool {
        self.failed > 0 || self.broken
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Suite {
    key: u64,
    used: u32,
    /// Fewest failing tests so far, deleted ones counted as failing.
    low: Option<u32>,
    /// Failing tests of the last report that is not broken.
    failing: Vec<u64>,
    failed: u32,
    total: u32,
    /// Tests that failed when they were last seen, and then vanished.
    deleted: u32,
    stuck: Streak,
    /// Count of state changes when it was last reported.
    changes: u32,
}

impl TestTrack {
    /// Takes in a report of the suite `key` in `turn`; `changes` counts the changes of the
    /// workspace so far.
    pub(crate) fn report(&mut self, key: u64, report: &TestReport, turn: u32, changes: u32) {
        self.reports = self.reports.saturating_add(1);
        self.last = Some(LastTests {
            turn,
            passed: report.passed,
            failed: report.failed,
            broken: report.broken,
        });
        let reports = self.reports;
        let suite = self.suite(key);
        suite.used = reports;
        suite.take(report, turn, changes);
        self.stuck = suite.stuck;
    }

    /// Begins a new attempt: what was reached does not count any more.
    pub(crate) fn start_over(&mut self) {
        self.suites.clear();
        self.stuck.reset();
    }

    /// The user spoke: what was stuck is looked at anew.
    pub(crate) fn forgive(&mut self) {
        self.stuck.reset();
        for suite in &mut self.suites {
            suite.stuck.reset();
        }
    }

    fn suite(&mut self, key: u64) -> &mut Suite {
        let at = self.suites.iter().position(|suite| suite.key == key).unwrap_or_else(|| {
            if self.suites.len() < MAX_SUITES {
                self.suites.push(Suite::default());
                self.suites.len() - 1
            } else {
                let oldest = self.suites.iter().enumerate().min_by_key(|(_, suite)| suite.used);
                oldest.map_or(0, |(at, _)| at)
            }
        });
        let suite = &mut self.suites[at];
        if suite.key != key {
            *suite = Suite { key, ..Suite::default() };
        }
        suite
    }
}

impl Suite {
    fn take(&mut self, report: &TestReport, turn: u32, changes: u32) {
        let changed = self.low.is_none() || changes != self.changes;
        self.changes = changes;
        if report.broken {
            // Nothing is known about the tests; it is not progress either.
            if changed {
                self.stuck.extend(turn);
            }
            return;
        }
        let failing = self.count_failing(report);
        if report.failed == 0 && self.deleted == 0 {
            self.low = Some(0);
            self.stuck.reset();
        } else if self.low.is_none_or(|low| failing < low) {
            self.low = Some(failing);
            self.stuck.restart(turn);
        } else if changed {
            self.stuck.extend(turn);
        }
    }

    /// Failing tests, those deleted since they failed included.
    ///
    /// A failing test that is neither failing nor passing any more was deleted (or skipped): the
    /// number of tests that ran has dropped with it.
    fn count_failing(&mut self, report: &TestReport) -> u32 {
        let total = report.passed + report.failed;
        if self.low.is_some() {
            let known = !self.failing.is_empty() || self.failed == 0;
            let vanished = if known {
                let still = |id: &&u64| report.failing.binary_search(id).is_err();
                self.failing.iter().filter(still).count() as u32
            } else {
                self.failed.saturating_sub(report.failed)
            };
            let dropped = self.total.saturating_sub(total);
            let returned = total.saturating_sub(self.total);
            self.deleted = (self.deleted + vanished.min(dropped)).saturating_sub(returned);
        }
        self.total = total;
        self.failed = report.failed;
        self.failing.clone_from(&report.failing);
        self.failing.truncate(TestReport::MAX_FAILING);
        report.failed + self.deleted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A report of tests by name: `+a` passed, `-b` failed; `!` is a broken run.
    fn report(text: &str) -> TestReport {
        let mut report = TestReport { broken: text == "!", ..TestReport::default() };
        for word in text.split_whitespace() {
            match word.split_at(1) {
                ("+", _) => report.passed += 1,
                ("-", name) => {
                    report.failed += 1;
                    report.add_failing(name);
                }
                _ => {}
            }
        }
        report
    }

    /// Reports with an edit before each, and how many in a row bring no new low afterwards.
    fn check(reports: &[&str], stuck: u32) {
        let mut track = TestTrack::default();
        for (at, text) in reports.iter().enumerate() {
            track.report(1, &report(text), at as u32 + 1, at as u32);
        }
        assert_eq!(track.stuck.count, stuck, "{reports:?}");
    }

    #[test]
    fn only_new_lows_are_progress() {
        check(&["-a -b"], 1);
        check(&["-a -b", "-a -b", "-a -b"], 3);
        check(&["-a -b", "-a +b"], 1);
        check(&["-a -b", "+a +b"], 0);
        // Swapping one failing test for another.
        check(&["-a +b", "+a -b", "-a +b"], 3);
        // Getting worse, then back.
        check(&["-a +b", "-a -b", "-a +b"], 3);
        // Deleting the failing test.
        check(&["-a +b", "+b"], 2);
        // Restoring and fixing it.
        check(&["-a +b", "+b", "+a +b"], 0);
        // A build error is no progress, and what follows is judged as before.
        check(&["-a -b", "!", "-a -b"], 3);
        check(&["-a -b", "!", "+a -b"], 1);
        // A new failing test appears with a new passing one.
        check(&["-a", "-a +b", "-a +b +c"], 3);
    }

    #[test]
    fn suites_are_judged_apart() {
        let mut track = TestTrack::default();
        for turn in 1..=3 {
            track.report(1, &report("-a -b"), turn, turn);
            track.report(2, &report("-a"), turn, turn);
        }
        assert_eq!(track.stuck.count, 3);
        track.report(3, &report("+z"), 4, 4);
        assert_eq!(track.stuck.count, 0);
    }

    #[test]
    fn a_rerun_without_a_change_is_no_attempt() {
        let mut track = TestTrack::default();
        for turn in 1..=5 {
            track.report(1, &report("-a"), turn, 0);
        }
        assert_eq!(track.stuck.count, 1);
    }
}
