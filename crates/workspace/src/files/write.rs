//! Writing a file.

use serde::Deserialize;

use crate::{Workspace, WorkspaceError};

/// What to write.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WriteFile {
    /// The file; missing folders are made.
    pub path: String,
    /// All of its content.
    pub content: String,
}

/// A file that was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The path from the workspace's root, symlinks resolved.
    pub path: String,
    /// The size of the new content.
    pub bytes: u64,
    /// Whether the file is new.
    pub created: bool,
    /// Whether the content is what the file held already.
    pub unchanged: bool,
    /// What happened, for the model.
    pub text: String,
}

#[expect(clippy::todo, unused_variables, reason = "filled in by the next commits")]
impl Workspace {
    /// Writes a whole file, atomically.
    ///
    /// # Errors
    /// The path is refused or cannot be used.
    pub fn write(&self, wanted: &WriteFile) -> Result<Written, WorkspaceError> {
        todo!()
    }
}
