//! A person takes the helm of a session.

use std::sync::Arc;

use steersman_engine::{Event, Policy, Timestamp, UserMessage};
use tokio::sync::futures::OwnedNotified;

use super::Session;
use crate::control::{Control, ControlError, Limits, MAX_NOTE, Stands};

/// Most notes that wait for the next request.
const MAX_NOTES: usize = 16;
/// What the agent is told when a person wants its answer.
const FORCE: &str = "The person you work for wants your answer now. Stop working, call no more \
                     tools, and say what you found, what is done and what is not.";
/// What the agent is told when it may go on although it was told to end.
const GO_ON: &str = "The person you work for has raised your limits: you may call tools again. Go \
                     on with the task.";
const NO_START_OVER: &str = "only a run that Steersman drives can be started over: the workspace \
                             of this agent is its own";
/// What the agent is told when a person wants it to think again.
const RE_EVALUATE: &str = "The person you work for asks you to stop and think again: say in one \
                           sentence what you have been trying, whether it works, and what you do \
                           differently from now on.";

impl Session {
    /// Does what a person wants, as far as it can be done now; the rest with the next request.
    ///
    /// # Errors
    /// The control makes no sense; nothing was changed.
    pub(crate) fn take_control(
        &mut self,
        at: Timestamp,
        who: &str,
        control: &Control,
    ) -> Result<(), ControlError> {
        match control {
            Control::Continuation { on } => self.memory.is_left_alone = !on,
            Control::Aggressiveness { preset } => self.set_preset(preset)?,
            Control::Pause => self.memory.paused = Some(who.to_owned()),
            Control::Resume => {
                self.memory.paused = None;
                self.resumed.notify_waiters();
            }
            Control::Limits(limits) => self.set_limits(at, *limits)?,
            Control::ForceSynthesis => {
                self.note(FORCE)?;
                self.memory.forced = Some(format!("{who} asked for the answer"));
            }
            Control::ReEvaluate => self.note(RE_EVALUATE)?,
            Control::Stop => {
                self.stop(at);
                self.memory.stopped = Some(format!("{who} stopped it"));
            }
            Control::Note { text } => self.note(text)?,
            Control::StartOver => return Err(ControlError::Invalid(NO_START_OVER.to_owned())),
        }
        Ok(())
    }

    fn set_preset(&mut self, name: &str) -> Result<(), ControlError> {
        if !["aggressive", "standard", "lenient"].contains(&name) {
            let why = format!(
                "the preset `{name}` is not known; allowed are aggressive, standard, lenient"
            );
            return Err(ControlError::Invalid(why));
        }
        self.memory.preset = Some(name.to_owned());
        self.set_policy(Arc::new(self.policy().clone()));
        Ok(())
    }

    fn set_limits(&mut self, at: Timestamp, limits: Limits) -> Result<(), ControlError> {
        if limits.is_empty() {
            let why = "no limit is given; allowed are max_turns, max_tool_calls, max_total_tokens, \
                       max_output_tokens, max_cost_nanodollars, max_wall_ms and max_working_ms";
            return Err(ControlError::Invalid(why.to_owned()));
        }
        let was_ended = self.memory.forced.is_some() || self.memory.stopped.is_some();
        if was_ended {
            self.note(GO_ON)?;
        }
        self.memory.limits = limits.or(self.memory.limits);
        self.set_policy(Arc::new(self.policy().clone()));
        if was_ended {
            // A person's word begins anew what was ended, here as in the conversation.
            self.memory.forced = None;
            self.memory.stopped = None;
            self.memory.last = None;
            self.memory.asked_on = 0;
            self.engine.handle(at, &Event::UserSpoke(UserMessage { text: GO_ON.into() }));
        }
        Ok(())
    }

    /// How it stands, for whoever looks at it.
    #[must_use]
    pub fn stands(&self) -> Stands {
        Stands {
            engine: self.engine.clone(),
            paused: self.memory.paused.clone(),
            is_left_alone: self.memory.is_left_alone,
            preset: self.memory.preset.clone(),
        }
    }

    /// A policy with what a person wants of this session laid over it.
    pub(super) fn wanted(&self, policy: Arc<Policy>) -> Arc<Policy> {
        // The names are checked when they are set.
        let preset = self.memory.preset.as_ref();
        let preset = preset.and_then(|name| steersman_config::resolve(name).ok());
        let policy = preset.map_or(policy, |loaded| Arc::new(loaded.policy));
        if self.memory.limits.is_empty() {
            return policy;
        }
        let mut policy = Policy::clone(&policy);
        self.memory.limits.lay_over(&mut policy.limits);
        Arc::new(policy)
    }

    /// What a request has to wait for; `None` if it need not wait.
    pub(crate) fn hold(&self) -> Option<OwnedNotified> {
        let resumed = || Arc::clone(&self.resumed).notified_owned();
        self.memory.paused.as_ref().map(|_| resumed())
    }

    /// Whether requests wait for it to be resumed.
    pub(crate) fn is_awaited(&self) -> bool {
        Arc::strong_count(&self.resumed) > 1
    }

    fn note(&mut self, text: &str) -> Result<(), ControlError> {
        if text.trim().is_empty() || text.len() > MAX_NOTE {
            let why = format!("a note has 1 to {MAX_NOTE} bytes that are not all blank");
            return Err(ControlError::Invalid(why));
        }
        if self.memory.notes.len() >= MAX_NOTES {
            let why = format!("{MAX_NOTES} notes wait already for the next request");
            return Err(ControlError::Invalid(why));
        }
        self.memory.notes.push(text.to_owned());
        Ok(())
    }
}
