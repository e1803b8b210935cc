//! Events in few numbers, worked out once for all rules.

use serde_json::Value;
use steersman_engine::classify;
use steersman_engine::digest::{combine, hash_bytes};
use steersman_engine::tool::{CallFacts, ToolKind};
use steersman_engine::{Event, Reply, ToolCall, ToolResult};

use super::Moment;

/// A tool call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// Hash of tool and arguments, the order of keys aside.
    pub signature: u64,
    /// Hash of the call as it is normalised for [`CallFacts::signature`].
    pub command: u64,
    /// Whether the call changes something if it succeeds.
    pub changes: bool,
}

/// How a call went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Hash of the output.
    pub result: u64,
    /// The call failed.
    pub failed: bool,
    /// The output holds nothing but white space.
    pub empty: bool,
}

/// Calls of a turn that can be joined with their results.
const MAX_PER_TURN: usize = 256;
/// Longest arguments whose keys are put in order, in bytes; longer ones are compared as written.
const MAX_ARGUMENTS: usize = 1 << 16;

/// What is known about the run so far.
#[derive(Debug, Default)]
pub(super) struct Digest {
    turn: Vec<Open>,
    calls: u32,
    unrecorded: u64,
}

#[derive(Clone, Copy, Debug)]
struct Open {
    id: u64,
    call: Call,
    result: Option<u64>,
}

impl Digest {
    /// Takes in an event, and shows it as moments.
    pub(super) fn observe(&mut self, event: &Event<'_>, show: &mut dyn FnMut(Moment<'_>)) {
        match event {
            Event::UserSpoke(_) => show(Moment::UserSpoke),
            Event::Replied(reply) => {
                self.begin_turn(reply);
                self.turn.iter().for_each(|open| show(Moment::Called(&open.call)));
            }
            Event::ToolReturned(result) => {
                let outcome = outcome(result);
                if let Some(call) = self.returned(result, outcome.result) {
                    show(Moment::Returned(&call, outcome));
                }
            }
            Event::TurnEnded => {
                let turn = self
                    .turn
                    .iter()
                    .map(|open| combine(open.call.signature, open.result.unwrap_or_default()));
                show(Moment::TurnEnded { turn: turn.reduce(combine), calls: self.calls });
            }
            _ => {}
        }
    }

    fn begin_turn(&mut self, reply: &Reply<'_>) {
        let calls = u32::try_from(reply.tool_calls.len()).unwrap_or(u32::MAX);
        self.calls = self.calls.saturating_add(calls);
        self.turn.clear();
        for call in reply.tool_calls.iter().take(MAX_PER_TURN) {
            let id = hash_bytes(call.id.as_bytes());
            let call = self.read(call);
            self.turn.push(Open { id, call, result: None });
        }
    }

    fn read(&mut self, call: &ToolCall<'_>) -> Call {
        let facts = CallFacts::read(&call.name, &call.arguments, None);
        if call.unrecorded {
            // Calls whose arguments nobody knows are all different.
            self.unrecorded += 1;
            let only = combine(hash_bytes(call.name.as_bytes()), self.unrecorded);
            return Call { signature: only, command: only, changes: facts.changes };
        }
        let arguments = hash_arguments(&call.arguments);
        Call {
            signature: combine(hash_bytes(call.name.as_bytes()), arguments),
            command: facts.signature,
            changes: facts.changes,
        }
    }

    /// The call that a result belongs to.
    fn returned(&mut self, result: &ToolResult<'_>, hash: u64) -> Option<Call> {
        let id = hash_bytes(result.call_id.as_bytes());
        let waits = |open: &Open| open.result.is_none();
        let named = self.turn.iter().position(|open| waits(open) && open.id == id);
        let at = named.or_else(|| self.turn.iter().position(waits))?;
        self.turn[at].result = Some(hash);
        Some(self.turn[at].call)
    }
}

/// Hash of arguments, the order of keys and white space between them aside.
fn hash_arguments(text: &str) -> u64 {
    let is_object = text.len() <= MAX_ARGUMENTS && text.trim_start().starts_with('{');
    let ordered = is_object.then(|| serde_json::from_str::<Value>(text).ok()).flatten();
    match ordered {
        Some(value) => hash_bytes(value.to_string().as_bytes()),
        None => hash_bytes(text.as_bytes()),
    }
}

fn outcome(result: &ToolResult<'_>) -> Outcome {
    let said = result.is_error.or(result.exit_code.map(|code| code != 0));
    let failed = said.unwrap_or_else(|| {
        let read = classify::outcome(&result.content, None, None, ToolKind::Other);
        matches!(read, classify::Outcome::Error { .. })
    });
    Outcome {
        result: hash_bytes(result.content.as_bytes()),
        failed,
        empty: result.content.trim_ascii().is_empty(),
    }
}
