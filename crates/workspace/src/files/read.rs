//! Reading a file.

use serde::Deserialize;

use crate::{Workspace, WorkspaceError};

/// What to read.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadFile {
    /// The file.
    pub path: String,
    /// The first line, from 1; 1 by default.
    #[serde(default)]
    pub first_line: Option<u64>,
    /// How many lines, at most 10,000; 1,000 by default.
    #[serde(default)]
    pub lines: Option<u64>,
    /// Whether every line starts with its number; not by default.
    #[serde(default)]
    pub numbered: bool,
}

/// A part of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// The first line shown, from 1.
    pub first_line: u64,
    /// The last line shown; before `first_line` when none is.
    pub last_line: u64,
    /// How many lines the file has; `None` when counting them would have taken too long.
    pub total_lines: Option<u64>,
    /// The file's size.
    pub bytes: u64,
    /// Whether it is binary; then nothing of it is shown.
    pub binary: bool,
    /// Whether bytes that are not UTF-8 are shown as `\u{fffd}`.
    pub lossy: bool,
    /// The lines, and a note in brackets when there is more to know.
    pub text: String,
}

#[expect(clippy::todo, unused_variables, reason = "filled in by the next commits")]
impl Workspace {
    /// Reads a part of a file.
    ///
    /// # Errors
    /// The path is refused or cannot be used.
    pub fn read(&self, wanted: &ReadFile) -> Result<Reading, WorkspaceError> {
        todo!()
    }
}
