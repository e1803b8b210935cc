//! Searching files.

use serde::Deserialize;

use crate::{Workspace, WorkspaceError};

/// What to search for.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SearchFiles {
    /// A regular expression of one line in Rust's syntax, or plain text if `literal`.
    pub pattern: String,
    /// Whether the pattern is plain text; not by default.
    #[serde(default)]
    pub literal: bool,
    /// The folder or file to search; the workspace's root by default.
    #[serde(default)]
    pub path: Option<String>,
    /// Which files, such as `*.rs` or `!tests/**`; all by default.
    #[serde(default)]
    pub glob: Option<String>,
    /// Whether case is ignored. By default only when the pattern has no capital letter.
    #[serde(default)]
    pub ignore_case: Option<bool>,
    /// Lines shown around each match, at most 20; none by default.
    #[serde(default)]
    pub context: usize,
    /// Most matching lines, at most 1,000; 100 by default.
    #[serde(default)]
    pub max_matches: Option<usize>,
}

/// What a search found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Matching lines shown.
    pub matches: usize,
    /// Files they are in.
    pub files: usize,
    /// Whether a limit ended the search before its end.
    pub more: bool,
    /// The lines as text for the model: `path:line:text`, context as `path-line-text`.
    pub text: String,
}

#[expect(clippy::todo, unused_variables, reason = "filled in by the next commits")]
impl Workspace {
    /// Searches files for a pattern.
    ///
    /// # Errors
    /// The path is refused or cannot be used.
    pub fn search(&self, wanted: &SearchFiles) -> Result<Found, WorkspaceError> {
        todo!()
    }
}
