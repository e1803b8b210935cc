//! Lists of chat messages.

use crate::lenient::parse;
use crate::message::Message;
use crate::run::RunEnd;
use crate::session::{Opening, Session, set};
use crate::steps::push_parts;
use crate::writer::RunWriter;

/// A run of chat messages: a list, one message per line, or `{"messages": […]}`.
pub(crate) struct ChatSession {
    opening: Opening,
}

impl ChatSession {
    pub(crate) fn new(id: &str) -> Self {
        Self { opening: Opening::of(id, "") }
    }
}

impl Session for ChatSession {
    fn element(
        &mut self,
        json: &str,
        line: u64,
        out: &mut RunWriter<'_>,
    ) -> serde_json::Result<()> {
        let mut message = parse::<Message<'_>>(json)?;
        self.opening.ensure(line, out);
        push_parts(message.take_parts(line), out);
        Ok(())
    }

    fn member(&mut self, key: &str, json: &str) {
        let meta = &mut self.opening.meta;
        match key {
            "id" | "session_id" | "sessionId" | "conversation_id" | "taskId" => {
                set(&mut meta.id, json);
            }
            "model" => set(&mut meta.model, json),
            "agent" => set(&mut meta.agent, json),
            "task" => set(&mut meta.task, json),
            "instance" | "instance_id" => set(&mut meta.instance, json),
            "solved" | "resolved" | "correct" => {
                meta.outcome = serde_json::from_str(json).ok().and_then(super::runs::outcome);
            }
            "outcome" => meta.outcome = super::runs::outcome_member(json).or(meta.outcome),
            _ => {}
        }
    }

    fn wants_list(&mut self, key: &str) -> bool {
        key == "messages"
    }

    fn finish(&mut self, end: RunEnd, out: &mut RunWriter<'_>) {
        self.opening.close(end, out);
    }
}
