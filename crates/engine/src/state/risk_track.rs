//! What the risk is read from and no other part of the state keeps.

use serde::{Deserialize, Serialize};

use super::State;
use super::cache::Cache;
use super::turn::OpenCall;
use crate::classify::Outcome;
use crate::digest::combine;
use crate::policy::{Policy, RiskLine};
use crate::run_info::RunInfo;

/// What the risk is read from and no other part of the state keeps.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct RiskTrack {
    /// What holds for the run's agent and model.
    pub(crate) line: RiskLine,
    /// Calls with their outcomes, all through the run.
    seen: Cache<(), 32>,
    /// One bit for each of the last 16 turns, set if it brought only what was seen before.
    repeats: u16,
    changes: u32,
    /// The turn of the last change; 0 before the first.
    pub(crate) last_change: u32,
    tool: u64,
    /// Calls in a row of the same tool.
    pub(crate) same_tool: u32,
    /// Calls that came back empty.
    pub(crate) empty: u32,
    /// Calls that came back.
    pub(crate) results: u32,
    /// Bytes that they brought.
    pub(crate) result_bytes: u64,
    /// Bytes of the replies' texts.
    pub(crate) reply_bytes: u64,
}

impl RiskTrack {
    /// The track of a run; `None` where the policy does not ask for it.
    pub(super) fn of(info: &RunInfo, policy: &Policy) -> Option<Self> {
        if !policy.risk.is_on() {
            return None;
        }
        let line = policy.risk.line_of(&info.agent, &info.model);
        Some(Self { line, ..Self::default() })
    }

    /// Of the last 16 turns those that brought only what was seen before.
    pub(crate) const fn seen_before(&self) -> u32 {
        self.repeats.count_ones()
    }

    fn take(&mut self, call: &OpenCall) -> bool {
        self.same_tool = if call.tool == self.tool { self.same_tool.saturating_add(1) } else { 1 };
        self.tool = call.tool;
        let Some(returned) = &call.returned else { return false };
        self.results = self.results.saturating_add(1);
        self.result_bytes = self.result_bytes.saturating_add(u64::from(returned.len));
        self.empty = self.empty.saturating_add(u32::from(returned.outcome == Outcome::Empty));
        !self.seen.touch(combine(call.facts.signature, returned.hash)).1
    }
}

impl State {
    /// The turn has ended, and everything else has taken it in.
    pub(super) fn take_risk(&mut self) {
        let Some(track) = &mut self.risk else { return };
        track.reply_bytes = track.reply_bytes.saturating_add(u64::from(self.turn.text_len));
        let mut new = self.turn.calls.is_empty();
        for call in &self.turn.calls {
            new |= track.take(call);
        }
        track.repeats = track.repeats << 1 | u16::from(!new);
        if self.loops.changes > track.changes {
            (track.changes, track.last_change) = (self.loops.changes, self.turns);
        }
    }
}
