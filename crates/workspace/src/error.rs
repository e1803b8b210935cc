//! What can go wrong with files, in words a model can act on.

use std::io;
use std::path::PathBuf;

/// Why a file operation was refused or failed. The text is written for the model that asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkspaceError {
    /// The workspace's own folder could not be opened.
    #[error("cannot open the workspace `{}`: {source}", path.display())]
    Open {
        /// The folder as given.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The path leads out of the workspace, by itself or through a symlink.
    #[error("`{path}` is outside the workspace; use paths inside it, relative to its root")]
    Outside {
        /// The path as given.
        path: String,
    },
    /// The text is no path.
    #[error("`{path}` is not a usable path: {why}")]
    BadPath {
        /// The path as given, cut to what can be shown.
        path: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// Nothing is there.
    #[error("`{path}` does not exist")]
    NotFound {
        /// The path as given.
        path: String,
    },
    /// A folder is needed, and this is something else.
    #[error("`{path}` is not a folder")]
    NotAFolder {
        /// The path as given.
        path: String,
    },
    /// A file is needed, and this is a folder.
    #[error("`{path}` is a folder, not a file")]
    IsFolder {
        /// The path as given.
        path: String,
    },
    /// Pipes, sockets and devices are neither read nor written.
    #[error("`{path}` is a {kind}, not a regular file")]
    Special {
        /// The path as given.
        path: String,
        /// What it is.
        kind: &'static str,
    },
    /// Symlinks lead to symlinks without end.
    #[error("`{path}` goes through too many symlinks")]
    Loop {
        /// The path as given.
        path: String,
    },
    /// Git's own folder is not written with file tools.
    #[error("`{path}` belongs to git itself; change it with git commands, not by writing files")]
    Git {
        /// The path as given.
        path: String,
    },
    /// The file is too large for this operation.
    #[error("`{path}` has {bytes} bytes, more than the {limit} this can handle")]
    TooLarge {
        /// The path as given.
        path: String,
        /// How large it is.
        bytes: u64,
        /// How large it may be.
        limit: u64,
    },
    /// An argument makes no sense.
    #[error("{argument}: {why}")]
    Argument {
        /// The argument's name.
        argument: &'static str,
        /// What is wrong with it, and what is allowed.
        why: String,
    },
    /// The text to replace is not in the file.
    #[error("the text to replace is not in `{path}`{nearest}")]
    NoMatch {
        /// The path as given.
        path: String,
        /// The nearest lines of the file, as a sentence; empty when nothing is near.
        nearest: String,
    },
    /// The text to replace is in the file more than once.
    #[error(
        "the text to replace is in `{path}` {count} times, at lines {lines}; add lines around it \
         until it is unique, or set replace_all"
    )]
    ManyMatches {
        /// The path as given.
        path: String,
        /// How often it is there.
        count: usize,
        /// Where, at most ten.
        lines: String,
    },
    /// The system refused.
    #[error("cannot {what} `{path}`: {source}")]
    Io {
        /// What was tried, such as "read".
        what: &'static str,
        /// The path as given.
        path: String,
        /// What the system said.
        source: io::Error,
    },
}
