//! `dotnet test`: `Failed!  - Failed:     1, Passed:     3, Skipped:     0, Total:     4`.

use steersman_engine::TestReport;

use super::count::{is_duration, labelled};
use super::tally::Tally;

/// Reads one line per test assembly, or VSTest's older block of `Total tests:` lines, and the
/// tests listed as `  Failed Name [12 ms]`.
pub(super) fn read(log: &str) -> Option<TestReport> {
    let mut tally = Tally::default();
    let mut block = None;
    let mut failing = Vec::new();
    for line in log.lines() {
        let text = line.trim();
        if let Some((_, items)) = text.split_once("!  - ") {
            if let Some((passed, failed, skipped)) = summary(items) {
                tally.add(passed, failed, skipped);
            }
        } else if let Some(name) = failed_test(text) {
            failing.push(name);
        } else if let Some((label, count)) = labelled(text) {
            let counts: &mut (u32, u32, u32) = match label {
                "Total tests" => block.insert((0, 0, 0)),
                _ => match &mut block {
                    Some(counts) => counts,
                    None => continue,
                },
            };
            match label {
                "Passed" => counts.0 = count,
                "Failed" => counts.1 = count,
                "Skipped" => counts.2 = count,
                _ => {}
            }
        }
    }
    if !tally.found()
        && let Some((passed, failed, skipped)) = block
    {
        tally.add(passed, failed, skipped);
    }
    if tally.found() {
        failing.iter().for_each(|name| tally.name_failing(name));
    }
    tally.finish()
}

/// Reads `Failed:     1, Passed:     3, Skipped:     0, Total:     4, Duration: 5 ms - x.dll`.
fn summary(items: &str) -> Option<(u32, u32, u32)> {
    let (mut passed, mut failed, mut skipped) = (None, None, 0);
    for item in items.split(',') {
        match labelled(item) {
            Some(("Passed", count)) => passed = Some(count),
            Some(("Failed", count)) => failed = Some(count),
            Some(("Skipped", count)) => skipped = count,
            _ => {}
        }
    }
    Some((passed?, failed?, skipped))
}

/// Reads `Failed Shop.CartTests.Sums [12 ms]`.
fn failed_test(text: &str) -> Option<&str> {
    let (name, time) = text.strip_prefix("Failed ")?.strip_suffix(']')?.rsplit_once(" [")?;
    is_duration(time).then_some(name)
}
