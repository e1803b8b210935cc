//! Python's unittest, and what prints like it: Django's runner, nose, trial.

use steersman_engine::TestReport;

use super::count::{is_duration, number};
use super::tally::Tally;

/// Reads `Ran 3 tests in 0.001s` with the verdict below, and the tests named in `FAIL: `,
/// `ERROR: ` headings. Without the last lines the headings count.
pub(super) fn read(log: &str) -> Option<TestReport> {
    let mut tally = Tally::default();
    let mut ran = None;
    let mut headings = Vec::new();
    // Headings before this one belong to runs that are already counted.
    let mut counted = 0;
    let mut framed = false;
    for line in log.lines().map(str::trim_end).filter(|line| !line.is_empty()) {
        if let Some(count) = ran_count(line) {
            if ran.is_some() {
                add_run(&mut tally, ran, None, headings.len() - counted);
                counted = headings.len();
            }
            ran = Some(count);
        } else if ran.is_some() && is_verdict(line) {
            add_run(&mut tally, ran.take(), Some(line), headings.len() - counted);
            counted = headings.len();
        } else if framed && let Some(name) = heading(line) {
            headings.push(name);
        }
        framed = line.starts_with("==========");
    }
    add_run(&mut tally, ran, None, headings.len() - counted);
    for (name, broken) in &headings {
        if tally.found() {
            tally.name_failing(name);
        } else {
            tally.add_failing(name);
        }
        if *broken {
            tally.mark_broken();
        }
    }
    tally.finish()
}

/// Adds one run; without a verdict the headings tell how many failed.
fn add_run(tally: &mut Tally, ran: Option<u32>, verdict: Option<&str>, headings: usize) {
    let Some(ran) = ran else { return };
    let Some(verdict) = verdict else {
        // Cut off: how many of the others passed is not known.
        if headings > 0 {
            tally.add(0, u32::try_from(headings).unwrap_or(u32::MAX), 0);
        }
        return;
    };
    let (mut failed, mut skipped) = (0_u32, 0_u32);
    let items = verdict.split_once('(').map_or("", |(_, items)| items);
    for item in items.trim_end_matches(')').split(", ") {
        let Some((what, count)) = item.split_once('=') else { continue };
        let count = number(count).map_or(0, |(count, _)| count);
        match what {
            "failures" | "errors" | "unexpected successes" => {
                failed = failed.saturating_add(count);
            }
            "skipped" | "skips" | "expected failures" | "expectedFailures" | "SKIP" => {
                skipped = skipped.saturating_add(count);
            }
            _ => {}
        }
    }
    if ran == 0 && failed > 0 {
        tally.mark_broken();
    }
    tally.add(ran.saturating_sub(failed).saturating_sub(skipped), failed, skipped);
}

fn ran_count(line: &str) -> Option<u32> {
    let (count, rest) = number(line.strip_prefix("Ran ")?)?;
    let rest = rest.strip_prefix(" tests in ").or_else(|| rest.strip_prefix(" test in "))?;
    is_duration(rest).then_some(count)
}

fn is_verdict(line: &str) -> bool {
    matches!(line, "OK" | "FAILED" | "NO TESTS RAN")
        || line.starts_with("OK (")
        || line.starts_with("FAILED (")
        || line.starts_with("PASSED (")
        || line.starts_with("NO TESTS RAN (")
}

/// Reads `FAIL: test_x (mod.Class.test_x) (i=1)`: the full name, and whether it stands for a
/// module that could not be loaded. Older versions print `(mod.Class)`; both give one name.
fn heading(line: &str) -> Option<(String, bool)> {
    let rest = ["FAIL: ", "ERROR: ", "UNEXPECTED SUCCESS: "]
        .iter()
        .find_map(|prefix| line.strip_prefix(prefix))?;
    let Some((test, place)) = rest.split_once(" (") else {
        return Some((rest.to_owned(), false));
    };
    let (place, suffix) = place.split_once(')').unwrap_or((place, ""));
    let full = if place.strip_suffix(test).is_some_and(|class| class.ends_with('.')) {
        format!("{place}{suffix}")
    } else {
        format!("{place}.{test}{suffix}")
    };
    Some((full, place.contains("_FailedTest") || place.contains("ModuleImportFailure")))
}
