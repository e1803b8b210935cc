//! Listing a folder.

use std::path::Path;

use ignore::{DirEntry, WalkBuilder};
use rustix::fs::FileType;
use serde::Deserialize;

use crate::beneath::Missing;
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

impl Workspace {
    /// Lists a folder as ignore rules leave it, hidden files too. Git's own folder is left out.
    ///
    /// # Errors
    /// The path is refused, or is no folder.
    pub fn list(&self, wanted: &ListFiles) -> Result<Listing, WorkspaceError> {
        let place = self.beneath.find(&wanted.path, Missing::Fails)?;
        let kind = place.stat.map(|stat| FileType::from_raw_mode(stat.st_mode));
        match kind {
            Some(FileType::Directory) => {}
            Some(_) => return Err(WorkspaceError::NotAFolder { path: wanted.path.clone() }),
            None => return Err(WorkspaceError::NotFound { path: wanted.path.clone() }),
        }
        let mut walk = self.walk(&place.path, wanted.ignored);
        walk.max_depth(Some(wanted.depth.clamp(1, MAX_DEPTH)));
        let most = wanted.max_entries.clamp(1, MAX_ENTRIES);
        let mut entries = Vec::new();
        let mut more = false;
        for entry in walk.build().flatten().filter(|entry| entry.depth() > 0) {
            if entries.len() == most {
                more = true;
                break;
            }
            entries.extend(self.listed(&entry));
        }
        let text = text(&entries, more);
        Ok(Listing { entries, more, text })
    }

    fn listed(&self, entry: &DirEntry) -> Option<Listed> {
        let path = entry.path().strip_prefix(self.root()).ok()?.to_string_lossy().into_owned();
        let kind = entry.file_type()?;
        let (kind, bytes) = if kind.is_dir() {
            (EntryKind::Folder, None)
        } else if kind.is_symlink() {
            (EntryKind::Link, None)
        } else if kind.is_file() {
            (EntryKind::File, entry.metadata().ok().map(|metadata| metadata.len()))
        } else {
            (EntryKind::Special, None)
        };
        Some(Listed { path, kind, bytes })
    }

    /// A walk over a folder, in the order of names, never through symlinks, with hidden files.
    pub(super) fn walk(&self, folder: &Path, ignored: bool) -> WalkBuilder {
        let mut walk = WalkBuilder::new(self.root().join(folder));
        walk.standard_filters(!ignored)
            .hidden(false)
            .require_git(false)
            .parents(!ignored && self.surroundings.parents_count())
            .follow_links(false)
            .sort_by_file_name(Ord::cmp)
            .filter_entry(|entry| entry.depth() == 0 || entry.file_name() != ".git");
        walk
    }
}

fn text(entries: &[Listed], more: bool) -> String {
    let mut text = String::new();
    for Listed { path, kind, .. } in entries {
        text.push_str(path);
        text.push_str(match kind {
            EntryKind::File => "\n",
            EntryKind::Folder => "/\n",
            EntryKind::Link => " (symlink)\n",
            EntryKind::Special => " (no regular file)\n",
        });
    }
    if entries.is_empty() {
        text.push_str("[no entries that are not ignored]\n");
    }
    if more {
        let shown = entries.len();
        text.push_str(&format!("[more than {shown} entries; list a folder inside to see more]\n"));
    }
    text
}
