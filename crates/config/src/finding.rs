//! What is wrong, or worth knowing, in a policy file.

use std::fmt;

use crate::source::{Origin, Place, Source, Span, printable};

/// The longest piece of a source line that is shown. Characters.
const MAX_LINE: usize = 120;

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
    pub(crate) fn of_file(name: &str, what: impl Into<String>) -> Self {
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
    pub(crate) fn with_help(mut self, help: impl Into<String>) -> Self {
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
    // A long line is shown from shortly before the place on.
    let start = if place.column > MAX_LINE { place.column - MAX_LINE / 2 } else { 0 };
    let shown: String = place
        .text
        .chars()
        .skip(start)
        .take(MAX_LINE)
        .map(|c| if c == '\t' { ' ' } else { printable(c) })
        .collect();
    let indent = place.column - 1 - start;
    let width = place.width.min(MAX_LINE.saturating_sub(indent).max(1));
    let shown = shown.trim_end();
    writeln!(f, "\n{:gutter$} |", "")?;
    let line = line.map_or(String::new(), |line| line.to_string());
    writeln!(f, "{line:>gutter$} | {shown}")?;
    write!(f, "{:gutter$} | {:indent$}{}", "", "", "^".repeat(width))
}

/// The text without anything that would steer a terminal.
fn clean(text: &str) -> String {
    text.chars().map(printable).collect()
}
