//! Results as they add up over the summaries of one output.

use steersman_engine::TestReport;

use super::name;

/// Sums counts and collects failing tests. Counts saturate.
#[derive(Default)]
pub(super) struct Tally {
    report: TestReport,
    found: bool,
}

impl Tally {
    /// Adds the counts of one summary.
    pub(super) fn add(&mut self, passed: u32, failed: u32, skipped: u32) {
        self.found = true;
        self.report.passed = self.report.passed.saturating_add(passed);
        self.report.failed = self.report.failed.saturating_add(failed);
        self.report.skipped = self.report.skipped.saturating_add(skipped);
    }

    /// Names a failing test. It does not count: summaries do, or [`Tally::add`] per test.
    pub(super) fn name_failing(&mut self, name: &str) {
        let name = name::stable(name);
        if !name.is_empty() {
            self.report.add_failing(&name);
        }
    }

    /// Counts and names one failing test, for outputs that have no summary.
    pub(super) fn add_failing(&mut self, name: &str) {
        self.add(0, 1, 0);
        self.name_failing(name);
    }

    /// Notes that something could not be built or loaded, which is a result in itself.
    pub(super) fn mark_broken(&mut self) {
        self.found = true;
        self.report.broken = true;
    }

    /// Whether a result was found so far.
    pub(super) fn found(&self) -> bool {
        self.found
    }

    /// The results; `None` if none was found.
    pub(super) fn finish(self) -> Option<TestReport> {
        self.found.then_some(self.report)
    }
}
