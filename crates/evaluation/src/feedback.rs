//! People's marks move the thresholds of the rules they are about (A9).
//!
//! Each mark says of one intervention that it was helpful or harmful. With every share of harmful
//! ones as likely as any other beforehand, `h` harmful and `g` helpful marks of a rule leave the
//! belief Beta(1 + h, 1 + g). Its middle 80 % decide; up to one in three may be harmful:
//!
//! * **The lower end is above 1/3: towards patience.** `notice`, `urge` and `end` rise to the
//!   shipped value times 1 + w, where w grows from 0 at a lower end of 1/3 to 1 at 1: at most to
//!   twice the shipped value. What is above that already stays. A rule without such thresholds
//!   loses its strongest action instead: no more than `urge`, and above 2/3 no more than `nudge`.
//! * **The upper end is below 1/3: trust.** Thresholds that marks can have raised, those up to
//!   twice the shipped value, go back towards it, the further the closer the upper end is to 0. A
//!   `notice` that is there already goes one below the shipped value, to no less than 2. A ceiling
//!   never rises.
//! * **In between nothing moves.** Two unanimous harmful marks are enough for the first, five
//!   unanimous helpful ones for the second.
//!
//! | harmful of all marks | middle 80 % | a shipped threshold of 10 |
//! |---|---|---|
//! | 1 of 1 | 32–95 % | 10 |
//! | 2 of 2 | 46–97 % | 12 |
//! | 4 of 5 | 49–91 % | 13 |
//! | 10 of 10 | 81–99 % | 18 |
//! | 5 of 10 | 32–68 % | 10 |
//! | 0 of 5 | 2–32 % | 10, `notice` 9 |
//!
//! The result follows from the policy and the number of marks alone. A further harmful mark never
//! makes a rule speak earlier or more strongly: both ends of the interval grow with it. The same
//! marks again raise nothing further.
//!
//! Marks leave alone what someone has set or asked for: a stop by a person, budgets, limits of the
//! protocol, the answer that is due, failed calls. They leave `loops.transient_error` alone, too,
//! because an entry of the journal does not tell whether an error was a passing one.

use std::collections::BTreeMap;

use steersman_engine::Policy;
use steersman_engine::policy::{Ceiling, Loops, RuleId, Steps};

use crate::credible::quantile;
use crate::journal::Opinion;

/// Share of harmful interventions that is put up with.
const TOLERATED: f64 = 1.0 / 3.0;

/// Above this share a rule without thresholds keeps only its nudge.
const MOSTLY: f64 = 2.0 / 3.0;

/// A person's mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mark {
    /// The rule whose intervention it is about.
    pub rule: RuleId,
    /// What it says.
    pub opinion: Opinion,
}

/// A value of a policy that marks have moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    /// The rule that the marks are about.
    pub rule: RuleId,
    /// The key, dotted: `loops.cycle.notice`.
    pub path: String,
    /// The value before, as it stands in a file.
    pub from: String,
    /// The value now, as it stands in a file.
    pub to: String,
    /// Why, in one sentence.
    pub why: String,
}

/// What the marks of a rule say.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    helpful: u32,
    harmful: u32,
}

/// What follows from a tally.
#[derive(Clone, Copy, Debug)]
enum Verdict {
    /// More patience, by a weight above 0, up to 1.
    Patience { weight: f64, share: f64 },
    /// Less patience, by a weight above 0, up to 1.
    Trust { weight: f64, share: f64 },
}

impl Tally {
    fn add(&mut self, opinion: Opinion) {
        let count = match opinion {
            Opinion::Helpful => &mut self.helpful,
            Opinion::Harmful => &mut self.harmful,
        };
        *count = count.saturating_add(1);
    }

    /// `None` where the marks are too few or too mixed.
    fn verdict(self) -> Option<Verdict> {
        let at = |level| quantile(level, self.harmful, self.helpful);
        let (low, high) = (at(0.1), at(0.9));
        if low > TOLERATED {
            Some(Verdict::Patience { weight: (low - TOLERATED) / (1.0 - TOLERATED), share: low })
        } else if high < TOLERATED {
            Some(Verdict::Trust { weight: (TOLERATED - high) / TOLERATED, share: high })
        } else {
            None
        }
    }

    fn why(self, verdict: Verdict) -> String {
        let Self { helpful, harmful } = self;
        let all = u64::from(helpful) + u64::from(harmful);
        let (count, word, side, share, than) = match verdict {
            Verdict::Patience { share, .. } => (harmful, "harmful", "at least", share, "more"),
            Verdict::Trust { share, .. } => (helpful, "helpful", "at most", share, "less"),
        };
        format!(
            "{count} of {all} marks call it {word}: {side} {:.0} % of its interventions are likely \
             to be harmful, {than} than the third that is put up with",
            share * 100.0
        )
    }
}

/// Moves the thresholds of a policy as people's marks ask for, and says what was moved, in the
/// order of the rules. The order of the marks does not matter. The policy must be valid; it
/// stays so.
pub fn apply(policy: &mut Policy, marks: &[Mark]) -> Vec<Move> {
    let mut tallies: BTreeMap<RuleId, Tally> = BTreeMap::new();
    for mark in marks {
        tallies.entry(mark.rule).or_default().add(mark.opinion);
    }
    let mut moves = Vec::new();
    for (rule, tally) in tallies {
        let Some(verdict) = tally.verdict() else { continue };
        let mut note = |path: String, from: String, to: String| {
            if from != to {
                moves.push(Move { rule, path, from, to, why: tally.why(verdict) });
            }
        };
        if let Some(steps) = steps_of(&mut policy.loops, rule) {
            let from = *steps;
            let shipped = steps_of(&mut Loops::default(), rule).map_or(from, |steps| *steps);
            *steps = moved_steps(from, shipped, verdict);
            let key = |name: &str| format!("loops.{}.{name}", rule.key());
            let end =
                |end: Option<u32>| end.map_or_else(|| "null".to_owned(), |end| end.to_string());
            note(key("notice"), from.notice.to_string(), steps.notice.to_string());
            note(key("urge"), from.urge.to_string(), steps.urge.to_string());
            note(key("end"), end(from.end), end(steps.end));
            if rule == RuleId::Polling {
                let from = policy.loops.polling_patience_ms;
                let to = moved(from, Loops::default().polling_patience_ms, verdict);
                policy.loops.polling_patience_ms = to;
                note("loops.polling_patience_ms".to_owned(), from.to_string(), to.to_string());
            }
        } else if let (Verdict::Patience { share, .. }, false) = (verdict, is_fixed(rule)) {
            let from = policy.rules.of(rule);
            let to = from.min(if share > MOSTLY { Ceiling::Nudge } else { Ceiling::Urge });
            policy.rules.set(rule, to);
            note(format!("rules.{}", rule.key()), word(from), word(to));
        }
    }
    moves
}

/// The thresholds of a rule; `None` if it has none of this kind.
const fn steps_of(loops: &mut Loops, rule: RuleId) -> Option<&mut Steps> {
    Some(match rule {
        RuleId::RepeatedOutcome => &mut loops.repeated_outcome,
        RuleId::Cycle => &mut loops.cycle,
        RuleId::SameOutput => &mut loops.same_output,
        RuleId::SimilarOutcome => &mut loops.similar_outcome,
        RuleId::SameError => &mut loops.same_error,
        RuleId::ErrorStreak => &mut loops.error_streak,
        RuleId::FruitlessSearch => &mut loops.fruitless_search,
        RuleId::Narration => &mut loops.narration,
        RuleId::EditRevert => &mut loops.edit_revert,
        RuleId::Chanting => &mut loops.chanting,
        RuleId::Staleness => &mut loops.staleness,
        RuleId::Polling => &mut loops.polling,
        _ => return None,
    })
}

/// Whether a rule carries out what someone has set or asked for, or what cannot be helped.
const fn is_fixed(rule: RuleId) -> bool {
    matches!(
        rule,
        RuleId::StopRequested
            | RuleId::AnswerOverdue
            | RuleId::FailedCall
            | RuleId::Budget
            | RuleId::Protocol
    )
}

/// Where the thresholds of a rule go.
fn moved_steps(from: Steps, shipped: Steps, verdict: Verdict) -> Steps {
    let step = |from: u32, shipped: u32| {
        u32::try_from(moved(from.into(), shipped.into(), verdict)).unwrap_or(from)
    };
    let mut notice = step(from.notice, shipped.notice);
    if matches!(verdict, Verdict::Trust { .. }) && from.notice <= shipped.notice {
        notice = from.notice.min((shipped.notice - 1).max(2));
    }
    // A value that was set by hand may be out of the order of the shipped ones.
    let urge = step(from.urge, shipped.urge).max(notice);
    let end = from.end.map(|end| shipped.end.map_or(end, |shipped| step(end, shipped)).max(urge));
    Steps { notice, urge, end }
}

/// Where a number goes: up to the shipped value and more, or back to it.
fn moved(from: u64, shipped: u64, verdict: Verdict) -> u64 {
    match verdict {
        Verdict::Patience { weight, .. } => {
            let target = shipped as f64 * (1.0 + weight);
            from.max(target.ceil() as u64)
        }
        Verdict::Trust { weight, .. } if (shipped..=shipped.saturating_mul(2)).contains(&from) => {
            from - ((from - shipped) as f64 * weight).floor() as u64
        }
        Verdict::Trust { .. } => from,
    }
}

/// A ceiling as it stands in a file.
fn word(ceiling: Ceiling) -> String {
    match ceiling {
        Ceiling::Off => "off",
        Ceiling::Nudge => "nudge",
        Ceiling::Urge => "urge",
        Ceiling::End => "end",
    }
    .to_owned()
}

#[cfg(test)]
mod tests;
