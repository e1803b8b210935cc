//! Escalation: how interventions follow each other.
//!
//! Nudge, then nudge synthesis or re-evaluate, then start over or force synthesis, then stop. A
//! run is never ended on a loop's evidence without an earlier word to the agent.

use serde::{Deserialize, Serialize};

use crate::decision::Action;
use crate::policy::{self, Ceiling};
use crate::rules::{Force, Verdict};
use crate::state::State;
use crate::tool::ToolKind;

/// What was said to the agent so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ladder {
    /// The highest rung reached since it was last forgotten: 0 nothing, 1 nudged, 2 urged.
    rung: u8,
    /// Turn of the last intervention; 0 if there was none.
    pub(crate) last_turn: u32,
    /// Interventions of the first two rungs in the run.
    pub(crate) total: u32,
    /// Turn in which the answer was forced; 0 if it was not.
    pub(crate) forced_turn: u32,
    /// Turns that brought something new since the last intervention.
    progress: u32,
    /// The stop was decided: there is nothing left to say.
    pub(crate) stopped: bool,
}

impl Ladder {
    /// The user spoke or a new attempt began: what was said is forgotten.
    pub(crate) const fn forget(&mut self) {
        self.rung = 0;
        self.last_turn = 0;
        self.forced_turn = 0;
        self.progress = 0;
        self.stopped = false;
    }

    /// A turn ended; after enough turns with something new, what was said is forgotten.
    pub(crate) const fn turn_ended(&mut self, novel: bool, forget_after: u32) {
        if novel {
            self.progress = self.progress.saturating_add(1);
            if self.progress >= forget_after {
                self.rung = 0;
            }
        }
    }

    /// An action was decided in `turn`.
    pub(crate) fn decided(&mut self, action: Action, turn: u32) {
        match action {
            Action::Nudge => self.climb(1, turn),
            Action::NudgeSynthesis | Action::ReEvaluate => self.climb(2, turn),
            Action::ForceSynthesis => self.forced_turn = turn.max(1),
            Action::Stop => self.stopped = true,
            Action::Continue | Action::Retry | Action::StartOver => {}
        }
    }

    fn climb(&mut self, rung: u8, turn: u32) {
        self.rung = self.rung.max(rung);
        self.last_turn = turn;
        self.total = self.total.saturating_add(1);
        self.progress = 0;
    }
}

/// What becomes of a verdict: the action it may take now, `None` if it has to wait.
pub(crate) fn settle(
    verdict: &Verdict,
    ceiling: Ceiling,
    state: &State,
    policy: &policy::Ladder,
) -> Option<Action> {
    let ladder = &state.ladder;
    let wanted = match (verdict.force, ceiling) {
        (_, Ceiling::Off) => return None,
        // Once the answer was forced, only the stop is left.
        (Force::Do(action), _) if ladder.forced_turn == 0 || !advises(action) => {
            return Some(capped(action, ceiling));
        }
        (Force::Notice | Force::Urge | Force::Do(_), _) if ladder.forced_turn != 0 => return None,
        (_, Ceiling::Nudge) => Force::Notice,
        (Force::End, Ceiling::Urge) => Force::Urge,
        (wanted, _) => wanted,
    };
    let spoken_before = ladder.rung > 0 && ladder.last_turn < state.turns;
    match wanted {
        Force::End if spoken_before => Some(ending(state)),
        Force::End | Force::Urge | Force::Notice => {
            let waited = state.turns.saturating_sub(ladder.last_turn) >= policy.cooldown_turns;
            let due = ladder.last_turn == 0 || waited;
            if !due || ladder.total >= policy.max_interventions {
                return None;
            }
            let urge = wanted != Force::Notice && ladder.rung >= 1;
            Some(if urge { urging(state) } else { Action::Nudge })
        }
        Force::Do(action) => Some(capped(action, ceiling)),
    }
}

/// An action within a rule's ceiling. A retry takes nothing from the agent and is never capped.
fn capped(action: Action, ceiling: Ceiling) -> Action {
    match ceiling {
        Ceiling::Nudge if action > Action::Nudge && action != Action::Retry => Action::Nudge,
        Ceiling::Urge if action.ends_run() => Action::ReEvaluate,
        _ => action,
    }
}

/// Whether an action is only a word to the agent.
const fn advises(action: Action) -> bool {
    matches!(action, Action::Nudge | Action::NudgeSynthesis | Action::ReEvaluate)
}

/// How a run is ended: a forced answer, or the end if that was asked for already.
fn ending(state: &State) -> Action {
    if state.ladder.forced_turn != 0 { Action::Stop } else { Action::ForceSynthesis }
}

/// Who changes things is asked to reconsider, who only looks to answer.
fn urging(state: &State) -> Action {
    let acts = state.progress.milestones.change_made
        || state.tests.reports > 0
        || state.turn.calls.iter().any(|call| {
            matches!(call.facts.kind, ToolKind::Edit | ToolKind::Test | ToolKind::Execute)
        });
    if acts { Action::ReEvaluate } else { Action::NudgeSynthesis }
}
