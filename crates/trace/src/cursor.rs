//! JSON text read once, from one value to the next.
//!
//! This is the short way for what is well formed and usual. Whatever it does not take is `None`,
//! and is left to the parser, which knows why: what it takes, the parser would take as well.

use std::borrow::Cow;

use crate::escape::{simple_escape, unicode_escape};

/// Lists and objects within each other that are followed.
const MAX_DEPTH: usize = 64;

/// The lowest bit of each of eight bytes.
const LOW: u64 = 0x0101_0101_0101_0101;

/// A place in a JSON text.
#[derive(Debug)]
pub(crate) struct Cursor<'a> {
    text: &'a str,
    at: usize,
    /// Room for texts with escapes, used again for each; its length is no text's.
    room: Vec<u8>,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, at: 0, room: Vec::new() }
    }

    /// The next byte that is not white space; `None` at the end.
    pub(crate) fn peek(&mut self) -> Option<u8> {
        loop {
            let byte = *self.text.as_bytes().get(self.at)?;
            if !matches!(byte, b' ' | b'\n' | b'\t' | b'\r') {
                return Some(byte);
            }
            self.at += 1;
        }
    }

    /// Moves on behind a byte if it is the next one.
    fn eat(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    /// Takes an object: `member` gets each key, and takes its value. Keys with escapes are not
    /// taken.
    pub(crate) fn object(
        &mut self,
        mut member: impl FnMut(&mut Self, &'a str) -> Option<()>,
    ) -> Option<()> {
        self.eat(b'{')?;
        if self.peek()? == b'}' {
            return self.eat(b'}');
        }
        loop {
            self.peek()?;
            let key = self.string()?;
            let key = key.get(1..key.len() - 1).filter(|key| !key.contains('\\'))?;
            self.eat(b':')?;
            member(self, key)?;
            match self.peek()? {
                b',' => self.at += 1,
                _ => return self.eat(b'}'),
            }
        }
    }

    /// Takes a list: `element` takes each value.
    pub(crate) fn list(&mut self, mut element: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.eat(b'[')?;
        if self.peek()? == b']' {
            return self.eat(b']');
        }
        loop {
            element(self)?;
            match self.peek()? {
                b',' => self.at += 1,
                _ => return self.eat(b']'),
            }
        }
    }

    /// Takes any value, and gives it as it stands.
    pub(crate) fn value(&mut self) -> Option<&'a str> {
        self.peek()?;
        let start = self.at;
        self.skip(0)?;
        self.text.get(start..self.at)
    }

    fn skip(&mut self, depth: usize) -> Option<()> {
        match self.peek()? {
            b'"' => self.string().map(drop),
            b'{' if depth < MAX_DEPTH => self.object(|cursor, _| cursor.skip(depth + 1)),
            b'[' if depth < MAX_DEPTH => self.list(|cursor| cursor.skip(depth + 1)),
            b't' => self.word("true"),
            b'f' => self.word("false"),
            b'n' => self.word("null"),
            _ => self.number(),
        }
    }

    fn word(&mut self, word: &str) -> Option<()> {
        let there = self.text.as_bytes()[self.at..].starts_with(word.as_bytes());
        there.then(|| self.at += word.len())
    }

    fn number(&mut self) -> Option<()> {
        let bytes = self.text.as_bytes();
        let digits = |at: usize| bytes[at..].iter().take_while(|b| b.is_ascii_digit()).count();
        let mut at = self.at + usize::from(bytes.get(self.at) == Some(&b'-'));
        let whole = digits(at);
        if whole == 0 || (whole > 1 && bytes[at] == b'0') {
            return None;
        }
        at += whole;
        if bytes.get(at) == Some(&b'.') {
            let fraction = digits(at + 1);
            at += 1 + (fraction > 0).then_some(fraction)?;
        }
        if matches!(bytes.get(at), Some(b'e' | b'E')) {
            at += 1 + usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
            let exponent = digits(at);
            at += (exponent > 0).then_some(exponent)?;
        }
        self.at = at;
        Some(())
    }

    /// Takes a string, and gives it as it stands, with its quotes.
    fn string(&mut self) -> Option<&'a str> {
        let bytes = self.text.as_bytes();
        let start = self.at;
        if bytes.get(start) != Some(&b'"') {
            return None;
        }
        let mut at = start + 1;
        loop {
            at = special(bytes, at)?;
            match bytes[at] {
                b'"' => break,
                b'\\' => at = escape_end(self.text, at)?,
                _ => return None,
            }
        }
        self.at = at + 1;
        self.text.get(start..self.at)
    }

    /// Takes a string, and gives its text with escapes resolved as
    /// [`unescape`](crate::escape::unescape) does; borrowed if there are none.
    pub(crate) fn text(&mut self) -> Option<Cow<'a, str>> {
        let bytes = self.text.as_bytes();
        if self.peek()? != b'"' {
            return None;
        }
        let start = self.at + 1;
        let first = special(bytes, start)?;
        match bytes[first] {
            b'"' => {
                self.at = first + 1;
                self.text.get(start..first).map(Cow::Borrowed)
            }
            b'\\' => self.escaped_text(start, first),
            _ => None,
        }
    }

    /// Takes the rest of a string whose first escape stands at `at`.
    fn escaped_text(&mut self, start: usize, mut at: usize) -> Option<Cow<'a, str>> {
        let bytes = self.text.as_bytes();
        let mut len = at - start;
        if self.room.len() < len {
            self.room.resize(len.next_power_of_two(), 0);
        }
        self.room[..len].copy_from_slice(&bytes[start..at]);
        loop {
            // Eight bytes are copied at a time, also those that are no part of the text.
            if self.room.len() < len + 16 {
                self.room.resize((len + 16).next_power_of_two().max(4096), 0);
            }
            let to = &mut self.room[len..len + 8];
            if let Some(chunk) = bytes[at..].first_chunk::<8>() {
                to.copy_from_slice(chunk);
                let found = specials(u64::from_le_bytes(*chunk));
                if found == 0 {
                    (len, at) = (len + 8, at + 8);
                    continue;
                }
                let before = (found.trailing_zeros() / 8) as usize;
                (len, at) = (len + before, at + before);
            }
            match *bytes.get(at)? {
                b'"' => break,
                b'\\' => match simple_escape(*bytes.get(at + 1)?) {
                    Some(byte) => {
                        self.room[len] = byte;
                        (len, at) = (len + 1, at + 2);
                    }
                    None => {
                        escape_end(self.text, at)?;
                        let (c, end) = unicode_escape(self.text, at + 2)?;
                        let mut buffer = [0; 4];
                        let encoded = c.encode_utf8(&mut buffer).as_bytes();
                        self.room[len..len + encoded.len()].copy_from_slice(encoded);
                        (len, at) = (len + encoded.len(), end);
                    }
                },
                byte if byte < b' ' => return None,
                // Near the end of the text, byte by byte.
                byte => {
                    self.room[len] = byte;
                    (len, at) = (len + 1, at + 1);
                }
            }
        }
        self.at = at + 1;
        String::from_utf8(self.room[..len].to_vec()).ok().map(Cow::Owned)
    }

    /// Bytes that are left.
    pub(crate) fn rest(&self) -> usize {
        self.text.len() - self.at
    }

    /// Whether nothing but white space is left.
    pub(crate) fn is_at_end(&mut self) -> bool {
        self.peek().is_none()
    }
}

/// Where the next quote, backslash or control character stands; `None` if there is none.
#[inline]
fn special(bytes: &[u8], mut at: usize) -> Option<usize> {
    while let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        let found = specials(u64::from_le_bytes(*chunk));
        if found != 0 {
            return Some(at + (found.trailing_zeros() / 8) as usize);
        }
        at += 8;
    }
    let is_special = |byte: &u8| matches!(byte, b'"' | b'\\') || *byte < b' ';
    bytes.get(at..)?.iter().position(is_special).map(|found| at + found)
}

/// A high bit for quotes, backslashes and control characters among eight bytes. The lowest one is
/// exact; those above it may be wrong.
#[inline]
const fn specials(word: u64) -> u64 {
    let quote = word ^ (LOW * b'"' as u64);
    let backslash = word ^ (LOW * b'\\' as u64);
    let control = word.wrapping_sub(LOW * b' ' as u64) & !word;
    let zero = (quote.wrapping_sub(LOW) & !quote) | (backslash.wrapping_sub(LOW) & !backslash);
    (zero | control) & (LOW << 7)
}

/// Where the escape at `at` ends; `None` if it is none.
#[inline]
fn escape_end(text: &str, at: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    match bytes.get(at + 1)? {
        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Some(at + 2),
        b'u' => {
            let digits = bytes.get(at + 2..at + 6)?;
            digits.iter().all(u8::is_ascii_hexdigit).then_some(at + 6)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::value::RawValue;

    use super::*;
    use crate::lenient::text_of;

    fn check(text: &str) {
        let mut cursor = Cursor::new(text);
        let taken = cursor.value().filter(|_| cursor.is_at_end());
        let parsed = serde_json::from_str::<&RawValue>(text).map(RawValue::get).ok();
        // Only what nests too deep, or has a key with escapes, is left to the parser.
        assert!(taken.is_none() || taken == parsed, "{text}: {taken:?}");
        if let Some(raw) = parsed.filter(|raw| raw.starts_with('"')) {
            let mut cursor = Cursor::new(text);
            let expected = text_of(raw);
            assert_eq!(cursor.text().as_deref(), Some(&*expected), "{text}");
        } else {
            let mut cursor = Cursor::new(text);
            let taken = cursor.text().filter(|_| cursor.is_at_end());
            assert_eq!(taken, None, "{text}");
        }
    }

    #[test]
    fn takes_what_the_parser_takes() {
        let cases = [
            "{}",
            "[]",
            " { \"a\" : [ 1 , 2.5 , -0 , 1e5 , 1E-5 , 0.1e+2 ] } ",
            "01",
            "-",
            "1.",
            "1e",
            "+1",
            ".5",
            "truex",
            "true",
            "nul",
            "null",
            "[1,]",
            "{\"a\":1,}",
            "{,}",
            "[",
            "{\"a\"}",
            "{\"a\":}",
            "{a:1}",
            "\"\\n\\t\\\"\\\\\\/\\b\\f\\r\"",
            "\"\\x\"",
            "\"\\\"",
            "\"\\u00e9\\ud83d\\ude00\"",
            "\"\\ud83d\"",
            "\"\\ud83dx\"",
            "\"\\ude00 and so on\"",
            "\"\\u12\"",
            "\"\\u12g4\"",
            "\"a\nb\"",
            "\"\u{1}\"",
            "\"\u{7f}é😀\"",
            "",
            " ",
            "1 2",
            "\"a long text without any escape at all\"",
            "\"a long text \\n with one in it\"",
            "{\"a\\n\":1}",
            "[[[[1]]]]",
            "[1}",
            "{\"a\":1]",
            "-0.0",
            "-01",
            "1.5.5",
            "\"abc",
        ];
        cases.iter().for_each(|text| check(text));
    }

    #[test]
    fn takes_most() {
        for text in ["{\"a\":[1,{\"b\":\"c\\n\"},null,true,false,-1.5e3]}", "\"\\u00e9\\n\"", "0"] {
            assert_eq!(Cursor::new(text).value(), Some(text));
        }
    }

    proptest! {
        #[test]
        fn takes_no_more_than_the_parser(
            text in "([\\[\\]{}:,\"\\\\ ntu0-9aé.eE+-]|true|\\\\u00e9|\\\\ud83d|\\\\n|\"a\":|\u{1}){0,24}",
        ) {
            check(&text);
        }

        #[test]
        fn resolves_texts(
            text in "\"([ -!#-\\[\\]-~é😀]{0,12}(\\\\[nrtbf/\\\\\"]|\\\\u[0-9a-fA-F]{4}|\\\\ud83d\\\\ude00)?){0,8}\"",
        ) {
            check(&text);
        }
    }
}
