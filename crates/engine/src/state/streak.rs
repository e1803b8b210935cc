//! How often in a row something was seen, and in which turns.

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::decision::Evidence;

/// A count with the latest turns it was seen in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Stored", into = "Stored")]
pub(crate) struct Streak {
    /// How often it was seen.
    pub(crate) count: u32,
    turns: [u32; Evidence::MAX_TURNS],
}

/// A streak as it is stored: the count, and only the turns that are in use.
#[derive(Serialize, Deserialize)]
struct Stored(u32, Vec<u32>);

impl From<Stored> for Streak {
    fn from(Stored(count, kept): Stored) -> Self {
        let mut turns = [0; Evidence::MAX_TURNS];
        turns.iter_mut().zip(kept).for_each(|(turn, kept)| *turn = kept);
        Self { count, turns }
    }
}

impl From<Streak> for Stored {
    fn from(streak: Streak) -> Self {
        let kept = (streak.count as usize).min(Evidence::MAX_TURNS);
        Self(streak.count, streak.turns[..kept].to_vec())
    }
}

impl Streak {
    /// Counts one more, seen in `turn`.
    pub(crate) fn extend(&mut self, turn: u32) {
        self.turns[self.count as usize % Evidence::MAX_TURNS] = turn;
        self.count = self.count.saturating_add(1);
    }

    /// Begins anew with `turn`.
    pub(crate) fn restart(&mut self, turn: u32) {
        *self = Self::default();
        self.extend(turn);
    }

    pub(crate) fn reset(&mut self) {
        *self = Self::default();
    }

    /// The latest turns, ascending.
    pub(crate) fn turns(&self) -> Vec<u32> {
        let kept = (self.count as usize).min(Evidence::MAX_TURNS);
        let mut turns = self.turns[..kept].to_vec();
        turns.sort_unstable();
        turns.dedup();
        turns
    }
}
