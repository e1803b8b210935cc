//! Leases: one driver per session at a time, across processes.

use crate::{SessionId, StoreError};

/// The most bytes of an owner's name.
pub const MAX_OWNER_BYTES: usize = 256;

/// The right to drive a session until a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// The session.
    pub id: SessionId,
    /// Who holds it: a text that no other driver uses, of at most [`MAX_OWNER_BYTES`].
    pub owner: String,
    /// Grows with each new lease of the session; see [`Append::epoch`](crate::Append::epoch).
    pub epoch: u64,
    /// Until when, in milliseconds since 1970. From then on others may take it.
    pub until_ms: u64,
}

/// # Errors
/// The owner's name is empty or too long.
pub(crate) fn check_owner(owner: &str) -> Result<(), StoreError> {
    if owner.is_empty() || owner.len() > MAX_OWNER_BYTES {
        return Err(StoreError::refused(format!(
            "an owner's name of {} bytes; 1 to {MAX_OWNER_BYTES} are allowed",
            owner.len()
        )));
    }
    Ok(())
}
