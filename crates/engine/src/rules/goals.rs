//! Forcing by goal (D5, fifth).

use super::budgets::effective_maximum;
use super::{Force, Moment, Verdict};
use crate::decision::Action;
use crate::policy::{Policy, RuleId};
use crate::reason::Reason;
use crate::state::State;

/// The target was read, nothing was changed, and the exploration has used up its iterations: the
/// action is demanded.
pub(super) fn goal_forcing(state: &State, policy: &Policy, at: Moment) -> Option<Verdict> {
    let limits = policy.task_types.of(state.task_type);
    let reached = &state.progress.milestones;
    let due = limits.force_action_after_target_read
        && at == Moment::TurnEnded
        && !state.turn.calls.is_empty()
        && reached.target_read
        && !reached.change_made
        && state.iterations >= effective_maximum(state, policy);
    let reason = Reason::Reply { rule: RuleId::GoalForcing };
    due.then(|| Verdict::new(Force::Do(Action::Nudge), reason))
}
