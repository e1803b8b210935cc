//! What the model is shown.

use std::sync::Arc;

use steersman_wire::{Message, Part, Role};

use super::{CallState, Session};
use crate::entry::HandedOver;

/// What the model is told of a call whose end nobody knows.
pub(crate) const INTERRUPTED: &str = "This call was interrupted: it was started and its end is not \
     known. It may have taken effect or not. Look before you repeat it.";

impl Session {
    /// Appends the results of the turn's calls, in the order of the calls.
    pub(super) fn put_results(&mut self) {
        let results = self.calls.iter().map(|call| {
            let (content, is_error) = match &call.state {
                CallState::Finished(content, failed) => (content.clone(), *failed),
                CallState::Pending => (NOT_RUN.to_owned(), true),
                CallState::Started | CallState::Interrupted => (INTERRUPTED.to_owned(), true),
            };
            let (call_id, name) = (call.id.clone(), call.name.clone());
            Part::ToolResult { call_id, name, content, is_error }
        });
        let parts: Vec<Part> = results.collect();
        if !parts.is_empty() {
            Arc::make_mut(&mut self.conversation).push(Message::results(parts));
        }
        if let Some(note) = self.handed.take() {
            self.say(note);
        }
    }

    /// Before the user speaks every call of the conversation must have its result.
    pub(super) fn close_open_calls(&mut self) {
        self.settle_results();
        self.calls.clear();
    }

    /// Every call of the last reply has its result in the conversation.
    pub(super) fn settle_results(&mut self) {
        let open = matches!(self.conversation.last(), Some(last) if last.role == Role::Assistant)
            && !self.calls.is_empty();
        if open {
            self.put_results();
        }
    }

    /// Another agent takes over: it sees the conversation so far, and the note at its end.
    pub(super) fn hand_over(&mut self, handed: &HandedOver) {
        self.outlook.agent.clone_from(&handed.to.name);
        self.agent = Arc::new(handed.to.clone());
        self.mail_told = 0;
        self.handed = Some(format!("{} hands over to you: {}", handed.from, handed.note));
    }
}

const NOT_RUN: &str = "This call was not run: the run was ended before its turn came.";
