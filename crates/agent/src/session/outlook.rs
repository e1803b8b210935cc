//! What a person sees of a session at a glance.

use serde::{Deserialize, Serialize};
use steersman_engine::{Action, Decision, State};

use steersman_timeline::Glance;

use super::OpenCall;
use crate::entry::{CheckFinished, Ended, Replied};

/// What a person sees of a session at a glance.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Outlook {
    /// The task, in the user's words.
    pub task: String,
    /// The agent that acts; empty for the one the session began with.
    pub agent: String,
    /// Model replies so far.
    pub turns: u32,
    /// Tool calls so far.
    pub calls: u32,
    /// The attempt under way, from 1; 0 before the first decision.
    pub attempt: u32,
    /// Tokens sent, over all calls.
    pub input_tokens: u64,
    /// Of these, from the server's cache.
    pub cached_tokens: u64,
    /// Tokens generated, over all calls.
    pub output_tokens: u64,
    /// Nano-dollars over all calls.
    pub cost_nanodollars: u64,
    /// The hybrid score of the last decision, 0 to 1; `None` before the first.
    pub score: Option<f32>,
    /// The last decision other than to go on, as its action's name; `None` if there was none.
    pub last_action: Option<String>,
    /// Why, as a sentence; empty if there was none.
    pub last_reason: String,
    /// Decisions other than to go on.
    pub interventions: u32,
    /// Failing and passing tests of the last results; `None` if none were seen.
    pub tests: Option<(u32, u32)>,
    /// Whether the last check passed; `None` if none ran.
    pub check_passed: Option<bool>,
    /// Why the answer was forced; `None` if it was not.
    pub forced_because: Option<String>,
    /// The best checkpoint that the workspace was put back to; `None` if that was not needed.
    pub best_restored: Option<u32>,
    /// How far the agent says it has come, in percent; `None` if it does not say.
    pub percent: Option<f32>,
    /// The step the agent says it is at, and how many there are.
    pub step: Option<(u32, u32)>,
    /// How the run ended, by name; `None` while it goes on.
    pub ending: Option<String>,
    /// What lists show of its decisions.
    pub glance: Glance,
}

impl Outlook {
    pub(super) fn replied(&mut self, replied: &Replied, calls: &[OpenCall]) {
        self.input_tokens = self.input_tokens.saturating_add(replied.usage.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(replied.usage.output_tokens);
        self.cached_tokens = self.cached_tokens.saturating_add(replied.cached_tokens);
        self.cost_nanodollars =
            self.cost_nanodollars.saturating_add(replied.usage.cost_nanodollars);
        self.calls = self.calls.saturating_add(u32::try_from(calls.len()).unwrap_or(u32::MAX));
        self.turns = self.turns.saturating_add(1);
        self.ending = None;
        self.take_progress(replied, calls);
    }

    /// What the agent says of its progress (C2, C6). A claim, shown as such.
    fn take_progress(&mut self, replied: &Replied, calls: &[OpenCall]) {
        use steersman_engine::protocol;
        use steersman_wire::Part;
        let by_call =
            || calls.iter().find_map(|call| protocol::read_call(&call.name, &call.arguments));
        let by_text = || {
            replied.message.parts.iter().find_map(|part| match part {
                Part::Text(text) => protocol::read(text),
                _ => None,
            })
        };
        let Some(progress) = by_call().or_else(by_text).and_then(|signal| signal.progress) else {
            return;
        };
        self.percent = progress.completion_percentage.or(self.percent);
        self.step = progress.current_step.zip(progress.total_steps).or(self.step);
    }

    pub(super) fn checked(&mut self, check: &CheckFinished) {
        self.check_passed = Some(check.passed);
        if let Some(tests) = &check.tests {
            self.tests = Some((tests.failed, tests.passed));
        }
    }

    pub(super) fn judged(&mut self, decision: &Decision, state: &State) {
        self.score = Some(decision.score);
        self.glance.decided(decision);
        self.attempt = state.attempt;
        if decision.action == Action::Continue {
            return;
        }
        self.interventions = self.interventions.saturating_add(1);
        self.last_action = Some(decision.action.name().to_owned());
        self.last_reason = decision.reason.to_string();
        if decision.action == Action::ForceSynthesis && !decision.shadow {
            self.forced_because = Some(self.last_reason.clone());
        }
    }

    pub(super) fn ended(&mut self, ended: &Ended) {
        self.ending = Some(ended.ending.name().to_owned());
    }
}
