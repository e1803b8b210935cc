//! Failed model calls (E2, E3).

use super::{Force, Moment, Verdict};
use crate::decision::Action;
use crate::policy::Policy;
use crate::reason::Reason;
use crate::retry;
use crate::state::State;
use crate::stop_reason::StopReason;

/// A model call failed, or its reply says that it did.
pub(super) fn failed_call(state: &State, policy: &Policy, at: Moment) -> Option<Verdict> {
    if at == Moment::TurnEnded {
        return failed_reply(state, policy);
    }
    let failure = state.failure.as_ref()?;
    let failures = state.call_failures;
    let stop = Reason::CallFailed { failures, status: failure.status, stop: failure.stop };
    if failure.retryable
        && let Some(verdict) = retry_verdict(state, policy, failure.retry_after_ms)
    {
        return Some(verdict);
    }
    Some(Verdict::new(Force::Do(Action::Stop), stop))
}

/// A reply with the stop reason `error`; an unknown word only where the reply holds nothing, so
/// that an answer is never thrown away because a server invents words (E2, E7).
fn failed_reply(state: &State, policy: &Policy) -> Option<Verdict> {
    let nothing = !state.turn.has_text && state.turn.calls.is_empty();
    let failed = match state.turn.stop? {
        StopReason::Error => state.turn.calls.is_empty(),
        StopReason::Unknown => nothing,
        _ => false,
    };
    if !failed {
        return None;
    }
    let stop = || {
        let (failures, stop) = (state.call_failures, state.turn.stop);
        let reason = Reason::CallFailed { failures, status: None, stop };
        Verdict::new(Force::Do(Action::Stop), reason)
    };
    Some(retry_verdict(state, policy, None).unwrap_or_else(stop))
}

/// The retry that is due; `None` if all were used or the server asks for too long a wait.
fn retry_verdict(state: &State, policy: &Policy, retry_after: Option<u64>) -> Option<Verdict> {
    let (attempt, allowed) = (state.call_failures.max(1), policy.retry.max_retries);
    if attempt > allowed {
        return None;
    }
    let delay = retry::delay_ms(&policy.retry, attempt, retry_after, &state.info.id)?;
    let reason = Reason::RetryableFailure { attempt, allowed };
    let verdict = Verdict::new(Force::Do(Action::Retry), reason);
    Some(Verdict { delay_ms: Some(delay), ..verdict })
}
