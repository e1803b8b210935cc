//! A small language for runs: scripts of turns, played to the engine under a virtual clock.
#![allow(dead_code, reason = "each test file uses its part")]

use std::borrow::Cow;
use std::sync::Arc;

use steersman_engine::{
    Action, Decision, Engine, Event, Policy, Reply, RunInfo, TestReport, Timestamp, ToolCall,
    ToolResult, UserMessage,
};

/// A run as a list of events, each one second after the other.
#[derive(Clone, Default)]
pub(crate) struct Script {
    pub(crate) events: Vec<Event<'static>>,
    pub(crate) info: RunInfo,
    pub(crate) ids: u32,
}

/// A call and what it returns: tool, arguments, output.
pub(crate) type CallSpec<'a> = (&'a str, &'a str, &'a str);

impl Script {
    /// A run of a task.
    pub(crate) fn new(task: &str) -> Self {
        Self::default().user(task)
    }

    /// The user writes.
    pub(crate) fn user(mut self, text: &str) -> Self {
        self.events.push(Event::UserSpoke(UserMessage { text: Cow::Owned(text.into()) }));
        self
    }

    /// A turn with one call.
    pub(crate) fn call(self, name: &str, arguments: &str, output: &str) -> Self {
        self.turn("", &[(name, arguments, output)])
    }

    /// A turn with a text and calls in parallel.
    pub(crate) fn turn(self, text: &str, calls: &[CallSpec<'_>]) -> Self {
        self.full_turn(text, calls, |_| {})
    }

    /// A turn whose results report tests: `+a` passed, `-b` failed.
    pub(crate) fn tests(self, name: &str, arguments: &str, results: &str) -> Self {
        let report = report(results);
        let output = format!("{} failed, {} passed ({results})", report.failed, report.passed);
        let exit = i32::from(report.failed > 0);
        self.full_turn("", &[(name, arguments, &output)], |result| {
            result.tests = Some(report.clone());
            result.exit_code = Some(exit);
        })
    }

    /// A turn whose calls fail.
    pub(crate) fn failing(self, name: &str, arguments: &str, output: &str) -> Self {
        self.full_turn("", &[(name, arguments, output)], |result| result.is_error = Some(true))
    }

    /// A turn that only talks.
    pub(crate) fn say(self, text: &str) -> Self {
        self.turn(text, &[])
    }

    fn full_turn(
        mut self,
        text: &str,
        calls: &[CallSpec<'_>],
        finish: impl Fn(&mut ToolResult<'static>),
    ) -> Self {
        let first = self.ids;
        let tool_calls = calls.iter().enumerate().map(|(at, (name, arguments, _))| ToolCall {
            id: Cow::Owned(format!("c{}", first + at as u32)),
            name: Cow::Owned((*name).into()),
            arguments: Cow::Owned((*arguments).into()),
            ..ToolCall::default()
        });
        self.events.push(Event::Replied(Reply {
            text: Cow::Owned(text.into()),
            tool_calls: tool_calls.collect(),
            ..Reply::default()
        }));
        for (at, (_, _, output)) in calls.iter().enumerate() {
            let mut result = ToolResult {
                call_id: Cow::Owned(format!("c{}", first + at as u32)),
                content: Cow::Owned((*output).into()),
                ..ToolResult::default()
            };
            finish(&mut result);
            self.events.push(Event::ToolReturned(result));
        }
        self.ids += calls.len() as u32;
        self.events.push(Event::TurnEnded);
        self
    }

    /// The model call of the last turn found `tokens` in the conversation.
    pub(crate) fn using(mut self, tokens: u64) -> Self {
        let replies = self.events.iter_mut().rev();
        if let Some(Event::Replied(reply)) =
            replies.into_iter().find(|e| matches!(e, Event::Replied(_)))
        {
            reply.usage.input_tokens = tokens;
        }
        self
    }

    /// Adds turns for each of some values.
    pub(crate) fn each<T>(
        self,
        values: impl IntoIterator<Item = T>,
        add: impl Fn(Self, T) -> Self,
    ) -> Self {
        values.into_iter().fold(self, add)
    }

    /// Plays the run and returns every decision other than continue.
    pub(crate) fn play(&self, policy: &Policy) -> Vec<Decision> {
        let mut engine = Engine::new(Arc::new(policy.clone()), self.info.clone());
        let mut decisions = Vec::new();
        for (at, event) in self.events.iter().enumerate() {
            let decision = engine.handle(Timestamp(1_000_000 + at as u64 * 1000), event);
            if decision.action != Action::Continue {
                decisions.push(decision);
            }
        }
        decisions
    }
}

/// A test report: `+a` passed, `-b` failed.
pub(crate) fn report(text: &str) -> TestReport {
    let mut report = TestReport::default();
    for word in text.split_whitespace() {
        match word.split_at(1) {
            ("+", _) => report.passed += 1,
            (_, name) => {
                report.failed += 1;
                report.add_failing(name);
            }
        }
    }
    report
}
