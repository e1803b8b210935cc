//! A person takes the helm of a run.

use steersman_config::control::{Control, Limits, wanted};
use steersman_engine::Engine;

use super::{Phase, Session};

/// What the agent is told when a person wants its answer.
const FORCE: &str = "The person you work for wants your answer now. Tools are withdrawn: say what \
                     you found, what is done and what is not.";
/// What the agent is told when it may go on although its answer was being forced.
const GO_ON: &str = "The person you work for has raised your limits: you may call tools again. Go \
                     on with the task.";
/// What the agent is told when a person wants it to think again.
const RE_EVALUATE: &str = "The person you work for asks you to stop and think again: say in one \
                           sentence what you have been trying, whether it works, and what you do \
                           differently from now on.";
/// Most words that wait to be said.
const MAX_WORDS: usize = 16;

/// What people want of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Helm {
    /// Who wants it to wait; `None`: nobody.
    pub(crate) paused: Option<String>,
    /// A person wants it watched and not governed.
    pub(crate) is_left_alone: bool,
    /// The preset in the place of the policy; `None`: the policy holds.
    pub(crate) preset: Option<String>,
    /// Budgets in the place of the policy's.
    pub(crate) limits: Limits,
    /// Why a person wants a new attempt; `None`: nobody does.
    pub(crate) start_over: Option<String>,
    /// Words for the agent by template, to be said before the next call of the model.
    pub(crate) to_say: Vec<(&'static str, &'static str)>,
}

impl Session {
    /// Does what a person wants. What makes no sense changes nothing.
    pub(super) fn take_control(&mut self, who: &str, control: &Control) {
        match control {
            Control::Continuation { on } => self.helm.is_left_alone = !on,
            Control::Aggressiveness { preset } => {
                self.helm.preset = Some(preset.clone());
                self.lay_policy();
            }
            Control::Pause => self.helm.paused = Some(who.to_owned()),
            Control::Resume => self.helm.paused = None,
            Control::Limits(limits) => {
                self.helm.limits = limits.or(self.helm.limits);
                self.lay_policy();
                if std::mem::take(&mut self.forced) {
                    self.outlook.forced_because = None;
                    self.say_later("raised_limits", GO_ON);
                }
            }
            Control::ForceSynthesis => {
                self.forced = true;
                self.outlook.forced_because = Some(format!("{who} asked for the answer"));
                self.say_later("force_synthesis", FORCE);
            }
            Control::ReEvaluate => self.say_later("re_evaluate", RE_EVALUATE),
            Control::StartOver => self.want_start_over(who),
            // The stop has an entry of its own, and so have the words of a note.
            Control::Stop | Control::Note { .. } => {}
        }
    }

    /// The workspace is restored at once between two turns, else when the turn is over.
    fn want_start_over(&mut self, who: &str) {
        let why = format!("{who} asked for a new attempt");
        match self.phase {
            Phase::Call | Phase::Waiting { .. } => self.phase = Phase::Restoring { why },
            Phase::Tools | Phase::TurnOver | Phase::Judged { .. } | Phase::Check(_) => {
                self.helm.start_over = Some(why);
            }
            Phase::AwaitingUser
            | Phase::Restoring { .. }
            | Phase::Closing { .. }
            | Phase::Ended => {}
        }
    }

    fn say_later(&mut self, template: &'static str, text: &'static str) {
        let waits = self.helm.to_say.iter().any(|(waiting, _)| *waiting == template);
        if !waits && self.helm.to_say.len() < MAX_WORDS {
            self.helm.to_say.push((template, text));
        }
    }

    /// The policy of the session with what a person wants laid over it.
    fn lay_policy(&mut self) {
        let policy = wanted(&self.opened.policy, self.helm.preset.as_deref(), &self.helm.limits);
        self.engine = Engine::resume(policy, self.engine.state().clone());
    }

    /// Who wants the session to wait; `None`: nobody.
    #[must_use]
    pub fn paused(&self) -> Option<&str> {
        self.helm.paused.as_deref()
    }

    /// Whether a person wants it watched and not governed.
    #[must_use]
    pub const fn is_left_alone(&self) -> bool {
        self.helm.is_left_alone
    }

    /// The preset that a person wants in the place of the policy; `None`: the policy holds.
    #[must_use]
    pub fn preset(&self) -> Option<&str> {
        self.helm.preset.as_deref()
    }
}
