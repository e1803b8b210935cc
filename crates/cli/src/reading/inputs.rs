//! From arguments to inputs: files, folders, patterns, standard input.

use std::path::{Path, PathBuf};

use walkdir::{DirEntry, WalkDir};

/// One argument of the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Argument {
    /// Standard input.
    Stdin,
    /// A file or folder.
    Path(PathBuf),
    /// A pattern.
    Pattern(String),
}

/// A file to read, or why there is none.
pub(crate) type Found = Result<File, String>;

/// A file to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct File {
    /// Where it is.
    pub(crate) path: PathBuf,
    /// It was found in a folder or by a pattern, not named: it may be something else than a trace.
    pub(crate) walked: bool,
}

impl Argument {
    /// What an argument means. A path that exists is never a pattern.
    pub(crate) fn parse(argument: &Path) -> Self {
        match argument.to_str() {
            Some("-") => Self::Stdin,
            Some(text) if text.contains(['*', '?', '[']) && !argument.exists() => {
                Self::Pattern(text.to_owned())
            }
            _ => Self::Path(argument.to_owned()),
        }
    }

    /// The argument as it was written.
    pub(crate) fn as_path(&self) -> &Path {
        match self {
            Self::Stdin => Path::new("-"),
            Self::Path(path) => path,
            Self::Pattern(pattern) => Path::new(pattern),
        }
    }

    /// The files behind the argument, found as they are asked for; none for standard input.
    /// Folders are entered in the order of names; hidden entries and links to folders are not.
    pub(crate) fn files(&self) -> Box<dyn Iterator<Item = Found>> {
        match self {
            Self::Stdin => Box::new(std::iter::empty()),
            Self::Path(path) => expand(path.clone(), false),
            Self::Pattern(pattern) => matches(pattern),
        }
    }
}

/// The files that match a pattern, and those in folders that match. Only folders that can hold
/// matches are entered, and no links to folders, so that a loop of links does no harm.
fn matches(pattern: &str) -> Box<dyn Iterator<Item = Found>> {
    const OPTIONS: glob::MatchOptions = glob::MatchOptions {
        case_sensitive: true,
        require_literal_separator: true,
        require_literal_leading_dot: true,
    };
    let parsed = match glob::Pattern::new(pattern) {
        Ok(parsed) => parsed,
        Err(error) => {
            return one(Err(says(Path::new(pattern), &format!("bad pattern: {}", error.msg))));
        }
    };
    let base = base(pattern);
    let (parts, fixed) = (pattern.split('/').count(), base.components().count());
    let depth = if pattern.contains("**") { usize::MAX } else { parts - fixed };
    let hidden =
        pattern.split('/').any(|part| part.starts_with('.') && part != "." && part != "..");
    let shown = move |path: &Path| path.strip_prefix(".").unwrap_or(path).to_owned();
    let dotted = pattern.starts_with("./");
    let fits = move |path: &Path| {
        let path = if dotted { path.to_owned() } else { shown(path) };
        path.ancestors().any(|part| parsed.matches_path_with(part, OPTIONS))
    };
    let start = if base.as_os_str().is_empty() { PathBuf::from(".") } else { base };
    let enter = fits.clone();
    let walk = WalkDir::new(&start).min_depth(1).sort_by_file_name().into_iter();
    let entries = walk.filter_entry(move |entry| {
        (hidden || is_visible(entry))
            && (!entry.file_type().is_dir() || entry.depth() < depth || enter(entry.path()))
    });
    Box::new(entries.filter_map(move |entry| {
        match entry {
            Ok(entry) => (is_file(&entry) && fits(entry.path()))
                .then(|| Ok(File { path: shown(entry.path()), walked: true })),
            // Without its beginning, a pattern simply matches nothing.
            Err(error) if error.depth() == 0 => None,
            Err(error) => Some(Err(complaint(&error, &start))),
        }
    }))
}

/// The folder a pattern is looked for in: its parts before the first that is not literal.
fn base(pattern: &str) -> PathBuf {
    let literal = pattern.find(['*', '?', '[']).map_or(pattern, |at| &pattern[..at]);
    PathBuf::from(literal.rfind('/').map_or("", |slash| &literal[..=slash]))
}

fn expand(path: PathBuf, walked: bool) -> Box<dyn Iterator<Item = Found>> {
    match path.metadata() {
        Ok(metadata) if metadata.is_dir() => walk(&path),
        Ok(_) => one(Ok(File { path, walked })),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            one(Err(says(&path, &"no such file or folder")))
        }
        Err(error) => one(Err(says(&path, &error))),
    }
}

fn walk(folder: &Path) -> Box<dyn Iterator<Item = Found>> {
    let entries = WalkDir::new(folder).sort_by_file_name().into_iter().filter_entry(is_visible);
    let folder = folder.to_owned();
    Box::new(entries.filter_map(move |entry| match entry {
        Ok(entry) => is_file(&entry).then(|| Ok(File { path: entry.into_path(), walked: true })),
        Err(error) => Some(Err(complaint(&error, &folder))),
    }))
}

fn complaint(error: &walkdir::Error, folder: &Path) -> String {
    let path = error.path().unwrap_or(folder);
    error.io_error().map_or_else(|| says(path, &error), |error| says(path, error))
}

/// A folder named on the command line is entered although it is hidden.
fn is_visible(entry: &DirEntry) -> bool {
    entry.depth() == 0 || !entry.file_name().as_encoded_bytes().starts_with(b".")
}

/// Links to files are followed, links to folders are not: no file is read twice, no loop entered.
fn is_file(entry: &DirEntry) -> bool {
    let kind = entry.file_type();
    kind.is_file() || (kind.is_symlink() && entry.path().metadata().is_ok_and(|it| it.is_file()))
}

fn one(found: Found) -> Box<dyn Iterator<Item = Found>> {
    Box::new(std::iter::once(found))
}

/// What is to be said about a path.
pub(crate) fn says(path: &Path, what: &dyn std::fmt::Display) -> String {
    format!("{}: {what}", path.display())
}

/// The folder that stands for an event file of an OpenHands conversation; `None` for other files.
pub(crate) fn conversation(path: &Path) -> Option<&Path> {
    let name = path.file_name()?.to_str()?;
    let is_event = name.starts_with("event-") && name.ends_with(".json");
    path.parent().filter(|folder| is_event && folder.ends_with("events"))
}
