//! A sink that writes down what it is given, for comparison.

use std::fmt::Write as _;

use steersman_engine::{Event, Timestamp};
use steersman_trace::{Flow, Problem, RunEnd, RunMeta, RunSink};

/// Writes one line per call.
#[derive(Debug, Default)]
pub(crate) struct Log {
    /// The lines so far.
    pub(crate) text: String,
    /// The problems so far.
    pub(crate) problems: Vec<Problem>,
    /// Runs begun.
    pub(crate) runs: usize,
}

impl RunSink for Log {
    fn run_started(&mut self, meta: &RunMeta<'_>) -> Flow {
        self.runs += 1;
        let meta = serde_json::json!({
            "id": meta.id, "agent": meta.agent, "model": meta.model, "task": meta.task,
            "instance": meta.instance, "outcome": meta.outcome.map(|o| format!("{o:?}")),
            "context_window": meta.context_window, "line": meta.line,
        });
        writeln!(self.text, "{}", serde_json::json!({ "run": meta })).unwrap();
        Flow::Continue
    }

    fn event(&mut self, at: Timestamp, event: &Event<'_>, line: u64) -> Flow {
        let event = serde_json::to_string(event).unwrap();
        writeln!(self.text, r#"{{"at":{},"line":{line},"event":{event}}}"#, at.0).unwrap();
        Flow::Continue
    }

    fn run_ended(&mut self, end: RunEnd) -> Flow {
        let outcome = end.outcome.map(|o| format!("{o:?}"));
        let mut shown = serde_json::json!({ "outcome": outcome, "truncated": end.truncated });
        if !end.labels.is_empty() {
            let labels = end.labels.iter().map(|label| {
                serde_json::json!({ "kind": label.kind, "turn": label.turn, "by": label.by })
            });
            shown["labels"] = labels.collect();
        }
        writeln!(self.text, "{}", serde_json::json!({ "end": shown })).unwrap();
        Flow::Continue
    }

    fn problem(&mut self, problem: Problem) {
        let shown = serde_json::json!({ "line": problem.line, "what": problem.what });
        writeln!(self.text, "{}", serde_json::json!({ "problem": shown })).unwrap();
        self.problems.push(problem);
    }
}
