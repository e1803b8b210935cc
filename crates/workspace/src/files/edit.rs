//! Replacing text in a file.

use std::borrow::Cow;
use std::io::Read as _;

use memchr::memmem;
use serde::Deserialize;

use super::write;
use crate::beneath::{Missing, Place, io_error};
use crate::{Workspace, WorkspaceError};

/// Largest file that is edited; it is held in memory twice.
const MAX_FILE: u64 = 16 * 1024 * 1024;
/// Lines shown before and after a change.
const CONTEXT: u64 = 3;
/// Most lines shown of a change.
const MAX_SHOWN: usize = 40;
/// Most bytes shown of a line.
const MAX_LINE: usize = 500;
/// Characters of a line that are compared to find the nearest.
const MAX_COMPARED: usize = 120;
/// Lines of a file that are compared to find the nearest.
const MAX_LINES_COMPARED: usize = 20_000;
/// How alike lines must be to be shown as the nearest, from 0 to 1.
const ALIKE: f64 = 0.5;

/// What to replace.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EditFile {
    /// The file.
    pub path: String,
    /// The text to replace, exactly as it stands in the file.
    pub old: String,
    /// What to put in its place.
    pub new: String,
    /// Whether every occurrence is replaced. By default there must be exactly one.
    #[serde(default)]
    pub replace_all: bool,
}

/// A file that was edited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edited {
    /// The path from the workspace's root, symlinks resolved.
    pub path: String,
    /// How many occurrences were replaced.
    pub replaced: usize,
    /// The line of the first one.
    pub first_line: u64,
    /// What happened, with the lines around the first change, for the model.
    pub text: String,
}

impl Workspace {
    /// Replaces text in a file. Line endings and what is not UTF-8 stay as they are: where a file
    /// ends its lines with CR LF, so may the text, or it may end them with LF.
    ///
    /// # Errors
    /// The path is refused or no file, the text is not there, or there more than once.
    pub fn edit(&self, wanted: &EditFile) -> Result<Edited, WorkspaceError> {
        let argument =
            |why: &str| Err(WorkspaceError::Argument { argument: "old", why: why.to_owned() });
        if wanted.old.is_empty() {
            return argument("it is empty; to make a file, write it");
        }
        if wanted.old == wanted.new {
            return argument("it is the same as new, so nothing would change");
        }
        let place = self.place_to_write(&wanted.path, Missing::Fails)?;
        self.beneath.check_file(&wanted.path, &place)?;
        let content = self.load(&wanted.path)?;
        let (old, new) = as_in_file(wanted, &content);
        let found: Vec<usize> = memmem::find_iter(&content, &*old).collect();
        match found.len() {
            0 => return Err(no_match(wanted, &content)),
            1 => {}
            _ if wanted.replace_all => {}
            count => {
                let path = wanted.path.clone();
                return Err(WorkspaceError::ManyMatches {
                    path,
                    count,
                    lines: lines_of(&found, &content),
                });
            }
        }
        let changed = splice(&content, &found, old.len(), &new);
        write::replace(&place, &changed)
            .map_err(|source| io_error("write", &wanted.path, source))?;
        Ok(edited(&place, &found, &changed, new.len()))
    }

    fn load(&self, path: &str) -> Result<Vec<u8>, WorkspaceError> {
        let (file, stat) = self.beneath.open_file(path)?;
        let too_large = |bytes| {
            let path = path.to_owned();
            Err(WorkspaceError::TooLarge { path, bytes, limit: MAX_FILE })
        };
        let bytes = u64::try_from(stat.st_size).unwrap_or(0);
        if bytes > MAX_FILE {
            return too_large(bytes);
        }
        let mut content = Vec::new();
        let read = file.take(MAX_FILE + 1).read_to_end(&mut content);
        read.map_err(|source| io_error("read", path, source))?;
        if content.len() as u64 > MAX_FILE {
            return too_large(content.len() as u64);
        }
        Ok(content)
    }
}

/// Both texts, with the line endings of the file where it has CR LF and they have LF.
fn as_in_file<'a>(wanted: &'a EditFile, content: &[u8]) -> (Cow<'a, [u8]>, Cow<'a, [u8]>) {
    let (old, new) = (wanted.old.as_bytes(), wanted.new.as_bytes());
    let crlf = |text: &str| text.replace("\r\n", "\n").replace('\n', "\r\n").into_bytes();
    let there = memmem::find(content, old).is_some();
    if there && (wanted.old.contains('\n') || !wanted.new.contains('\n')) {
        return (old.into(), new.into());
    }
    if !mostly_crlf(content) {
        return (old.into(), new.into());
    }
    let converted = if there { old.into() } else { crlf(&wanted.old).into() };
    (converted, crlf(&wanted.new).into())
}

fn mostly_crlf(content: &[u8]) -> bool {
    let lines = memchr::memchr_iter(b'\n', content).count();
    let crlf = memmem::find_iter(content, b"\r\n").count();
    crlf * 2 > lines
}

fn splice(content: &[u8], found: &[usize], len: usize, new: &[u8]) -> Vec<u8> {
    let mut changed = Vec::with_capacity(content.len());
    let mut from = 0;
    for &at in found {
        changed.extend_from_slice(&content[from..at]);
        changed.extend_from_slice(new);
        from = at + len;
    }
    changed.extend_from_slice(&content[from..]);
    changed
}

fn edited(place: &Place, found: &[usize], changed: &[u8], new_len: usize) -> Edited {
    let path = place.path.to_string_lossy().into_owned();
    let replaced = found.len();
    let first = found.first().copied().unwrap_or(0);
    let first_line = line_at(changed, first);
    let last_line = line_at(changed, first + new_len);
    let shown = excerpt(changed, first_line.saturating_sub(CONTEXT), last_line + CONTEXT);
    let times = if replaced == 1 { String::new() } else { format!(" {replaced} times, first") };
    let text = format!("replaced in `{path}`{times} at line {first_line}:\n{shown}");
    Edited { path, replaced, first_line, text }
}

/// The line, from 1, that the byte is in.
fn line_at(content: &[u8], at: usize) -> u64 {
    1 + memchr::memchr_iter(b'\n', &content[..at.min(content.len())]).count() as u64
}

/// Numbered lines, at most [`MAX_SHOWN`].
fn excerpt(content: &[u8], first: u64, last: u64) -> String {
    let mut text = String::new();
    let lines = content.split(|byte| *byte == b'\n').zip(1_u64..);
    let wanted = lines.skip_while(|(_, number)| *number < first);
    for (line, number) in wanted.take_while(|(_, number)| *number <= last).take(MAX_SHOWN) {
        let line = String::from_utf8_lossy(&line[..line.len().min(MAX_LINE)]);
        text.push_str(&format!("{number:>6}\t{}\n", line.trim_end_matches('\r')));
    }
    text
}

fn lines_of(found: &[usize], content: &[u8]) -> String {
    let mut lines: Vec<String> =
        found.iter().take(10).map(|at| line_at(content, *at).to_string()).collect();
    if found.len() > 10 {
        lines.push("…".into());
    }
    lines.join(", ")
}

fn no_match(wanted: &EditFile, content: &[u8]) -> WorkspaceError {
    let nearest = match nearest(&wanted.old, content) {
        Some(line) => {
            let lines = wanted.old.lines().count() as u64;
            let shown = excerpt(content, line, line + lines.saturating_sub(1).min(9));
            format!("; copy it exactly as it stands there. The nearest lines:\n{shown}")
        }
        None => "; read the file again".into(),
    };
    WorkspaceError::NoMatch { path: wanted.path.clone(), nearest }
}

/// The line at which the file looks most like the start of the text.
fn nearest(old: &str, content: &[u8]) -> Option<u64> {
    let (skipped, wanted) = old.lines().enumerate().find(|(_, line)| !line.trim().is_empty())?;
    let wanted: String = wanted.trim().chars().take(MAX_COMPARED).collect();
    let mut best: Option<(f64, u64)> = None;
    let lines = content.split(|byte| *byte == b'\n').zip(1_u64..).take(MAX_LINES_COMPARED);
    for (line, number) in lines {
        let line = String::from_utf8_lossy(&line[..line.len().min(MAX_LINE)]);
        let line: String = line.trim().chars().take(MAX_COMPARED).collect();
        let alike =
            if line == wanted { 1.0 } else { strsim::normalized_levenshtein(&line, &wanted) };
        if alike >= ALIKE && best.is_none_or(|(most, _)| alike > most) {
            best = Some((alike, number));
        }
    }
    best.map(|(_, number)| number.saturating_sub(skipped as u64).max(1))
}
