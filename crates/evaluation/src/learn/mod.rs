//! Learning from one's own graded runs (A9): a risk model that can be read, and the lines at which
//! it may end a run.
//!
//! 1. A [`Record`] is kept of each run: what every turn but the last looked like.
//! 2. [`Usuals`] says what is usual for each agent and model, and how often they succeed.
//! 3. [`fit()`] makes a table per feature: what its value adds to the log odds that the run fails.
//! 4. [`calibrate()`] draws a line per agent and model so that at most a share α of good runs is
//!    expected above it (split-conformal, cross-fitted by task instance).
//! 5. [`validate`] measures all of it on runs that took no part.
//!
//! Everything is deterministic: no clock, no random numbers, no order of a hash map.

mod additive;
mod calibrate;
mod fit;
mod lines;
mod samples;
mod steps;
mod stopping;
mod usual;
pub mod validate;
mod weights;

#[cfg(test)]
mod tests;

use steersman_engine::risk::{self, RiskFeature, RiskValues};

pub use calibrate::{Calibrated, Instead, Shortage, Why, calibrate};
pub use fit::{Model, fit};
pub use lines::{fewest, line, rank};
pub use usual::{Usual, Usuals};
pub use weights::{SIGNALS, fit_weights};

use crate::Episode;

/// A graded run as it is learned from.
#[derive(Clone, Debug, Default)]
pub struct Record {
    /// The run; its first course is what the policy to build on decided.
    pub episode: Episode,
    /// Its turns but the last, in order; at most [`Record::MAX_MOMENTS`].
    pub moments: Vec<Moment>,
}

impl Record {
    /// Turns kept; a run that is longer is learned from up to there.
    pub const MAX_MOMENTS: usize = 1 << 13;

    /// Turns of a run that are fitted on.
    const PICKED: usize = 24;

    /// The turns to fit on, evenly spaced: all of a short run, 24 of a long one.
    fn picked(&self) -> impl ExactSizeIterator<Item = &Moment> {
        let live = self.moments.len();
        let picked = live.min(Self::PICKED);
        (0..picked).map(move |k| &self.moments[(k + 1) * live / picked - 1])
    }

    /// Whether the run was solved.
    #[must_use]
    pub fn is_good(&self) -> bool {
        self.episode.solved == Some(true)
    }

    /// The turn in which the policy to build on ends the run before its last turn; `None` if it
    /// does not.
    #[must_use]
    pub fn ended(&self) -> Option<u32> {
        let ending = self.episode.courses.first()?.ending()?;
        self.episode.is_in_time(ending.turn).then_some(ending.turn)
    }
}

/// The end of a turn.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moment {
    /// The turn, from 1.
    pub turn: u32,
    /// Tool calls made so far.
    pub calls: u32,
    /// What the engine measured; [`RiskFeature::Length`] and [`RiskFeature::Success`] are put in
    /// from what is usual for the run.
    pub values: RiskValues,
    /// The five signals of the hybrid score, in the order of [`SIGNALS`].
    pub signals: [f32; 5],
}

impl Moment {
    /// The values of all features for a run of this kind.
    #[must_use]
    pub fn values_for(&self, usual: &Usual) -> RiskValues {
        let mut values = self.values;
        for (feature, value) in RiskFeature::ALL.iter().zip(&mut values) {
            match feature {
                RiskFeature::Length => {
                    *value = risk::length(self.turn, usual.turns(), usual.spread());
                }
                RiskFeature::Success => *value = usual.success(),
                _ => {}
            }
        }
        values
    }
}
