//! What the reply itself lacks: rescue of premature stops (beyond 7).

use super::{Force, Moment, Verdict, counted};
use crate::classify::Intent;
use crate::decision::{Action, Evidence};
use crate::policy::{Policy, RuleId};
use crate::protocol::Status;
use crate::reason::Reason;
use crate::state::State;
use crate::stop_reason::StopReason;

/// A nudge about the reply of the turn that ended.
fn nudge(rule: RuleId, state: &State) -> Verdict {
    let evidence = Evidence::new([state.turns].into(), "");
    Verdict::new(Force::Do(Action::Nudge), Reason::Reply { rule }).with(evidence)
}

/// Whether the turn that ended is a reply without tool calls that would end the run.
fn ends_here(state: &State, at: Moment) -> bool {
    at == Moment::TurnEnded
        && state.turn.calls.is_empty()
        && state.ladder.forced_turn == 0
        && state.continuations.signal != Some(Status::Terminate)
        && state.turns_without_tools <= state.model.continuation_patience
}

/// The same long text again and again inside one reply.
pub(super) fn chanting(state: &State, policy: &Policy, at: Moment) -> Option<Verdict> {
    if at != Moment::TurnEnded || state.turn.chants < 2 {
        return None;
    }
    let mut streak = crate::state::Streak::default();
    streak.extend(state.turns);
    streak.count = state.turn.chants;
    let verdict = counted(RuleId::Chanting, &streak, policy.loops.chanting, "")?;
    Some(verdict.with(Evidence::new([state.turns].into(), "")))
}

/// The reply was cut off by the token limit: with half a tool call, or without an end.
pub(super) fn cut_off(state: &State, _: &Policy, at: Moment) -> Option<Verdict> {
    let cut = at == Moment::TurnEnded && state.turn.stop == Some(StopReason::Length);
    let unfinished = state.turn.calls.is_empty() || state.turn.broken_call;
    (cut && unfinished).then(|| nudge(RuleId::CutOff, state))
}

/// The reply says nothing and calls nothing, or only thinks.
pub(super) fn empty_reply(state: &State, _: &Policy, at: Moment) -> Option<Verdict> {
    let empty = ends_here(state, at) && state.turn.intent == Some(Intent::Empty);
    empty.then(|| nudge(RuleId::EmptyReply, state))
}

/// The reply announces work and ends without doing it.
pub(super) fn premature_end(state: &State, _: &Policy, at: Moment) -> Option<Verdict> {
    let signalled = state.continuations.signal == Some(Status::Continue);
    let announces = state.turn.intent == Some(Intent::WillContinue) && !signalled;
    // An agent that never used a tool in this run may have none.
    let can_act = state.iterations > 0;
    (ends_here(state, at) && announces && can_act).then(|| nudge(RuleId::PrematureEnd, state))
}

/// The reply claims success while the last check, or the last test results, say otherwise.
pub(super) fn contradicted_claim(state: &State, policy: &Policy, at: Moment) -> Option<Verdict> {
    if state.check.refuted > policy.tests.max_rejected_claims {
        return None;
    }
    let refuted_now = at == Moment::CheckReported && state.check.claimed;
    if refuted_now && state.check.passed == Some(false) {
        return Some(nudge(RuleId::ContradictedClaim, state));
    }
    let failing =
        state.tests.last.is_some_and(|last| last.failing()) && state.check.passed != Some(true);
    (ends_here(state, at) && state.turn.claims_success && failing && state.narration.count <= 1)
        .then(|| nudge(RuleId::ContradictedClaim, state))
}
