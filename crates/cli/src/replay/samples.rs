//! Reports to test with.

use std::sync::Arc;

use steersman_engine::policy::RuleId;
use steersman_engine::{Action, Decision, Evidence, Intervention, Reason, Signals, Usage};
use steersman_trace::{Outcome, RunMeta};

use super::report::{Kind, Point, RunReport, Verdict};
use crate::reading::Source;

/// A run of ten calls in as many turns, judged by nothing yet.
pub(crate) fn run(id: &str) -> RunReport {
    let source = Source { name: "logs/runs.jsonl".to_owned(), format: "runs".to_owned() };
    let meta = RunMeta { id: id.into(), agent: "agent".into(), line: 3, ..RunMeta::default() };
    let mut report = RunReport::begin(Arc::new(source), &meta, "default".into());
    report.turns = 10;
    report.calls = 10;
    report
}

impl RunReport {
    /// The same run with an outcome.
    pub(crate) fn graded(mut self, solved: bool) -> Self {
        self.outcome = Some(if solved { Outcome::Solved } else { Outcome::Unsolved });
        self
    }

    /// The same run with so many tokens per turn.
    pub(crate) fn with_tokens(mut self, per_turn: u64) -> Self {
        let turns = u64::from(self.turns);
        self.usage =
            Usage { input_tokens: per_turn * turns, output_tokens: turns, cost_nanodollars: 0 };
        self
    }

    /// The same run with a decision in a turn.
    pub(crate) fn with(mut self, action: Action, turn: u32) -> Self {
        let point = point(&self, action, turn);
        self.verdict.record(&decision(action, turn), point);
        self
    }

    /// The same run with a decision of the other policy in a turn.
    pub(crate) fn with_other(mut self, action: Action, turn: u32) -> Self {
        let point = point(&self, action, turn);
        self.other
            .get_or_insert_with(|| Verdict::new("other".into()))
            .record(&decision(action, turn), point);
        self
    }
}

/// Compares with the golden file of that name; with UPDATE_GOLDEN set, writes it instead.
pub(crate) fn check_golden(name: &str, written: &str) {
    let path = format!("{}/testdata/golden/{name}.txt", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, written).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(written, expected, "{path} should hold\n{written}");
}

fn point(report: &RunReport, action: Action, turn: u32) -> Point {
    let tokens = report.tokens() / u64::from(report.turns.max(1)) * u64::from(turn);
    Point { turn, call: turn, tokens, kind: Kind { action, reason: "repeated_outcome" } }
}

/// A decision because of a repeated outcome.
pub(crate) fn decision(action: Action, turn: u32) -> Decision {
    Decision {
        action,
        reason: Reason::Counted { rule: RuleId::RepeatedOutcome, count: turn, threshold: 3 },
        shadow: false,
        turn,
        call: turn,
        score: 0.5,
        signals: Signals::default(),
        evidence: Evidence { turns: vec![turn - 1, turn], excerpt: "cat <a & b>".to_owned() },
        intervention: (action == Action::Nudge).then(|| Intervention {
            text: "Try something else.".to_owned(),
            template: "repeat".to_owned(),
            variant: 0,
        }),
        delay_ms: None,
        run_check: false,
    }
}
