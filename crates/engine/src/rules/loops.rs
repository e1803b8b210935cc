//! Loops: what was seen before, and nothing changed in between.

use super::{Force, Moment, Verdict, counted, last_call};
use crate::decision::{Action, Evidence};
use crate::policy::{Policy, RuleId};
use crate::reason::Reason;
use crate::state::State;

/// Whether a turn with tool calls has just ended, and loops are looked for.
fn looking(state: &State, at: Moment) -> bool {
    at == Moment::TurnEnded && !state.turn.calls.is_empty() && state.model.loop_detection
}

/// The same call signature too often within the signature history (D5, third; D7).
pub(super) fn signature_loop(state: &State, policy: &Policy, at: Moment) -> Option<Verdict> {
    if !looking(state, at) {
        return None;
    }
    let history = policy.global.signature_history_size as usize;
    let threshold = policy.task_types.of(state.task_type).loop_repeat_threshold;
    let mut recent = state.progress.signatures.latest().take(history);
    let last = recent.next()?;
    let count = 1 + recent.filter(|signature| *signature == last).count() as u32;
    let reason = Reason::Counted { rule: RuleId::SignatureLoop, count, threshold };
    let evidence = Evidence::new([state.turns].into(), last_call(state));
    (count >= threshold)
        .then(|| Verdict::new(Force::Do(Action::ForceSynthesis), reason).with(evidence))
}

/// Consecutive revisits of files (A1).
pub(super) fn stuck_loop(state: &State, policy: &Policy, at: Moment) -> Option<Verdict> {
    let threshold = policy.continuation.progress.max_revisits_before_nudge;
    let count = state.progress.consecutive_revisits;
    if !looking(state, at) || count < threshold {
        return None;
    }
    let reason = Reason::Counted { rule: RuleId::StuckLoop, count, threshold };
    let evidence = Evidence::new([state.turns].into(), last_call(state));
    Some(Verdict::new(Force::Do(Action::ForceSynthesis), reason).with(evidence))
}

/// The same call with the same outcome, and nothing changed in between.
///
/// Seeing it again is a ground for a word; the run ends only once several turns in a row have
/// brought nothing new at all, and the more so the less the call itself acts.
pub(super) fn repeated_outcome(state: &State, policy: &Policy, at: Moment) -> Option<Verdict> {
    let (repeat, loops) = (&state.loops.repeat, &policy.loops);
    if !looking(state, at) || repeat.seen.count < 2 {
        return None;
    }
    let steps = if repeat.transient { loops.transient_error } else { loops.repeated_outcome };
    let call = state.turn.calls.get(repeat.call as usize);
    let label = call.map_or("", |call| &call.facts.label);
    let mut verdict = counted(RuleId::RepeatedOutcome, &repeat.seen, steps, label)?;
    let needed = if repeat.acts { loops.confirming_acts } else { loops.confirming_turns };
    if verdict.force == Force::End && state.loops.stale.count < needed && !repeat.transient {
        verdict.force = Force::Urge;
    }
    Some(verdict)
}

/// Whole cycles of turns with unchanged outcomes, even where the turns change something.
pub(super) fn cycle(state: &State, policy: &Policy, at: Moment) -> Option<Verdict> {
    let cycle = &state.loops.cycle;
    // One turn again and again is the business of `repeated_outcome`.
    if !looking(state, at) || cycle.period < 2 {
        return None;
    }
    let mut seen = cycle.seen;
    seen.count = cycle.rounds;
    let mut verdict = counted(RuleId::Cycle, &seen, policy.loops.cycle, last_call(state))?;
    verdict.evidence.turns = cycle.seen.turns();
    Some(verdict)
}

/// Different calls of one tool, the same output. The run ends on it only if one of the calls was
/// the very same, too.
pub(super) fn same_output(state: &State, policy: &Policy, at: Moment) -> Option<Verdict> {
    let same = &state.loops.same_output;
    if !looking(state, at) || same.seen.count < 2 {
        return None;
    }
    let steps = policy.loops.same_output;
    let mut verdict = counted(RuleId::SameOutput, &same.seen, steps, last_call(state))?;
    if verdict.force == Force::End && !same.repeated {
        verdict.force = Force::Urge;
    }
    Some(verdict)
}

/// A detector that is one streak measured against its steps.
macro_rules! streak_rule {
    ($(#[$doc:meta])* $name:ident, $rule:ident, $streak:ident) => {
        $(#[$doc])*
        pub(super) fn $name(state: &State, policy: &Policy, at: Moment) -> Option<Verdict> {
            let streak = &state.loops.$streak;
            // Asked while the streak lasts, not long after.
            if !looking(state, at) || streak.count < 2 {
                return None;
            }
            counted(RuleId::$rule, streak, policy.loops.$name, last_call(state))
        }
    };
}

streak_rule! {
    /// Nearly the same calls, nearly the same outputs.
    similar_outcome, SimilarOutcome, similar
}
streak_rule! {
    /// Every call of several turns failed.
    error_streak, ErrorStreak, errors
}
streak_rule! {
    /// Searches that find nothing.
    fruitless_search, FruitlessSearch, fruitless
}
streak_rule! {
    /// Turns that brought nothing new.
    staleness, Staleness, stale
}

/// The same error signature, whatever the arguments.
pub(super) fn same_error(state: &State, policy: &Policy, at: Moment) -> Option<Verdict> {
    let (loops, streak) = (&policy.loops, &state.loops.same_error);
    if !looking(state, at) || streak.count < 2 {
        return None;
    }
    let steps = if state.loops.error_transient { loops.transient_error } else { loops.same_error };
    counted(RuleId::SameError, streak, steps, last_call(state))
}

/// Edits that undo an earlier edit; asked in the turn that undoes one.
pub(super) fn edit_revert(state: &State, policy: &Policy, at: Moment) -> Option<Verdict> {
    let reverts = &state.loops.reverts;
    if !looking(state, at) || reverts.turns().last() != Some(&state.turns) {
        return None;
    }
    counted(RuleId::EditRevert, reverts, policy.loops.edit_revert, last_call(state))
}

/// Turns in a row that talk and call no tool, while nobody answers.
pub(super) fn narration(state: &State, policy: &Policy, at: Moment) -> Option<Verdict> {
    let silent = at == Moment::TurnEnded && state.turn.calls.is_empty();
    if !silent || !state.model.loop_detection {
        return None;
    }
    counted(RuleId::Narration, &state.narration, policy.loops.narration, "")
}

/// Polling that sees no change, for longer than patience lasts.
pub(super) fn polling(state: &State, policy: &Policy, at: Moment) -> Option<Verdict> {
    let polling = &state.loops.polling;
    if !looking(state, at) || polling.count < 2 {
        return None;
    }
    let waited = state.used.now.since_ms(state.loops.polling_since);
    let impatient = waited >= policy.loops.polling_patience_ms;
    let verdict = counted(RuleId::Polling, polling, policy.loops.polling, last_call(state));
    verdict.or_else(|| {
        let threshold = policy.loops.polling.notice;
        let reason = Reason::Counted { rule: RuleId::Polling, count: polling.count, threshold };
        let evidence = Evidence::new(polling.turns(), last_call(state));
        impatient.then(|| Verdict::new(Force::Notice, reason).with(evidence))
    })
}
