//! Making the folder what it was at a checkpoint.
//!
//! What has to change is worked out and checked before anything is touched. Every step leaves the
//! folder such that working it out again leads to the rest of the steps, so a restore that was
//! interrupted is finished by the next.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use git2::{ObjectType, Oid};
use rustix::fs::{Access, AtFlags, FileType, Mode};

use super::error::failed;
use super::message::{Message, decoded};
use super::rules::Rules;
use super::scan::{Content, Reader, Scan, Seen, Tracked, scan};
use super::store::{Entries, Entry, Kind, Store};
use super::take::Cache;
use super::{Checkpoint, CheckpointError, Left, Restored, State, Tree, Uncovered};
use crate::beneath::{ENTRIES, READ, open_folder};
use crate::files::write;

/// Most entries of the folder that a restore deals with.
const MAX_ENTRIES: usize = 5_000_000;
/// Most entries of [`Restored::left`].
const MAX_LEFT: usize = 1_000;
/// How often folders are opened up that may not be read now but could be then.
const ROUNDS: usize = 64;

/// A checkpoint, read from the store.
pub(super) struct Target {
    pub(super) entries: Entries,
    pub(super) message: Message,
    modes: BTreeMap<PathBuf, u32>,
    skipped: BTreeMap<PathBuf, Uncovered>,
}

impl Target {
    pub(super) fn read(store: &Store, checkpoint: &Checkpoint) -> Result<Self, CheckpointError> {
        let id = store.commit(&checkpoint.id)?;
        let message = store.record(id)?;
        let entries = store.read_trees(store.tree(id)?)?;
        let modes = message.modes.iter().map(|(path, mode)| (decoded(path), *mode)).collect();
        let skipped = message.skipped.iter().map(|(path, why)| (decoded(path), *why)).collect();
        Ok(Self { entries, message, modes, skipped })
    }

    fn mode(&self, path: &Path, kind: Kind) -> u32 {
        self.modes.get(path).copied().unwrap_or_else(|| self.message.usual.of(kind)) & 0o7777
    }

    /// Whether the checkpoint passed over the path or a folder it lies in.
    fn skips(&self, path: &Path) -> bool {
        path.ancestors().any(|path| self.skipped.contains_key(path))
    }

    /// The ignore rules of the checkpoint's time.
    pub(super) fn rules<'a>(&'a self, store: &'a Store) -> Rules<'a> {
        let lookup = |folder: &Path| {
            let entry = self.entries.get(&folder.join(".gitignore"))?;
            matches!(entry.kind, Kind::File | Kind::Executable)
                .then(|| store.read_blob(entry.id).ok())
                .flatten()
        };
        Rules::new(&self.message.outer, Box::new(lookup))
    }
}

impl Tracked for Target {
    fn is(&self, path: &Path) -> bool {
        self.entries.get(path).is_some_and(|entry| entry.kind != Kind::Folder)
    }

    fn within(&self, folder: &Path) -> bool {
        let after = (Bound::Excluded(folder), Bound::Unbounded);
        let mut beneath = self.entries.range::<Path, _>(after);
        beneath.next().is_some_and(|(path, _)| path.starts_with(folder))
    }
}

/// Restores the tree.
pub(super) fn restore(
    tree: &Tree,
    state: &mut State,
    checkpoint: &Checkpoint,
) -> Result<Restored, CheckpointError> {
    let target = Target::read(&state.store, checkpoint)?;
    restore_to(tree, &state.store, &mut state.cache, &target)
}

/// Makes the tree what the target says.
pub(super) fn restore_to(
    tree: &Tree,
    store: &Store,
    cache: &mut Cache,
    target: &Target,
) -> Result<Restored, CheckpointError> {
    let seen = look(tree, store, target)?;
    let mut planning = Planning {
        store,
        cache,
        target,
        seen: &seen,
        reader: Reader::new(&tree.dir),
        plan: Plan::default(),
    };
    planning.files();
    planning.folders();
    let Planning { mut plan, .. } = planning;
    plan.check(&tree.dir, store, &seen);
    if !plan.refused.is_empty() {
        return Err(CheckpointError::Refused(plan.refused));
    }
    for (path, ..) in &plan.write {
        cache.forget(path);
    }
    plan.carry_out(&tree.dir, store, target)
}

/// Goes through the folder. Folders that may not be read now, and could be read then, get their
/// permissions back on the way.
fn look(tree: &Tree, store: &Store, target: &Target) -> Result<Scan, CheckpointError> {
    let mut rules = target.rules(store);
    for _ in 0..ROUNDS {
        let seen = scan(&tree.dir, &mut rules, target, MAX_ENTRIES)?;
        let mut opened = false;
        for path in &seen.unreadable {
            let covered = target.entries.get(path).is_some_and(|entry| entry.kind == Kind::Folder);
            let mode = target.mode(path, Kind::Folder);
            if covered && !target.skips(path) && mode & 0o500 == 0o500 {
                opened |= set_mode(&tree.dir, path, mode).is_ok();
            }
        }
        if !opened {
            return Ok(seen);
        }
    }
    scan(&tree.dir, &mut rules, target, MAX_ENTRIES)
}

/// What has to be done, in the order in which it is done.
#[derive(Default)]
struct Plan {
    /// Folders that get permission to be written meanwhile.
    unlock: Vec<PathBuf>,
    remove: Vec<PathBuf>,
    temporary: Vec<PathBuf>,
    /// Folders to remove, in the order of paths.
    remove_folders: Vec<PathBuf>,
    make_folders: Vec<PathBuf>,
    write: Vec<(PathBuf, Entry, u32)>,
    modes: Vec<(PathBuf, u32)>,
    folder_modes: Vec<(PathBuf, u32)>,
    left: Vec<Left>,
    refused: Vec<Left>,
}

struct Planning<'a> {
    store: &'a Store,
    cache: &'a Cache,
    target: &'a Target,
    seen: &'a Scan,
    reader: Reader<'a>,
    plan: Plan,
}

impl Planning<'_> {
    fn files(&mut self) {
        let (target, seen) = (self.target, self.seen);
        for (path, there) in &seen.files {
            match target.entries.get(path) {
                Some(entry) if entry.kind != Kind::Folder => self.compare(path, *entry, there),
                Some(_) => self.plan.remove.push(path.clone()),
                None if target.skips(path) || there.ignored => {}
                None => self.plan.remove.push(path.clone()),
            }
        }
        for (path, entry) in &target.entries {
            if entry.kind != Kind::Folder && !seen.files.contains_key(path) {
                self.write(path, *entry);
            }
        }
        self.plan.temporary.clone_from(&seen.temporary);
        for (path, why) in &target.skipped {
            self.leave(path, words(*why));
        }
    }

    fn compare(&mut self, path: &Path, entry: Entry, there: &Seen) {
        let is_link = there.fingerprint.kind() == FileType::Symlink;
        let is_file = there.fingerprint.kind() == FileType::RegularFile;
        if is_link != (entry.kind == Kind::Link) || !(is_link || is_file) {
            return self.write(path, entry);
        }
        if !self.holds(path, entry.id, there) {
            return self.write(path, entry);
        }
        let mode = self.target.mode(path, entry.kind);
        if !is_link && there.fingerprint.permissions() != mode {
            self.plan.modes.push((path.to_owned(), mode));
        }
    }

    /// Whether the file has this content.
    fn holds(&mut self, path: &Path, id: Oid, there: &Seen) -> bool {
        if self.cache.known(path, &there.fingerprint) == Some(id) {
            return true;
        }
        let Some(size) = self.store.size(id) else { return false };
        match self.reader.read(path, there.fingerprint.kind(), size) {
            Content::Read { bytes, .. } => {
                Oid::hash_object(ObjectType::Blob, &bytes).is_ok_and(|held| held == id)
            }
            // What may not be read now can still be replaced.
            _ => false,
        }
    }

    fn write(&mut self, path: &Path, entry: Entry) {
        let mode = self.target.mode(path, entry.kind);
        self.plan.write.push((path.to_owned(), entry, mode));
    }

    fn folders(&mut self) {
        let staying = staying(self.target, self.seen);
        let within = |folder: &Path| {
            let from = (Bound::Included(folder), Bound::Unbounded);
            staying.range::<Path, _>(from).next().is_some_and(|path| path.starts_with(folder))
        };
        for (path, there) in &self.seen.folders {
            match self.target.entries.get(path) {
                Some(entry) if entry.kind == Kind::Folder => {
                    let mode = self.target.mode(path, Kind::Folder);
                    if *there != mode {
                        self.plan.folder_modes.push((path.clone(), mode));
                    }
                }
                Some(_) if within(path) => self.refuse(path, IN_THE_WAY),
                None if self.target.skips(path) => {}
                None if within(path) => {
                    self.leave(path, "holds files that are ignored, or git's own");
                }
                _ => self.plan.remove_folders.push(path.clone()),
            }
        }
        for path in &self.seen.closed {
            if self.target.is(path) {
                self.refuse(path, IN_THE_WAY);
            }
        }
        for (path, entry) in &self.target.entries {
            if entry.kind == Kind::Folder && !self.seen.folders.contains_key(path) {
                self.plan.make_folders.push(path.clone());
                self.plan.folder_modes.push((path.clone(), self.target.mode(path, Kind::Folder)));
            }
        }
    }

    fn leave(&mut self, path: &Path, why: &str) {
        if self.plan.left.len() < MAX_LEFT {
            self.plan.left.push(Left { path: path.to_owned(), why: why.to_owned() });
        }
    }

    fn refuse(&mut self, path: &Path, why: &str) {
        self.plan.refused.push(Left { path: path.to_owned(), why: why.to_owned() });
    }
}

/// What is there and stays although the checkpoint does not hold it.
fn staying<'a>(target: &Target, seen: &'a Scan) -> BTreeSet<&'a Path> {
    let ignored = seen.files.iter().filter(|(path, there)| {
        let covered = target.entries.contains_key(*path);
        !covered && (there.ignored || target.skips(path))
    });
    let ignored = ignored.map(|(path, _)| path.as_path());
    let rest = seen.closed.iter().chain(&seen.unreadable).map(PathBuf::as_path);
    ignored.chain(rest).collect()
}

const IN_THE_WAY: &str = "was a file, and is now a folder that holds files which are ignored, or \
                          git's own; move them away";

fn words(why: Uncovered) -> &'static str {
    match why {
        Uncovered::Unreadable => "could not be read when the checkpoint was taken",
        Uncovered::TooLarge => "was too large for the checkpoint",
        Uncovered::Ignored => "is ignored, and beyond what checkpoints hold of ignored files",
        Uncovered::Special => "was no regular file when the checkpoint was taken",
        Uncovered::Changing => "kept changing while the checkpoint was taken",
    }
}

impl Plan {
    /// Finds out what would fail.
    fn check(&mut self, root: &OwnedFd, store: &Store, seen: &Scan) {
        let changed = self.remove.iter().chain(&self.temporary).chain(&self.remove_folders);
        let made = self.make_folders.iter().chain(self.write.iter().map(|(path, ..)| path));
        let parents: BTreeSet<PathBuf> =
            changed.chain(made).filter_map(|path| path.parent()).map(Path::to_owned).collect();
        for folder in parents {
            let is_root = folder.as_os_str().is_empty();
            if (is_root || seen.folders.contains_key(&folder)) && !may_change(root, &folder) {
                if owns(root, &folder) {
                    self.unlock.push(folder);
                } else {
                    let why = "is a folder that you may not change".to_owned();
                    self.refused.push(Left { path: folder, why });
                }
            }
        }
        let mut needed = 0_u64;
        for (path, entry, _) in &self.write {
            match store.size(entry.id) {
                Some(size) => needed = needed.saturating_add(size),
                None => {
                    let why = "its content is missing from the store".to_owned();
                    self.refused.push(Left { path: path.clone(), why });
                }
            }
        }
        let free = rustix::fs::fstatvfs(root);
        let free = free.map_or(u64::MAX, |free| free.f_bavail.saturating_mul(free.f_frsize));
        if needed > free {
            let why = format!("{needed} bytes have to be written, and {free} are free");
            self.refused.push(Left { path: PathBuf::from("."), why });
        }
    }

    fn carry_out(
        self,
        root: &OwnedFd,
        store: &Store,
        target: &Target,
    ) -> Result<Restored, CheckpointError> {
        for folder in &self.unlock {
            set_mode(root, folder, 0o700)?;
        }
        let mut folders = Reader::new(root);
        for path in self.remove.iter().chain(&self.temporary) {
            remove(&mut folders, path, AtFlags::empty())?;
        }
        // From the deepest up. The folder that is held open may be one of them.
        for path in self.remove_folders.iter().rev() {
            remove(&mut Reader::new(root), path, AtFlags::REMOVEDIR)?;
        }
        for path in &self.make_folders {
            make(&mut Reader::new(root), path)?;
        }
        let mut folders = Reader::new(root);
        for (path, entry, mode) in &self.write {
            put(&mut folders, path, &store.read_blob(entry.id)?, (entry.kind, *mode))?;
        }
        for (path, mode) in &self.modes {
            set_mode(root, path, *mode)?;
        }
        let relocked = self.unlock.iter().filter(|path| !path.as_os_str().is_empty());
        let relocked = relocked.map(|path| (path.clone(), target.mode(path, Kind::Folder)));
        let mut folder_modes: BTreeMap<PathBuf, u32> = relocked.collect();
        folder_modes.retain(|path, _| target.entries.contains_key(path));
        folder_modes.extend(self.folder_modes.iter().cloned());
        for (path, mode) in folder_modes.iter().rev() {
            set_mode(root, path, *mode)?;
        }
        let made: BTreeSet<&PathBuf> = self.make_folders.iter().collect();
        let folders = self.folder_modes.into_iter().map(|(path, _)| path);
        let folders = folders.filter(|path| !made.contains(path));
        let files = self.modes.into_iter().map(|(path, _)| path);
        Ok(Restored {
            permissions: files.chain(folders).collect(),
            written: self.write.into_iter().map(|(path, ..)| path).collect(),
            removed: self.remove,
            left: self.left,
        })
    }
}

fn may_change(root: &OwnedFd, folder: &Path) -> bool {
    let Ok(dir) = open_folder(root, folder, ENTRIES) else { return false };
    let access = Access::WRITE_OK | Access::EXEC_OK;
    rustix::fs::accessat(dir, ".", access, AtFlags::EACCESS).is_ok()
}

fn owns(root: &OwnedFd, folder: &Path) -> bool {
    let dir = open_folder(root, folder, crate::beneath::FOLDER);
    let owner = dir.and_then(rustix::fs::fstat).map(|stat| stat.st_uid);
    owner.is_ok_and(|owner| owner == rustix::process::geteuid().as_raw())
}

fn parts(path: &Path) -> (&Path, &std::ffi::OsStr) {
    (path.parent().unwrap_or(Path::new("")), path.file_name().unwrap_or_default())
}

fn remove(folders: &mut Reader<'_>, path: &Path, flags: AtFlags) -> Result<(), CheckpointError> {
    use rustix::io::Errno;
    let (folder, name) = parts(path);
    let removed = folders.open(folder).and_then(|dir| rustix::fs::unlinkat(dir, name, flags));
    match removed {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(errno) => Err(failed("remove", path)(errno)),
    }
}

fn make(folders: &mut Reader<'_>, path: &Path) -> Result<(), CheckpointError> {
    use rustix::io::Errno;
    let (folder, name) = parts(path);
    let made = folders
        .open(folder)
        .and_then(|dir| rustix::fs::mkdirat(dir, name, Mode::from_raw_mode(0o700)));
    match made {
        Ok(()) | Err(Errno::EXIST) => Ok(()),
        Err(errno) => Err(failed("make the folder", path)(errno)),
    }
}

/// Puts a file or symlink in its place in one step.
fn put(
    folders: &mut Reader<'_>,
    path: &Path,
    content: &[u8],
    (kind, mode): (Kind, u32),
) -> Result<(), CheckpointError> {
    let (folder, name) = parts(path);
    let dir = folders.open(folder).map_err(failed("write", path))?;
    if kind != Kind::Link {
        let written = write::put(dir, name, content, Some(mode));
        return written.map_err(|source| super::error::io_error("write", path, source));
    }
    let temporary = write::temporary_name();
    rustix::fs::symlinkat(content, dir, &temporary)
        .and_then(|()| rustix::fs::renameat(dir, &temporary, dir, name))
        .map_err(failed("write the link", path))
}

/// Sets permissions, and does not follow a symlink if it can be helped.
fn set_mode(root: &OwnedFd, path: &Path, mode: u32) -> Result<(), CheckpointError> {
    let fail = failed("set the permissions of", path);
    let mode = Mode::from_raw_mode(mode);
    let (folder, name) = parts(path);
    let dir = open_folder(root, folder, crate::beneath::FOLDER).map_err(&fail)?;
    let name = if name.is_empty() { ".".as_ref() } else { name };
    match rustix::fs::openat(&dir, name, READ, Mode::empty()) {
        Ok(file) => rustix::fs::fchmod(file, mode).map_err(&fail),
        // It may not be opened, which is why its permissions are set.
        Err(_) => rustix::fs::chmodat(&dir, name, mode, AtFlags::empty()).map_err(&fail),
    }
}
