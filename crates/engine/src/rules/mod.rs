//! The rules: one visible, ordered list.
//!
//! A rule is a small pure function of state and policy. To add one, write it in the file it
//! belongs to, add its name to the list in `policy/rules.rs`, and a line here.

mod answer;
mod budgets;
mod failed_call;
mod goals;
mod loops;
mod reply;
mod risk;
mod score;
mod tests_stuck;

use crate::decision::{Action, Evidence};
use crate::event::Event;
use crate::policy::{Policy, RuleId, Steps};
use crate::reason::Reason;
use crate::state::{State, Streak};

/// A rule.
pub(crate) type Rule = fn(&State, &Policy, Moment) -> Option<Verdict>;

/// Every rule, in the order in which they are asked. Among verdicts of equal strength the first
/// wins: a person's stop, then budgets, then the documents' decision point (D5), then the loop
/// detectors from the most to the least specific, then what the reply itself lacks.
pub(crate) const RULES: &[(RuleId, Rule)] = &[
    (RuleId::StopRequested, answer::stop_requested),
    (RuleId::AnswerOverdue, answer::answer_overdue),
    (RuleId::FailedCall, failed_call::failed_call),
    (RuleId::Budget, budgets::budget),
    (RuleId::ToolBudget, budgets::tool_budget),
    (RuleId::SignatureLoop, loops::signature_loop),
    (RuleId::MaxIterations, budgets::max_iterations),
    (RuleId::GoalForcing, goals::goal_forcing),
    (RuleId::ComplexityLimit, budgets::complexity_limit),
    (RuleId::StuckLoop, loops::stuck_loop),
    (RuleId::Score, score::score),
    (RuleId::TokenBudget, budgets::token_budget),
    (RuleId::ContextReserve, budgets::context_reserve),
    (RuleId::Protocol, answer::protocol),
    (RuleId::StuckTests, tests_stuck::stuck_tests),
    (RuleId::StrategyCheckpoint, tests_stuck::strategy_checkpoint),
    (RuleId::RepeatedOutcome, loops::repeated_outcome),
    (RuleId::Cycle, loops::cycle),
    (RuleId::SameOutput, loops::same_output),
    (RuleId::SimilarOutcome, loops::similar_outcome),
    (RuleId::SameError, loops::same_error),
    (RuleId::ErrorStreak, loops::error_streak),
    (RuleId::FruitlessSearch, loops::fruitless_search),
    (RuleId::Narration, loops::narration),
    (RuleId::EditRevert, loops::edit_revert),
    (RuleId::Chanting, reply::chanting),
    (RuleId::Staleness, loops::staleness),
    (RuleId::Risk, risk::risk),
    (RuleId::Polling, loops::polling),
    (RuleId::CutOff, reply::cut_off),
    (RuleId::EmptyReply, reply::empty_reply),
    (RuleId::PrematureEnd, reply::premature_end),
    (RuleId::ContradictedClaim, reply::contradicted_claim),
];

/// When rules are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    /// A turn has ended.
    TurnEnded,
    /// A model call failed.
    CallFailed,
    /// A check was reported.
    CheckReported,
    /// A person asked for the stop, or time passed.
    Interrupt,
    /// Anything else: nothing is decided.
    Other,
}

impl Moment {
    /// The moment of an event.
    pub(crate) const fn of(event: &Event<'_>) -> Self {
        match event {
            Event::TurnEnded => Self::TurnEnded,
            Event::CallFailed(_) => Self::CallFailed,
            Event::CheckReported(_) => Self::CheckReported,
            Event::StopRequested | Event::TimePassed => Self::Interrupt,
            _ => Self::Other,
        }
    }
}

/// How strongly a rule speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Force {
    /// A nudge is due.
    Notice,
    /// The strategy should be questioned, or synthesis begun.
    Urge,
    /// The run should end; it does if the agent was told before.
    End,
    /// This action, whatever was said before.
    Do(Action),
}

/// What a rule says.
#[derive(Clone, Debug)]
pub(crate) struct Verdict {
    pub(crate) force: Force,
    pub(crate) reason: Reason,
    pub(crate) evidence: Evidence,
    pub(crate) delay_ms: Option<u64>,
}

impl Default for Verdict {
    fn default() -> Self {
        Self::new(Force::Do(Action::Continue), Reason::Progressing)
    }
}

impl Verdict {
    pub(crate) fn new(force: Force, reason: Reason) -> Self {
        Self { force, reason, evidence: Evidence::default(), delay_ms: None }
    }

    pub(crate) fn with(self, evidence: Evidence) -> Self {
        Self { evidence, ..self }
    }
}

/// The verdict of a streak measured against its steps; `None` below the first.
fn counted(rule: RuleId, streak: &Streak, steps: Steps, excerpt: &str) -> Option<Verdict> {
    let count = streak.count;
    let (force, threshold) = match steps.end {
        Some(end) if count >= end => (Force::End, end),
        _ if count >= steps.urge => (Force::Urge, steps.urge),
        _ if count >= steps.notice => (Force::Notice, steps.notice),
        _ => return None,
    };
    let reason = Reason::Counted { rule, count, threshold };
    Some(Verdict::new(force, reason).with(Evidence::new(streak.turns(), excerpt)))
}

/// The call of the last turn that is quoted as evidence.
fn last_call(state: &State) -> &str {
    state.turn.calls.last().map_or("", |call| &call.facts.label)
}
