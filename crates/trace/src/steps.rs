//! A list of messages as the turns of one run.

use std::borrow::Cow;

use steersman_engine::{Reply, Usage};

use crate::content::append;
use crate::labels::StepTurns;
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

/// Most text-only replies that are held back for the calls they may belong to.
const MAX_HELD: usize = 8;

/// Steps of the runs format, in which a reply may be spread over consecutive assistant steps.
///
/// Steps with nothing between them are parts of one reply if
/// * the first is marked `kind: "reasoning"`, or
/// * the last is nothing but calls and those before are nothing but text (sections of one reply),
///   or calls of the same batch.
///
/// Two texts in a row are sections of one reply. Three or more with no call to follow stay apart:
/// that is an agent that only talks, and takes a turn each time. A step with its own `usage` was a
/// reply of its own: nothing is added to it.
#[derive(Debug, Default)]
pub(crate) struct Steps<'a> {
    held: Vec<Pending<'a>>,
    turns: StepTurns,
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
    pub(crate) fn step(&mut self, message: &mut Message<'a>, line: u64, out: &mut RunWriter<'_>) {
        self.step_kept(message, line, out, |reply, agent| (reply, agent));
    }

    /// Takes the next step. `keep` makes a reply outlive it.
    pub(crate) fn step_kept<'m>(
        &mut self,
        message: &mut Message<'m>,
        line: u64,
        out: &mut RunWriter<'_>,
        keep: impl FnOnce(Reply<'m>, Cow<'m, str>) -> (Reply<'a>, Cow<'a, str>),
    ) {
        let agent = std::mem::take(&mut message.agent).text();
        let reasoning_only = message.kind.word() == "reasoning";
        let mut parts = message.take_parts(line);
        let Some(reply) = parts.reply.take() else {
            self.turns.other();
            if !parts.results.is_empty() || !parts.user.is_empty() {
                self.flush(out);
                push_parts(parts, out);
            }
            return;
        };
        self.turns.reply(reply.messages);
        let (reply, agent) = keep(reply, agent);
        self.hold(Pending { spot: parts.spot, reply, agent, reasoning_only }, out);
        if !parts.own_results.is_empty() {
            self.flush(out);
            push_parts(parts, out);
        }
    }

    /// Leaves out a step that could not be read.
    pub(crate) fn skip(&mut self) {
        self.turns.other();
    }

    /// Which turn each step taken so far belongs to.
    pub(crate) fn turns(&self) -> &StepTurns {
        &self.turns
    }

    /// Adds a part to the replies held back, or lets those go first.
    fn hold(&mut self, next: Pending<'a>, out: &mut RunWriter<'_>) {
        if let Some(last) = self.held.last_mut()
            && last.reasoning_only
            && last.agent == next.agent
            && !is_full(&last.reply)
        {
            last.add(next);
            return;
        }
        if next.is_only_calls() && self.held.iter().all(|held| held.may_precede(&next)) {
            let first = self.held.drain(..).reduce(|mut first, held| {
                first.add(held);
                first
            });
            let reply = match first {
                Some(mut first) => {
                    first.add(next);
                    first
                }
                None => next,
            };
            self.held.push(reply);
            return;
        }
        let acted = self.held.last().is_some_and(|held| !held.is_only_text());
        if acted || !next.is_only_text() || self.held.len() >= MAX_HELD {
            self.flush(out);
        }
        self.held.push(next);
    }

    /// Pushes the replies that are still held back.
    pub(crate) fn flush(&mut self, out: &mut RunWriter<'_>) {
        if let [first, second] = &self.held[..]
            && first.is_only_text()
            && second.is_only_text()
            && first.may_precede(second)
            && first.agent.is_empty()
            && let Some(second) = self.held.pop()
            && let Some(first) = self.held.last_mut()
        {
            first.add(second);
        }
        for held in self.held.drain(..) {
            out.reply(held.spot, held.reply);
        }
    }
}

impl<'a> Pending<'a> {
    fn is_only_calls(&self) -> bool {
        let reply = &self.reply;
        reply.text.is_empty() && reply.reasoning.is_empty() && !reply.tool_calls.is_empty()
    }

    fn is_only_text(&self) -> bool {
        self.reply.tool_calls.is_empty()
    }

    /// Whether the calls of `next` can belong to the same reply.
    fn may_precede(&self, next: &Self) -> bool {
        let is_open = self.reply.usage == Usage::default() && !is_full(&self.reply);
        self.agent == next.agent && is_open
    }

    fn add(&mut self, next: Self) {
        append(&mut self.reply.text, next.reply.text);
        append(&mut self.reply.reasoning, next.reply.reasoning);
        self.reply.tool_calls.extend(next.reply.tool_calls);
        self.reply.stop = next.reply.stop.or(self.reply.stop);
        self.reply.usage = next.reply.usage;
        self.reply.messages = self.reply.messages.max(1) + next.reply.messages.max(1);
        self.reasoning_only = self.reasoning_only && next.reasoning_only;
    }
}
