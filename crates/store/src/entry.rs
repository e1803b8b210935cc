//! Entries of a journal.

use crate::{Body, Head, StoreError};

/// The most bytes of an entry's kind.
pub const MAX_KIND_BYTES: usize = 64;
/// The most bytes of an entry's body, and of all bodies of one append: 64 MiB.
pub const MAX_BODY_BYTES: usize = 64 << 20;
/// The most entries of one append.
pub const MAX_ENTRIES: usize = 4096;

/// An entry to be appended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEntry {
    /// When it happened, in milliseconds since 1970. The store does not look at it.
    pub at_ms: u64,
    /// What it is, for example `tool_started`: 1 to [`MAX_KIND_BYTES`], no control characters.
    pub kind: String,
    /// At most [`MAX_BODY_BYTES`].
    pub body: Body,
}

/// An entry of a session's journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its place in the session: from 1, without gaps.
    pub seq: u64,
    /// When it happened, in milliseconds since 1970.
    pub at_ms: u64,
    /// What it is.
    pub kind: String,
    /// One JSON value in one line.
    pub body: String,
}

/// What is appended to a session in one piece: all of it becomes durable, or nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Append {
    /// The last `seq` the writer knows of; 0 for a session without entries.
    pub expected_seq: u64,
    /// At most [`MAX_ENTRIES`], in order. May be empty when only the head changes.
    pub entries: Vec<NewEntry>,
    /// The new head. `None`: it stays.
    pub head: Option<Head>,
    /// The epoch of the writer's [`Lease`](crate::Lease): the append is refused once another has
    /// taken the lease. `None`: no lease is asked for.
    pub epoch: Option<u64>,
}

impl Append {
    /// An append after entry `expected_seq`, without a head and without a lease.
    #[must_use]
    pub fn new(expected_seq: u64, entries: Vec<NewEntry>) -> Self {
        Self { expected_seq, entries, head: None, epoch: None }
    }

    /// The same with a new head.
    #[must_use]
    pub fn with_head(self, head: Head) -> Self {
        Self { head: Some(head), ..self }
    }

    /// The same, valid only while the lease of this epoch is not taken over.
    #[must_use]
    pub fn with_epoch(self, epoch: u64) -> Self {
        Self { epoch: Some(epoch), ..self }
    }

    /// Bytes of all bodies and of the head.
    pub(crate) fn bytes(&self) -> usize {
        let bodies: usize = self.entries.iter().map(|entry| entry.body.len()).sum();
        bodies + self.head.as_ref().map_or(0, Head::bytes)
    }

    /// # Errors
    /// The append, an entry or the head is beyond its bounds.
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        if self.entries.len() > MAX_ENTRIES {
            return Err(StoreError::refused(format!(
                "an append of {} entries; at most {MAX_ENTRIES} are allowed",
                self.entries.len()
            )));
        }
        self.entries.iter().try_for_each(|entry| check_entry(&entry.kind, &entry.body))?;
        if self.bytes() > MAX_BODY_BYTES {
            return Err(StoreError::refused(format!(
                "an append of {} bytes; at most {MAX_BODY_BYTES} are allowed",
                self.bytes()
            )));
        }
        self.head.as_ref().map_or(Ok(()), Head::check)
    }
}

/// # Errors
/// The kind is empty, too long or has control characters, or the body is not one line of JSON.
pub(crate) fn check_entry(kind: &str, body: &Body) -> Result<(), StoreError> {
    if kind.is_empty() || kind.len() > MAX_KIND_BYTES || kind.chars().any(char::is_control) {
        let shown: String = kind.chars().take(80).collect();
        return Err(StoreError::refused(format!(
            "the kind {shown:?}; a kind is 1 to {MAX_KIND_BYTES} bytes without control characters"
        )));
    }
    if body.len() > MAX_BODY_BYTES {
        return Err(StoreError::refused(format!(
            "a body of {} bytes in `{kind}`; at most {MAX_BODY_BYTES} are allowed",
            body.len()
        )));
    }
    body.check().map_err(|why| {
        StoreError::refused(format!("a body in `{kind}` that is not one line of JSON: {why}"))
    })
}
