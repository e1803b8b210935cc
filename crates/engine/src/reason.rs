//! Why a decision was made.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use serde::{Deserialize, Serialize};

use crate::policy::RuleId;
use crate::risk::RiskPart;
use crate::stop_reason::StopReason;

/// Why a decision was made, with the numbers behind it. `Display` is a sentence for users.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Reason {
    /// Nothing speaks against going on.
    #[default]
    Progressing,
    /// The reply ends the run and is accepted.
    Finished {
        /// A check proved the goal.
        proved: bool,
    },
    /// The reply ends the run, and the check that could prove it has not run yet.
    ClaimUnchecked,
    /// The reply asks the user; the turn is theirs.
    AwaitingUser,
    /// The reply signals that it goes on (C2).
    SignalledContinue,
    /// A person asked for the stop.
    StopRequested,
    /// A forced answer did not come.
    AnswerOverdue {
        /// Turns since the answer was forced.
        turns: u32,
    },
    /// A model call failed and a retry can help.
    RetryableFailure {
        /// The retry this is, from 1.
        attempt: u32,
        /// Retries allowed.
        allowed: u32,
    },
    /// A model call failed and no retry can help, or all were used.
    CallFailed {
        /// Calls that failed in a row.
        failures: u32,
        /// HTTP status; `None` if no answer arrived.
        status: Option<u16>,
        /// The stop reason; `None` if there was none.
        stop: Option<StopReason>,
    },
    /// A budget of the section `limits`, or the protocol's, is used up.
    Budget {
        /// Which one, by its key.
        budget: String,
        /// What was used.
        used: u64,
        /// What was allowed.
        allowed: u64,
    },
    /// The hybrid score fell below a threshold (A4).
    LowScore {
        /// The score.
        score: f32,
        /// The threshold.
        threshold: f32,
    },
    /// The conversation fills a share of the context window (A3, A9).
    ContextFull {
        /// Tokens in the conversation.
        tokens: u64,
        /// The window.
        window: u64,
        /// The rule that says so.
        rule: RuleId,
    },
    /// Tests do not get better (B2, B3).
    TestsStuck {
        /// Results in a row without a new low of failing tests.
        results: u32,
        /// Failing tests of the last result.
        failed: u32,
        /// Passing tests of the last result.
        passed: u32,
        /// The rule that says so.
        rule: RuleId,
    },
    /// A rule counted something up to its threshold.
    Counted {
        /// The rule.
        rule: RuleId,
        /// What was counted.
        count: u32,
        /// The threshold that was reached.
        threshold: u32,
    },
    /// The learned risk is above a line (A9).
    Risk {
        /// The risk, in log odds.
        risk: f32,
        /// The line it is above.
        line: f32,
        /// What added most to it, the largest first.
        parts: Vec<RiskPart>,
    },
    /// The reply itself is not what it should be: cut off, empty, or announcing work undone.
    Reply {
        /// The rule that says so.
        rule: RuleId,
    },
}

impl Reason {
    /// The reason's name in files and output: the rule's key, or the kind.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Progressing => "progressing",
            Self::Finished { .. } => "finished",
            Self::ClaimUnchecked => "claim_unchecked",
            Self::AwaitingUser => "awaiting_user",
            Self::SignalledContinue => "signalled_continue",
            Self::StopRequested => "stop_requested",
            Self::AnswerOverdue { .. } => "answer_overdue",
            Self::RetryableFailure { .. } | Self::CallFailed { .. } => "failed_call",
            Self::Budget { .. } => "budget",
            Self::LowScore { .. } => "score",
            Self::Risk { .. } => RuleId::Risk.key(),
            Self::ContextFull { rule, .. }
            | Self::TestsStuck { rule, .. }
            | Self::Counted { rule, .. }
            | Self::Reply { rule } => rule.key(),
        }
    }

    /// The number that was counted; 0 where nothing is.
    #[must_use]
    pub const fn count(&self) -> u32 {
        match self {
            Self::Counted { count, .. } => *count,
            Self::TestsStuck { results, .. } => *results,
            Self::AnswerOverdue { turns } => *turns,
            _ => 0,
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Progressing => f.write_str("nothing speaks against going on"),
            Self::Finished { proved: true } => f.write_str("finished, and the check proves it"),
            Self::Finished { proved: false } => f.write_str("the reply ends the turn"),
            Self::ClaimUnchecked => f.write_str("says it is done; the check has not run yet"),
            Self::AwaitingUser => f.write_str("asks the user"),
            Self::SignalledContinue => f.write_str("signals that it goes on"),
            Self::StopRequested => f.write_str("a person asked for the stop"),
            Self::AnswerOverdue { turns } => {
                write!(f, "the answer was forced {turns} turns ago and has not come")
            }
            Self::RetryableFailure { attempt, allowed } => {
                write!(f, "the model call failed; retry {attempt} of {allowed}")
            }
            Self::CallFailed { failures, status, stop } => {
                fmt_failure(f, *failures, *status, *stop)
            }
            Self::Budget { budget, used, allowed } => {
                write!(f, "the budget {budget} is used up: {used} of {allowed}")
            }
            Self::LowScore { score, threshold } => {
                write!(f, "the continuation score {score:.2} is below {threshold:.2}")
            }
            Self::ContextFull { tokens, window, .. } => {
                let percent = tokens.saturating_mul(100) / (*window).max(1);
                write!(f, "the conversation fills {percent} % of the context window")?;
                write!(f, " ({tokens} of {window} tokens)")
            }
            Self::TestsStuck { results, failed, passed, rule } => {
                fmt_tests(f, *results, *failed, *passed, *rule)
            }
            Self::Risk { risk, line, parts } => {
                write!(f, "the risk of failing, {risk:.2}, is above the line {line:.2}")?;
                parts.iter().enumerate().try_for_each(|(at, part)| {
                    write!(f, "{} {part}", if at == 0 { ":" } else { "," })
                })
            }
            Self::Counted { rule, count, threshold } => fmt_count(f, *rule, *count, *threshold),
            Self::Reply { rule } => f.write_str(match rule {
                RuleId::CutOff => "the reply was cut off by the limit on generated tokens",
                RuleId::EmptyReply => "the reply says nothing and calls nothing",
                RuleId::PrematureEnd => "the reply announces work and ends without doing it",
                RuleId::ContradictedClaim => "claims success while the last check failed",
                _ => "the target was read and nothing was done",
            }),
        }
    }
}

fn fmt_failure(
    f: &mut fmt::Formatter<'_>,
    failures: u32,
    status: Option<u16>,
    stop: Option<StopReason>,
) -> fmt::Result {
    f.write_str("the model call failed")?;
    if failures > 1 {
        write!(f, " {failures} times in a row")?;
    }
    match (status, stop) {
        (Some(status), _) => write!(f, " (HTTP {status})"),
        (None, Some(stop)) => write!(f, " ({stop})"),
        (None, None) => Ok(()),
    }?;
    f.write_str("; no retry can help")
}

fn fmt_tests(
    f: &mut fmt::Formatter<'_>,
    results: u32,
    failed: u32,
    passed: u32,
    rule: RuleId,
) -> fmt::Result {
    match rule {
        RuleId::StrategyCheckpoint => write!(f, "tests still fail at a checkpoint")?,
        _ => write!(f, "{results} test results in a row without a new low of failing tests")?,
    }
    write!(f, " ({failed} failing, {passed} passing)")
}

fn fmt_count(f: &mut fmt::Formatter<'_>, rule: RuleId, n: u32, threshold: u32) -> fmt::Result {
    match rule {
        RuleId::RepeatedOutcome => {
            write!(
                f,
                "the same call had the same outcome {n} times, and nothing changed in between"
            )
        }
        RuleId::Cycle => {
            write!(f, "the same round of calls went by {n} times, with the same outcomes")
        }
        RuleId::SameOutput => write!(f, "{n} calls in a row gave the same output"),
        RuleId::SimilarOutcome => {
            write!(f, "{n} turns in a row with nearly the same call and nearly the same output")
        }
        RuleId::SameError => write!(f, "the same error {n} times in a row"),
        RuleId::ErrorStreak => write!(f, "every call of {n} turns in a row failed"),
        RuleId::FruitlessSearch => write!(f, "{n} searches in a row found nothing"),
        RuleId::Narration => write!(f, "{n} turns in a row without a tool call"),
        RuleId::EditRevert => write!(f, "{n} edits undid an earlier edit"),
        RuleId::Chanting => write!(f, "the same text stands {n} times in one reply"),
        RuleId::Staleness => write!(f, "{n} turns in a row brought nothing new"),
        RuleId::Polling => write!(f, "{n} polls in a row saw no change"),
        RuleId::StuckLoop => write!(f, "{n} reads in a row of what was read before"),
        RuleId::SignatureLoop => write!(f, "the same call {n} times within the signature history"),
        RuleId::ToolBudget => write!(f, "the tool budget is used up: {n} of {threshold} calls"),
        RuleId::MaxIterations => write!(f, "{n} iterations; the effective maximum is {threshold}"),
        RuleId::ComplexityLimit => {
            write!(f, "{n} iterations; the task's complexity allows {threshold}")
        }
        _ => write!(f, "{} {n} times (threshold {threshold})", rule.key()),
    }
}

#[cfg(test)]
mod tests {
    use std::string::ToString;

    use super::*;

    #[test]
    fn reasons_are_sentences() {
        let failed = Reason::CallFailed { failures: 6, status: Some(503), stop: None };
        let cases = [
            (failed, "the model call failed 6 times in a row (HTTP 503); no retry can help"),
            (
                Reason::Counted { rule: RuleId::SameError, count: 4, threshold: 4 },
                "the same error 4 times in a row",
            ),
            (
                Reason::ContextFull { tokens: 70, window: 100, rule: RuleId::TokenBudget },
                "the conversation fills 70 % of the context window (70 of 100 tokens)",
            ),
        ];
        for (reason, expected) in cases {
            assert_eq!(reason.to_string(), expected);
        }
    }
}
