//! CTest: `50% tests passed, 2 tests failed out of 4`.

use steersman_engine::TestReport;

use super::count::number;
use super::tally::Tally;

/// Reads the closing counts and the list of failed tests. A test whose program is missing
/// (`Not Run`) was not built.
pub(super) fn read(log: &str) -> Option<TestReport> {
    let mut tally = Tally::default();
    let mut skipped = 0_u32;
    let mut reported = 0_u32;
    let mut list = List::None;
    let mut totals = (0_u32, 0_u32);
    for line in log.lines() {
        let text = line.trim();
        if let Some((failed, total)) = summary(text) {
            totals.0 = totals.0.saturating_add(total);
            totals.1 = totals.1.saturating_add(failed);
            tally.add(0, 0, 0);
        } else if text == "The following tests FAILED:" {
            list = List::Failed;
        } else if text == "The following tests did not run:" {
            list = List::NotRun;
        } else if let Some((name, status)) = entry(text) {
            match list {
                List::Failed => {
                    tally.name_failing(name);
                    if status == "Not Run" && tally.found() {
                        tally.mark_broken();
                    }
                }
                List::NotRun => skipped = skipped.saturating_add(1),
                List::None => {}
            }
        } else {
            list = List::None;
            let not_run = text.contains("***Skipped") || text.contains("***Not Run (Disabled)");
            reported = reported.saturating_add(u32::from(not_run));
        }
    }
    // The list may be cut off, and so may the lines per test.
    let skipped = skipped.max(reported);
    let (total, failed) = totals;
    if tally.found() {
        tally.add(total.saturating_sub(failed).saturating_sub(skipped), failed, skipped);
    }
    tally.finish()
}

#[derive(Clone, Copy)]
enum List {
    None,
    Failed,
    NotRun,
}

/// Reads failed and total of `50% tests passed, 2 tests failed out of 4`.
fn summary(text: &str) -> Option<(u32, u32)> {
    let (_, rest) = number(text)?;
    let (failed, rest) = number(rest.strip_prefix("% tests passed, ")?)?;
    let (total, _) = number(rest.strip_prefix(" tests failed out of ")?)?;
    Some((failed, total))
}

/// Reads `2 - sums (Failed)` as name and status; labels may follow.
fn entry(text: &str) -> Option<(&str, &str)> {
    let (_, rest) = number(text)?;
    let (name, status) = rest.strip_prefix(" - ")?.rsplit_once(" (")?;
    Some((name, status.split(')').next()?))
}
