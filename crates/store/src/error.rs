//! What can go wrong.

use std::path::{Path, PathBuf};

use crate::SessionId;

/// Why the store did not do what it was asked. Nothing is stored then.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// No session has this name.
    #[error("no session is called `{id}`")]
    Unknown {
        /// The name.
        id: SessionId,
    },
    /// A session has this name already.
    #[error("a session called `{id}` exists already")]
    Exists {
        /// The name.
        id: SessionId,
    },
    /// Someone else has appended since the writer looked.
    #[error("session `{id}` has {actual} entries where its writer expects {expected}")]
    Conflict {
        /// The session.
        id: SessionId,
        /// The last entry the writer knows of.
        expected: u64,
        /// The last entry there is.
        actual: u64,
    },
    /// Another driver holds the session.
    #[error("session `{id}` is driven by {owner} until {until_ms} ms since 1970")]
    Held {
        /// The session.
        id: SessionId,
        /// Who holds it.
        owner: String,
        /// Until when, in milliseconds since 1970.
        until_ms: u64,
    },
    /// The lease of this epoch was released or taken over: stop driving the session.
    #[error("the lease of epoch {epoch} on session `{id}` is lost")]
    LeaseLost {
        /// The session.
        id: SessionId,
        /// The epoch of the lost lease.
        epoch: u64,
    },
    /// A virtual key has, or had, this name.
    #[error(
        "a key called `{name}` exists already; names are not used twice, revoked keys' neither"
    )]
    NameTaken {
        /// The name.
        name: String,
    },
    /// No virtual key has this name.
    #[error("no key is called `{name}`")]
    UnknownKey {
        /// The name.
        name: String,
    },
    /// What was to be stored is beyond its bounds.
    #[error("the store refuses {what}")]
    Refused {
        /// What, and what is allowed.
        what: String,
    },
    /// The file does not do its part.
    #[error("{}: {fault}", path.display())]
    File {
        /// The database.
        path: PathBuf,
        /// What is wrong with it.
        fault: FileFault,
    },
    /// The store has been closed, or its thread has ended.
    #[error("the store is closed")]
    Closed,
}

/// What is wrong with a database file, and what helps.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FileFault {
    /// The file is something else.
    #[error("not a database; name another file, or move this one away")]
    NotADatabase,
    /// The database of another program.
    #[error(
        "a database of another program (application id {application_id:#x}); name another file"
    )]
    Foreign {
        /// The id that stands in it; 0 for none.
        application_id: i32,
    },
    /// Written by a newer version of the program.
    #[error("its layout has version {found}, this program knows up to {known}; update the program")]
    Newer {
        /// The version of its layout.
        found: i32,
        /// The newest version this program knows.
        known: i32,
    },
    /// Pages of the file are damaged.
    #[error(
        "the database is damaged ({detail}); stop all programs that use it, copy it, \
         and save what can be read with `sqlite3 FILE .recover`"
    )]
    Damaged {
        /// What SQLite says.
        detail: String,
    },
    /// The file cannot be written to.
    #[error("the file is read-only; allow writing to it and its folder")]
    ReadOnly,
    /// The disk, the quota or the allowed size is full.
    #[error(
        "no space left for the database; what is stored stays readable, and appends go on \
         as soon as there is space: free some, or delete sessions"
    )]
    Full,
    /// Another program has been writing all the time.
    #[error(
        "another program has kept the database locked for {waited_ms} ms; \
         end that program, or try again"
    )]
    Locked {
        /// For how long the store has tried, in milliseconds.
        waited_ms: u64,
    },
    /// Anything else the system or SQLite reports.
    #[error("{detail}")]
    Io {
        /// What it says.
        detail: String,
    },
}

impl StoreError {
    pub(crate) fn refused(what: String) -> Self {
        Self::Refused { what }
    }

    pub(crate) fn file(path: &Path, fault: FileFault) -> Self {
        Self::File { path: path.to_owned(), fault }
    }

    /// Whether the same call may succeed later without anything being changed by a person.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        matches!(
            self,
            Self::Held { .. }
                | Self::File { fault: FileFault::Full | FileFault::Locked { .. }, .. }
        )
    }
}
