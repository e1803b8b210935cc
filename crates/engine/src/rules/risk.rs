//! The learned risk (A9).

use super::{Force, Moment, Verdict, last_call};
use crate::decision::{Action, Evidence};
use crate::policy::Policy;
use crate::reason::Reason;
use crate::risk;
use crate::state::State;

/// Parts of the sum that are shown.
const SHOWN: usize = 3;

/// A risk above the line of the run's profile ends it.
///
/// The line was set so that at most the wanted share of good runs crosses it. That holds for the
/// first crossing only, so no word goes before it.
pub(super) fn risk(state: &State, policy: &Policy, at: Moment) -> Option<Verdict> {
    let line = state.risk.as_ref()?.line.line?;
    // Once the answer was forced, `answer_overdue` watches over it.
    if at != Moment::TurnEnded || state.ladder.forced_turn != 0 {
        return None;
    }
    let found = risk::assess(state, policy)?;
    if found.risk <= line || found.risk.is_nan() {
        return None;
    }
    let mut parts = found.parts;
    parts.retain(|part| part.adds > 0.0);
    parts.truncate(SHOWN);
    let reason = Reason::Risk { risk: found.risk, line, parts };
    let evidence = Evidence::new([state.turns].into(), last_call(state));
    Some(Verdict::new(Force::Do(Action::ForceSynthesis), reason).with(evidence))
}
