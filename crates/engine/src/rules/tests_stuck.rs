//! Tests that do not get better (B2, B3).

use super::{Force, Moment, Verdict};
use crate::decision::{Action, Evidence};
use crate::policy::{Policy, RuleId};
use crate::reason::Reason;
use crate::state::{LastTests, State};

/// The last report, if it fails and was made in the turn that ended or by a check just now.
fn fresh_failure(state: &State, at: Moment) -> Option<LastTests> {
    let last = state.tests.last.filter(|last| last.failing())?;
    let fresh =
        at == Moment::CheckReported || (at == Moment::TurnEnded && last.turn == state.turns);
    fresh.then_some(last)
}

/// Test results in a row without a new low of failing tests (B2).
pub(super) fn stuck_tests(state: &State, policy: &Policy, at: Moment) -> Option<Verdict> {
    let last = fresh_failure(state, at)?;
    let tests = &policy.tests;
    let stuck = &state.tests.stuck;
    // The first attempt has no grace: nothing was started over (B8).
    let grace =
        state.attempt > 1 && state.turns.saturating_sub(state.attempt_turn) < tests.grace_turns;
    if grace || stuck.count < tests.stuck_after {
        return None;
    }
    let further = stuck.count - tests.stuck_after;
    let over = tests.start_over_after.is_some_and(|after| further >= after);
    let force = if over && state.info.can_start_over && state.attempt < tests.max_attempts {
        Force::Do(Action::StartOver)
    } else if over {
        Force::End
    } else if further == 0 {
        // The escape hatch is a strong word from the first time on (B2).
        Force::Do(Action::ReEvaluate)
    } else {
        Force::Urge
    };
    let reason = Reason::TestsStuck {
        results: stuck.count,
        failed: last.failed,
        passed: last.passed,
        rule: RuleId::StuckTests,
    };
    Some(Verdict::new(force, reason).with(Evidence::new(stuck.turns(), "")))
}

/// Tests still fail at a checkpoint (B3).
pub(super) fn strategy_checkpoint(state: &State, policy: &Policy, at: Moment) -> Option<Verdict> {
    let due = at == Moment::TurnEnded && policy.tests.reevaluate_at.contains(&state.turns);
    let last = state.tests.last.filter(|last| due && last.failing())?;
    let reason = Reason::TestsStuck {
        results: state.tests.stuck.count,
        failed: last.failed,
        passed: last.passed,
        rule: RuleId::StrategyCheckpoint,
    };
    Some(Verdict::new(Force::Do(Action::ReEvaluate), reason))
}
