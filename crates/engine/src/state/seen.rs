//! What is known of the calls of the last turn, for whoever shows it.

use super::State;
use super::turn::OpenCall;
use crate::classify::Outcome;
use crate::test_report::TestReport;
use crate::tool::{CallFacts, ToolKind};

/// A call of the last turn, as the engine sees it.
#[derive(Clone, Copy, Debug)]
pub struct SeenCall<'a> {
    call: &'a OpenCall,
    times: u32,
}

impl<'a> SeenCall<'a> {
    /// What the call says.
    #[must_use]
    pub const fn facts(&self) -> &'a CallFacts {
        &self.call.facts
    }

    /// Whether it has this id on the wire.
    #[must_use]
    pub fn has_id(&self, id: &str) -> bool {
        self.call.id == crate::digest::hash_bytes(id.as_bytes())
    }

    /// What it does.
    #[must_use]
    pub const fn kind(&self) -> ToolKind {
        self.call.facts.kind
    }

    /// What its result says; `None` without one.
    #[must_use]
    pub fn outcome(&self) -> Option<Outcome> {
        self.call.returned.as_ref().map(|returned| returned.outcome)
    }

    /// Test results that it gave; `None` if it gave none.
    #[must_use]
    pub fn tests(&self) -> Option<&'a TestReport> {
        self.call.returned.as_ref()?.tests.as_ref()
    }

    /// In how many turns the same call has had the same outcome while nothing was changed, this
    /// one included; 0 before the turn has ended, and where that is not counted (polls, calls
    /// without a result, and what changed something in this turn).
    #[must_use]
    pub const fn times(&self) -> u32 {
        self.times
    }
}

impl State {
    /// The calls of the last turn in order, at most 64; empty if it had none.
    pub fn seen_calls(&self) -> impl Iterator<Item = SeenCall<'_>> {
        let ended = !self.turn.open;
        self.turn.calls.iter().map(move |call| {
            let times = if ended { self.loops.times(call) } else { 0 };
            SeenCall { call, times }
        })
    }
}
