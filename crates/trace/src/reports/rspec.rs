//! RSpec: `3 examples, 1 failure, 1 pending`.

use steersman_engine::TestReport;

use super::count::counted;
use super::tally::Tally;

/// Reads the closing counts and the list of failed examples, by description: their line numbers
/// move with every edit.
pub(super) fn read(log: &str) -> Option<TestReport> {
    let mut tally = Tally::default();
    let mut unloadable = Vec::new();
    for line in log.lines() {
        let line = line.trim_end();
        if let Some(rest) = line.strip_prefix("rspec ") {
            let Some((place, description)) = rest.split_once(" # ") else { continue };
            let file = place.split([':', '[']).next().unwrap_or_default();
            tally.name_failing(&format!("{file} {description}"));
        } else if let Some(file) = line.strip_prefix("An error occurred while loading ") {
            unloadable.push(file.trim_end_matches('.'));
        } else if let Some((passed, failed, skipped)) = summary(line) {
            tally.add(passed, failed, skipped);
        }
    }
    if !tally.found() {
        return None;
    }
    for file in unloadable {
        tally.add_failing(file);
        tally.mark_broken();
    }
    tally.finish()
}

/// Reads `3 examples, 1 failure, 1 pending, 1 error occurred outside of examples`.
fn summary(line: &str) -> Option<(u32, u32, u32)> {
    let (mut total, mut failed, mut pending) = (None, None, 0);
    for item in line.split(", ") {
        match counted(item)? {
            (count, "example" | "examples") => total = Some(count),
            (count, "failure" | "failures") => failed = Some(count),
            (count, "pending") => pending = count,
            (_, what) if what.starts_with("error") => {}
            _ => return None,
        }
    }
    let (total, failed) = (total?, failed?);
    Some((total.saturating_sub(failed).saturating_sub(pending), failed, pending))
}
