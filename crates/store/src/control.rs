//! What others tell the driver of a session, and when it wants to be woken.

use crate::{Body, SessionId, StoreError, entry};

/// The most bytes of [`NewControl::who`] and of a timer's name.
pub const MAX_NAME_BYTES: usize = 256;

/// Something to tell the driver of a session: stop, pause, a note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewControl {
    /// When, in milliseconds since 1970.
    pub at_ms: u64,
    /// What it is, for example `stop`; bounded as an entry's kind.
    pub kind: String,
    /// Bounded as an entry's body.
    pub body: Body,
    /// Who says so, for people to read: at most [`MAX_NAME_BYTES`].
    pub who: String,
}

impl NewControl {
    /// # Errors
    /// A text is beyond its bounds, or the body is not one line of JSON.
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        entry::check_entry(&self.kind, &self.body)?;
        check_name("the name of who sends a control", &self.who)
    }
}

/// Something the driver of a session was told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Control {
    /// Its place among the session's controls: from 1, without gaps.
    pub number: u64,
    /// When, in milliseconds since 1970.
    pub at_ms: u64,
    /// What it is.
    pub kind: String,
    /// One JSON value in one line.
    pub body: String,
    /// Who said so.
    pub who: String,
}

/// A moment at which a session wants to be woken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timer {
    /// The session.
    pub id: SessionId,
    /// Which of its timers.
    pub name: String,
    /// When, in milliseconds since 1970.
    pub due_ms: u64,
}

/// # Errors
/// The text is longer than [`MAX_NAME_BYTES`].
pub(crate) fn check_name(what: &str, name: &str) -> Result<(), StoreError> {
    if name.len() > MAX_NAME_BYTES {
        return Err(StoreError::refused(format!(
            "{what}, {} bytes long; at most {MAX_NAME_BYTES} are allowed",
            name.len()
        )));
    }
    Ok(())
}
