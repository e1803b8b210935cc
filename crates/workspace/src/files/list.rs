//! Listing a folder.

use serde::Deserialize;

use crate::{Workspace, WorkspaceError};

/// Most entries one listing shows.
const MAX_ENTRIES: usize = 1_000;
/// Deepest listing.
const MAX_DEPTH: usize = 20;

/// What to list.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ListFiles {
    /// The folder; the workspace's root by default.
    pub path: String,
    /// How many levels, 1 to 20; 2 by default.
    pub depth: usize,
    /// Whether files that ignore rules hide are shown too; not by default.
    pub ignored: bool,
    /// Most entries, at most 1,000; 500 by default.
    pub max_entries: usize,
}

impl Default for ListFiles {
    fn default() -> Self {
        Self { path: ".".into(), depth: 2, ignored: false, max_entries: 500 }
    }
}

/// What an entry of a folder is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symlink, which is not followed.
    Link,
    /// A pipe, socket or device.
    Special,
}

/// One entry of a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// The path from the workspace's root; bytes that are not UTF-8 are shown as `\u{fffd}`.
    pub path: String,
    /// What it is.
    pub kind: EntryKind,
    /// The file's size; `None` for anything else.
    pub bytes: Option<u64>,
}

/// A folder's entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listing {
    /// The entries, sorted by path.
    pub entries: Vec<Listed>,
    /// Whether there are more than were asked for.
    pub more: bool,
    /// The listing as text for the model: one path a line, folders end in `/`.
    pub text: String,
}

#[expect(clippy::todo, unused_variables, reason = "filled in by the next commits")]
impl Workspace {
    /// Lists a folder.
    ///
    /// # Errors
    /// The path is refused or cannot be used.
    pub fn list(&self, wanted: &ListFiles) -> Result<Listing, WorkspaceError> {
        todo!()
    }
}
