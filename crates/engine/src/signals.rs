//! Measured quantities of a run, each from 0 to 1.

use serde::{Deserialize, Serialize};

use crate::classify::Complexity;
use crate::policy::{ComplexityLimits, Policy};
use crate::state::State;

/// Measured quantities of a run. 1 speaks for going on, 0 against, unless said otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Signals {
    /// New resources per iteration against the velocity that counts as full (A1).
    pub progress_velocity: f32,
    /// Share of the last 16 turns with tools that brought something new.
    pub novelty: f32,
    /// 1 without consecutive revisits or repeats, 0 in a stuck loop (A1).
    pub stuck_loop: f32,
    /// Room in the context window between soft and hard limit (A3).
    pub token_budget: f32,
    /// Share of the tightest budget of the run that is left; 1 without budgets.
    pub budget_left: f32,
    /// Interventions not yet used up (A4).
    pub intervention_ratio: f32,
    /// Patience that the task's complexity earns (A4).
    pub complexity: f32,
    /// 1 while failing tests reach new lows (or there are none), 0 when stuck (B1).
    pub test_trend: f32,
    /// Share of the last 16 turns in which every call failed; 0 is best.
    pub error_rate: f32,
}

impl Signals {
    /// Measures a run.
    #[must_use]
    pub fn measure(state: &State, policy: &Policy) -> Self {
        let complexity = complexity_limits(state, policy);
        Self {
            progress_velocity: velocity(state, policy),
            novelty: state.loops.novelty(),
            stuck_loop: stuck_loop(state, policy),
            token_budget: token_budget(state, policy),
            budget_left: budget_left(state, policy),
            intervention_ratio: 1.0 - share(state.ladder.total, complexity.max_interventions),
            complexity: patience(state.complexity),
            test_trend: 1.0
                - share(state.tests.stuck.count.saturating_sub(1), policy.tests.stuck_after),
            error_rate: state.loops.error_rate(),
        }
    }

    /// The hybrid score (A4): the weighted sum of five signals.
    #[must_use]
    pub fn score(&self, policy: &Policy) -> f32 {
        let weights = &policy.continuation.weights;
        self.progress_velocity * weights.progress_velocity
            + self.stuck_loop * weights.stuck_loop_penalty
            + self.token_budget * weights.token_budget
            + self.intervention_ratio * weights.intervention_ratio
            + self.complexity * weights.complexity_adjustment
    }
}

/// The limits of the run's complexity class (A2).
pub(crate) const fn complexity_limits<'p>(
    state: &State,
    policy: &'p Policy,
) -> &'p ComplexityLimits {
    let classes = &policy.continuation.complexity;
    match state.complexity {
        Complexity::Simple => &classes.simple,
        Complexity::Medium => &classes.medium,
        Complexity::Complex => &classes.complex,
        Complexity::Generation => &classes.generation,
    }
}

/// `part` of `whole`, at most 1.
fn share(part: u32, whole: u32) -> f32 {
    if whole == 0 { 1.0 } else { (part as f32 / whole as f32).min(1.0) }
}

/// New resources per iteration. Before the first iteration nothing speaks against progress.
fn velocity(state: &State, policy: &Policy) -> f32 {
    if state.iterations == 0 {
        return 1.0;
    }
    let found = state.progress.unique_resources.max(state.progress.unique_files_read);
    let rate = found as f32 / state.iterations as f32;
    (rate / policy.continuation.progress.min_files_per_intervention).min(1.0)
}

fn stuck_loop(state: &State, policy: &Policy) -> f32 {
    let repeats = state.loops.stale.count.max(state.progress.consecutive_revisits);
    1.0 - share(repeats, policy.continuation.progress.max_revisits_before_nudge)
}

/// 1 up to the soft limit, 0 from the hard limit on, a straight line between.
fn token_budget(state: &State, policy: &Policy) -> f32 {
    let budgets = &policy.continuation.token_budgets;
    let used = context_share(state, policy);
    if used <= budgets.soft_limit {
        1.0
    } else if used >= budgets.hard_limit {
        0.0
    } else {
        (budgets.hard_limit - used) / (budgets.hard_limit - budgets.soft_limit)
    }
}

/// Share of the context window that the conversation fills.
pub(crate) fn context_share(state: &State, policy: &Policy) -> f32 {
    (state.used.context_tokens as f64 / state.context_window(policy) as f64) as f32
}

/// The budgets of the section `limits`: key, used, allowed.
pub(crate) fn budgets(state: &State, policy: &Policy) -> [(&'static str, u64, Option<u64>); 7] {
    let (limits, used) = (&policy.limits, &state.used);
    let tokens = used.input_tokens.saturating_add(used.output_tokens);
    [
        ("max_turns", state.turns.into(), limits.max_turns.map(u64::from)),
        ("max_tool_calls", state.tool_calls.into(), limits.max_tool_calls.map(u64::from)),
        ("max_total_tokens", tokens, limits.max_total_tokens),
        ("max_output_tokens", used.output_tokens, limits.max_output_tokens),
        ("max_cost_nanodollars", used.cost_nanodollars, limits.max_cost_nanodollars),
        ("max_wall_ms", used.wall_ms(), limits.max_wall_ms),
        ("max_working_ms", used.working_ms, limits.max_working_ms),
    ]
}

fn budget_left(state: &State, policy: &Policy) -> f32 {
    let left = |(_, used, allowed): (&str, u64, Option<u64>)| {
        allowed.map_or(1.0, |allowed| 1.0 - (used as f64 / allowed.max(1) as f64).min(1.0))
    };
    budgets(state, policy).into_iter().map(left).fold(1.0, f64::min) as f32
}

/// Patience by complexity class.
const fn patience(complexity: Complexity) -> f32 {
    match complexity {
        Complexity::Simple => 0.25,
        Complexity::Medium => 0.5,
        Complexity::Generation => 0.75,
        Complexity::Complex => 1.0,
    }
}
