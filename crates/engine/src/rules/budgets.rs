//! Budgets: of the run, of the task type, of the context window.

use alloc::string::ToString;

use super::{Force, Moment, Verdict};
use crate::decision::Action;
use crate::policy::{Policy, RuleId};
use crate::reason::Reason;
use crate::signals;
use crate::state::State;

/// A budget of the section `limits` is used up. The first time the answer is forced, so that the
/// run does not end without a word; time and a second breach stop it.
pub(super) fn budget(state: &State, policy: &Policy, at: Moment) -> Option<Verdict> {
    let used_up = |&(_, used, allowed): &(&str, u64, Option<u64>)| {
        allowed.is_some_and(|allowed| used >= allowed)
    };
    let (budget, used, allowed) = signals::budgets(state, policy).into_iter().find(used_up)?;
    // A reply that ends the run is left to its end, also while the check looks at its claim.
    let ended = matches!(at, Moment::TurnEnded | Moment::CheckReported);
    if ended && state.turn.calls.is_empty() {
        return None;
    }
    let reason = Reason::Budget { budget: budget.to_string(), used, allowed: allowed? };
    let again = state.ladder.forced_turn != 0;
    let action =
        if again || at == Moment::Interrupt { Action::Stop } else { Action::ForceSynthesis };
    Some(Verdict::new(Force::Do(action), reason))
}

/// Whether a turn with tool calls has just ended, and the answer was not forced yet.
fn exploring(state: &State, at: Moment) -> bool {
    at == Moment::TurnEnded && !state.turn.calls.is_empty() && state.ladder.forced_turn == 0
}

/// The verdict of a count that reached its limit.
fn limit(rule: RuleId, count: u32, threshold: u32, reached: bool) -> Option<Verdict> {
    reached.then(|| {
        let reason = Reason::Counted { rule, count, threshold };
        Verdict::new(Force::Do(Action::ForceSynthesis), reason)
    })
}

/// The task type's tool budget, or the complexity class's where it names one (D5, second).
pub(super) fn tool_budget(state: &State, policy: &Policy, at: Moment) -> Option<Verdict> {
    let by_class = signals::complexity_limits(state, policy).tool_budget;
    let budget = by_class.unwrap_or(policy.task_types.of(state.task_type).tool_budget);
    let calls = state.tool_calls;
    limit(RuleId::ToolBudget, calls, budget, exploring(state, at) && calls >= budget)
}

/// The effective maximum of iterations (D5, fourth; D6), and the total of all task types (D2).
pub(super) fn max_iterations(state: &State, policy: &Policy, at: Moment) -> Option<Verdict> {
    let effective = effective_maximum(state, policy);
    let total = policy.global.max_total_iterations.unwrap_or(u32::MAX);
    let count = state.iterations;
    let reached = count > effective || count >= total;
    let threshold = effective.min(total);
    limit(RuleId::MaxIterations, count, threshold, exploring(state, at) && reached)
}

/// Base × model multiplier × productivity multiplier min(2, max(1, turns / iterations)) (D6).
pub(crate) fn effective_maximum(state: &State, policy: &Policy) -> u32 {
    let base = policy.task_types.of(state.task_type).max_exploration_iterations;
    let by_model = (f64::from(base) * f64::from(state.model.exploration_multiplier)) as u32;
    if state.turns == 0 || state.iterations == 0 {
        return by_model;
    }
    let ratio = f64::from(state.turns) / f64::from(state.iterations);
    (f64::from(by_model) * ratio.clamp(1.0, 2.0)) as u32
}

/// The complexity class's iterations (A2).
pub(super) fn complexity_limit(state: &State, policy: &Policy, at: Moment) -> Option<Verdict> {
    let allowed = signals::complexity_limits(state, policy).max_iterations;
    let count = state.iterations;
    limit(RuleId::ComplexityLimit, count, allowed, exploring(state, at) && count > allowed)
}

/// The context window fills up: soft limit nudges, hard limit forces synthesis (A3).
pub(super) fn token_budget(state: &State, policy: &Policy, at: Moment) -> Option<Verdict> {
    let budgets = &policy.continuation.token_budgets;
    let used = signals::context_share(state, policy);
    if !exploring(state, at) || used < budgets.soft_limit {
        return None;
    }
    let force = if used >= budgets.hard_limit {
        Force::Do(Action::ForceSynthesis)
    } else if state.ladder.total == 0 {
        Force::Do(Action::NudgeSynthesis)
    } else {
        Force::Urge
    };
    Some(Verdict::new(force, context_full(state, policy, RuleId::TokenBudget)))
}

/// What is left of the window no longer holds the reserve for the answer (A9).
pub(super) fn context_reserve(state: &State, policy: &Policy, at: Moment) -> Option<Verdict> {
    // Estimated sizes are no ground to act on.
    if !exploring(state, at) || !state.used.is_counted() {
        return None;
    }
    let used = signals::context_share(state, policy);
    let left = 1.0 - policy.continuation.token_budgets.reserve;
    let known = state.model.context_window.or(state.info.context_window).is_some();
    (known && used >= left)
        .then(|| Verdict::new(Force::Urge, context_full(state, policy, RuleId::ContextReserve)))
}

fn context_full(state: &State, policy: &Policy, rule: RuleId) -> Reason {
    let window = state.context_window(policy);
    Reason::ContextFull { tokens: state.used.context_tokens, window, rule }
}
