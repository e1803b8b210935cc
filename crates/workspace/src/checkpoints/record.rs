//! What checkpoints are, and what comes of them.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// Where checkpoints are kept. Its text tells the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Storage {
    /// In the repository that holds the workspace, under `refs/steersman/`.
    Repository {
        /// The repository's folder for git's own files, shared by its worktrees.
        git_dir: PathBuf,
    },
    /// In a bare repository of our own.
    Private {
        /// Its folder.
        git_dir: PathBuf,
        /// Why the workspace's repository is not used.
        why: String,
    },
}

impl Storage {
    /// The folder to give to `git --git-dir`.
    pub fn git_dir(&self) -> &Path {
        match self {
            Self::Repository { git_dir } | Self::Private { git_dir, .. } => git_dir,
        }
    }
}

impl fmt::Display for Storage {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Repository { git_dir } => {
                write!(out, "checkpoints are kept in {} under refs/steersman", git_dir.display())
            }
            Self::Private { git_dir, why } => {
                write!(out, "checkpoints are kept in {}: {why}", git_dir.display())
            }
        }
    }
}

/// What checkpoints cover.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct CheckpointLimits {
    /// Largest file that is covered; 32 MiB by default. Each is held in memory once.
    pub max_file_bytes: u64,
    /// Most bytes covered in all; 4 GiB by default. What is beyond is left uncovered.
    pub max_total_bytes: u64,
    /// Most files and folders; 500,000 by default. With more, taking a checkpoint fails.
    pub max_entries: usize,
    /// Largest ignored file that is covered (`.env`); 1 MiB by default.
    pub max_ignored_file_bytes: u64,
    /// Most bytes of ignored files that are covered in all; 32 MiB by default.
    pub max_ignored_bytes: u64,
}

impl Default for CheckpointLimits {
    fn default() -> Self {
        const MIB: u64 = 1024 * 1024;
        Self {
            max_file_bytes: 32 * MIB,
            max_total_bytes: 4096 * MIB,
            max_entries: 500_000,
            max_ignored_file_bytes: MIB,
            max_ignored_bytes: 32 * MIB,
        }
    }
}

/// A state of the workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// The commit's id, 40 hexadecimal digits. Its tree is the workspace.
    pub id: String,
    /// The number within the session, from 1; the ref ends in it.
    pub number: u32,
    /// What the caller called it.
    pub label: String,
    /// Files and symlinks covered.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// What is not covered, at most 1,000, by path. Ignored folders are not named.
    pub skipped: Vec<Skipped>,
    /// How many more are not covered.
    pub more_skipped: u64,
}

/// Something that a checkpoint does not cover, and that restoring it leaves alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// The path from the workspace's root.
    pub path: PathBuf,
    /// Why.
    pub why: Uncovered,
}

/// Why a checkpoint does not cover something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Uncovered {
    /// The user may not read it.
    Unreadable,
    /// The file is larger than [`CheckpointLimits::max_file_bytes`], or what is covered
    /// would have come to more than [`CheckpointLimits::max_total_bytes`].
    TooLarge,
    /// An ignored file beyond the bounds of ignored files.
    Ignored,
    /// A pipe, socket or device.
    Special,
    /// It changed each time it was read.
    Changing,
}

/// What restoring did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Restored {
    /// Files and symlinks written.
    pub written: Vec<PathBuf>,
    /// Files and symlinks removed, for they were made since.
    pub removed: Vec<PathBuf>,
    /// Files and folders that only got their permissions back.
    pub permissions: Vec<PathBuf>,
    /// What may differ from the state at the checkpoint: at most 1,000.
    pub left: Vec<Left>,
}

/// Something that restoring left as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    /// The path from the workspace's root.
    pub path: PathBuf,
    /// Why, in words for a user.
    pub why: String,
}

/// What changed in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// It is new.
    Added,
    /// It is gone.
    Removed,
    /// Its content, kind or permission to execute differs.
    Modified,
}

/// The difference between two checkpoints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patch {
    /// In git's format, at most as long as asked for; then a last line says so.
    pub text: String,
    /// Whether the text was cut.
    pub cut: bool,
    /// The files that differ, at most 10,000, by path.
    pub files: Vec<(PathBuf, Change)>,
    /// Lines added, in files that are text.
    pub insertions: usize,
    /// Lines removed, in files that are text.
    pub deletions: usize,
}

/// What to keep under a name of its own.
#[derive(Debug, Clone, Copy)]
pub enum Kept<'a> {
    /// A checkpoint, as a ref to its commit.
    Checkpoint(&'a Checkpoint),
    /// A patch's text, as a ref to a blob: `git cat-file -p REF | git apply`.
    Patch(&'a Patch),
}

/// How much of what ignore rules hide goes into a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CopyLimits {
    /// Most bytes of ignored files; files whose blocks are shared do not count.
    pub max_bytes: u64,
    /// Most ignored files.
    pub max_files: usize,
}

impl Default for CopyLimits {
    fn default() -> Self {
        Self { max_bytes: 2 * 1024 * 1024 * 1024, max_files: 200_000 }
    }
}

/// A copy of a checkpoint in another folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Copied {
    /// Files and symlinks from the checkpoint.
    pub files: u64,
    /// Ignored files copied from the workspace as it is now.
    pub ignored_files: u64,
    /// Bytes of ignored files that share no blocks with the original.
    pub ignored_bytes: u64,
    /// Ignored files and folders left out, for a bound was reached; at most 1,000.
    pub left_out: Vec<PathBuf>,
}
