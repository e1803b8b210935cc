//! A list of messages as the turns of one run.

use std::borrow::Cow;

use steersman_engine::{Reply, Usage};

use crate::content::append;
use crate::message::{Message, Parts};
use crate::session::is_full;
use crate::spoken::{Spoken, spoken};
use crate::writer::{RunWriter, Spot};

/// Pushes the parts of one message as they come: one assistant message is one reply.
pub(crate) fn push_parts(parts: Parts<'_>, out: &mut RunWriter<'_>) {
    let spot = parts.spot;
    for result in parts.results {
        out.push_result(spot, result);
    }
    if !parts.user.is_empty() {
        push_user(spot, parts.user, out);
    }
    if let Some(reply) = parts.reply {
        out.reply(spot, reply);
    }
    for result in parts.own_results {
        out.push_result(spot, result);
    }
}

/// Pushes a user message if a person wrote it.
pub(crate) fn push_user(spot: Spot, text: Cow<'_, str>, out: &mut RunWriter<'_>) {
    match spoken(text) {
        Spoken::User(text) => out.user(spot, &text),
        Spoken::Summary => out.compacted(spot, None),
        Spoken::Injected => {}
    }
}

/// Steps of the runs format, in which a reply may be spread over consecutive assistant steps.
///
/// Two such steps are parts of one reply if nothing lies between them and
/// * the first is marked `kind: "reasoning"`, or
/// * the second is nothing but calls (a text, then its call; or parallel calls one by one), or
/// * both are nothing but text and no step names its agent (several agents may talk in turn).
///
/// A step with its own `usage` was a reply of its own: nothing is added to it.
#[derive(Debug, Default)]
pub(crate) struct Steps<'a> {
    pending: Option<Pending<'a>>,
}

#[derive(Debug)]
struct Pending<'a> {
    spot: Spot,
    reply: Reply<'a>,
    agent: Cow<'a, str>,
    reasoning_only: bool,
}

impl<'a> Steps<'a> {
    /// Takes the next step, which outlives the list.
    pub(crate) fn step(&mut self, message: Message<'a>, line: u64, out: &mut RunWriter<'_>) {
        self.step_kept(message, line, out, |reply, agent| (reply, agent));
    }

    /// Takes the next step. `keep` makes a reply outlive it.
    pub(crate) fn step_kept<'m>(
        &mut self,
        mut message: Message<'m>,
        line: u64,
        out: &mut RunWriter<'_>,
        keep: impl FnOnce(Reply<'m>, Cow<'m, str>) -> (Reply<'a>, Cow<'a, str>),
    ) {
        let agent = std::mem::take(&mut message.agent).text();
        let reasoning_only = message.kind.word() == "reasoning";
        let mut parts = message.into_parts(line);
        let Some(reply) = parts.reply.take() else {
            if !parts.results.is_empty() || !parts.user.is_empty() {
                self.flush(out);
                push_parts(parts, out);
            }
            return;
        };
        let (reply, agent) = keep(reply, agent);
        let next = Pending { spot: parts.spot, reply, agent, reasoning_only };
        match &mut self.pending {
            Some(pending) if pending.continues_in(&next) => pending.add(next),
            _ => {
                self.flush(out);
                self.pending = Some(next);
            }
        }
        if !parts.own_results.is_empty() {
            self.flush(out);
            push_parts(parts, out);
        }
    }

    /// Pushes the reply that is still held back.
    pub(crate) fn flush(&mut self, out: &mut RunWriter<'_>) {
        if let Some(pending) = self.pending.take() {
            out.reply(pending.spot, pending.reply);
        }
    }
}

impl<'a> Pending<'a> {
    fn continues_in(&self, next: &Self) -> bool {
        let (first, second) = (&self.reply, &next.reply);
        let has_usage = first.usage != Usage::default();
        if self.agent != next.agent || has_usage || is_full(first) {
            return false;
        }
        let only_calls = second.text.is_empty() && second.reasoning.is_empty();
        if self.reasoning_only {
            true
        } else if !second.tool_calls.is_empty() {
            only_calls
        } else {
            first.tool_calls.is_empty() && self.agent.is_empty()
        }
    }

    fn add(&mut self, next: Self) {
        append(&mut self.reply.text, next.reply.text);
        append(&mut self.reply.reasoning, next.reply.reasoning);
        self.reply.tool_calls.extend(next.reply.tool_calls);
        self.reply.stop = next.reply.stop.or(self.reply.stop);
        self.reply.usage = next.reply.usage;
        self.reasoning_only = self.reasoning_only && next.reasoning_only;
    }
}
