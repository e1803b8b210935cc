use std::borrow::Cow;

use steersman_engine::{Policy, Reply, ToolCall, ToolResult, Usage, UserMessage};
use steersman_trace::Outcome;

use super::*;
use crate::replay::timeline::Call;

/// Pushes what a reader would push.
struct Reader<'a, 'b> {
    judge: &'a mut Judge<'b>,
}

impl Reader<'_, '_> {
    fn start(&mut self, id: &str) -> Flow {
        self.judge.run_started(&RunMeta { id: id.into(), line: 7, ..RunMeta::default() })
    }

    fn push(&mut self, event: &Event<'_>) {
        self.judge.event(Timestamp::UNKNOWN, event, 0);
    }

    fn turn(&mut self, calls: &[(&str, &str)]) {
        let tool_calls = calls.iter().enumerate().map(|(i, (name, _))| ToolCall {
            id: Cow::Owned(i.to_string()),
            name: (*name).into(),
            arguments: "{\"path\": \"a\"}".into(),
            ..ToolCall::default()
        });
        let usage = Usage { input_tokens: 100, output_tokens: 10, cost_nanodollars: 3 };
        self.push(&Event::Replied(Reply {
            text: "thinking".into(),
            tool_calls: tool_calls.collect(),
            usage,
            ..Reply::default()
        }));
        for (i, (_, content)) in calls.iter().enumerate() {
            self.push(&Event::ToolReturned(ToolResult {
                call_id: Cow::Owned(i.to_string()),
                content: (*content).into(),
                is_error: content.starts_with("error").then_some(true),
                ..ToolResult::default()
            }));
        }
        self.push(&Event::TurnEnded);
    }
}

fn judged(detail: Detail, read: impl FnOnce(&mut Reader<'_, '_>)) -> (Vec<RunReport>, Vec<String>) {
    let policy = Named { policy: Arc::new(Policy::default()), name: "default".into() };
    let setup = Setup { other: Some(policy.clone()), policy, detail };
    let source = Arc::new(Source { name: "a.jsonl".to_owned(), format: "runs".to_owned() });
    let (mut runs, mut problems) = (Vec::new(), Vec::new());
    let mut emit = |item| {
        match item {
            Item::Run(run) => runs.push(*run),
            Item::Problem(problem) => problems.push(problem),
        }
        Flow::Continue
    };
    read(&mut Reader { judge: &mut Judge::new(&setup, &source, &mut emit) });
    (runs, problems)
}

fn problem(line: u64) -> Problem {
    Problem { path: "a.jsonl".into(), line, what: "broken".to_owned() }
}

#[test]
fn runs_are_counted_as_they_come() {
    let (runs, problems) = judged(Detail::Summary, |reader| {
        reader.start("a");
        reader.push(&Event::UserSpoke(UserMessage { text: "do it".into() }));
        reader.turn(&[("read", "x"), ("read", "y")]);
        reader.turn(&[]);
        reader.judge.problem(problem(8));
        reader.judge.run_ended(RunEnd { outcome: Some(Outcome::Solved), ..RunEnd::default() });
        reader.judge.problem(problem(9));
        // The next run begins although this one was never ended.
        reader.start("b");
        reader.start("c");
        reader.judge.run_ended(RunEnd::default());
        // Neither of these belongs to a run.
        reader.turn(&[("read", "x")]);
        reader.judge.run_ended(RunEnd::default());
    });
    let facts: Vec<_> = runs
        .iter()
        .map(|run| (run.id.as_str(), run.turns, run.calls, run.tokens(), run.truncated))
        .collect();
    assert_eq!(facts, [("a", 2, 2, 220, false), ("b", 0, 0, 0, true), ("c", 0, 0, 0, false)]);
    assert_eq!(runs[0].usage.cost_nanodollars, 6);
    assert_eq!(runs[0].outcome, Some(Outcome::Solved));
    assert_eq!(runs[0].problems, ["a.jsonl:8: broken"]);
    assert!(runs.iter().all(|run| run.other.is_some() && run.line == 7));
    assert_eq!(problems, ["a.jsonl:8: broken", "a.jsonl:9: broken"]);
}

#[test]
fn charts_know_how_calls_went() {
    let (runs, _) = judged(Detail::Series, |reader| {
        reader.start("a");
        reader.turn(&[("read", "x"), ("run", "error: no"), ("list", " \n")]);
        reader.turn(&[("read", "x"), ("read", "z")]);
        // A call whose result never came.
        reader.push(&Event::Replied(Reply {
            tool_calls: vec![ToolCall::default()],
            ..Reply::default()
        }));
        reader.judge.run_ended(RunEnd::default());
    });
    let series = runs[0].series.as_ref().unwrap();
    let points: Vec<_> =
        series.points.iter().map(|it| (it.ok, it.error, it.empty, it.repeat)).collect();
    assert_eq!(points, [(1, 1, 1, 0), (1, 0, 0, 1), (0, 0, 1, 0)]);
}

#[test]
fn only_the_wanted_run_is_kept_turn_by_turn() {
    let wanted = Detail::Timeline(Wanted::Named("django-1".to_owned()));
    let (runs, _) = judged(wanted, |reader| {
        for id in ["swe/django-1", "swe/django-11", "django-1"] {
            reader.start(id);
            reader.turn(&[("read", "x"), ("read", "error")]);
            reader.judge.run_ended(RunEnd::default());
        }
    });
    let kept: Vec<bool> = runs.iter().map(|run| run.timeline.is_some()).collect();
    assert_eq!(kept, [true, false, true]);
    let timeline = runs[0].timeline.as_ref().unwrap();
    let calls: Vec<_> = timeline.turns[0]
        .calls
        .iter()
        .map(|Call { label, mark }| (label.as_str(), *mark))
        .collect();
    assert_eq!(calls, [("read path=a", Some(Mark::Ok)), ("read path=a", Some(Mark::Error))]);
}

#[test]
fn very_many_decisions_are_counted_and_the_first_kept() {
    let mut verdict = Verdict::new("default".into());
    for turn in 1..=1000 {
        let action = if turn < 500 { Action::Nudge } else { Action::Stop };
        let decision = crate::replay::samples::decision(action, turn);
        let now = Now { turn, call: turn, tokens: 0 };
        verdict.record(&decision, now.point(&decision).unwrap());
    }
    assert_eq!((verdict.count, verdict.decisions.len()), (1000, Verdict::MAX_DECISIONS));
    let counts: Vec<_> = verdict.kinds.iter().map(|(kind, n)| (kind.action, *n)).collect();
    assert_eq!(counts, [(Action::Nudge, 499), (Action::Stop, 501)]);
    assert_eq!(verdict.ending.map(|point| point.turn), Some(500));
    assert_eq!(
        verdict.longest.map(|longest| (longest.count, longest.turns)),
        Some((1000, vec![999, 1000]))
    );
}
