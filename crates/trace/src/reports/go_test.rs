//! `go test`, plain and `-v`: `--- FAIL: TestX (0.00s)`, `ok  pkg 0.1s`, `FAIL pkg [build failed]`.

use steersman_engine::TestReport;

use super::count::is_duration;
use super::tally::Tally;

/// Reads the results of all packages. Without `-v` go names only failing tests, so a package that
/// is `ok` counts as one passed test. Subtests count beside their parents, as go counts them.
pub(super) fn read(log: &str) -> Option<TestReport> {
    let mut found = Found::default();
    for line in log.lines() {
        found.take_line(line);
    }
    // Passed tests alone say nothing about those that were cut off.
    if found.verdict || !found.failing.is_empty() {
        found.end_package("");
    }
    found.tally.finish()
}

#[derive(Default)]
struct Found<'a> {
    tally: Tally,
    /// Tests of the current package; its line follows them.
    passed: u32,
    skipped: u32,
    failing: Vec<&'a str>,
    /// `PASS` stands below them: that of a package whose own line is missing.
    verdict: bool,
}

impl<'a> Found<'a> {
    fn take_line(&mut self, line: &'a str) {
        if let Some((status, name)) = test_line(line) {
            match status {
                "PASS" => self.passed += 1,
                "SKIP" => self.skipped += 1,
                _ => self.failing.push(name),
            }
        } else if line == "PASS" {
            self.verdict = true;
        } else if let Some((package, end)) = package_line(line) {
            match end {
                PackageEnd::Ok => {
                    let verbose = self.passed > 0 || self.skipped > 0;
                    self.passed += u32::from(!verbose);
                    self.end_package(package);
                }
                PackageEnd::Empty => self.end_package(package),
                PackageEnd::Failed => {
                    if self.failing.is_empty() {
                        // A panic outside a test, a timeout, an exit code of its own.
                        self.tally.add_failing(package);
                    }
                    self.end_package(package);
                }
                PackageEnd::Broken => {
                    self.end_package(package);
                    self.tally.add_failing(package);
                    self.tally.mark_broken();
                }
            }
        }
    }

    /// Adds the tests of a package; its name is empty if it is not known.
    fn end_package(&mut self, package: &str) {
        self.verdict = false;
        self.tally.add(std::mem::take(&mut self.passed), 0, std::mem::take(&mut self.skipped));
        for name in self.failing.drain(..) {
            if package.is_empty() {
                self.tally.add_failing(name);
            } else {
                self.tally.add_failing(&format!("{package}.{name}"));
            }
        }
    }
}

#[derive(Clone, Copy)]
pub(super) enum PackageEnd {
    Ok,
    /// `ok`, but no test matched.
    Empty,
    Failed,
    /// Its build or setup failed.
    Broken,
}

/// Reads `    --- FAIL: TestX/sub (0.00s)` as status and name.
fn test_line(line: &str) -> Option<(&str, &str)> {
    let (status, rest) = line.trim_start().strip_prefix("--- ")?.split_once(": ")?;
    if !matches!(status, "PASS" | "FAIL" | "SKIP") {
        return None;
    }
    let (name, time) = rest.trim_end().rsplit_once(" (")?;
    is_duration(time.strip_suffix(')')?).then_some((status, name))
}

/// Reads `ok  \tpkg\t0.003s`, `FAIL\tpkg\t0.1s` and `FAIL\tpkg [build failed]`.
pub(super) fn package_line(line: &str) -> Option<(&str, PackageEnd)> {
    let (word, rest) = line.split_once([' ', '\t'])?;
    let failed = match word {
        "ok" => false,
        "FAIL" => true,
        _ => return None,
    };
    let rest = rest.trim();
    let (package, end) = rest.split_once(|c: char| c.is_whitespace())?;
    let end = end.trim();
    if failed && matches!(end, "[build failed]" | "[setup failed]") {
        return Some((package, PackageEnd::Broken));
    }
    // `FAIL pkg 0.1s` needs a tab somewhere or a path, or else any prose would do.
    let first = end.split(|c: char| c.is_whitespace()).next().unwrap_or_default();
    if !(first == "(cached)" || is_duration(first)) || !(line.contains('\t') || rest.contains('/'))
    {
        return None;
    }
    let end = match (failed, end.ends_with("[no tests to run]")) {
        (true, _) => PackageEnd::Failed,
        (false, true) => PackageEnd::Empty,
        (false, false) => PackageEnd::Ok,
    };
    Some((package, end))
}
