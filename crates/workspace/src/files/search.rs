//! Searching files.

use std::fs::File;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch};
use ignore::overrides::{Override, OverrideBuilder};
use rustix::fs::Mode;
use rustix::io::Errno;
use serde::Deserialize;

use super::read::whole_characters;
use crate::beneath::{self, Missing};
use crate::{Workspace, WorkspaceError};

/// Matching lines shown when the caller does not say.
const DEFAULT_MATCHES: usize = 100;
/// Most matching lines.
const MAX_MATCHES: usize = 1_000;
/// Most lines around a match.
const MAX_CONTEXT: usize = 20;
/// Most bytes of text.
const MAX_BYTES: usize = 64 * 1024;
/// Most bytes of a line.
const MAX_LINE: usize = 400;
/// Most memory for one line of a file; a file with a longer one is passed over.
const HEAP: usize = 16 * 1024 * 1024;
/// Most time of one search.
const MAX_TIME: Duration = Duration::from_secs(20);

/// What to search for.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SearchFiles {
    /// A regular expression of one line in Rust's syntax, or plain text if `literal`.
    pub pattern: String,
    /// Whether the pattern is plain text; not by default.
    #[serde(default)]
    pub literal: bool,
    /// The folder or file to search; the workspace's root by default.
    #[serde(default)]
    pub path: Option<String>,
    /// Which files, such as `*.rs` or `!tests/**`; all by default.
    #[serde(default)]
    pub glob: Option<String>,
    /// Whether case is ignored. By default only when the pattern has no capital letter.
    #[serde(default)]
    pub ignore_case: Option<bool>,
    /// Lines shown around each match, at most 20; none by default.
    #[serde(default)]
    pub context: usize,
    /// Most matching lines, at most 1,000; 100 by default.
    #[serde(default)]
    pub max_matches: Option<usize>,
}

/// What a search found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Matching lines shown.
    pub matches: usize,
    /// Files they are in.
    pub files: usize,
    /// Whether a limit ended the search before its end.
    pub more: bool,
    /// The lines as text for the model: `path:line:text`, context as `path-line-text`.
    pub text: String,
}

impl Workspace {
    /// Searches a folder or file, in the order of paths, hidden files too. What ignore rules hide,
    /// git's own folder and binary files are left out, and symlinks are not followed.
    ///
    /// # Errors
    /// The path is refused or not there, or the pattern or glob cannot be read.
    pub fn search(&self, wanted: &SearchFiles) -> Result<Found, WorkspaceError> {
        let matcher = matcher(wanted)?;
        let given = wanted.path.as_deref().unwrap_or(".");
        let place = self.beneath.find(given, Missing::Fails)?;
        if place.stat.is_none() {
            return Err(WorkspaceError::NotFound { path: given.into() });
        }
        let context = wanted.context.min(MAX_CONTEXT);
        let mut searcher = SearcherBuilder::new()
            .line_number(true)
            .before_context(context)
            .after_context(context)
            .binary_detection(BinaryDetection::quit(0))
            .heap_limit(Some(HEAP))
            .build();
        let most = wanted.max_matches.unwrap_or(DEFAULT_MATCHES).clamp(1, MAX_MATCHES);
        let mut shown = Shown { most, ..Shown::default() };
        let mut walk = self.walk(&place.path, false);
        walk.overrides(self.globs(wanted.glob.as_deref())?);
        let deadline = Instant::now() + MAX_TIME;
        for entry in walk.build().flatten() {
            if shown.more || Instant::now() > deadline {
                shown.more = true;
                break;
            }
            if entry.file_type().is_some_and(|kind| kind.is_file()) {
                self.search_file(entry.path(), &matcher, &mut searcher, &mut shown);
            }
        }
        Ok(shown.finish())
    }

    /// Searches one file; one that cannot be read is counted and passed over.
    fn search_file(
        &self,
        path: &Path,
        matcher: &RegexMatcher,
        searcher: &mut Searcher,
        shown: &mut Shown,
    ) {
        let relative = path.strip_prefix(self.root()).unwrap_or(path);
        // The folder is opened step by step, for the walk has gone by paths.
        let opened = relative.file_name().ok_or(Errno::NOENT).and_then(|name| {
            let parent = relative.parent().unwrap_or(Path::new(""));
            let dir = beneath::open_folder(self.beneath.dir(), parent, beneath::FOLDER)?;
            rustix::fs::openat(dir, name, beneath::READ, Mode::empty())
        });
        let Ok(file) = opened else {
            shown.unread += 1;
            return;
        };
        shown.path = relative.to_string_lossy().into_owned();
        let before = shown.matches;
        let searched = searcher.search_file(matcher, &File::from(file), &mut *shown);
        shown.files += usize::from(shown.matches > before);
        shown.unread += usize::from(searched.is_err());
    }

    fn globs(&self, glob: Option<&str>) -> Result<Override, WorkspaceError> {
        let Some(glob) = glob else { return Ok(Override::empty()) };
        let fail = |error: ignore::Error| WorkspaceError::Argument {
            argument: "glob",
            why: error.to_string(),
        };
        let mut builder = OverrideBuilder::new(self.root());
        builder.add(glob).map_err(fail)?;
        builder.build().map_err(fail)
    }
}

fn matcher(wanted: &SearchFiles) -> Result<RegexMatcher, WorkspaceError> {
    let fail = |why| WorkspaceError::Argument { argument: "pattern", why };
    if wanted.pattern.is_empty() {
        return Err(fail("it is empty".into()));
    }
    let mut builder = RegexMatcherBuilder::new();
    builder.fixed_strings(wanted.literal).line_terminator(Some(b'\n'));
    match wanted.ignore_case {
        Some(ignored) => builder.case_insensitive(ignored),
        None => builder.case_smart(true),
    };
    builder.build(&wanted.pattern).map_err(|error| {
        let remedy = if wanted.literal { "" } else { "; for plain text, set literal" };
        fail(format!("{error}{remedy}"))
    })
}

/// What has been found so far.
#[derive(Default)]
struct Shown {
    most: usize,
    path: String,
    matches: usize,
    files: usize,
    unread: usize,
    more: bool,
    text: String,
}

impl Shown {
    /// Adds a line. `false` when there is no room for it.
    fn add(&mut self, mark: char, number: Option<u64>, line: &[u8]) -> bool {
        let cut = line.len().saturating_sub(MAX_LINE);
        let line = if cut > 0 { &line[..whole_characters(&line[..MAX_LINE])] } else { line };
        let line = String::from_utf8_lossy(line);
        let line = line.trim_end_matches(['\r', '\n']);
        let number = number.unwrap_or(0);
        if self.text.len() + self.path.len() + line.len() > MAX_BYTES {
            self.more = true;
            return false;
        }
        self.text.push_str(&format!("{}{mark}{number}{mark}{line}", self.path));
        if cut > 0 {
            self.text.push_str(&format!(" [{cut} more bytes in this line]"));
        }
        self.text.push('\n');
        true
    }

    fn finish(mut self) -> Found {
        if self.matches == 0 {
            self.text = "[no matches]\n".into();
        }
        if self.more {
            self.text.push_str("[the search ended at a limit; narrow the pattern, path or glob]\n");
        }
        if self.unread > 0 {
            self.text.push_str(&format!("[{} files could not be searched]\n", self.unread));
        }
        Found { matches: self.matches, files: self.files, more: self.more, text: self.text }
    }
}

impl Sink for &mut Shown {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        if self.matches == self.most {
            self.more = true;
            return Ok(false);
        }
        let added = self.add(':', found.line_number(), found.bytes());
        self.matches += usize::from(added);
        Ok(added)
    }

    fn context(&mut self, _: &Searcher, around: &SinkContext<'_>) -> io::Result<bool> {
        Ok(self.add('-', around.line_number(), around.bytes()))
    }

    fn context_break(&mut self, _: &Searcher) -> io::Result<bool> {
        self.text.push_str("--\n");
        Ok(true)
    }
}
