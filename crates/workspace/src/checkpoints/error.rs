//! What can go wrong with checkpoints.

use std::io;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use super::Left;

/// Why a checkpoint could not be taken, restored or shown.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// The session's name cannot be part of a ref.
    #[error("`{name}` cannot name a ref: use letters, digits, `-` and `_`, at most 100 of them")]
    BadName {
        /// The name.
        name: String,
    },
    /// The store could not be opened or used.
    #[error("cannot {what} in {}: {why}", git_dir.display())]
    Store {
        /// What was tried.
        what: &'static str,
        /// Where.
        git_dir: PathBuf,
        /// What git said.
        why: String,
    },
    /// The folder holds more than a checkpoint covers.
    #[error(
        "the workspace holds more than {limit} files and folders that are not ignored; open a \
         smaller folder or ignore what is not source"
    )]
    TooMany {
        /// The limit.
        limit: usize,
    },
    /// The checkpoint is not in the store, or not one of ours.
    #[error("`{id}` is no checkpoint here: {why}")]
    Unknown {
        /// Its id.
        id: String,
        /// What is wrong.
        why: String,
    },
    /// Restoring would fail or lose something; nothing was touched.
    #[error("nothing was restored, for {} of the changes cannot be made: {}", .0.len(), first(.0))]
    Refused(Vec<Left>),
    /// The folder for a copy is not empty.
    #[error("`{}` is not an empty folder", path.display())]
    NotEmpty {
        /// The folder.
        path: PathBuf,
    },
    /// A file could not be read or written. When this ends a restore, restoring again goes on.
    #[error("cannot {what} `{}`: {source}", path.display())]
    Io {
        /// What was tried.
        what: &'static str,
        /// The path, from the workspace's root where it is inside.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

fn first(refused: &[Left]) -> String {
    let shown: Vec<_> = refused
        .iter()
        .take(5)
        .map(|left| format!("`{}`: {}", left.path.display(), left.why))
        .collect();
    shown.join("; ")
}

/// An error of the system about `path`.
pub(super) fn io_error(
    what: &'static str,
    path: &Path,
    source: impl Into<io::Error>,
) -> CheckpointError {
    CheckpointError::Io { what, path: path.to_owned(), source: source.into() }
}

/// [`io_error`], to be given to `map_err`.
pub(super) fn failed<'a>(
    what: &'static str,
    path: &'a Path,
) -> impl Fn(Errno) -> CheckpointError + 'a {
    move |errno| io_error(what, path, errno)
}
