//! Paths that cannot leave a folder.
//!
//! Every path is walked one component at a time from the open root, each opened relative to the
//! folder before it and never through a symlink. A symlink is read and its target walked in the
//! same way. `..` goes back to the folder that is already open. So nothing that happens to the
//! tree meanwhile leads outside. For reading, the kernel does the same in one call where it
//! has `openat2`.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use crate::WorkspaceError;

/// Longest path that is looked at, in bytes.
const MAX_PATH: usize = 4_096;
/// Longest name of a file, in bytes.
const MAX_NAME: usize = 255;
/// Most symlinks on the way, as in Linux.
const MAX_LINKS: usize = 40;
/// How much of a bad path is shown.
const SHOWN: usize = 200;

/// Flags for a folder that is only walked through.
#[cfg(target_os = "linux")]
pub(crate) const FOLDER: OFlags =
    OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
/// Flags for a folder that is only walked through.
#[cfg(not(target_os = "linux"))]
pub(crate) const FOLDER: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
/// Flags for a folder whose entries are read.
pub(crate) const ENTRIES: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
/// Flags for a file that is read: opening a pipe must not wait for its writer.
pub(crate) const READ: OFlags =
    OFlags::NONBLOCK.union(OFlags::NOCTTY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// A folder, and the way to everything beneath it.
#[derive(Debug)]
pub(crate) struct Beneath {
    dir: OwnedFd,
    /// What an absolute path or link inside the folder starts with: as given, and without links.
    prefixes: Vec<PathBuf>,
}

/// Where a path leads: an open folder and a name in it, which is no symlink when it was looked at.
#[derive(Debug)]
pub(crate) struct Place {
    /// The folder.
    pub(crate) dir: OwnedFd,
    /// The name in it; `None` for the root itself.
    pub(crate) name: Option<OsString>,
    /// The path from the root without symlinks.
    pub(crate) path: PathBuf,
    /// What is there; `None` when nothing is.
    pub(crate) stat: Option<Stat>,
}

/// How a path is walked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Missing {
    /// A folder on the way that does not exist is an error.
    Fails,
    /// It is made.
    Made,
}

impl Beneath {
    /// Opens `root`; `given` is what the user calls it.
    pub(crate) fn open(given: &Path, root: &Path) -> Result<Self, Errno> {
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
        let dir = rustix::fs::open(root, flags, Mode::empty())?;
        let mut prefixes = vec![root.to_owned()];
        if given.is_absolute() && given != root {
            prefixes.push(given.to_owned());
        }
        Ok(Self { dir, prefixes })
    }

    /// The open folder.
    pub(crate) fn dir(&self) -> &OwnedFd {
        &self.dir
    }

    /// Finds where `path`, as a model wrote it, leads.
    pub(crate) fn find(&self, path: &str, missing: Missing) -> Result<Place, WorkspaceError> {
        let names = self.names(path)?;
        let mut walk = Walk { beneath: self, given: path, above: Vec::new(), links: 0, missing };
        let place = walk.go(names)?;
        let is_folder = |stat: &Stat| FileType::from_raw_mode(stat.st_mode).is_dir();
        if path.ends_with('/') && !place.stat.as_ref().is_none_or(is_folder) {
            return Err(WorkspaceError::NotAFolder { path: path.into() });
        }
        Ok(place)
    }

    /// Opens the regular file at `path`, as a model wrote it, for reading.
    pub(crate) fn open_file(&self, path: &str) -> Result<(File, Stat), WorkspaceError> {
        let file = match self.open_at_once(path)? {
            Some(file) => file,
            None => {
                let place = self.find(path, Missing::Fails)?;
                self.check_file(path, &place)?;
                let name = place.name.as_deref().unwrap_or(OsStr::new("."));
                rustix::fs::openat(&place.dir, name, READ, Mode::empty())
                    .map_err(|errno| io_error("open", path, errno))?
            }
        };
        let stat = rustix::fs::fstat(&file).map_err(|errno| io_error("read", path, errno))?;
        check_regular(path, &stat)?;
        Ok((File::from(file), stat))
    }

    /// Refuses what is no regular file, or is not there.
    pub(crate) fn check_file(&self, path: &str, place: &Place) -> Result<(), WorkspaceError> {
        match &place.stat {
            Some(stat) => check_regular(path, stat),
            None => Err(WorkspaceError::NotFound { path: path.into() }),
        }
    }

    /// One call of the kernel's own confined lookup. `None` when it does not settle the matter.
    #[cfg(target_os = "linux")]
    fn open_at_once(&self, path: &str) -> Result<Option<OwnedFd>, WorkspaceError> {
        use rustix::fs::ResolveFlags;
        let names = self.names(path)?;
        if path.ends_with('/') || names.is_empty() {
            return Ok(None);
        }
        let relative: PathBuf = names.iter().collect();
        // A device could act on being opened, so it is looked at before.
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let Ok(seen) = rustix::fs::openat2(&self.dir, &relative, flags, Mode::empty(), resolve)
        else {
            return Ok(None);
        };
        let Ok(stat) = rustix::fs::fstat(&seen) else { return Ok(None) };
        check_regular(path, &stat)?;
        let flags = OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        Ok(rustix::fs::openat2(&self.dir, &relative, flags, Mode::empty(), resolve).ok())
    }

    #[cfg(not(target_os = "linux"))]
    fn open_at_once(&self, _: &str) -> Result<Option<OwnedFd>, WorkspaceError> {
        Ok(None)
    }

    /// The components of `path` from the root, with `..` but without `.`.
    fn names(&self, path: &str) -> Result<VecDeque<OsString>, WorkspaceError> {
        let bad = |why| {
            let shown = path.chars().take(SHOWN).filter(|c| !c.is_control()).collect();
            Err(WorkspaceError::BadPath { path: shown, why })
        };
        if path.is_empty() {
            return bad("it is empty; the workspace's root is `.`");
        }
        if path.contains('\0') {
            return bad("it holds a NUL byte");
        }
        if path.len() > MAX_PATH {
            return bad("it is longer than 4,096 bytes");
        }
        let outside = || WorkspaceError::Outside { path: path.into() };
        let names = self.names_beneath(Path::new(path)).ok_or_else(outside)?;
        if names.iter().any(|name| name.len() > MAX_NAME) {
            return bad("a name in it is longer than 255 bytes");
        }
        Ok(names)
    }

    /// The components of `path`; `None` when it is absolute and starts elsewhere.
    fn names_beneath(&self, path: &Path) -> Option<VecDeque<OsString>> {
        let relative = if path.is_absolute() {
            self.prefixes.iter().find_map(|prefix| path.strip_prefix(prefix).ok())?
        } else {
            path
        };
        let names = relative.components().filter_map(|component| match component {
            Component::Normal(name) => Some(name.to_owned()),
            Component::ParentDir => Some("..".into()),
            _ => None,
        });
        Some(names.collect())
    }
}

/// A path on its way.
struct Walk<'a> {
    beneath: &'a Beneath,
    given: &'a str,
    /// The folders from the root to here, without the root.
    above: Vec<(OwnedFd, OsString)>,
    links: usize,
    missing: Missing,
}

impl Walk<'_> {
    fn go(&mut self, mut names: VecDeque<OsString>) -> Result<Place, WorkspaceError> {
        while let Some(name) = names.pop_front() {
            if name == ".." {
                self.above.pop().ok_or_else(|| self.outside())?;
                continue;
            }
            let stat = self.look(&name)?;
            let kind = stat.map(|stat| FileType::from_raw_mode(stat.st_mode));
            match kind {
                Some(FileType::Symlink) => self.follow(&name, &mut names)?,
                _ if names.is_empty() => return self.place(Some(name), stat),
                Some(FileType::Directory) => self.enter(name)?,
                None if self.missing == Missing::Made => {
                    if is_in_git(&self.path(Some(&name))) {
                        return Err(WorkspaceError::Git { path: self.given.into() });
                    }
                    self.make(&name)?;
                    self.enter(name)?;
                }
                None => return Err(WorkspaceError::NotFound { path: self.given.into() }),
                Some(_) => {
                    let path = self.path(Some(&name)).to_string_lossy().into_owned();
                    return Err(WorkspaceError::NotAFolder { path });
                }
            }
        }
        // The path ended in `..` or at the root: what is there is a folder that is open.
        let Some((_, name)) = self.above.pop() else { return self.place(None, None) };
        let stat = self.look(&name)?;
        self.place(Some(name), stat)
    }

    fn place(&self, name: Option<OsString>, stat: Option<Stat>) -> Result<Place, WorkspaceError> {
        let dir = self.here().try_clone().map_err(|source| self.io("open", source))?;
        let stat = match name {
            Some(_) => stat,
            None => Some(rustix::fs::fstat(&dir).map_err(|errno| self.errno("read", errno))?),
        };
        Ok(Place { dir, path: self.path(name.as_deref()), name, stat })
    }

    fn look(&self, name: &OsStr) -> Result<Option<Stat>, WorkspaceError> {
        match rustix::fs::statat(self.here(), name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(self.errno("look at", errno)),
        }
    }

    fn enter(&mut self, name: OsString) -> Result<(), WorkspaceError> {
        let dir = rustix::fs::openat(self.here(), &*name, FOLDER, Mode::empty())
            .map_err(|errno| self.errno("enter", errno))?;
        self.above.push((dir, name));
        Ok(())
    }

    fn make(&self, name: &OsStr) -> Result<(), WorkspaceError> {
        match rustix::fs::mkdirat(self.here(), name, Mode::from_raw_mode(0o777)) {
            Ok(()) | Err(Errno::EXIST) => Ok(()),
            Err(errno) => Err(self.errno("make a folder for", errno)),
        }
    }

    /// Puts the target of the symlink `name` before the names that are left.
    fn follow(
        &mut self,
        name: &OsStr,
        names: &mut VecDeque<OsString>,
    ) -> Result<(), WorkspaceError> {
        self.links += 1;
        if self.links > MAX_LINKS {
            return Err(WorkspaceError::Loop { path: self.given.into() });
        }
        let target = rustix::fs::readlinkat(self.here(), name, Vec::new())
            .map_err(|errno| self.errno("read the link", errno))?;
        let target = PathBuf::from(OsString::from_vec(target.into_bytes()));
        if target.is_absolute() {
            self.above.clear();
        }
        let found = self.beneath.names_beneath(&target).ok_or_else(|| self.outside())?;
        for name in found.into_iter().rev() {
            names.push_front(name);
        }
        Ok(())
    }

    fn here(&self) -> &OwnedFd {
        self.above.last().map_or(&self.beneath.dir, |(dir, _)| dir)
    }

    fn path(&self, name: Option<&OsStr>) -> PathBuf {
        self.above.iter().map(|(_, name)| name.as_os_str()).chain(name).collect()
    }

    fn outside(&self) -> WorkspaceError {
        WorkspaceError::Outside { path: self.given.into() }
    }

    fn io(&self, what: &'static str, source: io::Error) -> WorkspaceError {
        WorkspaceError::Io { what, path: self.given.into(), source }
    }

    fn errno(&self, what: &'static str, errno: Errno) -> WorkspaceError {
        self.io(what, errno.into())
    }
}

/// Whether a path from the root is git's own: `.git` in any case, for some file systems ignore it.
pub(crate) fn is_in_git(path: &Path) -> bool {
    path.components().any(|name| name.as_os_str().as_bytes().eq_ignore_ascii_case(b".git"))
}

/// Refuses what is no regular file.
fn check_regular(path: &str, stat: &Stat) -> Result<(), WorkspaceError> {
    let path = path.to_owned();
    let kind = match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => return Ok(()),
        FileType::Directory => return Err(WorkspaceError::IsFolder { path }),
        FileType::Fifo => "pipe",
        FileType::Socket => "socket",
        FileType::CharacterDevice | FileType::BlockDevice => "device",
        _ => "special file",
    };
    Err(WorkspaceError::Special { path, kind })
}

/// An error of the system about `path`.
pub(crate) fn io_error(
    what: &'static str,
    path: &str,
    source: impl Into<io::Error>,
) -> WorkspaceError {
    WorkspaceError::Io { what, path: path.into(), source: source.into() }
}

/// Opens a folder beneath `root` without following any symlink.
///
/// # Errors
/// A component is missing, no folder, or a symlink.
pub(crate) fn open_folder(root: impl AsFd, path: &Path, last: OFlags) -> Result<OwnedFd, Errno> {
    let mut names = path.components().filter_map(|component| match component {
        Component::Normal(name) => Some(Ok(name)),
        Component::CurDir => None,
        _ => Some(Err(Errno::INVAL)),
    });
    let Some(first) = names.next() else {
        return rustix::fs::openat(root, ".", last, Mode::empty());
    };
    let mut name = first?;
    let mut dir: Option<OwnedFd> = None;
    for next in names {
        dir = Some(step(dir.as_ref(), &root, name, FOLDER)?);
        name = next?;
    }
    step(dir.as_ref(), &root, name, last)
}

fn step(
    dir: Option<&OwnedFd>,
    root: impl AsFd,
    name: &OsStr,
    flags: OFlags,
) -> Result<OwnedFd, Errno> {
    match dir {
        Some(dir) => rustix::fs::openat(dir, name, flags, Mode::empty()),
        None => rustix::fs::openat(root, name, flags, Mode::empty()),
    }
}
