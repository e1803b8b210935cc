//! Writing a file.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;
use serde::Deserialize;

use crate::beneath::{Missing, Place, io_error, is_in_git};
use crate::{Workspace, WorkspaceError};

/// What to write.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WriteFile {
    /// The file; missing folders are made.
    pub path: String,
    /// All of its content.
    pub content: String,
}

/// A file that was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The path from the workspace's root, symlinks resolved.
    pub path: String,
    /// The size of the new content.
    pub bytes: u64,
    /// Whether the file is new.
    pub created: bool,
    /// Whether the content is what the file held already.
    pub unchanged: bool,
    /// What happened, for the model.
    pub text: String,
}

impl Workspace {
    /// Writes a whole file, so that it is either as it was or as wanted, and makes the folders it
    /// lies in. A file that exists keeps its permissions; a symlink is written through, inside the
    /// workspace.
    ///
    /// # Errors
    /// The path is refused, is something else than a file, or cannot be written.
    pub fn write(&self, wanted: &WriteFile) -> Result<Written, WorkspaceError> {
        let place = self.place_to_write(&wanted.path, Missing::Made)?;
        let content = wanted.content.as_bytes();
        let created = place.stat.is_none();
        let unchanged = !created && self.holds(&wanted.path, content)?;
        if !unchanged {
            replace(&place, content).map_err(|source| io_error("write", &wanted.path, source))?;
        }
        let path = place.path.to_string_lossy().into_owned();
        let bytes = content.len() as u64;
        let lines = memchr::memchr_iter(b'\n', content).count();
        let did = match (created, unchanged) {
            (true, _) => "created",
            (false, true) => "unchanged, it held this already:",
            (false, false) => "replaced",
        };
        let text = format!("{did} `{path}`, {lines} lines, {bytes} bytes\n");
        Ok(Written { path, bytes, created, unchanged, text })
    }

    /// Where a file may be written: nothing is there yet, or a regular file that is not git's.
    pub(super) fn place_to_write(
        &self,
        path: &str,
        missing: Missing,
    ) -> Result<Place, WorkspaceError> {
        let place = self.beneath.find(path, missing)?;
        if is_in_git(&place.path) {
            return Err(WorkspaceError::Git { path: path.into() });
        }
        if place.name.is_none() || path.ends_with('/') {
            return Err(WorkspaceError::IsFolder { path: path.into() });
        }
        if place.stat.is_some() {
            self.beneath.check_file(path, &place)?;
        }
        Ok(place)
    }

    fn holds(&self, path: &str, content: &[u8]) -> Result<bool, WorkspaceError> {
        let Ok((file, stat)) = self.beneath.open_file(path) else {
            // What may be written need not be readable.
            return Ok(false);
        };
        if u64::try_from(stat.st_size).ok() != Some(content.len() as u64) {
            return Ok(false);
        }
        let mut held = Vec::with_capacity(content.len());
        let read = file.take(content.len() as u64 + 1).read_to_end(&mut held);
        read.map_err(|source| io_error("read", path, source))?;
        Ok(held == content)
    }
}

/// Puts a new file in the place, with the permissions of the one that was there.
pub(super) fn replace(place: &Place, content: &[u8]) -> io::Result<()> {
    let name = place.name.as_deref().ok_or(io::ErrorKind::IsADirectory)?;
    let mode = place.stat.map(|stat| stat.st_mode & 0o7777);
    put(&place.dir, name, content, mode)
}

/// Writes a file beside the name and renames it to the name. With no mode it gets the usual one.
pub(crate) fn put(
    dir: impl AsFd,
    name: &OsStr,
    content: &[u8],
    mode: Option<u32>,
) -> io::Result<()> {
    let (mut file, temporary) = create_beside(&dir)?;
    let written = file.write_all(content).and_then(|()| {
        if let Some(mode) = mode {
            rustix::fs::fchmod(&file, Mode::from_raw_mode(mode))?;
        }
        rustix::fs::renameat(&dir, &temporary, &dir, name)?;
        Ok(())
    });
    if written.is_err() {
        // What failed is what counts; a temporary file left is removed with the next restore.
        let _ = rustix::fs::unlinkat(&dir, &temporary, AtFlags::empty());
    }
    written
}

/// A new file under a name that nothing has.
pub(crate) fn create_beside(dir: impl AsFd) -> io::Result<(File, String)> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    loop {
        let name = temporary_name();
        match rustix::fs::openat(&dir, &name, flags, Mode::from_raw_mode(0o666)) {
            Ok(file) => return Ok((File::from(file), name)),
            Err(Errno::EXIST) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
}

/// What the names of files start with that are about to be renamed. Checkpoints pass over them.
pub(crate) const TEMPORARY: &str = ".steersman-new-";

/// A name for a temporary file.
pub(crate) fn temporary_name() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("{TEMPORARY}{}-{count}", std::process::id())
}
