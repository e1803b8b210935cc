//! What a session has seen of calls and results, for its journal.

use steersman_engine::ToolResult;
use steersman_timeline::bound::{MAX_NAME, beginning};
use steersman_timeline::file_of;
use steersman_trace::reports;
use steersman_wire::Message;

use super::Session;
use crate::record::{Back, Called, MAX_CALLS, Returned};

/// Most bytes of the beginning of a call's arguments in the journal.
const MAX_ARGUMENTS: usize = 512;
/// Most bytes of the beginning of a result in the journal.
const MAX_EXCERPT: usize = 256;
/// Most names of failing tests of a result in the journal.
const MAX_NAMES: usize = 32;

/// A result as it came.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Heard {
    /// The id of its call, as the engine knows it.
    id: String,
    exit_code: Option<i32>,
    excerpt: String,
    names: Vec<(u64, String)>,
}

impl Session {
    /// What the calls of the last answer say, as the engine sees them.
    #[must_use]
    pub fn called(&self, message: &Message) -> Vec<Called> {
        let seen = self.engine.state().seen_calls().take(MAX_CALLS);
        let called = seen.zip(message.tool_calls()).map(|(seen, call)| {
            let facts = seen.facts();
            Called {
                label: facts.label.clone(),
                arguments: beginning(&call.arguments, MAX_ARGUMENTS),
                kind: facts.kind,
                changes: facts.changes,
                file: file_of(facts),
            }
        });
        called.collect()
    }

    /// What came of the last answer's calls with the request that was heard last; `None`: nothing.
    /// Gives it once.
    pub fn returned(&mut self) -> Option<Returned> {
        let heard = std::mem::take(&mut self.heard);
        if heard.is_empty() {
            return None;
        }
        let results = self.engine.state().seen_calls().take(MAX_CALLS).map(|seen| {
            let own = heard.iter().find(|heard| seen.has_id(&heard.id));
            Back {
                outcome: seen.outcome(),
                times: seen.times(),
                exit_code: own.and_then(|heard| heard.exit_code),
                excerpt: own.map(|heard| heard.excerpt.clone()).unwrap_or_default(),
                tests: seen.tests().cloned(),
                names: own.map(|heard| heard.names.clone()).unwrap_or_default(),
            }
        });
        Some(Returned { results: results.collect() })
    }

    /// A result is told to the engine.
    pub(super) fn keep_result(&mut self, result: &ToolResult<'_>) {
        if self.heard.len() >= MAX_CALLS {
            // Of a long history only the last results are news.
            self.heard.remove(0);
        }
        let report = result.tests.as_ref().filter(|report| report.failed > 0);
        let names = report.map(|report| reports::failing_names(&result.content, report));
        let names = names.into_iter().flatten().take(MAX_NAMES);
        self.heard.push(Heard {
            id: result.call_id.to_string(),
            exit_code: result.exit_code,
            excerpt: beginning(&result.content, MAX_EXCERPT),
            names: names.map(|(id, name)| (id, beginning(&name, MAX_NAME))).collect(),
        });
    }
}
