//! What is wrong, or worth knowing, in a policy file.

use std::fmt;

use crate::source::{Origin, Place, Source, Span, printable};

/// At most this many findings are kept; the rest are counted.
const MAX_FINDINGS: usize = 100;

/// How grave a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The file cannot be used.
    Error,
    /// The file is used, and something about it is worth knowing.
    Notice,
}

/// Something found in a policy file: where, what, and what would be right.
///
/// `Display` renders it as a compiler would: `file:line:column: error: key: what`, the line with a
/// caret, and help.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    severity: Severity,
    name: String,
    place: Option<Place>,
    numbered: bool,
    path: String,
    what: String,
    help: Vec<String>,
}

/// A finding that does not stop the file from being used.
pub type Notice = Finding;

impl Finding {
    /// An error at `span`; `path` is the dotted path of the key, empty where there is none.
    pub(crate) fn error(
        source: &Source<'_>,
        span: Span,
        path: impl Into<String>,
        what: impl Into<String>,
    ) -> Self {
        let place = source.place(span);
        let (name, numbered) = match source.origin {
            Origin::File => (source.name.to_owned(), true),
            Origin::Argument => (format!("{} {}", source.name, place.text), false),
        };
        Self {
            severity: Severity::Error,
            name,
            place: Some(place),
            numbered,
            path: path.into(),
            what: what.into(),
            help: Vec::new(),
        }
    }

    /// A notice at `span`.
    pub(crate) fn notice(
        source: &Source<'_>,
        span: Span,
        path: impl Into<String>,
        what: impl Into<String>,
    ) -> Self {
        Self { severity: Severity::Notice, ..Self::error(source, span, path, what) }
    }

    /// An error of the file as a whole.
    #[must_use]
    pub fn of_file(name: &str, what: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            name: name.to_owned(),
            place: None,
            numbered: false,
            path: String::new(),
            what: what.into(),
            help: Vec::new(),
        }
    }

    /// The finding with a line of help added.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help.push(help.into());
        self
    }

    /// How grave it is.
    #[must_use]
    pub fn severity(&self) -> Severity {
        self.severity
    }

    /// Dotted path of the key as it stands in the file; empty where the finding is not about a key.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Line in the file, from 1; `None` for a finding about the whole file or an argument.
    #[must_use]
    pub fn line(&self) -> Option<usize> {
        self.place.as_ref().filter(|_| self.numbered).map(|place| place.line)
    }

    /// Column in characters, from 1; `None` as for [`Finding::line`].
    #[must_use]
    pub fn column(&self) -> Option<usize> {
        self.place.as_ref().filter(|_| self.numbered).map(|place| place.column)
    }

    /// What was found, without the path.
    #[must_use]
    pub fn what(&self) -> &str {
        &self.what
    }

    /// Lines of help, in order.
    #[must_use]
    pub fn help(&self) -> &[String] {
        &self.help
    }

    /// The order in which findings are shown: by place.
    pub(crate) fn order(&self) -> (usize, usize) {
        self.place.as_ref().map_or((0, 0), |place| (place.line, place.column))
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", clean(&self.name))?;
        if let (Some(line), Some(column)) = (self.line(), self.column()) {
            write!(f, ":{line}:{column}")?;
        }
        f.write_str(match self.severity {
            Severity::Error => ": error: ",
            Severity::Notice => ": notice: ",
        })?;
        if !self.path.is_empty() {
            write!(f, "{}: ", clean(&self.path))?;
        }
        write!(f, "{}", clean(&self.what))?;
        let gutter = self.line().map_or(1, |line| line.to_string().len());
        if let Some(place) = self.place.as_ref().filter(|place| !place.text.trim().is_empty()) {
            write_snippet(f, place, self.numbered.then_some(place.line), gutter)?;
        }
        for help in &self.help {
            write!(f, "\n{:gutter$} = help: {}", "", clean(help))?;
        }
        Ok(())
    }
}

/// The line with a caret under the place.
fn write_snippet(
    f: &mut fmt::Formatter<'_>,
    place: &Place,
    line: Option<usize>,
    gutter: usize,
) -> fmt::Result {
    let line = line.map_or(String::new(), |line| line.to_string());
    let (indent, caret) = (place.indent, "^".repeat(place.width));
    writeln!(f, "\n{:gutter$} |", "")?;
    writeln!(f, "{line:>gutter$} | {}", place.text)?;
    write!(f, "{:gutter$} | {:indent$}{caret}", "", "")
}

/// The text without anything that would steer a terminal.
fn clean(text: &str) -> String {
    text.chars().map(printable).collect()
}

/// Findings, of which only so many are kept.
#[derive(Clone, Debug, Default)]
pub(crate) struct Found {
    /// Those that are kept.
    pub(crate) list: Vec<Finding>,
    /// How many more there were.
    pub(crate) more: usize,
}

impl Found {
    /// Adds a finding. It is only made if it is kept: making one costs time.
    pub(crate) fn add(&mut self, make: impl FnOnce() -> Finding) {
        if self.list.len() < MAX_FINDINGS {
            self.list.push(make());
        } else {
            self.more += 1;
        }
    }

    /// Adds what was found elsewhere.
    pub(crate) fn extend(&mut self, other: Self) {
        self.more += other.more;
        for finding in other.list {
            self.add(|| finding);
        }
    }

    /// Whether nothing was found.
    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Whether more were found than are kept.
    pub(crate) fn is_full(&self) -> bool {
        self.list.len() >= MAX_FINDINGS
    }
}

impl From<Finding> for Found {
    fn from(finding: Finding) -> Self {
        Self { list: vec![finding], more: 0 }
    }
}
