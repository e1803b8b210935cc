//! The folder an agent works in: confined paths, files, commands and checkpoints.
//!
//! A [`Workspace`] is opened once. Its file operations take what a model wrote (any path, any
//! pattern) and answer with a typed outcome and a text for the model; whatever a path holds, it is
//! resolved beneath the folder or refused. [`Shell`] runs command lines in it, confined where the
//! kernel can ([`Confinement`]). [`Checkpoints`] keeps states of the folder as git objects and
//! brings them back byte for byte, without touching what the user has in git.
//!
//! Files and checkpoints are synchronous and bounded in memory; an async caller moves them to a
//! blocking thread. Commands are futures that need no particular runtime. Unix only.

mod beneath;
mod checkpoints;
mod command;
mod error;
mod files;
mod surroundings;

pub use checkpoints::{
    Change, Checkpoint, CheckpointError, CheckpointLimits, Checkpoints, Copied, CopyLimits, Kept,
    Left, Patch, Restored, Skipped, Storage, Uncovered,
};
pub use command::{
    Command, CommandError, Confinement, Network, Ran, Shell, ShellOptions, end_commands_of,
    known_caches,
};
pub use error::WorkspaceError;
pub use files::{
    EditFile, Edited, EntryKind, Found, ListFiles, Listed, Listing, ReadFile, Reading, SearchFiles,
    WriteFile, Written,
};

use std::path::{Path, PathBuf};

use beneath::Beneath;
use surroundings::Surroundings;

/// A folder that an agent works in.
///
/// It holds the folder open, so that it stays the same folder when it is renamed.
#[derive(Debug)]
pub struct Workspace {
    root: PathBuf,
    beneath: Beneath,
    surroundings: Surroundings,
}

impl Workspace {
    /// Opens the folder `root`, which may be given through symlinks.
    ///
    /// # Errors
    /// There is no such folder, or it cannot be entered.
    pub fn open(root: impl AsRef<Path>) -> Result<Self, WorkspaceError> {
        let given = root.as_ref();
        let fail = |source| WorkspaceError::Open { path: given.to_owned(), source };
        let root = given.canonicalize().map_err(fail)?;
        let beneath = Beneath::open(given, &root).map_err(|errno| fail(errno.into()))?;
        let surroundings = Surroundings::of(&root);
        Ok(Self { root, beneath, surroundings })
    }

    /// The folder's absolute path without symlinks.
    pub fn root(&self) -> &Path {
        &self.root
    }
}
