//! Folders of prompt files: what lies in them, and whether it has changed.

use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use steersman_config::Finding;
use steersman_config::document::Text;

use crate::error::PromptError;
use crate::part::Kind;

/// The largest prompt file. Bytes.
pub(crate) const MAX_FILE_BYTES: usize = 256 << 10;

/// Most files of one kind in one folder.
const MAX_FILES: usize = 500;

/// Longest name of a prompt. Bytes.
const MAX_NAME: usize = 64;

/// A file that was found and read.
pub(crate) struct Found {
    pub(crate) kind: Kind,
    pub(crate) name: String,
    pub(crate) text: Text,
}

/// What shows that a file or folder has changed; `None` if it is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stamp(Option<(SystemTime, u64, [i64; 3])>);

impl Stamp {
    pub(crate) fn of(path: &Path) -> Self {
        let stamp = |metadata: &Metadata| {
            let changed = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            (changed, metadata.len(), identity(metadata))
        };
        Self(fs::metadata(path).ok().as_ref().map(stamp))
    }
}

/// A file replaced by another of the same length and time is another file.
#[cfg(unix)]
fn identity(metadata: &Metadata) -> [i64; 3] {
    use std::os::unix::fs::MetadataExt;
    [metadata.ctime(), metadata.ctime_nsec(), metadata.ino().cast_signed()]
}

#[cfg(not(unix))]
fn identity(_: &Metadata) -> [i64; 3] {
    [0; 3]
}

/// What a folder of prompts holds.
#[derive(Default)]
pub(crate) struct Scan {
    pub(crate) files: Vec<Found>,
    /// Every path that was looked at, with its state before it was read.
    pub(crate) stamps: Vec<(PathBuf, Stamp)>,
    pub(crate) findings: Vec<Finding>,
}

impl Scan {
    /// Reads every prompt file below `root`; a folder that is not there is empty.
    ///
    /// # Errors
    /// A file or folder that is there cannot be read.
    pub(crate) fn read(&mut self, root: &Path) -> Result<(), PromptError> {
        self.stamp(root);
        for entry in list(root)? {
            let name = entry.file_name().to_string_lossy().into_owned();
            let kind = Kind::ALL.into_iter().find(|kind| kind.folder() == name);
            match kind {
                Some(kind) => self.read_kind(&entry.path(), kind)?,
                None if name.starts_with('.') || !entry.path().is_dir() => {}
                None => self.findings.push(unknown_folder(&entry.path(), &name)),
            }
        }
        Ok(())
    }

    fn read_kind(&mut self, folder: &Path, kind: Kind) -> Result<(), PromptError> {
        self.stamp(folder);
        let mut count = 0;
        for entry in list(folder)? {
            let (path, file) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
            // Editors leave files of their own, and a README explains a folder.
            if file.starts_with('.') || !file.ends_with(".md") || file == "README.md" {
                continue;
            }
            count += 1;
            let refusal = match file.strip_suffix(kind.ending()) {
                None => Some(format!("not read: prompts here are called NAME{}", kind.ending())),
                Some(name) => refuse_name(name),
            };
            let shown = path.display().to_string();
            if count > MAX_FILES {
                let what = format!("more than {MAX_FILES} files in one folder");
                self.findings.push(Finding::of_file(&folder.display().to_string(), what));
                return Ok(());
            }
            if let Some(what) = refusal {
                self.findings.push(Finding::of_file(&shown, what));
                continue;
            }
            self.stamp(&path);
            let name = file[..file.len() - kind.ending().len()].to_owned();
            let bytes = read_file(&path, MAX_FILE_BYTES)?;
            match Text::from_bytes(&shown, &bytes, MAX_FILE_BYTES, "a prompt") {
                Ok(text) => self.files.push(Found { kind, name, text }),
                Err(finding) => self.findings.push(*finding),
            }
        }
        Ok(())
    }

    fn stamp(&mut self, path: &Path) {
        self.stamps.push((path.to_owned(), Stamp::of(path)));
    }
}

/// Reads a file, at most one byte more than `most`.
///
/// # Errors
/// The file cannot be read, or is none: a pipe would be waited for.
pub(crate) fn read_file(path: &Path, most: usize) -> Result<Vec<u8>, PromptError> {
    let unreadable = |cause| PromptError::Unreadable { path: path.to_owned(), cause };
    if !fs::metadata(path).map_err(unreadable)?.is_file() {
        return Err(unreadable(io::Error::other("not a file")));
    }
    let mut bytes = Vec::new();
    let limit = most as u64 + 1;
    File::open(path)
        .and_then(|file| file.take(limit).read_to_end(&mut bytes))
        .map_err(unreadable)?;
    Ok(bytes)
}

/// The entries of a folder by name; none if it is not there.
fn list(folder: &Path) -> Result<Vec<fs::DirEntry>, PromptError> {
    let unreadable = |cause| PromptError::Unreadable { path: folder.to_owned(), cause };
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(unreadable(error)),
    };
    let mut entries: Vec<_> = entries.collect::<Result<_, _>>().map_err(unreadable)?;
    entries.sort_by_key(fs::DirEntry::file_name);
    Ok(entries)
}

fn unknown_folder(path: &Path, name: &str) -> Finding {
    let known = Kind::ALL.map(Kind::folder);
    let finding = Finding::of_file(&path.display().to_string(), "not a folder of prompts");
    let finding = match steersman_config::nearest(name, known.into_iter()) {
        Some(near) => finding.with_help(format!("did you mean `{near}`?")),
        None => finding,
    };
    finding.with_help(format!("known: {}", known.join(", ")))
}

/// Why a name cannot be a prompt's; `None` if it can.
pub(crate) fn refuse_name(name: &str) -> Option<String> {
    let letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let fits = !name.is_empty() && name.len() <= MAX_NAME && name.bytes().all(letter);
    let allowed = format!("letters, digits, `_` and `-`, at most {MAX_NAME}");
    (!fits).then(|| format!("`{name}` is no name: {allowed}"))
}
