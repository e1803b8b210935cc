//! A checkpoint in another folder.

use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::error::io_error;
use super::restore::{Target, restore_to};
use super::rules::{Outer, Rules};
use super::scan::{rules_on_disk, scan};
use super::store::Kind;
use super::take::{Cache, Index};
use super::{Checkpoint, CheckpointError, Copied, CopyLimits, State, Tree};
use crate::{Workspace, WorkspaceError};

/// Most entries of the workspace that are looked at for what is ignored.
const MAX_ENTRIES: usize = 5_000_000;
/// Most entries of [`Copied::left_out`].
const MAX_LEFT_OUT: usize = 1_000;

/// Copies the checkpoint and what is ignored into the folder.
pub(super) fn copy(
    tree: &Tree,
    state: &mut State,
    checkpoint: &Checkpoint,
    (folder, limits): (&Path, CopyLimits),
) -> Result<Copied, CheckpointError> {
    let target = Target::read(&state.store, checkpoint)?;
    let fail = |source| io_error("make the folder", folder, source);
    fs::create_dir_all(folder).map_err(fail)?;
    if fs::read_dir(folder).map_err(fail)?.next().is_some() {
        return Err(CheckpointError::NotEmpty { path: folder.to_owned() });
    }
    let copy = Workspace::open(folder).map_err(|error| match error {
        WorkspaceError::Open { source, .. } => fail(source),
        other => fail(io::Error::other(other.to_string())),
    })?;
    let there = Tree::of(&copy, &tree.origin, tree.surroundings.clone())?;
    restore_to(&there, &state.store, &mut Cache::default(), &target)?;
    let files = target.entries.values().filter(|entry| entry.kind != Kind::Folder).count();
    let mut copying = Copying {
        limits,
        to: copy.root().to_owned(),
        here: fs::metadata(folder).map_err(fail)?.ino(),
        copied: Copied { files: files as u64, ..Copied::default() },
    };
    for path in ignored(tree, &target)? {
        copying.entry(&tree.root.join(&path), &path)?;
    }
    Ok(copying.copied)
}

/// What ignore rules hide now, and the checkpoint does not hold.
fn ignored(tree: &Tree, target: &Target) -> Result<Vec<PathBuf>, CheckpointError> {
    let outer = Outer::of(tree);
    let mut rules = Rules::new(&outer, Box::new(|folder| rules_on_disk(&tree.dir, folder)));
    let seen = scan(&tree.dir, &mut rules, &Index::of(tree, &outer), MAX_ENTRIES)?;
    let files = seen
        .files
        .into_iter()
        .filter(|(path, seen)| seen.ignored && !target.entries.contains_key(path));
    let closed = seen.closed.into_iter().filter(|path| !path.ends_with(".git"));
    let mut paths: Vec<_> = files.map(|(path, _)| path).chain(closed).collect();
    paths.sort();
    Ok(paths)
}

struct Copying {
    limits: CopyLimits,
    to: PathBuf,
    /// The inode of the copy, which may lie in the workspace.
    here: u64,
    copied: Copied,
}

impl Copying {
    /// Copies a file, symlink or folder with everything in it.
    fn entry(&mut self, from: &Path, path: &Path) -> Result<(), CheckpointError> {
        let mut open = vec![(from.to_owned(), path.to_owned())];
        while let Some((from, path)) = open.pop() {
            let Ok(metadata) = fs::symlink_metadata(&from) else { continue };
            if metadata.is_dir() {
                if metadata.ino() != self.here {
                    self.folder(&from, &path, &metadata, &mut open)?;
                }
                continue;
            }
            let full = self.copied.ignored_files >= self.limits.max_files as u64
                || self.copied.ignored_bytes.saturating_add(metadata.len()) > self.limits.max_bytes;
            if full {
                self.leave_out(path);
                continue;
            }
            match self.file(&from, &path, &metadata) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                    self.leave_out(path);
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(io_error("copy", &path, error)),
            }
        }
        Ok(())
    }

    fn leave_out(&mut self, path: PathBuf) {
        if self.copied.left_out.len() < MAX_LEFT_OUT {
            self.copied.left_out.push(path);
        }
    }

    fn folder(
        &mut self,
        from: &Path,
        path: &Path,
        metadata: &fs::Metadata,
        open: &mut Vec<(PathBuf, PathBuf)>,
    ) -> Result<(), CheckpointError> {
        let to = self.to.join(path);
        let made = fs::create_dir_all(&to).and_then(|()| {
            // Files still have to go in, whatever the original allows.
            let mode = metadata.permissions().mode() | 0o700;
            fs::set_permissions(&to, fs::Permissions::from_mode(mode))
        });
        made.map_err(|error| io_error("make the folder", path, error))?;
        let Ok(entries) = fs::read_dir(from) else {
            self.leave_out(path.to_owned());
            return Ok(());
        };
        for entry in entries.flatten() {
            open.push((entry.path(), path.join(entry.file_name())));
        }
        Ok(())
    }

    fn file(&mut self, from: &Path, path: &Path, metadata: &fs::Metadata) -> io::Result<()> {
        let to = self.to.join(path);
        if let Some(folder) = to.parent() {
            fs::create_dir_all(folder)?;
        }
        if metadata.is_symlink() {
            std::os::unix::fs::symlink(fs::read_link(from)?, &to)?;
        } else if metadata.is_file() {
            let shared = copy_file(from, &to, metadata)?;
            self.copied.ignored_bytes += if shared { 0 } else { metadata.len() };
        } else {
            return Ok(());
        }
        self.copied.ignored_files += 1;
        Ok(())
    }
}

/// Copies content, permissions and time of change (build tools go by it). Returns whether the copy
/// shares its blocks with the original.
fn copy_file(from: &Path, to: &Path, metadata: &fs::Metadata) -> io::Result<bool> {
    let mut source = fs::File::open(from)?;
    let mut file = fs::OpenOptions::new().write(true).create_new(true).open(to)?;
    let shared = share(&file, &source);
    if !shared {
        io::copy(&mut source, &mut file)?;
    }
    if let Ok(modified) = metadata.modified() {
        file.set_modified(modified)?;
    }
    file.set_permissions(metadata.permissions())?;
    Ok(shared)
}

#[cfg(target_os = "linux")]
fn share(to: &fs::File, from: &fs::File) -> bool {
    rustix::fs::ioctl_ficlone(to, from).is_ok()
}

#[cfg(not(target_os = "linux"))]
fn share(_: &fs::File, _: &fs::File) -> bool {
    false
}
