//! `node --test`, spec and TAP reporter: `ℹ pass 3` or `# pass 3`.

use steersman_engine::TestReport;

use super::count::number;
use super::tally::Tally;
use super::tap;

/// Reads the closing counts and the failing tests: the spec reporter lists them by file, the TAP
/// one by suite.
pub(super) fn read(log: &str) -> Option<TestReport> {
    let mut tally = Tally::default();
    let mut counts = Counts::default();
    let mut spec = false;
    let mut file = "";
    for line in log.lines() {
        if let Some((what, count, mark)) = closing(line) {
            spec |= mark == "ℹ";
            counts.set(what, count);
            // Only node counts cancelled tests, which tells its output from other TAP.
            if what == "duration_ms"
                && let Some((passed, failed, skipped)) = std::mem::take(&mut counts).ended()
            {
                tally.add(passed, failed, skipped);
            }
        } else if let Some(place) = line.strip_prefix("test at ") {
            // `a.test.js:2:25`: lines move, files stay.
            file = place.split(':').next().unwrap_or_default();
        } else if let Some(name) = line.strip_prefix("✖ ")
            && !file.is_empty()
        {
            if !name.ends_with("# TODO") && !name.contains("# TODO ") {
                tally.name_failing(&format!("{file} › {}", name.trim()));
            }
            file = "";
        }
    }
    if !tally.found() {
        return None;
    }
    if !spec {
        for name in tap::failing(log) {
            tally.name_failing(&name);
        }
    }
    tally.finish()
}

#[derive(Default)]
struct Counts {
    passed: Option<u32>,
    failed: u32,
    cancelled: Option<u32>,
    skipped: u32,
}

impl Counts {
    fn set(&mut self, what: &str, count: u32) {
        match what {
            "pass" => self.passed = Some(count),
            "fail" => self.failed = count,
            "cancelled" => self.cancelled = Some(count),
            "skipped" | "todo" => self.skipped = self.skipped.saturating_add(count),
            _ => {}
        }
    }

    fn ended(self) -> Option<(u32, u32, u32)> {
        Some((self.passed?, self.failed.saturating_add(self.cancelled?), self.skipped))
    }
}

/// Reads `ℹ pass 3` as what, count and mark.
fn closing(line: &str) -> Option<(&str, u32, &str)> {
    let mut words = line.split(' ');
    let (mark, what, count) = (words.next()?, words.next()?, words.next()?);
    if !matches!(mark, "ℹ" | "#") || words.next().is_some() {
        return None;
    }
    Some((what, number(count)?.0, mark))
}
