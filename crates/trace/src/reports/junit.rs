//! JUnit's XML, as most runners write it.

use quick_xml::Reader;
use quick_xml::escape::unescape;
use quick_xml::events::{BytesStart, Event};
use steersman_engine::TestReport;

use super::tally::Tally;

/// Counts the `<testcase>`s. Where the text was cut and suites announce more than is left, their
/// numbers count. Reading ends at the first thing that is no XML.
pub(super) fn read(log: &str) -> Option<TestReport> {
    let start = log.find("<testsuite")?;
    let mut reader = Reader::from_str(&log[start..]);
    reader.config_mut().check_end_names = false;
    reader.config_mut().allow_unmatched_ends = true;
    let mut found = Found::default();
    loop {
        match reader.read_event() {
            Ok(Event::Start(element)) => found.open(&element),
            Ok(Event::Empty(element)) => {
                found.open(&element);
                found.close(element.local_name().as_ref());
            }
            Ok(Event::End(element)) => found.close(element.local_name().as_ref()),
            Ok(Event::Eof) | Err(_) => break,
            Ok(_) => {}
        }
    }
    found.finish()
}

#[derive(Clone, Copy, PartialEq)]
enum Status {
    Passed,
    Failed,
    Skipped,
}

#[derive(Default)]
struct Found {
    tally: Tally,
    /// The open case. One that is never closed was cut, and may have failed: it does not count.
    case: Option<(String, Status)>,
    cases: u32,
    /// How many `<testsuite>`s are open.
    depth: u32,
    /// Tests, failures and errors, skipped, as the outermost suites announce them.
    announced: (u32, u32, u32),
}

impl Found {
    fn open(&mut self, element: &BytesStart<'_>) {
        match element.local_name().as_ref() {
            "testsuite" => {
                if self.depth == 0 {
                    let count = |name| number(element, name);
                    let (tests, failed, skipped) = &mut self.announced;
                    *tests = tests.saturating_add(count("tests"));
                    *failed =
                        failed.saturating_add(count("failures").saturating_add(count("errors")));
                    *skipped = skipped.saturating_add(count("skipped").max(count("disabled")));
                }
                self.depth = self.depth.saturating_add(1);
            }
            "testcase" => {
                let name = attribute(element, "name").unwrap_or_default();
                let name = match attribute(element, "classname").filter(|class| !class.is_empty()) {
                    Some(class) => format!("{class}.{name}"),
                    None => name,
                };
                self.case = Some((name, Status::Passed));
            }
            "failure" | "error" | "rerunFailure" => self.set(Status::Failed),
            "skipped" => self.set(Status::Skipped),
            _ => {}
        }
    }

    fn set(&mut self, status: Status) {
        if let Some((_, current)) = &mut self.case
            && *current != Status::Failed
        {
            *current = status;
        }
    }

    fn close(&mut self, name: &str) {
        match name {
            "testcase" => self.end_case(),
            "testsuite" => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
    }

    fn end_case(&mut self) {
        let Some((name, status)) = self.case.take() else { return };
        self.cases = self.cases.saturating_add(1);
        match status {
            Status::Passed => self.tally.add(1, 0, 0),
            Status::Skipped => self.tally.add(0, 0, 1),
            Status::Failed => self.tally.add_failing(&name),
        }
    }

    fn finish(self) -> Option<TestReport> {
        let (tests, failed, skipped) = self.announced;
        if tests <= self.cases {
            return self.tally.finish();
        }
        let passed = tests.saturating_sub(failed).saturating_sub(skipped);
        let failing = self.tally.finish().map(|report| report.failing).unwrap_or_default();
        Some(TestReport { passed, failed, skipped, failing, broken: false })
    }
}

fn attribute(element: &BytesStart<'_>, name: &str) -> Option<String> {
    let attribute = element.try_get_attribute(name).ok()??;
    let raw = &*attribute.value;
    Some(unescape(raw).map_or_else(|_| raw.to_owned(), std::borrow::Cow::into_owned))
}

fn number(element: &BytesStart<'_>, name: &str) -> u32 {
    attribute(element, name).and_then(|value| value.parse().ok()).unwrap_or(0)
}
