//! Vitest: `      Tests  1 failed | 2 passed (3)`.

use steersman_engine::TestReport;

use super::count::counted;
use super::tally::Tally;

/// Reads the `Tests` lines and the tests named in ` FAIL ` headings. A file that could not be run
/// counts as one failing test.
pub(super) fn read(log: &str) -> Option<TestReport> {
    let mut tally = Tally::default();
    let mut unrunnable = Vec::new();
    let mut failing = Vec::new();
    for line in log.lines() {
        let trimmed = line.trim();
        if let Some(name) = trimmed.strip_prefix("FAIL ") {
            let name = without_project(name.trim());
            match name.strip_suffix(']').and_then(|name| name.split_once(" [ ")) {
                Some((file, _)) => unrunnable.push(file),
                None => failing.push(name),
            }
        } else if let Some((passed, failed, skipped)) =
            trimmed.strip_prefix("Tests  ").and_then(summary)
        {
            tally.add(passed, failed, skipped);
        }
    }
    if !tally.found() {
        return None;
    }
    for name in failing {
        tally.name_failing(name);
    }
    unrunnable.sort_unstable();
    unrunnable.dedup();
    for file in unrunnable {
        tally.add_failing(file);
        tally.mark_broken();
    }
    tally.finish()
}

/// Cuts the project off `|unit| src/a.test.ts > adds`.
fn without_project(name: &str) -> &str {
    name.strip_prefix('|').and_then(|rest| rest.split_once("| ")).map_or(name, |(_, name)| name)
}

/// Reads `2 failed | 1 passed | 1 skipped | 1 todo (5)` and `no tests`.
fn summary(text: &str) -> Option<(u32, u32, u32)> {
    let text = text.trim();
    if text == "no tests" {
        return Some((0, 0, 0));
    }
    let (items, total) = text.rsplit_once(" (")?;
    super::count::number(total)?;
    let (mut passed, mut failed, mut skipped) = (0, 0, 0_u32);
    for item in items.split(" | ") {
        match counted(item)? {
            (count, "passed") => passed = count,
            (count, "failed") => failed = count,
            (count, "skipped" | "todo" | "expected fail") => {
                skipped = skipped.saturating_add(count)
            }
            _ => return None,
        }
    }
    Some((passed, failed, skipped))
}
