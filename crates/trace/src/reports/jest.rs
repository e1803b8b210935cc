//! Jest: `Tests:       1 failed, 2 passed, 3 total`.

use steersman_engine::TestReport;

use super::count::counted;
use super::name::stable;
use super::tally::Tally;

/// Reads the `Tests:` lines and the failing tests under their files. A file that could not be run
/// counts as one failing test.
pub(super) fn read(log: &str) -> Option<TestReport> {
    let mut tally = Tally::default();
    let mut file = "";
    let mut failing = Vec::new();
    let mut unrunnable = Vec::new();
    for line in log.lines() {
        let trimmed = line.trim();
        if let Some(rest) = trimmed.strip_prefix("FAIL ") {
            file = rest.trim();
        } else if trimmed.starts_with("PASS ") {
            file = "";
        } else if let Some(title) = trimmed.strip_prefix("● ") {
            if title == "Test suite failed to run" {
                unrunnable.push(stable(file));
            } else if is_test(title, line) {
                failing.push((file, title));
            }
        } else if let Some((passed, failed, skipped)) =
            trimmed.strip_prefix("Tests:").and_then(summary)
        {
            tally.add(passed, failed, skipped);
        }
    }
    if !tally.found() {
        return None;
    }
    for (file, title) in failing {
        match file {
            "" => tally.name_failing(title),
            _ => tally.name_failing(&format!("{} › {title}", stable(file))),
        }
    }
    // Jest prints failures again at its end when there are many.
    unrunnable.sort();
    unrunnable.dedup();
    for file in unrunnable {
        tally.add_failing(&file);
        tally.mark_broken();
    }
    tally.finish()
}

/// Whether a `●` title names a test, not a section of Jest's own.
fn is_test(title: &str, line: &str) -> bool {
    let own = ["Console", "Validation ", "Deprecation ", "Multiple configurations", "process."];
    // Assertions quote code with deeper indentation.
    line.len() - line.trim_start().len() <= 2 && !own.iter().any(|prefix| title.starts_with(prefix))
}

/// Reads `2 failed, 1 skipped, 1 todo, 2 passed, 6 total`.
fn summary(text: &str) -> Option<(u32, u32, u32)> {
    let (mut passed, mut failed, mut skipped, mut total) = (0, 0, 0_u32, None);
    for item in text.trim().split(", ") {
        match counted(item)? {
            (count, "passed") => passed = count,
            (count, "failed") => failed = count,
            (count, "skipped" | "todo" | "pending") => skipped = skipped.saturating_add(count),
            (count, "total") => total = Some(count),
            _ => return None,
        }
    }
    total.map(|_| (passed, failed, skipped))
}
