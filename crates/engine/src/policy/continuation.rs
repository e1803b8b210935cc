//! Section `continuation` (documents A and C).

use serde::{Deserialize, Serialize};

/// Progress, complexity, token budgets, score and protocol.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Continuation {
    /// When progress counts as progress (A1, A7).
    pub progress: Progress,
    /// Limits per complexity class (A2).
    pub complexity: Complexities,
    /// Shares of the context window (A3).
    pub token_budgets: TokenBudgets,
    /// Weights of the hybrid score; they sum to 1 (A4).
    pub weights: ScoreWeights,
    /// Score from which exploration goes on untouched, 0–1, default 0.6 (A4).
    pub continue_score: f32,
    /// Score from which synthesis is nudged; below it is forced, 0–`continue_score`, default 0.3
    /// (A4).
    pub synthesis_score: f32,
    /// The continuation protocol: the model's own signal (C2–C4).
    pub protocol: Protocol,
}

impl Default for Continuation {
    fn default() -> Self {
        Self {
            progress: Progress::default(),
            complexity: Complexities::default(),
            token_budgets: TokenBudgets::default(),
            weights: ScoreWeights::default(),
            continue_score: 0.6,
            synthesis_score: 0.3,
            protocol: Protocol::default(),
        }
    }
}

/// When progress counts as progress (A1, A7).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Progress {
    /// New files per iteration that count as full velocity, above 0 to 10, default 0.5.
    pub min_files_per_intervention: f32,
    /// Consecutive revisits that count as a stuck loop, 1–64, default 3.
    pub max_revisits_before_nudge: u32,
    /// Turns without tools after which a run no longer counts as making progress, 1–64, default 3.
    pub max_iterations_without_tools: u32,
}

impl Default for Progress {
    fn default() -> Self {
        Self {
            min_files_per_intervention: 0.5,
            max_revisits_before_nudge: 3,
            max_iterations_without_tools: 3,
        }
    }
}

/// Limits per complexity class (A2).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Complexities {
    /// Questions and one-step tasks.
    pub simple: ComplexityLimits,
    /// Everything else.
    pub medium: ComplexityLimits,
    /// Whole code bases, several deliverables.
    pub complex: ComplexityLimits,
    /// Writing something new.
    pub generation: ComplexityLimits,
}

impl Default for Complexities {
    fn default() -> Self {
        Self {
            simple: ComplexityLimits::new(5, 10),
            medium: ComplexityLimits::new(10, 25),
            complex: ComplexityLimits::new(20, 50),
            generation: ComplexityLimits::new(15, 35),
        }
    }
}

/// Limits of one complexity class (A2).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct ComplexityLimits {
    /// Interventions that count as a ratio of 1, at least 1.
    pub max_interventions: u32,
    /// Iterations expected; they shape the score and, under the rule `complexity_limit`, force the
    /// answer. At least 1.
    pub max_iterations: u32,
    /// Tool calls allowed; `None` leaves the task type's budget alone. Default `None`.
    pub tool_budget: Option<u32>,
}

impl ComplexityLimits {
    const fn new(max_interventions: u32, max_iterations: u32) -> Self {
        Self { max_interventions, max_iterations, tool_budget: None }
    }
}

/// Shares of the model's context window (A3, A9).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct TokenBudgets {
    /// Context window where neither run nor model override names one. Tokens, default 128,000.
    pub context_window: u64,
    /// Share of the window at which synthesis is nudged, 0–1, default 0.30.
    pub soft_limit: f32,
    /// Share of the window at which synthesis is forced, `soft_limit`–1, default 0.70.
    pub hard_limit: f32,
    /// Share of the window kept free for the final answer, 0–1, default 0.15. The rule
    /// `context_reserve` acts when what is left falls below it.
    pub reserve: f32,
}

impl Default for TokenBudgets {
    fn default() -> Self {
        Self { context_window: 128_000, soft_limit: 0.30, hard_limit: 0.70, reserve: 0.15 }
    }
}

/// Weights of the hybrid score (A4). Each 0–1; their sum is 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct ScoreWeights {
    /// New resources per iteration, default 0.30.
    pub progress_velocity: f32,
    /// Absence of a stuck loop, default 0.25.
    pub stuck_loop_penalty: f32,
    /// Room left in the context window, default 0.20.
    pub token_budget: f32,
    /// Interventions not yet used up, default 0.15.
    pub intervention_ratio: f32,
    /// Patience that the task's complexity earns, default 0.10.
    pub complexity_adjustment: f32,
}

impl ScoreWeights {
    /// The sum of the weights.
    #[must_use]
    pub fn sum(&self) -> f32 {
        self.progress_velocity
            + self.stuck_loop_penalty
            + self.token_budget
            + self.intervention_ratio
            + self.complexity_adjustment
    }
}

impl Default for ScoreWeights {
    fn default() -> Self {
        Self {
            progress_velocity: 0.30,
            stuck_loop_penalty: 0.25,
            token_budget: 0.20,
            intervention_ratio: 0.15,
            complexity_adjustment: 0.10,
        }
    }
}

/// The continuation protocol (C2–C4).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Protocol {
    /// Only an explicit signal continues a reply without tool calls; otherwise patterns in the
    /// text are looked at too. Default true (C3).
    pub require_explicit_signal: bool,
    /// Continuations in a row after which the run is forced to end, 1–1000, default 10 (C4).
    pub max_iterations: u32,
    /// Time from the first continuation after which the run is forced to end. Milliseconds,
    /// default 300,000 (C4).
    pub timeout_ms: u64,
    /// Nested agents, 1–32, default 3 (C4).
    pub max_depth: u32,
}

impl Default for Protocol {
    fn default() -> Self {
        Self {
            require_explicit_signal: true,
            max_iterations: 10,
            timeout_ms: 300_000,
            max_depth: 3,
        }
    }
}
