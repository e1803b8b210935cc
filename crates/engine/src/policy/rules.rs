//! Section `rules`: how far each rule may go.

use serde::{Deserialize, Serialize};

/// How far a rule may go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Ceiling {
    /// The rule is switched off.
    Off,
    /// A nudge at most.
    Nudge,
    /// A nudge, a nudge to synthesis or a re-evaluation.
    Urge,
    /// Everything, ending the run included.
    #[default]
    End,
}

macro_rules! rules {
    ($($(#[$doc:meta])* $id:ident $key:ident = $default:ident,)*) => {
        /// A rule of the engine, in the order in which rules are asked.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(rename_all = "snake_case")]
        pub enum RuleId { $($(#[$doc])* $id,)* }

        impl RuleId {
            /// Every rule, in order.
            pub const ALL: &'static [Self] = &[$(Self::$id,)*];

            /// The rule's key in the policy file.
            #[must_use]
            pub const fn key(self) -> &'static str {
                match self { $(Self::$id => stringify!($key),)* }
            }
        }

        /// How far each rule may go: `off`, `nudge`, `urge` or `end`.
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(default, deny_unknown_fields)]
        pub struct Rules { $($(#[$doc])* pub $key: Ceiling,)* }

        impl Default for Rules {
            fn default() -> Self { Self { $($key: Ceiling::$default,)* } }
        }

        impl Rules {
            /// The ceiling of one rule.
            #[must_use]
            pub const fn of(&self, rule: RuleId) -> Ceiling {
                match rule { $(RuleId::$id => self.$key,)* }
            }

            /// Sets the ceiling of one rule.
            pub const fn set(&mut self, rule: RuleId, ceiling: Ceiling) {
                match rule { $(RuleId::$id => self.$key = ceiling,)* }
            }
        }
    };
}

rules! {
    /// A person asked for the stop (D5, first).
    StopRequested stop_requested = End,
    /// A forced answer did not come.
    AnswerOverdue answer_overdue = End,
    /// A model call failed (E2, E3).
    FailedCall failed_call = End,
    /// A budget of the section `limits` is used up.
    Budget budget = End,
    /// The task type's tool budget is used up (D5, second).
    ToolBudget tool_budget = Off,
    /// The same call signature too often in the signature history (D5, third; D7).
    SignatureLoop signature_loop = Off,
    /// The effective maximum of iterations is reached (D5, fourth; D6).
    MaxIterations max_iterations = Off,
    /// The target was read and nothing was done (D5, fifth).
    GoalForcing goal_forcing = Off,
    /// The complexity class's iterations or interventions are used up (A2).
    ComplexityLimit complexity_limit = Off,
    /// Consecutive revisits without anything new (A1).
    StuckLoop stuck_loop = Off,
    /// The hybrid score is low (A4).
    Score score = Off,
    /// The context window fills up (A3).
    TokenBudget token_budget = Off,
    /// Not enough of the context window is left for the answer (A9).
    ContextReserve context_reserve = Nudge,
    /// The continuation protocol's limits (C4).
    Protocol protocol = End,
    /// Tests do not get better (B2, B8).
    StuckTests stuck_tests = Urge,
    /// Tests still fail at a checkpoint (B3).
    StrategyCheckpoint strategy_checkpoint = Urge,
    /// The same call with the same outcome, nothing changed in between.
    RepeatedOutcome repeated_outcome = End,
    /// A cycle of turns with unchanged outcomes.
    Cycle cycle = End,
    /// Different calls, the same output.
    SameOutput same_output = End,
    /// Nearly the same calls, nearly the same outputs.
    SimilarOutcome similar_outcome = Urge,
    /// The same error again and again.
    SameError same_error = End,
    /// Error after error.
    ErrorStreak error_streak = Urge,
    /// Searches that find nothing.
    FruitlessSearch fruitless_search = Urge,
    /// Turns that announce and do not act.
    Narration narration = End,
    /// Edits that undo each other.
    EditRevert edit_revert = Urge,
    /// The same text chanted inside one reply.
    Chanting chanting = Urge,
    /// Nothing new for long.
    Staleness staleness = Urge,
    /// The learned risk is above the line; silent without tables in the section `risk`.
    Risk risk = End,
    /// Polling that sees no change.
    Polling polling = Nudge,
    /// The reply was cut off by the token limit.
    CutOff cut_off = Nudge,
    /// The reply is empty, or only thinks.
    EmptyReply empty_reply = Nudge,
    /// The reply announces work and ends.
    PrematureEnd premature_end = Nudge,
    /// The reply claims success against the last test results or check.
    ContradictedClaim contradicted_claim = Nudge,
}
