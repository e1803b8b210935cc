//! Reading a file.

use std::io::{self, BufRead, BufReader};

use serde::Deserialize;

use crate::beneath::io_error;
use crate::{Workspace, WorkspaceError};

/// Lines that are read when the caller does not say.
const DEFAULT_LINES: u64 = 1_000;
/// Most lines of one reading.
const MAX_LINES: u64 = 10_000;
/// Most bytes of text of one reading, but for one line and the notes.
const MAX_BYTES: usize = 128 * 1024;
/// Most bytes of one line.
const MAX_LINE: usize = 2_000;
/// How much of a file is gone through to count its lines.
const MAX_COUNTED: u64 = 256 * 1024 * 1024;
/// What some editors put at the start of a file to say that it is UTF-8.
const BOM: &[u8] = b"\xef\xbb\xbf";

/// What to read.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadFile {
    /// The file.
    pub path: String,
    /// The first line, from 1; 1 by default.
    #[serde(default)]
    pub first_line: Option<u64>,
    /// How many lines, at most 10,000; 1,000 by default.
    #[serde(default)]
    pub lines: Option<u64>,
    /// Whether every line starts with its number; not by default.
    #[serde(default)]
    pub numbered: bool,
}

/// A part of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// The first line shown, from 1.
    pub first_line: u64,
    /// The last line shown; before `first_line` when none is.
    pub last_line: u64,
    /// How many lines the file has; `None` when counting them would have taken too long.
    pub total_lines: Option<u64>,
    /// The file's size.
    pub bytes: u64,
    /// Whether it is binary; then nothing of it is shown.
    pub binary: bool,
    /// Whether bytes that are not UTF-8 are shown as `\u{fffd}`.
    pub lossy: bool,
    /// The lines, and a note in brackets when there is more to know.
    pub text: String,
}

impl Workspace {
    /// Reads a part of a file. What is held in memory is what is shown.
    ///
    /// # Errors
    /// The path is refused, is no regular file, or cannot be read.
    pub fn read(&self, wanted: &ReadFile) -> Result<Reading, WorkspaceError> {
        let first_line = wanted.first_line.unwrap_or(1);
        if first_line == 0 {
            let why = "lines are counted from 1".into();
            return Err(WorkspaceError::Argument { argument: "first_line", why });
        }
        let lines = wanted.lines.unwrap_or(DEFAULT_LINES).clamp(1, MAX_LINES);
        let (file, stat) = self.beneath.open_file(&wanted.path)?;
        let fail = |source| io_error("read", &wanted.path, source);
        let mut input = BufReader::with_capacity(64 * 1024, file);
        let bytes = u64::try_from(stat.st_size).unwrap_or(0);
        if is_binary(input.fill_buf().map_err(fail)?) {
            return Ok(Reading::binary(first_line, bytes));
        }
        let mut part = Part::new(first_line, first_line.saturating_add(lines), wanted.numbered);
        part.take_in(&mut input).map_err(fail)?;
        Ok(part.finish(bytes))
    }
}

/// Whether a file that starts like this is binary, as git judges: a NUL byte near its start.
pub(super) fn is_binary(start: &[u8]) -> bool {
    memchr::memchr(0, &start[..start.len().min(8_000)]).is_some()
}

impl Reading {
    fn binary(first_line: u64, bytes: u64) -> Self {
        Self {
            first_line,
            last_line: first_line - 1,
            total_lines: None,
            bytes,
            binary: true,
            lossy: false,
            text: format!("[binary file of {bytes} bytes]\n"),
        }
    }
}

/// The lines that are shown, while the file goes by.
struct Part {
    first: u64,
    /// The first line that is not shown any more.
    end: u64,
    numbered: bool,
    /// The line that comes next.
    line: u64,
    /// What is kept of it.
    start: Vec<u8>,
    /// How much it holds so far.
    len: usize,
    text: String,
    last: u64,
    lossy: bool,
    full: bool,
    counted: bool,
}

impl Part {
    fn new(first: u64, end: u64, numbered: bool) -> Self {
        Self {
            first,
            end,
            numbered,
            line: 1,
            start: Vec::new(),
            len: 0,
            text: String::new(),
            last: first - 1,
            lossy: false,
            full: false,
            counted: true,
        }
    }

    fn take_in(&mut self, input: &mut impl BufRead) -> io::Result<()> {
        let mut seen = 0_u64;
        loop {
            let chunk = match input.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                chunk => chunk?,
            };
            if chunk.is_empty() {
                break;
            }
            let taken = chunk.len();
            self.add(chunk);
            input.consume(taken);
            seen += taken as u64;
            let done = self.full || self.line >= self.end;
            if done && seen > MAX_COUNTED {
                self.counted = false;
                return Ok(());
            }
        }
        if self.len > 0 {
            self.end_line();
        }
        Ok(())
    }

    fn add(&mut self, chunk: &[u8]) {
        let mut rest = chunk;
        while let Some(at) = memchr::memchr(b'\n', rest) {
            self.add_to_line(&rest[..=at]);
            self.end_line();
            rest = &rest[at + 1..];
        }
        self.add_to_line(rest);
    }

    fn add_to_line(&mut self, bytes: &[u8]) {
        self.len += bytes.len();
        if !self.full && (self.first..self.end).contains(&self.line) {
            let room = MAX_LINE.saturating_sub(self.start.len());
            self.start.extend_from_slice(&bytes[..bytes.len().min(room)]);
        }
    }

    fn end_line(&mut self) {
        if !self.full && (self.first..self.end).contains(&self.line) {
            self.show();
        }
        self.start.clear();
        self.len = 0;
        self.line += 1;
    }

    fn show(&mut self) {
        let cut = self.len - self.start.len();
        let mut bytes = &self.start[..];
        if cut == 0 {
            bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
            bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        } else {
            bytes = &bytes[..whole_characters(bytes)];
        }
        if self.line == 1 {
            bytes = bytes.strip_prefix(BOM).unwrap_or(bytes);
        }
        let line = String::from_utf8_lossy(bytes);
        if !self.text.is_empty() && self.text.len() + line.len() > MAX_BYTES {
            self.full = true;
            return;
        }
        self.lossy |= matches!(line, std::borrow::Cow::Owned(_));
        if self.numbered {
            self.text.push_str(&format!("{:>6}\t", self.line));
        }
        self.text.push_str(&line);
        if cut > 0 {
            self.text.push_str(&format!(" [{cut} more bytes in this line]"));
        }
        self.text.push('\n');
        self.last = self.line;
    }

    fn finish(mut self, bytes: u64) -> Reading {
        let total = self.line - 1;
        if self.lossy {
            self.text.push_str("[bytes that are not UTF-8 are shown as \u{fffd}]\n");
        }
        if self.counted && total == 0 {
            self.text.push_str("[the file is empty]\n");
        } else if self.counted && self.first > total {
            self.text.push_str(&format!("[the file has only {total} lines]\n"));
        } else if self.last < total || !self.counted {
            let (first, last, next) = (self.first, self.last, self.last + 1);
            let of = if self.counted { total.to_string() } else { format!("more than {total}") };
            self.text.push_str(&format!(
                "[lines {first} to {last} of {of}; read on with first_line {next}]\n"
            ));
        }
        Reading {
            first_line: self.first,
            last_line: self.last,
            total_lines: self.counted.then_some(total),
            bytes,
            binary: false,
            lossy: self.lossy,
            text: self.text,
        }
    }
}

/// How many of the bytes do not belong to a character that is cut at their end.
pub(crate) fn whole_characters(bytes: &[u8]) -> usize {
    let tail = bytes.len().saturating_sub(3);
    for (at, byte) in bytes.iter().enumerate().skip(tail) {
        let length = match byte {
            0xc0..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xf7 => 4,
            _ => 1,
        };
        if at + length > bytes.len() {
            return at;
        }
    }
    bytes.len()
}
