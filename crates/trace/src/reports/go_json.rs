//! `go test -json`: one event a line.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
use steersman_engine::TestReport;

use super::go_test::{PackageEnd, package_line};
use super::tally::Tally;

/// A longer line is no event of which anything is needed.
const MAX_LINE: usize = 64 * 1024;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Line<'a> {
    action: Cow<'a, str>,
    #[serde(borrow, default)]
    package: Cow<'a, str>,
    #[serde(borrow, default)]
    test: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    failed_build: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    output: Option<Cow<'a, str>>,
}

/// Counts the tests that ended; a package that failed although none of its tests did counts as
/// one failing test.
pub(super) fn read(log: &str) -> Option<TestReport> {
    let mut tally = Tally::default();
    // Failed tests per package; packages are bounded by the length of the log.
    let mut failed: BTreeMap<String, u32> = BTreeMap::new();
    let mut events = false;
    let mut complete = false;
    for line in log.lines() {
        if !line.starts_with('{') || line.len() > MAX_LINE {
            if events && let Some((package, PackageEnd::Broken)) = package_line(line) {
                tally.add_failing(package);
                tally.mark_broken();
            }
            continue;
        }
        let Ok(event) = serde_json::from_str::<Line<'_>>(line) else { continue };
        events |= !event.package.is_empty() || event.action.starts_with("build-");
        complete |= event.test.is_none() && matches!(&*event.action, "pass" | "fail" | "skip");
        match (&*event.action, event.test) {
            ("pass", Some(_)) => tally.add(1, 0, 0),
            ("skip", Some(_)) => tally.add(0, 0, 1),
            ("fail", Some(test)) => {
                *failed.entry(event.package.clone().into_owned()).or_default() += 1;
                tally.add_failing(&format!("{}.{test}", event.package));
            }
            ("fail", None) if !failed.contains_key(&*event.package) => {
                tally.add_failing(&event.package);
                if event.failed_build.is_some() {
                    tally.mark_broken();
                }
            }
            ("output", None)
                if event.output.is_some_and(|text| text.contains("[build failed]")) =>
            {
                tally.mark_broken();
            }
            _ => {}
        }
    }
    // Passed tests alone say nothing about those that were cut off.
    tally.finish().filter(|report| complete || report.failed > 0)
}
