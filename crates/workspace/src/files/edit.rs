//! Replacing text in a file.

use serde::Deserialize;

use crate::{Workspace, WorkspaceError};

/// What to replace.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EditFile {
    /// The file.
    pub path: String,
    /// The text to replace, exactly as it stands in the file.
    pub old: String,
    /// What to put in its place.
    pub new: String,
    /// Whether every occurrence is replaced. By default there must be exactly one.
    #[serde(default)]
    pub replace_all: bool,
}

/// A file that was edited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edited {
    /// The path from the workspace's root, symlinks resolved.
    pub path: String,
    /// How many occurrences were replaced.
    pub replaced: usize,
    /// The line of the first one.
    pub first_line: u64,
    /// What happened, with the lines around the first change, for the model.
    pub text: String,
}

#[expect(clippy::todo, unused_variables, reason = "filled in by the next commits")]
impl Workspace {
    /// Replaces text in a file.
    ///
    /// # Errors
    /// The path is refused or cannot be used.
    pub fn edit(&self, wanted: &EditFile) -> Result<Edited, WorkspaceError> {
        todo!()
    }
}
