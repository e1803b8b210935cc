//! Whether a folder lies in a git repository.

use std::path::{Path, PathBuf};

/// What is around the workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Surroundings {
    /// No repository.
    Plain,
    /// The workspace is inside the work tree at this path, or is the work tree.
    WorkTree(PathBuf),
    /// The workspace lies in a work tree that ignores it, so it is no part of it.
    Ignored,
}

impl Surroundings {
    /// Looks around `root`, which is absolute and without symlinks.
    pub(crate) fn of(root: &Path) -> Self {
        // An empty folder called `.git` makes no repository.
        let holds_git = |folder: &&Path| {
            let git = folder.join(".git");
            git.is_file() || git.join("HEAD").symlink_metadata().is_ok()
        };
        let Some(tree) = root.ancestors().find(holds_git) else { return Self::Plain };
        if tree != root && is_ignored(tree, root) {
            Self::Ignored
        } else {
            Self::WorkTree(tree.to_owned())
        }
    }

    /// Whether ignore files in the folders above the workspace count in it.
    pub(crate) fn parents_count(&self) -> bool {
        matches!(self, Self::WorkTree(_))
    }
}

/// Whether the work tree at `tree` ignores the folder. One that cannot be opened ignores nothing.
fn is_ignored(tree: &Path, folder: &Path) -> bool {
    let Ok(relative) = folder.strip_prefix(tree) else { return false };
    // A rule for folders holds only for a path that ends in a slash.
    let relative = relative.join("");
    git2::Repository::open(tree)
        .and_then(|repository| repository.is_path_ignored(relative))
        .unwrap_or(false)
}
