//! pytest: `FAILED path::test - why`, `=== 1 failed, 2 passed in 0.03s ===`.

use steersman_engine::TestReport;

use super::count::{counted, is_duration};
use super::tally::Tally;

/// Reads pytest's output. Without a last line (cut, `-qq`, piped through `grep`) the tests that
/// are named count.
pub(super) fn read(log: &str) -> Option<TestReport> {
    let mut found = Found::default();
    for line in log.lines() {
        found.take_line(line);
    }
    found.finish()
}

/// How a test of a `-v` line or of the short summary ended.
#[derive(Clone, Copy, PartialEq)]
enum Status {
    Passed,
    Failed,
    Skipped,
}

#[derive(Default)]
struct Found<'a> {
    tally: Tally,
    /// Tests named with their result, by the short summary or `-v`.
    named: Vec<(&'a str, Status)>,
    /// Files that could not be collected, by the short summary.
    uncollected: Vec<&'a str>,
    /// The same by the titles of their sections, where paths may begin elsewhere.
    collecting: Vec<&'a str>,
    /// Titles of failure sections, with the first location below each.
    sections: Vec<(&'a str, Option<&'a str>)>,
    only_errors: bool,
    broken: bool,
}

impl<'a> Found<'a> {
    fn take_line(&mut self, line: &'a str) {
        let line = line.trim_end();
        // With `-v`, what happens while tests are collected follows on the same line.
        let line = line.strip_prefix("collecting ... ").unwrap_or(line);
        let Some(&first) = line.as_bytes().first() else { return };
        if let Some(summary) = Summary::read(line) {
            let Summary { passed, failed, errors, skipped } = summary;
            self.only_errors |= errors > 0 && (passed, failed, skipped) == (0, 0, 0);
            self.tally.add(passed, failed.saturating_add(errors), skipped);
        } else if first == b'_' {
            self.take_title(line);
        } else if first == b'!' {
            self.broken |= line.contains("Interrupted: ") && line.contains("during collection");
        } else if line.starts_with("ImportError while loading conftest")
            || line.starts_with("INTERNALERROR> ")
            || line.starts_with("ERROR: not found: ")
            || line.starts_with("ERROR: file or directory not found: ")
            || (line.starts_with("ERROR: usage: ") && line.contains("[file_or_dir]"))
            || is_failed_collection(line)
        {
            self.tally.mark_broken();
        } else if let Some((name, status)) = named_first(line).or_else(|| named_last(line)) {
            if name.contains("::") {
                self.named.push((name, status));
            } else {
                self.uncollected.push(name);
            }
        } else if let Some((_, place @ None)) = self.sections.last_mut() {
            *place = location(line);
        }
    }

    /// Takes `____ TestC.test_m ____` and `____ ERROR collecting path ____`.
    fn take_title(&mut self, line: &'a str) {
        let title = line.trim_matches('_');
        let Some(title) = title.strip_prefix(' ').and_then(|title| title.strip_suffix(' ')) else {
            return;
        };
        if let Some(path) = title.strip_prefix("ERROR collecting ") {
            self.collecting.push(path);
            return;
        }
        let name = title
            .strip_prefix("ERROR at setup of ")
            .or_else(|| title.strip_prefix("ERROR at teardown of "))
            .unwrap_or(title);
        if !name.starts_with('_') && (!name.contains(' ') || name.contains('[')) {
            self.sections.push((name, None));
        }
    }

    fn finish(mut self) -> Option<TestReport> {
        if !self.tally.found() {
            self.count_named();
        }
        if self.uncollected.is_empty() {
            self.uncollected = std::mem::take(&mut self.collecting);
        }
        // A file that failed to load is named in lines that mean little without a summary.
        if self.tally.found() {
            for path in &self.uncollected {
                self.tally.name_failing(path);
            }
            let named = self.named.iter().any(|(_, status)| *status == Status::Failed);
            if self.broken
                || !self.uncollected.is_empty()
                || (self.only_errors && !named && self.sections.is_empty())
            {
                self.tally.mark_broken();
            }
            self.name_failing();
        }
        self.tally.finish()
    }

    /// Counts the tests that are named, each once. Passed ones alone say nothing about those that
    /// were cut off.
    fn count_named(&mut self) {
        if !self.named.iter().any(|(_, status)| *status == Status::Failed) {
            return;
        }
        self.named.sort_by_key(|(name, status)| (*name, *status != Status::Failed));
        self.named.dedup_by_key(|(name, _)| *name);
        for (_, status) in &self.named {
            match status {
                Status::Passed => self.tally.add(1, 0, 0),
                Status::Failed => self.tally.add(0, 1, 0),
                Status::Skipped => self.tally.add(0, 0, 1),
            }
        }
    }

    /// Names failing tests: as listed, or else after the titles of their sections.
    fn name_failing(&mut self) {
        let mut listed = false;
        for (name, _) in self.named.iter().filter(|(_, status)| *status == Status::Failed) {
            listed = true;
            self.tally.name_failing(name);
        }
        if listed {
            return;
        }
        for (title, place) in &self.sections {
            // `TestC.test_m` in `path` is what the short summary calls `path::TestC::test_m`.
            let (dotted, parameters) = title.split_at(title.find('[').unwrap_or(title.len()));
            let name = format!("{}{parameters}", dotted.replace('.', "::"));
            match place {
                Some(path) => self.tally.name_failing(&format!("{path}::{name}")),
                None => self.tally.name_failing(&name),
            }
        }
    }
}

/// Counts of one last line.
struct Summary {
    passed: u32,
    failed: u32,
    errors: u32,
    skipped: u32,
}

impl Summary {
    /// Reads `=== 1 failed, 2 passed in 0.03s ===`, with or without the frame. Every item must be
    /// one pytest prints, so prose about passed tests is none.
    fn read(line: &str) -> Option<Self> {
        let body = line.trim_matches('=').trim();
        if !body.starts_with(|c: char| c.is_ascii_digit() || c == 'n') {
            return None;
        }
        let (items, time) = body.rsplit_once(" in ")?;
        if !is_duration(time) {
            return None;
        }
        let mut summary = Self { passed: 0, failed: 0, errors: 0, skipped: 0 };
        if items == "no tests ran" {
            return Some(summary);
        }
        let mut outcomes = 0;
        for item in items.split(", ") {
            let neutral = item.starts_with("no tests collected")
                || counted(item).is_some_and(|(_, what)| what.starts_with("tests collected"));
            if neutral {
                continue;
            }
            let (count, what) = counted(item)?;
            let sum = match what {
                "passed" | "xpassed" | "subtests passed" => &mut summary.passed,
                "failed" | "subtests failed" => &mut summary.failed,
                "error" | "errors" => &mut summary.errors,
                "skipped" | "xfailed" | "subtests skipped" => &mut summary.skipped,
                "deselected" | "rerun" => &mut 0,
                // In the frame and alone they say that no test was found.
                "warning" | "warnings" if line.starts_with('=') => &mut 0,
                "warning" | "warnings" => continue,
                _ => return None,
            };
            *sum = sum.saturating_add(count);
            outcomes += 1;
        }
        (outcomes > 0).then_some(summary)
    }
}

/// Reads `FAILED path::test - why` and `ERROR path`, also behind xdist's `[gw0] [ 50%] `.
fn named_first(line: &str) -> Option<(&str, Status)> {
    let line = match line.strip_prefix("[gw") {
        Some(rest) => rest.split_once("%] ")?.1,
        None => line,
    };
    let (word, rest) = line.split_once(' ')?;
    let status = match word {
        "FAILED" | "ERROR" => Status::Failed,
        "PASSED" | "XPASS" => Status::Passed,
        "SKIPPED" | "XFAIL" => Status::Skipped,
        _ if word.starts_with("SUBFAIL") => Status::Failed,
        _ => return None,
    };
    let name = node_id(rest);
    let path = name.split_once("::").map_or(name, |(path, _)| path);
    let whole = name.contains("::") || status == Status::Failed;
    (whole && is_test_file(path)).then_some((name, status))
}

/// Reads `path::test PASSED  [ 50%]`.
fn named_last(line: &str) -> Option<(&str, Status)> {
    const WORDS: [(&str, Status); 6] = [
        (" PASSED", Status::Passed),
        (" FAILED", Status::Failed),
        (" ERROR", Status::Failed),
        (" SKIPPED", Status::Skipped),
        (" XFAIL", Status::Skipped),
        (" XPASS", Status::Passed),
    ];
    let (path, _) = line.split_once("::")?;
    if !is_test_file(path) {
        return None;
    }
    WORDS.iter().find_map(|(word, status)| {
        let at = line.rfind(word)?;
        let rest = line[at + word.len()..].trim_start();
        (rest.is_empty() || rest.starts_with(['[', '('])).then(|| (line[..at].trim_end(), *status))
    })
}

/// Whether a line is `collected 0 items / 1 error`.
fn is_failed_collection(line: &str) -> bool {
    let parts = line.strip_prefix("collected ").map(|counts| counts.split(" / "));
    parts.is_some_and(|mut parts| {
        parts.any(|part| matches!(counted(part), Some((_, "error" | "errors"))))
    })
}

/// Cuts ` - why` off `path::test[a - b] - why`.
fn node_id(text: &str) -> &str {
    let from = match (text.find('['), text.find(" - ")) {
        // Parameters may hold anything; they end where a message or the line does.
        (Some(open), Some(dash)) if open < dash => text.find("] - ").unwrap_or(text.len()),
        _ => 0,
    };
    text[from..].find(" - ").map_or(text, |at| &text[..from + at]).trim_end()
}

fn is_test_file(path: &str) -> bool {
    let known = [".py", ".txt", ".rst", ".md", ".pyx", ".ipynb", ".yaml", ".yml"];
    !path.contains(' ') && known.iter().any(|end| path.ends_with(end))
}

/// Reads the path of `tests/test_a.py:12: AssertionError`.
fn location(line: &str) -> Option<&str> {
    let at = line.find(".py:")? + ".py".len();
    let (path, rest) = line.split_at(at);
    let (digits, _) = rest[1..].split_once(':')?;
    let number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    (number && !path.contains(' ')).then_some(path)
}
