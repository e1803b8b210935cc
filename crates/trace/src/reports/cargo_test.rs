//! `cargo test`: one `test result:` per binary and for the documentation, summed.

use steersman_engine::TestReport;

use super::count::{counted, number};
use super::tally::Tally;

/// Reads the results of every test binary. A binary whose result is missing (cut, killed) counts
/// by its `test … FAILED` lines, and by the others if there is one.
pub(super) fn read(log: &str) -> Option<TestReport> {
    let mut found = Found::default();
    for line in log.lines() {
        found.take_line(line.trim_end());
    }
    found.end_binary();
    if found.tests && found.build_failed {
        found.tally.mark_broken();
    }
    found.tally.finish()
}

#[derive(Default)]
struct Found {
    tally: Tally,
    /// Inside a binary that has begun (`running 3 tests`) and told no result yet.
    running: bool,
    /// Its tests so far: passed, failed, ignored.
    open: (u32, u32, u32),
    listing: bool,
    /// Anything shows that tests were wanted.
    tests: bool,
    build_failed: bool,
}

impl Found {
    fn take_line(&mut self, line: &str) {
        if self.listing {
            if let Some(name) = line.strip_prefix("    ") {
                self.tally.name_failing(test_name(name));
                return;
            }
            // `failures:` stands twice: before the outputs, and before the names.
            self.listing = false;
        }
        if let Some(counts) = line.strip_prefix("test result: ").and_then(result) {
            self.tally.add(counts.0, counts.1, counts.2);
            (self.running, self.open, self.tests) = (false, (0, 0, 0), true);
        } else if let Some(rest) = line.strip_prefix("test ") {
            self.take_test(rest);
        } else if line == "failures:" {
            self.listing = true;
        } else if is_start(line) {
            self.end_binary();
            (self.running, self.tests) = (true, true);
        } else if let Some(rest) = line.strip_prefix("error: could not compile ") {
            self.build_failed = true;
            let target = rest.split_once(" (").map_or("", |(_, target)| target);
            if target.contains(" test)") || target.starts_with("test \"") {
                self.tally.mark_broken();
            }
        } else if line.starts_with("error: test failed, to rerun") && self.running {
            // The binary died before it could tell a result.
            self.end_binary();
            self.tally.mark_broken();
        }
    }

    fn take_test(&mut self, rest: &str) {
        let Some((name, status)) = rest.rsplit_once(" ... ") else { return };
        if !self.running {
            return;
        }
        match status.split([' ', ',']).next().unwrap_or_default() {
            "ok" => self.open.0 += 1,
            "FAILED" => {
                self.open.1 += 1;
                self.tally.name_failing(test_name(name));
            }
            "ignored" => self.open.2 += 1,
            _ => {}
        }
    }

    fn end_binary(&mut self) {
        let (passed, failed, ignored) = std::mem::take(&mut self.open);
        // Passed tests alone say nothing about those that were cut off.
        if failed > 0 {
            self.tally.add(passed, failed, ignored);
        }
        self.running = false;
    }
}

/// Reads `ok. 1 passed; 0 failed; 0 ignored; …`.
fn result(text: &str) -> Option<(u32, u32, u32)> {
    let (_, items) = text.split_once(". ")?;
    let (mut passed, mut failed, mut ignored) = (None, None, 0);
    for item in items.split("; ") {
        match counted(item) {
            Some((count, "passed")) => passed = Some(count),
            Some((count, "failed")) => failed = Some(count),
            Some((count, "ignored")) => ignored = count,
            _ => {}
        }
    }
    Some((passed?, failed?, ignored))
}

/// Whether a line is `running 3 tests`.
fn is_start(line: &str) -> bool {
    line.strip_prefix("running ")
        .and_then(number)
        .is_some_and(|(_, rest)| matches!(rest, " test" | " tests"))
}

/// The test's path. ` - should panic` is no part of it, nor is the line number of a
/// documentation test, which every edit above it changes.
fn test_name(name: &str) -> &str {
    let name = name.split_once(" (line ").map_or(name, |(item, _)| item);
    name.strip_suffix(" - should panic").unwrap_or(name)
}
