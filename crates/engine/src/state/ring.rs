//! The last few of something.

use alloc::collections::VecDeque;

use serde::{Deserialize, Serialize};

/// The last `N` values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Ring<T, const N: usize>(VecDeque<T>);

impl<T, const N: usize> Default for Ring<T, N> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}

impl<T, const N: usize> Ring<T, N> {
    /// Adds a value; the oldest makes room.
    pub(crate) fn push(&mut self, value: T) {
        if self.0.len() >= N {
            self.0.pop_front();
        }
        self.0.push_back(value);
    }

    /// The values, latest first.
    pub(crate) fn latest(&self) -> impl Iterator<Item = &T> {
        self.0.iter().rev()
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}
