//! Section `tests` (document B).

use alloc::vec;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

/// Progress by test results (B1–B3, B6).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct TestProgress {
    /// The driver runs its check every so many turns; `None` leaves checking to the agent's own
    /// test runs and to its claims. 1–1000. `classic` 5 (B1), `default` `None`.
    pub check_every: Option<u32>,
    /// Test results in a row without a new low of failing tests that count as stuck, 2–64.
    /// `classic` 3 (B2), `default` 4.
    pub stuck_after: u32,
    /// Further results without a new low after which the attempt is started over (or the answer
    /// forced), 1–64; `None` never. `classic` `None`.
    pub start_over_after: Option<u32>,
    /// Turns at which the strategy is questioned if tests still fail (B3). `classic` 20, 40;
    /// `default` none.
    pub reevaluate_at: Vec<u32>,
    /// Attempts a run may have, start-overs included, 1–16, default 3.
    pub max_attempts: u32,
    /// Turns after a start-over in which tests are not judged, 0–100, default 5.
    pub grace_turns: u32,
    /// Rejected claims ("done", while the check fails) before the run goes on unchecked, 0–16,
    /// default 3.
    pub max_rejected_claims: u32,
}

impl Default for TestProgress {
    fn default() -> Self {
        Self {
            check_every: None,
            stuck_after: 4,
            start_over_after: None,
            reevaluate_at: vec![],
            max_attempts: 3,
            grace_turns: 5,
            max_rejected_claims: 3,
        }
    }
}
