//! Test results: progress by identity, not by count (B1, beyond 3).

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

/// Results of one test run, read from its output.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TestReport {
    /// Tests that passed.
    pub passed: u32,
    /// Tests that failed or ended in an error.
    pub failed: u32,
    /// Tests that were skipped or ignored.
    pub skipped: u32,
    /// Identities of failing tests: [`test_id`] of each name, sorted, without duplicates, at most
    /// [`TestReport::MAX_FAILING`]. Empty although `failed > 0` if the output names none.
    pub failing: Vec<u64>,
    /// Something could not be built or loaded: its tests are missing from the counts.
    pub broken: bool,
}

impl TestReport {
    /// How many failing tests are kept by identity.
    pub const MAX_FAILING: usize = 64;

    /// Adds the identity of a failing test, keeping the list sorted and bounded.
    pub fn add_failing(&mut self, name: &str) {
        let id = test_id(name);
        if let Err(at) = self.failing.binary_search(&id)
            && self.failing.len() < Self::MAX_FAILING
        {
            self.failing.insert(at, id);
        }
    }
}

/// The identity of a test: a hash of its full name.
#[must_use]
pub fn test_id(name: &str) -> u64 {
    crate::digest::hash_bytes(name.trim().as_bytes())
}
