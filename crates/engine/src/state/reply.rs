//! Taking in replies and results.

use super::{OpenCall, OpenTurn, Returned, State};
use crate::classify::phrases::Phrases;
use crate::classify::{self, Intent};
use crate::digest::{digest_text, hash_bytes};
use crate::event::{Reply, ToolCall, ToolResult};
use crate::policy::{Policy, glob_matches};
use crate::protocol;
use crate::stop_reason::StopReason;
use crate::tool::{CallFacts, ToolKind};

/// Outputs up to this many bytes may say that something is still under way.
const MAX_PENDING: usize = 200;

/// Words of outputs that say that something is still under way.
static PENDING: Phrases<(), 32> = Phrases::of(&[
    ("in progress", ()),
    ("not ready", ()),
    ("pending", ()),
    ("please wait", ()),
    ("processing", ()),
    ("provisioning", ()),
    ("queued", ()),
    ("running", ()),
    ("starting", ()),
    ("still", ()),
    ("waiting", ()),
]);

impl State {
    pub(super) fn take_reply(&mut self, reply: &Reply<'_>, policy: &Policy) {
        self.turns = self.turns.saturating_add(reply.messages.max(1));
        self.call_failures = if failed(reply) { self.call_failures.saturating_add(1) } else { 0 };
        self.check.claimed = false;
        self.used.waiting = false;
        self.used.add(&reply.usage);
        self.used.add_text(reply.text.len());
        self.turn = OpenTurn { open: true, stop: reply.stop, ..OpenTurn::default() };
        self.turn.text_len = u32::try_from(reply.text.len()).unwrap_or(u32::MAX);
        if !reply.text.trim().is_empty() {
            self.turn.has_text = true;
            self.turn.chants = classify::chants(&reply.text);
        }
        let calls = u32::try_from(reply.tool_calls.len()).unwrap_or(u32::MAX);
        self.tool_calls = self.tool_calls.saturating_add(calls);
        for call in reply.tool_calls.iter().take(OpenTurn::MAX_CALLS) {
            self.used.add_text(call.arguments.len());
            self.take_call_request(call, policy);
        }
        if reply.tool_calls.is_empty() {
            let intent = classify::intent(&reply.text);
            self.turn.intent = Some(intent);
            self.turn.claims_success =
                intent == Intent::Finished && classify::claims_success(&reply.text);
        }
        self.take_signal(reply, policy);
    }

    fn take_call_request(&mut self, call: &ToolCall<'_>, policy: &Policy) {
        if self.turn.stop == Some(StopReason::Length) {
            let whole = serde_json::from_str::<serde::de::IgnoredAny>(&call.arguments).is_ok();
            self.turn.broken_call |= !whole;
        }
        self.turn.calls.push(OpenCall {
            id: hash_bytes(call.id.as_bytes()),
            tool: hash_bytes(call.name.as_bytes()),
            facts: CallFacts::read(&call.name, &call.arguments, declared(policy, &call.name)),
            unrecorded: call.unrecorded,
            returned: None,
        });
    }

    /// The model's own signal (C2, C3). Only the reply's own words count, never a tool's.
    fn take_signal(&mut self, reply: &Reply<'_>, policy: &Policy) {
        let (mut explicit, mut works) = (None, false);
        for call in &reply.tool_calls {
            match protocol::read_call(&call.name, &call.arguments) {
                Some(signal) => explicit = explicit.or(Some(signal)),
                // Who works goes on without being asked to: only talk that goes on is counted.
                None => works = true,
            }
        }
        let explicit = explicit.or_else(|| protocol::read(&reply.text)).map(|signal| signal.status);
        let patterns =
            !policy.continuation.protocol.require_explicit_signal && reply.tool_calls.is_empty();
        let fallback = || if patterns { protocol::patterns(&reply.text) } else { None };
        let signal = explicit.or_else(fallback);
        let continuations = &mut self.continuations;
        continuations.signal = signal;
        match signal {
            _ if works => continuations.count = 0,
            Some(protocol::Status::Continue) => {
                if continuations.count == 0 {
                    continuations.since = self.used.now;
                }
                continuations.count = continuations.count.saturating_add(1);
            }
            Some(protocol::Status::Terminate) => continuations.count = 0,
            None => {}
        }
    }
}

/// Whether a reply says of itself that the call failed, and holds nothing to go on with.
fn failed(reply: &Reply<'_>) -> bool {
    match reply.stop {
        Some(StopReason::Error) => reply.tool_calls.is_empty(),
        Some(StopReason::Unknown) => reply.tool_calls.is_empty() && reply.text.trim().is_empty(),
        _ => false,
    }
}

impl Returned {
    pub(super) fn read(result: &ToolResult<'_>, kind: ToolKind) -> Self {
        let content = &*result.content;
        let digest = digest_text(content);
        Self {
            hash: digest.hash,
            sketch: digest.sketch,
            len: u32::try_from(content.len()).unwrap_or(u32::MAX),
            outcome: classify::outcome(content, result.is_error, result.exit_code, kind),
            pending: says_pending(content),
            tests: result.tests.clone(),
        }
    }
}

/// The kind that the policy declares for a tool; `None` leaves it to the built-in tables.
fn declared(policy: &Policy, name: &str) -> Option<ToolKind> {
    policy.tools.iter().find(|(glob, _)| glob_matches(glob, name)).map(|(_, kind)| *kind)
}

/// Whether a short output says that something is still under way.
fn says_pending(content: &str) -> bool {
    let mut pending = false;
    if content.len() <= MAX_PENDING {
        PENDING.scan(content, |(), _| pending = true);
    }
    pending
}
