//! `bun test`: ` 3 pass`, ` 1 fail`, `Ran 4 tests across 1 file. [12.00ms]`.

use steersman_engine::TestReport;

use super::count::{counted, number};
use super::tally::Tally;

/// Reads the counts above each `Ran …` line and the tests marked `(fail)`.
pub(super) fn read(log: &str) -> Option<TestReport> {
    let mut tally = Tally::default();
    let (mut passed, mut failed, mut skipped) = (None, 0, 0_u32);
    let mut broken = false;
    let mut failing = Vec::new();
    for line in log.lines() {
        if is_end(line) {
            if let Some(passed) = passed.take() {
                tally.add(passed, failed, skipped);
            }
            (failed, skipped) = (0, 0);
        } else if let Some(name) = line.strip_prefix("(fail) ").or_else(|| line.strip_prefix("✗ "))
        {
            failing.push(name);
        } else if line.starts_with("# Unhandled error between tests") {
            broken = true;
        } else {
            match line.strip_prefix(' ').and_then(counted) {
                Some((count, "pass")) => passed = Some(count),
                Some((count, "fail")) => failed = count,
                Some((count, "skip" | "todo")) => skipped = skipped.saturating_add(count),
                _ => {}
            }
        }
    }
    if tally.found() {
        failing.iter().for_each(|name| tally.name_failing(name));
        if broken {
            tally.mark_broken();
        }
    }
    tally.finish()
}

/// Whether a line is `Ran 4 tests across 1 file. [12.00ms]`.
fn is_end(line: &str) -> bool {
    let rest = line.strip_prefix("Ran ").and_then(number).map_or("", |(_, rest)| rest);
    rest.starts_with(" tests across ") || rest.starts_with(" test across ")
}
