//! Section `loops`: the thresholds of the loop detectors.

use serde::{Deserialize, Serialize};

/// Thresholds of the loop detectors.
///
/// Every count is of turns in which the pattern was seen again while nothing was changed in
/// between and the user said nothing; parallel calls of one reply count once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Loops {
    /// The same call with the same normalised outcome.
    pub repeated_outcome: Steps,
    /// Turns in a row without anything new that must confirm a repeated outcome before it ends a
    /// run, 1–64, default 3.
    pub confirming_turns: u32,
    /// As `confirming_turns` where the repeated call acts and succeeds every time: it may have an
    /// effect that its output does not show. 1–64, default 8.
    pub confirming_acts: u32,
    /// As `repeated_outcome` where the outcome is a transient error (rate limit, timeout, network).
    pub transient_error: Steps,
    /// Whole cycles of 1–4 turns with unchanged outcomes, even where the turns change something.
    pub cycle: Steps,
    /// Different arguments, the same output, from one tool.
    pub same_output: Steps,
    /// Nearly the same call (or the same resource) with nearly the same output.
    pub similar_outcome: Steps,
    /// The same error signature, whatever the arguments.
    pub same_error: Steps,
    /// Errors in a row, whatever they say.
    pub error_streak: Steps,
    /// Searches in a row that find nothing, or nothing new.
    pub fruitless_search: Steps,
    /// Turns in a row that announce and call no tool.
    pub narration: Steps,
    /// Edits that undo an earlier edit.
    pub edit_revert: Steps,
    /// The same long text inside one reply.
    pub chanting: Steps,
    /// Turns without anything new: no new resource, no new output, no change.
    pub staleness: Steps,
    /// Unchanged results while polling.
    pub polling: Steps,
    /// Time for which unchanged polling is left alone. Milliseconds, default 1,800,000.
    pub polling_patience_ms: u64,
    /// How alike two texts count as nearly the same, 0.5–1, default 0.9.
    pub similarity: f32,
}

/// From how many occurrences on a pattern is noticed, urged about, and ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Steps {
    /// Occurrences from which a nudge is due, at least 2.
    pub notice: u32,
    /// Occurrences from which the strategy is questioned or synthesis nudged, at least `notice`.
    pub urge: u32,
    /// Occurrences from which the run is ended; `None` (`null`) never. At least `urge`.
    #[serde(default)]
    pub end: Option<u32>,
}

impl Steps {
    /// Steps that may end a run.
    #[must_use]
    pub const fn ending(notice: u32, urge: u32, end: u32) -> Self {
        Self { notice, urge, end: Some(end) }
    }

    /// Steps that never end a run.
    #[must_use]
    pub const fn advising(notice: u32, urge: u32) -> Self {
        Self { notice, urge, end: None }
    }
}

impl Default for Loops {
    fn default() -> Self {
        Self {
            repeated_outcome: Steps::ending(3, 3, 3),
            confirming_turns: 3,
            confirming_acts: 8,
            transient_error: Steps::ending(6, 8, 12),
            cycle: Steps::ending(3, 4, 6),
            same_output: Steps::ending(5, 7, 9),
            similar_outcome: Steps::advising(5, 8),
            same_error: Steps::ending(5, 8, 12),
            error_streak: Steps::advising(8, 12),
            fruitless_search: Steps::advising(6, 9),
            narration: Steps::ending(3, 5, 8),
            edit_revert: Steps::advising(3, 5),
            chanting: Steps::advising(6, 12),
            staleness: Steps::advising(8, 12),
            polling: Steps::advising(20, 60),
            polling_patience_ms: 1_800_000,
            similarity: 0.9,
        }
    }
}
