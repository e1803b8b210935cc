//! Calls as the engine sees them.

use std::collections::BTreeMap;

use steersman_engine::TestReport;
use steersman_engine::classify;
use steersman_engine::state::SeenCall;
use steersman_engine::tool::{CallFacts, ToolKind};

use crate::bound::{MAX_ARGUMENTS, MAX_NAME, MAX_TOOL, beginning};
use crate::turn::{Call, FailingTest, Outcome, TestResults};

/// Names of failing tests by identity.
pub type TestNames = BTreeMap<u64, String>;

/// A call as the model wrote it, and as the engine sees it; `None`: it has not looked at it.
#[must_use]
pub fn call_of(name: &str, arguments: &str, seen: Option<&SeenCall<'_>>) -> Call {
    let mut call = Call {
        name: beginning(name, MAX_TOOL),
        arguments: beginning(arguments, MAX_ARGUMENTS),
        ..Call::default()
    };
    match seen {
        Some(seen) => {
            let facts = seen.facts();
            call.label.clone_from(&facts.label);
            call.kind = facts.kind.into();
            call.changes = facts.changes;
        }
        None => call.label.clone_from(&call.name),
    }
    call
}

/// The file that a call reads or changes, as it names it; `None` if it shows none.
#[must_use]
pub fn file_of(facts: &CallFacts) -> Option<String> {
    let touches = matches!(facts.kind, ToolKind::Read | ToolKind::Edit);
    facts.resource.filter(|_| touches)?;
    let (_, target) = facts.label.split_once(": ")?;
    let name = if target.contains(char::is_whitespace) { path_in(target)? } else { target };
    Some(beginning(name, MAX_NAME))
}

/// The last word of a command that looks like a path.
fn path_in(command: &str) -> Option<&str> {
    let word = |word: &&str| {
        let has_sign = word.contains('/') || word.rfind('.').is_some_and(|at| at > 0);
        has_sign && !word.starts_with('-') && !word.ends_with('…')
    };
    let quotes: &[char] = &['\'', '"', ';', '>', '<', '|', '&', '(', ')'];
    command.split_whitespace().rev().map(|one| one.trim_matches(quotes)).find(word)
}

/// How a call went, as far as the engine knows.
#[must_use]
pub fn outcome_of(seen: &SeenCall<'_>) -> (Option<Outcome>, Option<String>) {
    match seen.outcome() {
        None => (None, None),
        Some(classify::Outcome::Ok) => (Some(Outcome::Ok), None),
        Some(classify::Outcome::Empty) => (Some(Outcome::Empty), None),
        Some(classify::Outcome::Error { signature, .. }) => {
            (Some(Outcome::Error), Some(format!("{signature:016x}")))
        }
    }
}

/// Test results as they are shown.
#[must_use]
pub fn results(report: &TestReport, names: &TestNames) -> TestResults {
    let failing = report.failing.iter().take(TestReport::MAX_FAILING).map(|id| FailingTest {
        id: format!("{id:016x}"),
        name: names.get(id).map(|name| beginning(name, MAX_NAME)),
    });
    TestResults {
        passed: report.passed,
        failed: report.failed,
        skipped: report.skipped,
        broken: report.broken,
        failing: failing.collect(),
    }
}
