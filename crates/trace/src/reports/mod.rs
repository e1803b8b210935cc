//! Test results, read from the output of a tool call.
//!
//! [`parse`] recognises what a test runner printed among whatever surrounds it in a terminal: only
//! lines a runner prints count, numbers are read and never words (B8), and failing tests are known
//! by name. How results are read, and what is not, is described in `docs/test-reports.md`.

mod bun;
mod cargo_test;
mod count;
mod ctest;
mod dotnet;
mod go_json;
mod go_test;
mod gradle;
mod jest;
mod junit;
mod log;
mod marker;
mod minitest;
mod mocha;
mod name;
mod named;
mod nextest;
mod node_test;
mod phpunit;
mod playwright;
mod pytest;
mod rspec;
mod surefire;
mod tally;
mod tap;
#[cfg(test)]
mod tests;
mod unittest;
mod vitest;

use steersman_engine::TestReport;

pub use named::failing_names;

use marker::Marker::{Counted, Text};
use marker::{Framework, framework};

/// Every framework, the more specific before the more general: the first that finds results wins.
static FRAMEWORKS: [Framework; 21] = [
    framework(nextest::read, &[Text("Summary ["), Text("Nextest run ID")]),
    framework(
        cargo_test::read,
        &[
            Text("test result: "),
            Text("... FAILED"),
            Text("... ok"),
            Text("could not compile `"),
            Text(", to rerun pass `"),
        ],
    ),
    framework(go_json::read, &[Text("\"Action\":\"")]),
    framework(
        go_test::read,
        &[
            Text("--- FAIL: "),
            Text("--- PASS: "),
            Text("--- SKIP: "),
            Text("ok  \t"),
            Text("FAIL\t"),
        ],
    ),
    framework(
        pytest::read,
        &[
            Counted(" passed"),
            Counted(" failed"),
            Counted(" error"),
            Counted(" skipped"),
            Counted(" warning"),
            Counted(" deselected"),
            Counted(" xfailed"),
            Counted(" xpassed"),
            Text("no tests ran in "),
            Text("::test"),
            Text("::Test"),
            Text("while loading conftest"),
            Text("INTERNALERROR> "),
            Text("[file_or_dir]"),
            Text("\nERROR: "),
        ],
    ),
    framework(
        unittest::read,
        &[Counted(" test in "), Counted(" tests in "), Text("\nFAIL: "), Text("\nERROR: ")],
    ),
    framework(jest::read, &[Text("Tests:  ")]),
    framework(vitest::read, &[Text("   Tests  ")]),
    framework(playwright::read, &[Counted(" test using "), Counted(" tests using ")]),
    framework(bun::read, &[Counted(" test across "), Counted(" tests across ")]),
    framework(
        mocha::read,
        &[Counted(" passing"), Counted(" failing"), Text("Exception during run:")],
    ),
    framework(node_test::read, &[Text("# duration_ms "), Text("ℹ duration_ms ")]),
    framework(rspec::read, &[Counted(" example")]),
    framework(minitest::read, &[Counted(" assertion")]),
    framework(phpunit::read, &[Counted(" assertion"), Text(", Assertions: ")]),
    framework(surefire::read, &[Text("Tests run:"), Text("\nOK ("), Text(":testCompile (")]),
    framework(
        gradle::read,
        &[
            Counted(" test completed"),
            Counted(" tests completed"),
            Text(") PASSED"),
            Text(") FAILED"),
            Text(" for task '"),
        ],
    ),
    framework(dotnet::read, &[Text("!  - Failed: "), Text("Total tests: ")]),
    framework(ctest::read, &[Counted("% tests")]),
    framework(tap::read, &[Text("ok 1"), Text("TAP version 1")]),
    framework(junit::read, &[Text("<testsuite")]),
];

/// Reads the test results an output holds; `None` if it holds none.
///
/// Of an output longer than 320 KiB the first 64 KiB and the last 256 KiB are examined. Text
/// without any of the words a runner prints is looked at once and costs little.
///
/// Several summaries of one framework (the binaries of `cargo test`, `pytest a; pytest b`) are
/// summed. If several frameworks match, the first of [the table](self) counts alone. Where the
/// output was cut, counts come from the summaries that are left, or else from the tests named.
#[must_use]
pub fn parse(output: &str) -> Option<TestReport> {
    let log = log::clean(log::window(output));
    let candidates = marker::find(&log);
    if candidates == 0 {
        return None;
    }
    FRAMEWORKS
        .iter()
        .enumerate()
        .filter(|(index, _)| candidates & (1 << index) != 0)
        .find_map(|(_, framework)| (framework.read)(&log))
}
