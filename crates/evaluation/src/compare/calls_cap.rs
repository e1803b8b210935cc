//! So many calls and no more.

use super::{Moment, Rule};

/// Counts calls.
#[derive(Debug)]
pub(super) struct CallsCap {
    limit: u32,
}

impl CallsCap {
    pub(super) const fn new(limit: u32) -> Self {
        Self { limit }
    }
}

impl Rule for CallsCap {
    fn see(&mut self, moment: Moment<'_>) -> bool {
        matches!(moment, Moment::TurnEnded { calls, .. } if calls >= self.limit)
    }
}
