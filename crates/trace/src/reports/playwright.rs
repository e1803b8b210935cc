//! Playwright Test: `  1 failed`, the failing tests, `  2 passed (3.4s)`.

use steersman_engine::TestReport;

use super::count::{counted, is_duration};
use super::tally::Tally;

/// Reads the closing block, which is indented by two, its tests by four.
pub(super) fn read(log: &str) -> Option<TestReport> {
    let mut tally = Tally::default();
    let mut running = false;
    let mut in_failed = false;
    for line in log.lines() {
        let line = line.trim_end();
        if is_start(line) {
            running = true;
        } else if let Some((count, what)) = closing(line) {
            in_failed = what == "failed" || what == "timed out";
            match what {
                "passed" | "flaky" if running => tally.add(count, 0, 0),
                "failed" | "timed out" | "interrupted" if running => tally.add(0, count, 0),
                "skipped" | "did not run" if running => tally.add(0, 0, count),
                _ => {}
            }
        } else if in_failed && let Some(name) = line.strip_prefix("    ") {
            tally.name_failing(&test_name(name));
        } else {
            in_failed = false;
        }
    }
    tally.finish()
}

/// Whether a line is `Running 5 tests using 2 workers`.
fn is_start(line: &str) -> bool {
    let rest = line.strip_prefix("Running ").and_then(super::count::number).map_or("", |x| x.1);
    (rest.starts_with(" tests using ") || rest.starts_with(" test using "))
        && rest.contains(" worker")
}

/// Reads `  2 failed` and `  1 passed (5.7s)`.
fn closing(line: &str) -> Option<(u32, &str)> {
    let (count, what) = counted(line.strip_prefix("  ").filter(|l| !l.starts_with(' '))?)?;
    match what.split_once(" (") {
        Some(("passed", time)) if is_duration(time.strip_suffix(')')?) => Some((count, "passed")),
        Some(_) => None,
        None => Some((count, what)),
    }
}

/// Cuts the line, column and rule off `[chromium] › a.spec.ts:3:31 › cart › sums ─────`.
fn test_name(text: &str) -> String {
    let text = text.trim().trim_end_matches('─').trim_end();
    let parts = text.split(" › ").map(|part| match part.split_once(':') {
        Some((file, place)) if place.chars().all(|c| c.is_ascii_digit() || c == ':') => file,
        _ => part,
    });
    parts.collect::<Vec<_>>().join(" › ")
}
