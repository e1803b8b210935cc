//! Mocha, every reporter with an epilogue: `12 passing (30ms)`, `3 failing`, a numbered list.

use steersman_engine::TestReport;

use super::count::{is_duration, number};
use super::tally::Tally;

/// Lines a title of the numbered list may take: one per nested suite.
const MAX_TITLE_LINES: usize = 16;

/// Reads the epilogues and the titles in their lists of failures.
pub(super) fn read(log: &str) -> Option<TestReport> {
    let mut tally = Tally::default();
    let mut lines = log.lines();
    // Number of the next entry, while inside a list of failures.
    let mut next = None;
    while let Some(line) = lines.next() {
        let trimmed = line.trim();
        if let Some((count, what)) = epilogue(trimmed) {
            match what {
                "passing" => tally.add(count, 0, 0),
                "pending" if tally.found() => tally.add(0, 0, count),
                // Alone it still tells that tests ran: `| grep -A 9 failing`.
                "failing" => {
                    tally.add(0, count, 0);
                    next = Some(1);
                }
                _ => {}
            }
        } else if trimmed.starts_with("Exception during run:") {
            tally.mark_broken();
        } else if let Some(expected) = next
            && let Some((count, title)) = number(trimmed)
            && count == expected
            && let Some(title) = title.strip_prefix(") ")
            && let Some(name) = full_title(title, &mut lines.clone())
        {
            tally.name_failing(&name);
            next = Some(expected.saturating_add(1));
        }
    }
    tally.finish()
}

/// Reads `12 passing (30ms)`, `1 pending`, `3 failing`.
fn epilogue(line: &str) -> Option<(u32, &str)> {
    let (count, rest) = number(line)?;
    let what = rest.strip_prefix(' ')?;
    match what.split_once(" (") {
        Some(("passing", time)) if is_duration(time.strip_suffix(')')?) => Some((count, "passing")),
        None if matches!(what, "passing" | "pending" | "failing") => Some((count, what)),
        _ => None,
    }
}

/// Joins the suites and the test's title, one a line; a colon ends the last.
fn full_title<'a>(first: &str, lines: &mut impl Iterator<Item = &'a str>) -> Option<String> {
    let mut title = first.trim().to_owned();
    for _ in 0..MAX_TITLE_LINES {
        if let Some(whole) = title.strip_suffix(':') {
            return Some(whole.to_owned());
        }
        let line = lines.next()?.trim();
        if line.is_empty() {
            return None;
        }
        title.push_str(" › ");
        title.push_str(line);
    }
    None
}
