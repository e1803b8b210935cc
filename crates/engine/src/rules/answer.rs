//! A person's stop, the forced answer, and the protocol's limits.

use alloc::string::ToString;

use super::{Force, Moment, Verdict};
use crate::decision::Action;
use crate::policy::Policy;
use crate::protocol::Status;
use crate::reason::Reason;
use crate::state::State;

/// A person asked for the stop (D5, first).
pub(super) fn stop_requested(state: &State, _: &Policy, _: Moment) -> Option<Verdict> {
    let stop = Verdict::new(Force::Do(Action::Stop), Reason::StopRequested);
    state.stop_requested.then_some(stop)
}

/// The answer was forced, and the agent goes on calling tools.
pub(super) fn answer_overdue(state: &State, policy: &Policy, at: Moment) -> Option<Verdict> {
    let forced = state.ladder.forced_turn;
    let over = forced == 0 || state.ladder.stopped;
    if over || at != Moment::TurnEnded || state.turn.calls.is_empty() {
        return None;
    }
    let turns = state.turns.saturating_sub(forced);
    let overdue = turns >= policy.ladder.answer_turns;
    overdue.then(|| Verdict::new(Force::Do(Action::Stop), Reason::AnswerOverdue { turns }))
}

/// The continuation protocol's limits (C4): continuations in a row, their time, nested agents.
pub(super) fn protocol(state: &State, policy: &Policy, at: Moment) -> Option<Verdict> {
    let limits = &policy.continuation.protocol;
    let depth = state.info.depth;
    if depth > limits.max_depth {
        return Some(used_up("protocol.max_depth", depth.into(), limits.max_depth.into()));
    }
    let continuations = &state.continuations;
    if continuations.count == 0 {
        return None;
    }
    let elapsed = state.used.now.since_ms(continuations.since);
    if elapsed >= limits.timeout_ms {
        return Some(used_up("protocol.timeout_ms", elapsed, limits.timeout_ms));
    }
    let goes_on = at == Moment::TurnEnded && continuations.signal == Some(Status::Continue);
    (goes_on && continuations.count >= limits.max_iterations).then(|| {
        used_up("protocol.max_iterations", continuations.count.into(), limits.max_iterations.into())
    })
}

fn used_up(budget: &str, used: u64, allowed: u64) -> Verdict {
    let reason = Reason::Budget { budget: budget.to_string(), used, allowed };
    Verdict::new(Force::Do(Action::Stop), reason)
}
