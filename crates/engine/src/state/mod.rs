//! What is known of a run: the fold of its events.
//!
//! `State` only folds; signals and rules read it. It can be saved and loaded at any event without
//! changing a later decision. Its size is bounded: about 16 KiB for a busy run, at most
//! [`State::MAX_BYTES`].

mod cache;
mod loops;
mod progress;
mod reply;
mod ring;
mod risk_track;
mod seen;
mod streak;
mod test_track;
mod turn;
mod usage;

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

pub use progress::{Milestones, Progress, Stage};
pub use seen::SeenCall;
pub use usage::Used;

pub(crate) use loops::LoopTrack;
pub(crate) use risk_track::RiskTrack;
pub(crate) use streak::Streak;
pub(crate) use test_track::{LastTests, TestTrack};
pub(crate) use turn::{OpenCall, OpenTurn, Returned};

use crate::classify::{self, Complexity, Intent, TaskType};
use crate::event::{CallFailure, CheckReport, Event, Timestamp, ToolResult, UserMessage};
use crate::ladder::Ladder;
use crate::policy::{ModelOverride, Policy, glob_matches};
use crate::protocol;
use crate::run_info::RunInfo;
use crate::tool::ToolKind;

/// What is known of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// What was known when it began; task, type and complexity are filled in as they become known.
    pub info: RunInfo,
    /// Settings of the run's model.
    pub model: ModelOverride,
    /// Kind of task.
    pub task_type: TaskType,
    /// Complexity of the task.
    pub complexity: Complexity,
    /// Model replies so far.
    pub turns: u32,
    /// Turns that called tools.
    pub iterations: u32,
    /// Tool calls so far.
    pub tool_calls: u32,
    /// Turns without tool calls in a row.
    pub turns_without_tools: u32,
    /// The last turn that called tools; 0 if none did.
    pub last_tool_turn: u32,
    /// Turns with neither tool calls nor a text worth reading.
    pub low_output_turns: u32,
    /// Messages of the user so far.
    pub user_messages: u32,
    /// What was used.
    pub used: Used,
    /// Progress by documents A and D.
    pub progress: Progress,
    /// Attempts so far, the first included.
    pub attempt: u32,
    /// The turn in which the attempt began; 0 is the start of the run.
    pub attempt_turn: u32,
    /// Approaches tried (B5), at most 8, the latest last.
    pub approaches: Vec<String>,
    /// Times the approach changed (B5).
    pub strategy_changes: u32,
    /// A person asked for the stop.
    pub stop_requested: bool,
    pub(crate) loops: LoopTrack,
    pub(crate) tests: TestTrack,
    pub(crate) turn: OpenTurn,
    pub(crate) narration: Streak,
    pub(crate) failure: Option<Failure>,
    pub(crate) call_failures: u32,
    pub(crate) continuations: Continuations,
    pub(crate) check: Check,
    pub(crate) ladder: Ladder,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) risk: Option<RiskTrack>,
}

/// The model call that failed last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Failure {
    pub(crate) status: Option<u16>,
    pub(crate) retryable: bool,
    pub(crate) retry_after_ms: Option<u64>,
    pub(crate) stop: Option<crate::StopReason>,
}

/// The model's own signals (C2–C4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Continuations {
    /// What the last reply signalled.
    pub(crate) signal: Option<protocol::Status>,
    /// Signals to continue in a row.
    pub(crate) count: u32,
    /// When the first of them came.
    pub(crate) since: Timestamp,
}

/// The check that proves the goal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Check {
    /// Its last result; `None` before the first, and after a change.
    pub(crate) passed: Option<bool>,
    /// Claims it has refuted in a row.
    pub(crate) refuted: u32,
    /// A claim waits for it.
    pub(crate) claimed: bool,
    /// The last lines of its output.
    pub(crate) excerpt: String,
    /// The turn it was run in last.
    pub(crate) turn: u32,
}

impl State {
    /// Upper bound of a stored state, in bytes of JSON, whatever the run.
    pub const MAX_BYTES: usize = 256 * 1024;

    /// Approaches kept.
    const MAX_APPROACHES: usize = 8;

    /// Bytes of the task's text that are kept.
    const MAX_TASK: usize = 2048;

    pub(crate) fn new(mut info: RunInfo, policy: &Policy) -> Self {
        shorten(&mut info.task, Self::MAX_TASK);
        let model = model_settings(&info, policy);
        let mut state = Self {
            model,
            task_type: TaskType::default(),
            complexity: Complexity::default(),
            turns: 0,
            iterations: 0,
            tool_calls: 0,
            turns_without_tools: 0,
            last_tool_turn: 0,
            low_output_turns: 0,
            user_messages: 0,
            used: Used::default(),
            progress: Progress::default(),
            attempt: 1,
            attempt_turn: 0,
            approaches: Vec::new(),
            strategy_changes: 0,
            stop_requested: false,
            loops: LoopTrack::default(),
            tests: TestTrack::default(),
            turn: OpenTurn::default(),
            narration: Streak::default(),
            failure: None,
            call_failures: 0,
            continuations: Continuations::default(),
            check: Check::default(),
            ladder: Ladder::default(),
            risk: RiskTrack::of(&info, policy),
            info,
        };
        state.classify_task();
        state
    }

    /// The context window in tokens.
    #[must_use]
    pub fn context_window(&self, policy: &Policy) -> u64 {
        let configured = policy.continuation.token_budgets.context_window;
        self.model.context_window.or(self.info.context_window).unwrap_or(configured).max(1)
    }

    /// Takes in one event.
    pub(crate) fn fold(&mut self, at: Timestamp, event: &Event<'_>, policy: &Policy) {
        self.used.advance(at);
        self.failure = None;
        match event {
            Event::UserSpoke(message) => self.hear(message),
            Event::Replied(reply) => self.take_reply(reply, policy),
            Event::ToolReturned(result) => self.take_result(result),
            Event::TurnEnded => self.end_turn(policy),
            Event::CallFailed(failure) => self.take_failure(failure),
            Event::CheckReported(report) => self.take_check(report),
            Event::StartedOver => self.start_over(),
            Event::ContextCompacted { tokens_after } => self.used.compact(*tokens_after),
            Event::StopRequested => self.stop_requested = true,
            Event::TimePassed => {}
        }
    }

    fn classify_task(&mut self) {
        let (task_type, complexity) = classify::read_task(&self.info.task, None);
        self.task_type = self.info.task_type.unwrap_or(task_type);
        self.complexity = self.info.complexity.unwrap_or(complexity);
    }

    fn hear(&mut self, message: &UserMessage<'_>) {
        self.user_messages = self.user_messages.saturating_add(1);
        self.used.waiting = false;
        self.used.add_text(message.text.len());
        if self.info.task.is_empty() {
            let end = message.text.floor_char_boundary(Self::MAX_TASK);
            self.info.task.push_str(&message.text[..end]);
            self.classify_task();
        }
        self.loops.forget();
        self.tests.forgive();
        self.narration.reset();
        self.turns_without_tools = 0;
        self.continuations = Continuations::default();
        self.check.refuted = 0;
        self.check.claimed = false;
        self.stop_requested = false;
        self.ladder.forget();
    }

    fn take_result(&mut self, result: &ToolResult<'_>) {
        self.used.add_text(result.content.len());
        let id = crate::digest::hash_bytes(result.call_id.as_bytes());
        let calls = &mut self.turn.calls;
        let named = calls.iter().position(|call| call.returned.is_none() && call.id == id);
        let next = || calls.iter().position(|call| call.returned.is_none());
        let at = if result.call_id.is_empty() { next() } else { named };
        if let Some(call) = at.and_then(|at| calls.get_mut(at)) {
            call.returned = Some(Returned::read(result, call.facts.kind));
        }
    }

    fn end_turn(&mut self, policy: &Policy) {
        if !self.turn.open {
            return;
        }
        self.turn.open = false;
        self.used.waiting = self.turn.calls.is_empty();
        if self.turn.calls.is_empty() {
            self.end_silent_turn(policy);
        } else {
            self.end_acting_turn(policy);
        }
        self.take_risk();
    }

    fn end_acting_turn(&mut self, policy: &Policy) {
        self.iterations = self.iterations.saturating_add(1);
        self.turns_without_tools = 0;
        self.last_tool_turn = self.turns;
        self.narration.reset();
        let calls = core::mem::take(&mut self.turn.calls);
        let alike = policy.loops.similarity;
        let brought = self.loops.take(&calls, self.turns, self.used.now, alike);
        for call in &calls {
            self.take_call(call);
        }
        self.turn.calls = calls;
        if brought.changed {
            self.check.passed = None;
        }
        self.ladder.turn_ended(brought.novel, policy.ladder.forget_after_turns);
    }

    /// A turn without tool calls: an answer, a question, or talk.
    fn end_silent_turn(&mut self, policy: &Policy) {
        self.turns_without_tools = self.turns_without_tools.saturating_add(1);
        if self.turn.text_len < policy.global.min_content_threshold {
            self.low_output_turns = self.low_output_turns.saturating_add(1);
        }
        let asks = matches!(self.turn.intent, Some(Intent::AsksUser));
        self.check.claimed = !asks;
        if !asks {
            self.narration.extend(self.turns);
        }
    }

    fn take_call(&mut self, call: &OpenCall) {
        let Some(returned) = &call.returned else {
            self.progress.take(&call.facts, call.tool, false, false);
            return;
        };
        let worked = !matches!(returned.outcome, classify::Outcome::Error { .. });
        let changed = call.facts.changes && worked;
        let first_touch = self.progress.take(&call.facts, call.tool, worked, changed);
        if changed && first_touch && call.facts.kind == ToolKind::Edit {
            self.note_approach(&call.facts.label);
        }
        if let Some(report) = &returned.tests {
            let (turn, changes) = (self.turns, self.loops.changes);
            self.tests.report(call.facts.signature, report, turn, changes);
            if report.failed == 0 && !report.broken {
                self.progress.milestones.change_verified |= self.progress.milestones.change_made;
            }
        }
    }

    fn note_approach(&mut self, label: &str) {
        if self.approaches.len() >= Self::MAX_APPROACHES {
            self.approaches.remove(0);
        }
        self.approaches.push(label.into());
        self.strategy_changes = self.strategy_changes.saturating_add(1);
    }

    fn take_failure(&mut self, failure: &CallFailure<'_>) {
        let message = &failure.message;
        let retryable = crate::retry::should_retry(failure.stop, true, failure.status, message);
        self.failure = Some(Failure {
            status: failure.status,
            retryable,
            retry_after_ms: failure.retry_after_ms,
            stop: failure.stop,
        });
        self.call_failures = self.call_failures.saturating_add(1);
    }

    fn take_check(&mut self, report: &CheckReport<'_>) {
        self.check.turn = self.turns;
        self.check.passed = Some(report.passed);
        self.check.excerpt.clear();
        let end = report.excerpt.floor_char_boundary(1000);
        self.check.excerpt.push_str(&report.excerpt[..end]);
        if report.passed {
            self.check.refuted = 0;
        } else if self.check.claimed {
            self.check.refuted = self.check.refuted.saturating_add(1);
        }
        if let Some(tests) = &report.tests {
            let key = crate::digest::hash_bytes(report.name.as_bytes());
            self.tests.report(key, tests, self.turns, self.loops.changes);
        }
    }

    fn start_over(&mut self) {
        self.attempt = self.attempt.saturating_add(1);
        self.attempt_turn = self.turns;
        self.loops.forget();
        self.tests.start_over();
        self.progress.start_over();
        self.narration.reset();
        self.check = Check::default();
        self.ladder.forget();
    }
}

/// The settings of the run's model: the longest glob that matches.
fn model_settings(info: &RunInfo, policy: &Policy) -> ModelOverride {
    let matching =
        policy.model_overrides.iter().filter(|(glob, _)| glob_matches(glob, &info.model));
    let longest = matching.max_by_key(|(glob, _)| glob.len());
    longest.map(|(_, settings)| settings.clone()).unwrap_or_default()
}

/// Cuts a text to at most `max` bytes.
fn shorten(text: &mut String, max: usize) {
    text.truncate(text.floor_char_boundary(max));
}
