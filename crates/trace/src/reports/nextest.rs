//! `cargo nextest`: `Summary [   0.199s] 5 tests run: 2 passed, 3 failed, 1 skipped`.

use steersman_engine::TestReport;

use super::count::{counted, number};
use super::tally::Tally;

/// Reads the summaries; the tests listed below each are the failing ones. Without a summary the
/// tests reported one by one count.
pub(super) fn read(log: &str) -> Option<TestReport> {
    let mut tally = Tally::default();
    let mut reported = Vec::new();
    for line in log.lines() {
        let line = line.trim();
        if let Some((passed, failed, skipped)) = summary(line) {
            tally.add(passed, failed, skipped);
        } else if let Some((name, passed)) = result(line) {
            if tally.found() && !passed {
                tally.name_failing(name);
            }
            reported.push((name, passed));
        }
    }
    // Passed tests alone say nothing about those that were cut off.
    if !tally.found() && reported.iter().any(|(_, passed)| !passed) {
        reported.sort_unstable();
        reported.dedup();
        for (name, passed) in reported {
            if passed {
                tally.add(1, 0, 0);
            } else {
                tally.add_failing(name);
            }
        }
    }
    tally.finish()
}

/// Reads `Summary [ 0.199s] 2/5 tests run: 1 passed (1 slow), 1 failed, 1 timed out, 1 skipped`.
fn summary(line: &str) -> Option<(u32, u32, u32)> {
    let (_, rest) = line.strip_prefix("Summary [")?.split_once("] ")?;
    let (run, items) = rest.split_once(" run: ")?;
    number(run)?;
    let (mut passed, mut failed, mut skipped) = (None, 0_u32, 0);
    for item in items.split(", ") {
        // `(1 slow, 2 flaky)` behind a count is split too; none of its words is one of these.
        match counted(item) {
            Some((count, "skipped")) => skipped = count,
            Some((count, what)) if what.starts_with("passed") => passed = Some(count),
            Some((count, what))
                if ["failed", "exec failed", "timed out"].iter().any(|w| what.starts_with(w)) =>
            {
                failed = failed.saturating_add(count);
            }
            _ => {}
        }
    }
    Some((passed?, failed, skipped))
}

/// Reads `FAIL [   0.005s] (1/5) ledger tests::panics` as binary and test, and whether it passed.
fn result(line: &str) -> Option<(&str, bool)> {
    let (word, rest) = line.split_once(" [")?;
    let word =
        word.strip_prefix("TRY ").and_then(|rest| Some(rest.split_once(' ')?.1)).unwrap_or(word);
    let passed = match word {
        "PASS" | "LEAK" | "FLAKY" => true,
        "FAIL" | "TIMEOUT" | "ABORT" | "XFAIL" | "LEAK-FAIL" | "TMT" => false,
        _ if word.starts_with("SIG") => false,
        _ => return None,
    };
    let (time, rest) = rest.split_once("] ")?;
    if !time.trim().ends_with('s') {
        return None;
    }
    let name = match rest.strip_prefix('(') {
        Some(counter) => counter.split_once(") ")?.1,
        None => rest,
    };
    Some((name.trim(), passed))
}
