//! From arguments to inputs: files, folders, patterns, standard input.

use std::path::{Path, PathBuf};

use steersman_trace::Problem;
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
pub(crate) type Found = Result<File, Problem>;

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

fn matches(pattern: &str) -> Box<dyn Iterator<Item = Found>> {
    let options = glob::MatchOptions {
        case_sensitive: true,
        require_literal_separator: true,
        require_literal_leading_dot: true,
    };
    let path = PathBuf::from(pattern);
    match glob::glob_with(pattern, options) {
        Ok(paths) => Box::new(paths.flat_map(|found| match found {
            Ok(path) => expand(path, true),
            Err(error) => one(Err(problem(error.path(), error.error()))),
        })),
        Err(error) => one(Err(problem(&path, &format!("bad pattern: {}", error.msg)))),
    }
}

fn expand(path: PathBuf, walked: bool) -> Box<dyn Iterator<Item = Found>> {
    match path.metadata() {
        Ok(metadata) if metadata.is_dir() => walk(&path),
        Ok(_) => one(Ok(File { path, walked })),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            one(Err(problem(&path, &"no such file or folder")))
        }
        Err(error) => one(Err(problem(&path, &error))),
    }
}

fn walk(folder: &Path) -> Box<dyn Iterator<Item = Found>> {
    let entries = WalkDir::new(folder).sort_by_file_name().into_iter().filter_entry(is_visible);
    let fallback = folder.to_owned();
    Box::new(entries.filter_map(move |entry| match entry {
        Ok(entry) => is_file(&entry).then(|| Ok(File { path: entry.into_path(), walked: true })),
        Err(error) => {
            let path = error.path().unwrap_or(&fallback).to_owned();
            let what = error.io_error().map_or_else(|| error.to_string(), ToString::to_string);
            Some(Err(problem(&path, &what)))
        }
    }))
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

/// Something that cannot be read as a whole.
pub(crate) fn problem(path: &Path, what: &dyn ToString) -> Problem {
    Problem { path: path.to_owned(), line: 0, what: what.to_string() }
}
