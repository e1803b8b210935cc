//! The check that proves the goal: which command it is, and what its output says.

use std::path::Path;

use crate::seam::CheckOutcome;

/// Bytes of a check's output that are kept for the model and the journal.
const MAX_EXCERPT: usize = 4000;

/// The check of a project that names none: the command that runs its tests; `None` if there is
/// none to be seen. The first that fits, in the order of this list.
#[must_use]
pub fn discover(project: &Path) -> Option<&'static str> {
    let has = |name: &str| project.join(name).is_file();
    let says = |name: &str, words: &str| {
        std::fs::read_to_string(project.join(name)).is_ok_and(|text| text.contains(words))
    };
    if has("Cargo.toml") {
        return Some("cargo test --no-fail-fast");
    }
    if has("go.mod") {
        return Some("go test ./...");
    }
    if has("package.json") && says("package.json", "\"test\":") {
        return Some("npm test --silent");
    }
    let pytest = has("pytest.ini") || has("conftest.py") || has("tests/conftest.py");
    if pytest || says("pyproject.toml", "pytest") || says("setup.cfg", "pytest") {
        return Some("python3 -m pytest -q");
    }
    if has("pyproject.toml") || has("setup.py") {
        return Some("python3 -m unittest");
    }
    let target = |name: &str| {
        std::fs::read_to_string(project.join(name))
            .is_ok_and(|text| text.lines().any(|line| line.starts_with("test:")))
    };
    if target("Makefile") || target("makefile") || target("GNUmakefile") {
        return Some("make test");
    }
    None
}

/// The end of an output, for the model and the journal.
#[must_use]
pub(crate) fn excerpt(output: &str) -> &str {
    let output = output.trim_end();
    &output[output.ceil_char_boundary(output.len().saturating_sub(MAX_EXCERPT))..]
}

/// What the agent is shown that called `run_check`.
#[must_use]
pub(crate) fn describe(outcome: &CheckOutcome) -> String {
    let word = if outcome.passed { "The check passes." } else { "The check fails." };
    let output = excerpt(&outcome.output);
    if output.is_empty() { word.to_owned() } else { format!("{word}\n{output}") }
}
