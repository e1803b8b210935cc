//! What a session is gone on from, beside its journal.

use crate::{Body, SessionId, StoreError};

/// The most bytes of [`Kept::body`]: 1 MiB.
pub const MAX_KEPT_BYTES: usize = 1 << 20;

/// The latest state of a session: what was kept before is replaced.
///
/// A driver whose state is not the fold of its journal goes on from it. It is no entry: it has no
/// number, nobody is told of it, and an export leaves it behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// Narrows where the session is looked for, in the caller's terms.
    pub scope: u64,
    /// Where the session stands within its scope, in the caller's terms.
    pub end: u64,
    /// When it stood there, in milliseconds since 1970.
    pub at_ms: u64,
    /// At most [`MAX_KEPT_BYTES`].
    pub body: Body,
}

impl Kept {
    /// # Errors
    /// The body is too long, or not one line of JSON.
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        if self.body.len() > MAX_KEPT_BYTES {
            return Err(StoreError::refused(format!(
                "a state of {} bytes; at most {MAX_KEPT_BYTES} are allowed",
                self.body.len()
            )));
        }
        self.body.check().map_err(|why| {
            StoreError::refused(format!("a state that is not one line of JSON: {why}"))
        })
    }
}

/// Where a session stands whose state is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// The session.
    pub id: SessionId,
    /// [`Kept::scope`].
    pub scope: u64,
    /// [`Kept::end`].
    pub end: u64,
    /// [`Kept::at_ms`].
    pub at_ms: u64,
}
