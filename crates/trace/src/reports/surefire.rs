//! Maven Surefire and Failsafe, JUnit's text runners: `Tests run: 3, Failures: 1, Errors: 0`.

use steersman_engine::TestReport;

use super::count::{counted, labelled, number};
use super::tally::Tally;

/// Reads the totals, which name no time; without them the lines per class, which do.
pub(super) fn read(log: &str) -> Option<TestReport> {
    let mut totals = Tally::default();
    let mut classes = Tally::default();
    let mut failing = Vec::new();
    let mut listed = Vec::new();
    let mut listing = false;
    let mut broken = false;
    for line in log.lines() {
        let text = without_level(line).trim_end();
        if let Some((passed, failed, skipped)) = counts(text) {
            listing = false;
            let sum = if text.contains("Time elapsed") { &mut classes } else { &mut totals };
            sum.add(passed, failed, skipped);
        } else if let Some(name) = failing_test(text) {
            failing.push(name);
        } else if matches!(
            text.trim(),
            "Failures:" | "Errors:" | "Failed tests:" | "Tests in error:"
        ) {
            listing = true;
        } else if listing && let Some(name) = listed_test(text) {
            listed.push(name);
        } else {
            broken |= text.contains(":testCompile (") && text.starts_with("Failed to execute goal");
        }
    }
    let mut tally = if totals.found() { totals } else { classes };
    if broken {
        tally.mark_broken();
    }
    for name in if failing.is_empty() { listed } else { failing } {
        tally.name_failing(&name);
    }
    tally.finish()
}

/// Cuts the level off `[ERROR] Tests run: …` and Ant's task off `    [junit] Tests run: …`.
fn without_level(line: &str) -> &str {
    let text = line.trim_start();
    match text.strip_prefix('[').and_then(|rest| rest.split_once("] ")) {
        Some((level, rest)) if !level.contains(' ') => rest,
        _ => line,
    }
}

/// Reads `Tests run: 3, Failures: 1, Errors: 0, Skipped: 1, Time elapsed: 0.05 s <<< FAILURE!`,
/// and `OK (3 tests)` of JUnit 4's text runner.
fn counts(text: &str) -> Option<(u32, u32, u32)> {
    if let Some(items) = text.strip_prefix("OK (") {
        let (run, what) = counted(items)?;
        return matches!(what, "test)" | "tests)").then_some((run, 0, 0));
    }
    let mut items = text.strip_prefix("Tests run:").map(|_| text.split(','))?;
    let (_, run) = labelled(items.next()?)?;
    let (mut failures, mut errors, mut skipped) = (None, 0, 0);
    for item in items {
        match labelled(item) {
            Some(("Failures", count)) => failures = Some(count),
            Some(("Errors", count)) => errors = count,
            Some(("Skipped", count)) => skipped = count,
            _ => break,
        }
    }
    let failed = failures?.saturating_add(errors);
    Some((run.saturating_sub(failed).saturating_sub(skipped), failed, skipped))
}

/// Reads `com.x.FooTest.testBar -- Time elapsed: 0.01 s <<< FAILURE!`, and its older form
/// `testBar(com.x.FooTest)  Time elapsed: 0.01 sec  <<< ERROR!`, and `1) testBar(com.x.FooTest)`
/// of JUnit 4's text runner, under one name.
fn failing_test(text: &str) -> Option<String> {
    let failed = text.strip_suffix("<<< FAILURE!").or_else(|| text.strip_suffix("<<< ERROR!"));
    let name = match failed {
        Some(test) => test.split_once("Time elapsed:")?.0,
        None => number(text)?.1.strip_prefix(") ").filter(|name| name.ends_with(')'))?,
    };
    let name = name.trim_end().trim_end_matches("--").trim();
    match name.strip_suffix(')').and_then(|name| name.rsplit_once('(')) {
        Some((test, class)) if !class.is_empty() => Some(format!("{class}.{test}")),
        _ if failed.is_some() => Some(name.to_owned()),
        _ => None,
    }
}

/// Reads `  FooTest.testBar:12 expected: …` of the closing list, without its line number.
fn listed_test(text: &str) -> Option<String> {
    let name = text.strip_prefix("  ")?.split([':', ' ', '»']).next()?;
    (name.contains('.') || name.contains('(')).then(|| name.to_owned())
}
