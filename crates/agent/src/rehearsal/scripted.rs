//! The model that follows a script.

use std::time::Duration;

use steersman_engine::StopReason;
use steersman_wire::{
    Answer, Delta, Failure, FailureKind, Message, Part, Role, Tokens, ToolChoice,
};

use super::script::{Line, Script};
use crate::seam::{Model, ModelCall, Work};
use crate::session::INTERRUPTED;

/// The model that follows a script.
///
/// It keeps nothing between calls: where in the script it is follows from the conversation it is
/// shown, as with any model. So a session that is taken up again goes on where it was.
#[derive(Clone, Debug)]
pub struct ScriptedModel {
    script: Script,
}

impl ScriptedModel {
    /// A model for this script.
    #[must_use]
    pub const fn new(script: Script) -> Self {
        Self { script }
    }

    /// The script it follows.
    #[must_use]
    pub const fn script(&self) -> &Script {
        &self.script
    }

    /// The reply that is due.
    fn line(&self, call: &ModelCall<'_>) -> Line {
        let reaction = self.script.on.iter().find(|reaction| {
            Some(reaction.to.as_str()) == call.heard
                && reaction.attempt.is_none_or(|attempt| attempt == call.attempt)
        });
        if let Some(reaction) = reaction {
            return reaction.reply.clone();
        }
        if call.request.tool_choice == ToolChoice::None {
            let text = "This is as far as I came; the task is not solved.".to_owned();
            return Line { text, ..Line::default() };
        }
        let attempt = usize::try_from(call.attempt.max(1) - 1).unwrap_or(usize::MAX);
        let part = self.script.attempts.get(attempt).or(self.script.attempts.last());
        let Some(part) = part else { return done() };
        let mut at = 0;
        let messages = call.request.messages;
        for (place, message) in messages.iter().enumerate() {
            if message.role != Role::Assistant {
                continue;
            }
            let said = part.replies.get(at).is_some_and(|line| says(message, line));
            if said && !was_interrupted(messages.get(place + 1)) {
                at += 1;
                if at == part.replies.len()
                    && let Some(again) = part.again_from
                {
                    at = again - 1;
                }
            }
        }
        part.replies.get(at).cloned().unwrap_or_else(done)
    }

    fn answer(&self, call: &ModelCall<'_>) -> Result<Answer, Failure> {
        let line = self.line(call);
        if let Some(fault) = &line.fails
            && call.failures < fault.times.max(1)
        {
            let kind = match fault.status {
                None => FailureKind::Unreachable,
                Some(429) => FailureKind::RateLimited,
                Some(500..) => FailureKind::Server,
                Some(_) => FailureKind::Request,
            };
            let mut failure = Failure::new(kind, &fault.message);
            failure.status = fault.status;
            failure.retry_after_ms = fault.retry_after_ms;
            return Err(failure);
        }
        let message = message_of(&line, call);
        let default = if line.calls.is_empty() { "stop" } else { "tool_calls" };
        let word = line.stop.as_deref().unwrap_or(default);
        Ok(Answer {
            usage: Tokens {
                input: call.request.messages.iter().map(tokens_of).sum(),
                output: tokens_of(&message),
                ..Tokens::default()
            },
            message,
            stop: Some(StopReason::from_wire(word)),
            stop_word: Some(word.to_owned()),
            model: Some(call.request.model.to_owned()),
            id: None,
            extra: serde_json::Map::new(),
        })
    }
}

impl Model for ScriptedModel {
    fn reply<'a>(
        &'a self,
        call: ModelCall<'a>,
        on_delta: &'a mut (dyn FnMut(&Delta) + Send),
    ) -> Work<'a, Result<Answer, Failure>> {
        Box::pin(async move {
            if self.script.reply_ms > 0 {
                tokio::time::sleep(Duration::from_millis(self.script.reply_ms)).await;
            }
            let answer = self.answer(&call)?;
            for part in &answer.message.parts {
                if let Part::Text(text) = part {
                    on_delta(&Delta::Text(text.clone()));
                }
            }
            Ok(answer)
        })
    }
}

fn done() -> Line {
    Line { text: "Done.".to_owned(), ..Line::default() }
}

fn message_of(line: &Line, call: &ModelCall<'_>) -> Message {
    let mut parts = Vec::new();
    if !line.text.is_empty() {
        parts.push(Part::Text(line.text.clone()));
    }
    // Unique in the conversation, and the same whenever the same reply is asked for.
    let place = call.request.messages.len();
    for (at, made) in line.calls.iter().enumerate() {
        parts.push(Part::ToolCall {
            id: format!("call_{}_{place}_{at}", call.attempt),
            name: made.name.clone(),
            arguments: arguments_of(made),
            raw: None,
        });
    }
    Message { role: Role::Assistant, parts }
}

fn arguments_of(call: &super::script::Call) -> String {
    match &call.raw {
        Some(raw) => raw.clone(),
        None => serde_json::to_string(&call.arguments).unwrap_or_default(),
    }
}

/// Whether a message is what a line of the script says.
fn says(message: &Message, line: &Line) -> bool {
    let calls = message.parts.iter().filter_map(|part| match part {
        Part::ToolCall { name, arguments, .. } => Some((name.as_str(), arguments.clone())),
        _ => None,
    });
    let scripted = line.calls.iter().map(|call| (call.name.as_str(), arguments_of(call)));
    message.text() == line.text && calls.eq(scripted)
}

/// Whether the results that follow a reply say that a call was interrupted: it is made again.
fn was_interrupted(results: Option<&Message>) -> bool {
    let parts = results.iter().flat_map(|message| &message.parts);
    parts.into_iter().any(|part| {
        matches!(part, Part::ToolResult { content, is_error: true, .. } if content == INTERRUPTED)
    })
}

/// About four bytes make a token.
fn tokens_of(message: &Message) -> u64 {
    let bytes: usize = message
        .parts
        .iter()
        .map(|part| match part {
            Part::Text(text) | Part::Reasoning { text, .. } => text.len(),
            Part::ToolCall { arguments, name, .. } => arguments.len() + name.len(),
            Part::ToolResult { content, .. } => content.len(),
            Part::Other { .. } => 0,
        })
        .sum();
    bytes as u64 / 4 + 4
}
