//! Gradle: `12 tests completed, 2 failed, 1 skipped`, printed only where something failed.

use steersman_engine::TestReport;

use super::count::{counted, number};
use super::tally::Tally;

/// Reads the closing counts and `FooTest > testBar FAILED` lines. Without counts, the tests that
/// are logged one by one count.
pub(super) fn read(log: &str) -> Option<TestReport> {
    let mut tally = Tally::default();
    let mut logged = Vec::new();
    let mut complete = false;
    for line in log.lines() {
        let line = line.trim_end();
        if let Some((passed, failed, skipped)) = summary(line) {
            tally.add(passed, failed, skipped);
        } else if let Some(result) = logged_test(line) {
            logged.push(result);
        } else if line.starts_with("BUILD SUCCESSFUL") {
            complete = true;
        } else if line.starts_with("Execution failed for task '")
            && (line.contains("compileTest") || line.contains("estCompile"))
        {
            tally.mark_broken();
        }
    }
    let counted = tally.found();
    // Passed tests alone say nothing about those that were cut off.
    if !counted && !complete && logged.iter().all(|(_, status)| *status != "FAILED") {
        return None;
    }
    for (name, status) in logged {
        match status {
            "FAILED" if counted => tally.name_failing(name),
            "FAILED" => tally.add_failing(name),
            "SKIPPED" if !counted => tally.add(0, 0, 1),
            "PASSED" if !counted => tally.add(1, 0, 0),
            _ => {}
        }
    }
    tally.finish()
}

/// Reads `12 tests completed, 2 failed, 1 skipped`.
fn summary(line: &str) -> Option<(u32, u32, u32)> {
    let (total, rest) = number(line)?;
    let items =
        rest.strip_prefix(" tests completed").or_else(|| rest.strip_prefix(" test completed"))?;
    let (mut failed, mut skipped) = (0, 0);
    for item in items.split(", ").skip(1) {
        match counted(item)? {
            (count, "failed") => failed = count,
            (count, "skipped") => skipped = count,
            _ => return None,
        }
    }
    Some((total.saturating_sub(failed).saturating_sub(skipped), failed, skipped))
}

/// Reads `com.x.FooTest > testBar() FAILED`.
fn logged_test(line: &str) -> Option<(&str, &str)> {
    let (name, status) = line.rsplit_once(' ')?;
    let (class, _) = name.split_once(" > ")?;
    let known = matches!(status, "PASSED" | "FAILED" | "SKIPPED");
    // `> Task :test FAILED` is no test; a class has no spaces.
    (known && !class.is_empty() && !class.contains([' ', ':', '/'])).then_some((name, status))
}
