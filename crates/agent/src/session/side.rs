//! The group of attempts side by side, as its journal tells it.

use super::{Phase, Session};
use crate::entry::Entry;
use crate::sides::{SideEnded, Sides};

impl Session {
    /// The attempts side by side that this session is the group of; `None` if it is of none.
    #[must_use]
    pub const fn sides(&self) -> Option<&Sides> {
        self.sides.as_ref()
    }

    /// Takes in what the journal says of attempts side by side.
    pub(super) fn take_side(&mut self, entry: &Entry) {
        match entry {
            Entry::SidesBegun(begun) => {
                self.outlook.attempt = u32::try_from(begun.sides.len()).unwrap_or(u32::MAX);
                self.sides = Some(Sides { begun: begun.clone(), ..Sides::default() });
                // The attempts work; the group itself calls no model.
                self.phase = Phase::AwaitingUser;
            }
            Entry::SideEnded(end) => self.end_side(end),
            Entry::SideChosen { number, .. } => {
                if let Some(sides) = &mut self.sides {
                    sides.chosen = Some(*number);
                }
            }
            Entry::SideApplied { .. } => {
                if let Some(sides) = &mut self.sides {
                    sides.applied = true;
                }
            }
            _ => {}
        }
    }

    fn end_side(&mut self, end: &SideEnded) {
        let Some(sides) = &mut self.sides else { return };
        sides.ended.retain(|known| known.number != end.number);
        sides.ended.push(end.clone());
        let all = &mut self.outlook;
        all.turns = all.turns.saturating_add(end.turns);
        all.calls = all.calls.saturating_add(end.calls);
        all.input_tokens = all.input_tokens.saturating_add(end.input_tokens);
        all.output_tokens = all.output_tokens.saturating_add(end.output_tokens);
        all.cost_nanodollars = all.cost_nanodollars.saturating_add(end.cost_nanodollars);
    }
}
