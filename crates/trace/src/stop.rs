//! Providers' words for why a model stopped.

use steersman_engine::StopReason;

/// Maps a provider's word; `None` if there is none.
pub(crate) fn stop_reason(word: &str) -> Option<StopReason> {
    (!word.is_empty()).then(|| StopReason::from_wire(word))
}
