//! What lies in the folder, as far as checkpoints are concerned.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, Mode, Stat};
use rustix::io::Errno;

use super::CheckpointError;
use super::error::{failed, io_error};
use super::rules::{MAX_RULES, Rules};
use crate::beneath::{self, ENTRIES, FOLDER, READ, open_folder};
use crate::files::write::TEMPORARY;

/// What something is, as far as it can be told without reading it. Two that are the same have, but
/// for tricks with the clock, the same content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fingerprint {
    pub(super) mode: u32,
    pub(super) size: u64,
    inode: u64,
    device: u64,
    pub(super) modified: (i64, i64),
    pub(super) changed: (i64, i64),
}

impl Fingerprint {
    pub(super) fn of(stat: &Stat) -> Self {
        Self {
            mode: stat.st_mode,
            size: u64::try_from(stat.st_size).unwrap_or(0),
            inode: stat.st_ino,
            device: stat.st_dev,
            modified: (stat.st_mtime, i64::try_from(stat.st_mtime_nsec).unwrap_or(0)),
            changed: (stat.st_ctime, i64::try_from(stat.st_ctime_nsec).unwrap_or(0)),
        }
    }

    pub(super) fn permissions(&self) -> u32 {
        self.mode & 0o7777
    }

    pub(super) fn kind(&self) -> FileType {
        FileType::from_raw_mode(self.mode)
    }

    pub(super) fn is_executable(&self) -> bool {
        self.mode & 0o100 != 0
    }
}

/// A file, symlink or special file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen {
    pub(super) fingerprint: Fingerprint,
    pub(super) ignored: bool,
}

/// What lies in the folder.
#[derive(Debug, Default)]
pub(super) struct Scan {
    /// Everything but folders, in the order of paths.
    pub(super) files: BTreeMap<PathBuf, Seen>,
    /// Folders that are not ignored, without the root; the permissions.
    pub(super) folders: BTreeMap<PathBuf, u32>,
    /// Folders that may not be read.
    pub(super) unreadable: Vec<PathBuf>,
    /// Ignored folders, which were not entered, and git's own.
    pub(super) closed: Vec<PathBuf>,
    /// Files that were being written when a program of ours was ended.
    pub(super) temporary: Vec<PathBuf>,
}

/// What is covered although it is ignored: tracked files, or files of a checkpoint.
pub(super) trait Tracked {
    /// Whether this file is.
    fn is(&self, path: &Path) -> bool;
    /// Whether some file in this folder is.
    fn within(&self, folder: &Path) -> bool;
}

/// Goes through the folder. `max` bounds what is kept.
pub(super) fn scan(
    root: &OwnedFd,
    rules: &mut Rules<'_>,
    tracked: &dyn Tracked,
    max: usize,
) -> Result<Scan, CheckpointError> {
    let mut scanning = Scanning { rules, tracked, max, scan: Scan::default(), open: Vec::new() };
    scanning.open.push((PathBuf::new(), false));
    while let Some((folder, ignored)) = scanning.open.pop() {
        match open_folder(root, &folder, ENTRIES) {
            Ok(dir) => scanning.folder(dir, &folder, ignored)?,
            Err(Errno::ACCESS | Errno::PERM) => scanning.scan.unreadable.push(folder),
            // It went away, or something else came in its place, while we looked.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => {
                scanning.scan.folders.remove(&folder);
            }
            Err(errno) => return Err(io_error("read the folder", &folder, errno)),
        }
    }
    Ok(scanning.scan)
}

struct Scanning<'a, 'r> {
    rules: &'a mut Rules<'r>,
    tracked: &'a dyn Tracked,
    max: usize,
    scan: Scan,
    /// Folders to go through, and whether they are ignored.
    open: Vec<(PathBuf, bool)>,
}

impl Scanning<'_, '_> {
    fn folder(
        &mut self,
        dir: OwnedFd,
        folder: &Path,
        ignored: bool,
    ) -> Result<(), CheckpointError> {
        let entries = Dir::read_from(&dir).map_err(failed("read the folder", folder))?;
        for entry in entries {
            let entry = entry.map_err(failed("read the folder", folder))?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name == "." || name == ".." {
                continue;
            }
            let path = folder.join(name);
            match rustix::fs::statat(&dir, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => self.entry(path, &Fingerprint::of(&stat), ignored),
                Err(Errno::NOENT) => {}
                // The folder may be read but not entered.
                Err(Errno::ACCESS | Errno::PERM) => self.scan.unreadable.push(path),
                Err(errno) => return Err(io_error("look at", &path, errno)),
            }
            if self.scan.files.len() + self.scan.folders.len() > self.max {
                return Err(CheckpointError::TooMany { limit: self.max });
            }
        }
        Ok(())
    }

    /// In a folder that is `ignored`, only what is tracked counts.
    fn entry(&mut self, path: PathBuf, seen: &Fingerprint, ignored: bool) {
        let name = path.file_name().unwrap_or_default();
        if name == ".git" {
            self.scan.closed.push(path);
        } else if name.as_bytes().starts_with(TEMPORARY.as_bytes()) && !ignored {
            self.scan.temporary.push(path);
        } else if seen.kind() == FileType::Directory {
            let ignored = ignored || self.rules.ignores(&path, true);
            if ignored && !self.tracked.within(&path) {
                self.scan.closed.push(path);
                return;
            }
            self.scan.folders.insert(path.clone(), seen.permissions());
            self.open.push((path, ignored));
        } else if self.tracked.is(&path) {
            self.scan.files.insert(path, Seen { fingerprint: *seen, ignored: false });
        } else if ignored {
            self.scan.closed.push(path);
        } else {
            let ignored = self.rules.ignores(&path, false);
            self.scan.files.insert(path, Seen { fingerprint: *seen, ignored });
        }
    }
}

/// Reads files one after the other, and keeps the folder of the last one open.
pub(super) struct Reader<'a> {
    root: &'a OwnedFd,
    folder: Option<(PathBuf, OwnedFd)>,
}

/// What a file holds, and what it was when it was read.
#[derive(Debug)]
pub(super) enum Content {
    Read {
        bytes: Vec<u8>,
        fingerprint: Fingerprint,
    },
    /// It is gone, or something else now.
    Gone,
    Unreadable,
    TooLarge,
    /// It changed every time.
    Changing,
}

/// How often a file is read that changes while it is read.
const TRIES: usize = 3;

impl<'a> Reader<'a> {
    pub(super) fn new(root: &'a OwnedFd) -> Self {
        Self { root, folder: None }
    }

    /// Reads a regular file of at most `max` bytes, or a symlink's target.
    pub(super) fn read(&mut self, path: &Path, kind: FileType, max: u64) -> Content {
        let mut content = Content::Changing;
        for _ in 0..TRIES {
            content = match self.read_once(path, kind, max) {
                Ok(content) => content,
                Err(Errno::ACCESS | Errno::PERM) => Content::Unreadable,
                Err(_) => Content::Gone,
            };
            if !matches!(content, Content::Changing) {
                break;
            }
        }
        content
    }

    fn read_once(&mut self, path: &Path, kind: FileType, max: u64) -> Result<Content, Errno> {
        let name = path.file_name().ok_or(Errno::INVAL)?;
        let dir = self.open(path.parent().unwrap_or(Path::new("")))?;
        if kind == FileType::Symlink {
            let bytes = rustix::fs::readlinkat(dir, name, Vec::new())?.into_bytes();
            let stat = rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)?;
            let fingerprint = Fingerprint::of(&stat);
            return Ok(Content::Read { bytes, fingerprint });
        }
        let file = rustix::fs::openat(dir, name, READ, Mode::empty())?;
        let before = Fingerprint::of(&rustix::fs::fstat(&file)?);
        if before.kind() != FileType::RegularFile {
            return Ok(Content::Gone);
        }
        if before.size > max {
            return Ok(Content::TooLarge);
        }
        let mut bytes = Vec::with_capacity(usize::try_from(before.size).unwrap_or(0));
        let mut file = std::fs::File::from(file);
        let read = (&mut file).take(max + 1).read_to_end(&mut bytes);
        read.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
        let fingerprint = Fingerprint::of(&rustix::fs::fstat(&file)?);
        if fingerprint != before || fingerprint.size != bytes.len() as u64 {
            return Ok(Content::Changing);
        }
        Ok(Content::Read { bytes, fingerprint })
    }

    /// The folder, opened without following symlinks.
    pub(super) fn open(&mut self, folder: &Path) -> Result<&OwnedFd, Errno> {
        let kept = matches!(&self.folder, Some((open, _)) if open == folder);
        if !kept {
            let dir = open_folder(self.root, folder, FOLDER)?;
            self.folder = Some((folder.to_owned(), dir));
        }
        self.folder.as_ref().map(|(_, dir)| dir).ok_or(Errno::NOENT)
    }
}

/// The `.gitignore` of a folder on disk. As in git, one that is a symlink does not count.
pub(super) fn rules_on_disk(root: &OwnedFd, folder: &Path) -> Option<Vec<u8>> {
    let dir = open_folder(root, folder, FOLDER).ok()?;
    let file = rustix::fs::openat(dir, ".gitignore", beneath::READ, Mode::empty()).ok()?;
    let seen = Fingerprint::of(&rustix::fs::fstat(&file).ok()?);
    if seen.kind() != FileType::RegularFile || seen.size > MAX_RULES {
        return None;
    }
    let mut text = Vec::new();
    std::fs::File::from(file).take(MAX_RULES).read_to_end(&mut text).ok()?;
    Some(text)
}
