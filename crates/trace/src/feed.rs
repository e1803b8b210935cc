//! A bounded look into a stream of bytes: by lines, by batches of lines, or by JSON values.

use std::io::{self, Read};
use std::ops::Range;

use memchr::{memchr, memchr_iter, memrchr};

use crate::extent::Extent;

/// Longest line or list element that is read; a longer one is skipped without being held.
pub(crate) const MAX_ELEMENT: usize = 64 << 20;
/// Bytes asked of the source at once.
const CHUNK: usize = 256 << 10;

/// A stream of bytes with a buffer that grows only as far as the item at hand needs.
pub(crate) struct Feed {
    source: Box<dyn Read + Send>,
    buffer: Vec<u8>,
    start: usize,
    at_end: bool,
    /// Why reading stopped before the end; `None` if it did not.
    error: Option<String>,
    line: u64,
}

/// What was found at the current place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// An item in the buffer: give the range to [`Feed::bytes`], then to [`Feed::consume`].
    Item(Range<usize>),
    /// An item beyond [`MAX_ELEMENT`], already skipped.
    TooLong,
    /// The input ends inside the item.
    CutOff,
    /// Nothing is left.
    Nothing,
}

/// Complete lines to be read as one unit.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    /// The lines with their line breaks; the last one of a file may lack it.
    pub(crate) bytes: Vec<u8>,
    /// Number of the first line, from 1.
    pub(crate) first_line: u64,
    /// Line that was skipped because it was too long, if any.
    pub(crate) too_long: Option<u64>,
    /// Why the input ended early, and in which line.
    pub(crate) error: Option<(u64, String)>,
}

/// Adds a chunk to a buffer, a shorter one only at the end; on an error, also says how much came
/// before it.
fn read_chunk(source: &mut dyn Read, buffer: &mut Vec<u8>) -> Result<usize, (usize, io::Error)> {
    let before = buffer.len();
    let mut at = before;
    // Large reads into room of its own pass by the buffer of the source.
    buffer.resize(before + CHUNK, 0);
    let done = loop {
        match buffer.get_mut(at..).filter(|room| !room.is_empty()).map(|room| source.read(room)) {
            None | Some(Ok(0)) => break Ok(at - before),
            Some(Ok(read)) => at += read,
            Some(Err(e)) if e.kind() == io::ErrorKind::Interrupted => {}
            Some(Err(e)) => break Err((at - before, e)),
        }
    };
    buffer.truncate(at);
    done
}

impl Feed {
    pub(crate) fn new(source: Box<dyn Read + Send>) -> Self {
        Self { source, buffer: Vec::new(), start: 0, at_end: false, error: None, line: 1 }
    }

    /// Fills the buffer up to `size` bytes if there are as many, and shows it.
    pub(crate) fn peek_up_to(&mut self, size: usize) -> &[u8] {
        while self.buffer.len() - self.start < size && self.fill() {}
        &self.buffer[self.start..]
    }

    /// Why reading stopped before the end of the input, told once.
    pub(crate) fn take_error(&mut self) -> Option<String> {
        self.error.take()
    }

    /// The current line, from 1.
    pub(crate) fn line(&self) -> u64 {
        self.line
    }

    pub(crate) fn bytes(&self, item: Range<usize>) -> &[u8] {
        &self.buffer[item]
    }

    /// Moves on behind an item.
    pub(crate) fn consume(&mut self, item: Range<usize>) {
        self.line += memchr_iter(b'\n', &self.buffer[self.start..item.end]).count() as u64;
        self.start = item.end;
    }

    /// Skips a byte order mark.
    pub(crate) fn skip_bom(&mut self) {
        if self.peek_up_to(3).starts_with(b"\xef\xbb\xbf") {
            self.start += 3;
        }
    }

    /// Reads another chunk. False if the source has no more.
    fn fill(&mut self) -> bool {
        if self.at_end {
            return false;
        }
        if self.start > 0 {
            self.buffer.drain(..self.start);
            self.start = 0;
        }
        let read = read_chunk(&mut *self.source, &mut self.buffer).unwrap_or_else(|(read, e)| {
            self.at_end = true;
            self.error = Some(e.to_string());
            read
        });
        self.at_end |= read == 0;
        read > 0
    }

    /// The next byte that is not white space; `None` at the end.
    pub(crate) fn peek_token(&mut self) -> Option<u8> {
        loop {
            let rest = &self.buffer[self.start..];
            match rest.iter().position(|b| !b.is_ascii_whitespace()) {
                Some(skip) => {
                    let at = self.start + skip;
                    self.consume(at..at);
                    return Some(self.buffer[at]);
                }
                None => {
                    let end = self.buffer.len();
                    self.consume(end..end);
                    if !self.fill() {
                        return None;
                    }
                }
            }
        }
    }

    /// Moves on behind one byte, which the caller has seen.
    pub(crate) fn skip_byte(&mut self) {
        let end = (self.start + 1).min(self.buffer.len());
        self.consume(end..end);
    }

    /// Finds the next JSON value of at most `limit` bytes.
    pub(crate) fn find_value(&mut self, limit: usize) -> Found {
        if self.peek_token().is_none() {
            return Found::Nothing;
        }
        let mut extent = Extent::default();
        let mut scanned = 0;
        let mut skipping = false;
        loop {
            let unseen = self.start + scanned;
            if let Some(more) = extent.feed(&self.buffer[unseen..]) {
                let item = self.start..unseen + more;
                if skipping || item.len() > limit {
                    self.consume(item);
                    return Found::TooLong;
                }
                return Found::Item(item);
            }
            scanned = self.buffer.len() - self.start;
            if skipping || scanned > limit {
                skipping = true;
                let end = self.buffer.len();
                self.consume(end..end);
                scanned = 0;
            }
            if !self.fill() {
                return match (extent.ends_at_eof(), skipping) {
                    (true, false) => Found::Item(self.start..self.buffer.len()),
                    (true, true) => Found::TooLong,
                    (false, _) => {
                        let end = self.buffer.len();
                        self.consume(end..end);
                        Found::CutOff
                    }
                };
            }
        }
    }

    /// Finds the next line; the range holds its line break.
    pub(crate) fn find_line(&mut self) -> Found {
        let mut scanned = 0;
        let mut skipping = false;
        loop {
            let unseen = self.start + scanned;
            if let Some(at) = memchr(b'\n', &self.buffer[unseen..]) {
                let item = self.start..unseen + at + 1;
                if skipping || item.len() > MAX_ELEMENT {
                    self.consume(item);
                    return Found::TooLong;
                }
                return Found::Item(item);
            }
            scanned = self.buffer.len() - self.start;
            if skipping || scanned > MAX_ELEMENT {
                skipping = true;
                self.start = self.buffer.len();
                scanned = 0;
            }
            if !self.fill() {
                let rest = self.start..self.buffer.len();
                return match (skipping, rest.is_empty()) {
                    (true, _) => Found::TooLong,
                    (false, true) => Found::Nothing,
                    // What an early end leaves of a line is not worth a second problem.
                    (false, false) if self.error.is_some() => {
                        self.consume(rest);
                        Found::Nothing
                    }
                    (false, false) => Found::Item(rest),
                };
            }
        }
    }

    /// Takes at least `size` bytes of complete lines, fewer at the end; `None` if none are left.
    pub(crate) fn take_batch(&mut self, size: usize) -> Option<Batch> {
        self.peek_up_to(size);
        let first_line = self.line;
        if let Some(last) = memrchr(b'\n', &self.buffer[self.start..]) {
            return Some(self.split_batch(first_line, self.start + last + 1));
        }
        match self.find_line() {
            Found::Item(item) => Some(self.split_batch(first_line, item.end)),
            Found::TooLong => {
                let too_long = Some(first_line);
                Some(Batch { first_line, too_long, ..Batch::default() })
            }
            Found::CutOff | Found::Nothing => {
                let error = self.take_error().map(|what| (self.line, what))?;
                Some(Batch { first_line, error: Some(error), ..Batch::default() })
            }
        }
    }

    fn split_batch(&mut self, first_line: u64, end: usize) -> Batch {
        let begin = self.start;
        self.consume(end..end);
        // The next batch is about as long: room for it at once spares copies while it grows.
        let mut next = Vec::with_capacity(end - begin + CHUNK);
        next.extend_from_slice(&self.buffer[end..]);
        let mut bytes = std::mem::replace(&mut self.buffer, next);
        self.start = 0;
        bytes.truncate(end);
        bytes.drain(..begin);
        Batch { bytes, first_line, ..Batch::default() }
    }
}
