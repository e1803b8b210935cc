//! Which call a result belongs to, and how the call went.

use std::collections::HashSet;

use steersman_engine::digest::{combine, hash_bytes};
use steersman_engine::{Reply, ToolResult};

/// How a call went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// It gave something new.
    Ok,
    /// It failed.
    Error,
    /// It gave nothing.
    Empty,
    /// The same call gave the same output before.
    Repeat,
}

/// The calls of the current turn, and what was seen before.
#[derive(Debug, Default)]
pub struct Calls {
    turn: Vec<Open>,
    seen: HashSet<u64>,
}

#[derive(Debug)]
struct Open {
    id: u64,
    signature: u64,
    returned: bool,
}

impl Calls {
    /// Calls per turn that are told apart.
    pub const MAX_PER_TURN: usize = 256;
    /// Pairs of call and output that are remembered.
    const MAX_SEEN: usize = 8192;

    /// A reply begins a turn.
    pub fn begin_turn(&mut self, reply: &Reply<'_>) {
        self.turn.clear();
        self.turn.extend(reply.tool_calls.iter().take(Self::MAX_PER_TURN).map(|call| Open {
            id: hash_bytes(call.id.as_bytes()),
            signature: combine(
                hash_bytes(call.name.as_bytes()),
                hash_bytes(call.arguments.as_bytes()),
            ),
            returned: false,
        }));
    }

    /// The position in the turn of the call that returned, and how it went; `None` if no call of
    /// the turn is without a result.
    pub fn returned(&mut self, result: &ToolResult<'_>) -> Option<(usize, Mark)> {
        let id = hash_bytes(result.call_id.as_bytes());
        let named = self.turn.iter().position(|open| !open.returned && open.id == id);
        let position = named.or_else(|| self.turn.iter().position(|open| !open.returned))?;
        let open = &mut self.turn[position];
        open.returned = true;
        let pair = combine(open.signature, hash_bytes(result.content.as_bytes()));
        let repeated = self.seen.contains(&pair);
        if !repeated && self.seen.len() < Self::MAX_SEEN {
            self.seen.insert(pair);
        }
        Some((position, mark(result, repeated)))
    }

    /// Calls of the turn that have no result.
    #[must_use]
    pub fn unanswered(&self) -> usize {
        self.turn.iter().filter(|open| !open.returned).count()
    }
}

fn mark(result: &ToolResult<'_>, repeated: bool) -> Mark {
    let failed = result.is_error.unwrap_or(false) || result.exit_code.is_some_and(|code| code != 0);
    if repeated {
        Mark::Repeat
    } else if failed {
        Mark::Error
    } else if result.content.trim().is_empty() {
        Mark::Empty
    } else {
        Mark::Ok
    }
}
