//! A person takes the helm of a session.

use std::sync::Arc;

use steersman_engine::Timestamp;

use super::Session;
use crate::control::{Control, ControlError, MAX_NOTE};

/// Most notes that wait for the next request.
const MAX_NOTES: usize = 16;
/// What the agent is told when a person wants its answer.
const FORCE: &str = "The person you work for wants your answer now. Stop working, call no more \
                     tools, and say what you found, what is done and what is not.";
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
        let loaded = steersman_config::resolve(name);
        let loaded = loaded.map_err(|error| ControlError::Invalid(error.to_string()))?;
        self.set_policy(Arc::new(loaded.policy));
        Ok(())
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
