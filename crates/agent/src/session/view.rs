//! What can be seen of a session from outside.

use std::sync::Arc;

use steersman_engine::{Engine, Timestamp};
use steersman_wire::{Message, Role};

use super::{Control, Mailbox, OpenCall, Outlook, Session};
use crate::entry::{AgentSetup, Attempt, Checkpointed, Ended, Opened};

impl Session {
    /// Model calls in a row that failed.
    #[must_use]
    pub const fn failures(&self) -> u32 {
        self.failures
    }

    /// The name of what was said to the agent since its last reply; `None` if nothing.
    #[must_use]
    pub fn heard(&self) -> Option<&str> {
        self.heard.as_deref()
    }

    /// The text of the last reply; empty if there is none.
    #[must_use]
    pub fn last_words(&self) -> String {
        let said = self.calls.iter().find_map(|call| match &call.control {
            Some(Control::Finish(finish)) => Some(finish.summary.clone()),
            Some(Control::AskUser(ask)) => Some(ask.question.clone()),
            _ => None,
        });
        let reply = self.conversation.iter().rev().find(|message| message.role == Role::Assistant);
        let text = reply.map(|reply| reply.text().into_owned()).unwrap_or_default();
        match said {
            Some(said) if text.trim().is_empty() => said,
            Some(said) => format!("{text}\n{said}"),
            None => text,
        }
    }

    /// What was set up when the session began.
    #[must_use]
    pub const fn opened(&self) -> &Opened {
        &self.opened
    }

    /// The engine, with what it knows of the run.
    #[must_use]
    pub const fn engine(&self) -> &Engine {
        &self.engine
    }

    /// The agent that acts now.
    #[must_use]
    pub const fn agent(&self) -> &Arc<AgentSetup> {
        &self.agent
    }

    /// What the model is shown next, without the system prompt.
    #[must_use]
    pub const fn conversation(&self) -> &Arc<Vec<Message>> {
        &self.conversation
    }

    /// The state of the workspace that a start-over goes back to; `None` until it is kept.
    #[must_use]
    pub fn base(&self) -> Option<&Checkpointed> {
        let base = self.base?;
        self.checkpoints.iter().find(|kept| kept.number == base)
    }

    /// Whether the workspace is between two states.
    #[must_use]
    pub const fn is_restoring(&self) -> bool {
        self.restoring
    }

    /// A moment as the engine takes it: without the time in which nobody drove the session.
    #[must_use]
    pub const fn engine_time(&self, at_ms: u64) -> Timestamp {
        Timestamp(at_ms.saturating_sub(self.away_ms))
    }

    /// A moment of the engine as the clock shows it.
    #[must_use]
    pub const fn clock_time(&self, at: Timestamp) -> u64 {
        at.0.saturating_add(self.away_ms)
    }

    /// The kept state that is about to be left for another one; `None` if none is.
    #[must_use]
    pub const fn left(&self) -> Option<&Checkpointed> {
        self.left.as_ref()
    }

    /// The calls of the last reply.
    #[must_use]
    pub fn calls(&self) -> &[OpenCall] {
        &self.calls
    }

    /// The attempts that were given up.
    #[must_use]
    pub fn attempts(&self) -> &[Attempt] {
        &self.attempts
    }

    /// The restorable states of the workspace, the first one first.
    #[must_use]
    pub fn checkpoints(&self) -> &[Checkpointed] {
        &self.checkpoints
    }

    /// How the run ended; `None` while it goes on.
    #[must_use]
    pub const fn ended(&self) -> Option<&Ended> {
        self.ended.as_ref()
    }

    /// What a person sees of the session at a glance.
    #[must_use]
    pub const fn outlook(&self) -> &Outlook {
        &self.outlook
    }

    /// The sequence number of the last entry.
    #[must_use]
    pub const fn seq(&self) -> u64 {
        self.seq
    }

    /// Decisions that came out differently from what the journal says.
    #[must_use]
    pub const fn differing(&self) -> u32 {
        self.differing
    }

    /// The letters of the session.
    #[must_use]
    pub const fn mail(&self) -> &Mailbox {
        &self.mail
    }
}
