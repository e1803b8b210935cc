//! The text that was read, and places in it.

/// The longest piece of a line that is shown. Characters.
const MAX_LINE: usize = 120;

/// A range of bytes in a source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Span {
    /// First byte.
    pub(crate) start: usize,
    /// Byte after the last one.
    pub(crate) end: usize,
}

/// Where a source comes from; it decides how places in it are named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A file: places are named by line and column.
    File,
    /// Arguments of the command line, one a line: places are named by the line itself.
    Argument,
}

/// A named text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source<'a> {
    /// Name shown before every finding.
    pub(crate) name: &'a str,
    /// The text, without byte order mark.
    pub(crate) text: &'a str,
    /// Where it comes from.
    pub(crate) origin: Origin,
    /// What the text is, for messages: `a policy`.
    pub(crate) about: &'a str,
}

/// A line of a source and a place in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// Line, from 1.
    pub(crate) line: usize,
    /// Column in characters, from 1.
    pub(crate) column: usize,
    /// A piece of the line around the place, of at most [`MAX_LINE`] characters.
    pub(crate) text: String,
    /// Characters before the place in that piece.
    pub(crate) indent: usize,
    /// Characters that belong to the place, at least 1.
    pub(crate) width: usize,
}

impl<'a> Source<'a> {
    /// A file's text.
    pub(crate) const fn file(name: &'a str, text: &'a str) -> Self {
        Self { name, text, origin: Origin::File, about: "a policy" }
    }

    /// The whole of it.
    pub(crate) const fn whole(&self) -> Span {
        Span { start: 0, end: self.text.len() }
    }

    /// The place at which `span` begins.
    pub(crate) fn place(&self, span: Span) -> Place {
        let start = self.floor(span.start);
        let before = &self.text[..start];
        let line = before.matches('\n').count() + 1;
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let rest = &self.text[line_start..];
        let full = rest.split(['\n', '\r']).next().unwrap_or("");
        let column = before[line_start..].chars().count() + 1;
        let end = self.floor(span.end.max(start)).min(line_start + full.len()).max(start);
        // A long line is shown from shortly before the place on.
        let skipped = if column > MAX_LINE { column - MAX_LINE / 2 } else { 0 };
        let indent = column - 1 - skipped;
        let width = self.text[start..end].chars().take(MAX_LINE - indent).count().max(1);
        let shown = full.chars().skip(skipped).take(MAX_LINE);
        let text: String = shown.map(|c| if c == '\t' { ' ' } else { printable(c) }).collect();
        Place { line, column, text: text.trim_end().to_owned(), indent, width }
    }

    /// The text of `span` on one line, shortened to 60 characters.
    pub(crate) fn excerpt(&self, span: Span) -> String {
        const LONGEST: usize = 60;
        let (start, end) = (self.floor(span.start), self.floor(span.end));
        let text = self.text.get(start..end).unwrap_or("").trim();
        let line = text.lines().next().unwrap_or("");
        let mut short: String = line.chars().take(LONGEST).map(printable).collect();
        if short.len() < text.len() && line.chars().count() > LONGEST || line.len() < text.len() {
            short.push('…');
        }
        short
    }

    /// The nearest character boundary at or before `at`.
    fn floor(&self, at: usize) -> usize {
        self.text.floor_char_boundary(at)
    }
}

/// The character, or a stand-in where it would steer a terminal.
pub(crate) fn printable(character: char) -> char {
    let turns = matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}')
        || ('\u{2066}'..='\u{2069}').contains(&character);
    if turns || character.is_control() { '\u{fffd}' } else { character }
}
