//! Section `retry` (document E).

use alloc::vec;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

/// Retries of failed model calls (E2, E3).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Retry {
    /// Retries of one call before the run stops, 0–100, default 5.
    pub max_retries: u32,
    /// Delay before each retry; the last one holds for all that follow. Milliseconds, not empty,
    /// default 30,000, 60,000, 90,000, 120,000, 150,000.
    pub delays_ms: Vec<u64>,
    /// The longest `Retry-After` that is waited for; a longer one stops the run. Milliseconds,
    /// default 3,600,000.
    pub max_retry_after_ms: u64,
    /// Percent by which a delay is lengthened at most, spread by the run's identity so that many
    /// runs do not retry at once, 0–100, default 0.
    pub jitter_percent: u32,
}

impl Default for Retry {
    fn default() -> Self {
        Self {
            max_retries: 5,
            delays_ms: vec![30_000, 60_000, 90_000, 120_000, 150_000],
            max_retry_after_ms: 3_600_000,
            jitter_percent: 0,
        }
    }
}
