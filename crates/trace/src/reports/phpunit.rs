//! PHPUnit: `OK (3 tests, 5 assertions)` or `Tests: 3, Assertions: 5, Failures: 1.`.

use steersman_engine::TestReport;

use super::count::{counted, labelled, number};
use super::tally::Tally;

/// Reads the closing counts and the numbered lists of errors and failures.
pub(super) fn read(log: &str) -> Option<TestReport> {
    let mut tally = Tally::default();
    let mut failing = Vec::new();
    // Lists of skipped, incomplete and risky tests look the same as those of failures.
    let mut in_failures = false;
    for line in log.lines() {
        let line = line.trim_end();
        if let Some(rest) =
            line.strip_prefix("There was ").or_else(|| line.strip_prefix("There were "))
        {
            in_failures = counted(rest).is_some_and(|(_, what)| {
                matches!(what, "error:" | "errors:" | "failure:" | "failures:")
            });
        } else if let Some((passed, failed, skipped)) = summary(line) {
            tally.add(passed, failed, skipped);
            in_failures = false;
        } else if in_failures
            && let Some((_, rest)) = number(line)
            && let Some(name) = rest.strip_prefix(") ")
            && name.contains("::")
        {
            failing.push(name);
        }
    }
    if tally.found() {
        failing.iter().for_each(|name| tally.name_failing(name));
    }
    tally.finish()
}

fn summary(line: &str) -> Option<(u32, u32, u32)> {
    if let Some(items) = line.strip_prefix("OK (") {
        let (tests, assertions) = items.strip_suffix(')')?.split_once(", ")?;
        let assertions = counted(assertions)?.1;
        return match counted(tests)? {
            (count, "test" | "tests") if assertions.starts_with("assertion") => Some((count, 0, 0)),
            _ => None,
        };
    }
    let (mut failed, mut skipped, mut assertions) = (0_u32, 0_u32, false);
    let mut items = line.split(", ");
    let ("Tests", total) = labelled(items.next()?)? else { return None };
    for item in items {
        match labelled(item)? {
            ("Errors" | "Failures", count) => failed = failed.saturating_add(count),
            ("Skipped" | "Incomplete", count) => skipped = skipped.saturating_add(count),
            ("Assertions", _) => assertions = true,
            _ => {}
        }
    }
    let passed = total.saturating_sub(failed).saturating_sub(skipped);
    assertions.then_some((passed, failed, skipped))
}
