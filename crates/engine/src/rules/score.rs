//! The hybrid score (A4).

use super::{Force, Moment, Verdict};
use crate::decision::Action;
use crate::policy::Policy;
use crate::reason::Reason;
use crate::signals::Signals;
use crate::state::State;

/// From the upper threshold on exploration goes on, from the lower one on synthesis is nudged,
/// below it is forced (A4).
pub(super) fn score(state: &State, policy: &Policy, at: Moment) -> Option<Verdict> {
    if at != Moment::TurnEnded || state.turn.calls.is_empty() {
        return None;
    }
    let score = Signals::measure(state, policy).score(policy);
    let section = &policy.continuation;
    if score >= section.continue_score {
        return None;
    }
    let nudge = score >= section.synthesis_score;
    let threshold = if nudge { section.continue_score } else { section.synthesis_score };
    let action = if nudge { Action::NudgeSynthesis } else { Action::ForceSynthesis };
    Some(Verdict::new(Force::Do(action), Reason::LowScore { score, threshold }))
}
