//! How alike two texts are, in constant space.

use serde::{Deserialize, Serialize};

/// A one-permutation MinHash over word pairs (Li, Owen, Zhang 2012): 16 bins of 16 bits. A bin
/// nobody fell into holds `u16::MAX`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Sketch([u16; 16]);

impl Default for Sketch {
    fn default() -> Self {
        Self([u16::MAX; 16])
    }
}

impl Sketch {
    /// Adds the hash of one element.
    pub const fn add(&mut self, hash: u64) {
        let bin = (hash >> 60) as usize;
        let value = (hash >> 32) as u16;
        if value < self.0[bin] {
            self.0[bin] = value;
        }
    }

    /// Estimated Jaccard similarity, 0–1; 0 if either text was too short to fill half the bins.
    #[must_use]
    pub fn similarity(&self, other: &Self) -> f32 {
        let (mut used, mut equal) = (0_u8, 0_u8);
        for (a, b) in self.0.iter().zip(&other.0) {
            if *a != u16::MAX && *b != u16::MAX {
                used += 1;
                equal += u8::from(a == b);
            }
        }
        if used < 8 { 0.0 } else { f32::from(equal) / f32::from(used) }
    }
}
