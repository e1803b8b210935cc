//! A walk over JSON text that a parser has found valid: it finds where values end, and decodes
//! nothing. On text that is not valid it ends early, and never panics.

use std::borrow::Cow;

/// Where the value that begins at `at` ends.
pub(super) fn value_end(text: &str, at: usize) -> usize {
    let bytes = text.as_bytes();
    match bytes.get(at) {
        Some(b'"') => string_end(bytes, at).0,
        Some(b'{' | b'[') => nested_end(bytes, at),
        _ => {
            let rest = bytes.get(at..).unwrap_or_default();
            let ends = |byte: &u8| matches!(byte, b',' | b'}' | b']') || byte.is_ascii_whitespace();
            at + rest.iter().position(ends).unwrap_or(rest.len())
        }
    }
}

/// Where the text that begins with the quote at `at` ends, and whether it is written in the one
/// plain way: without `\u` and `\/`, which stand for characters that could stand there themselves.
pub(super) fn string_end(bytes: &[u8], mut at: usize) -> (usize, bool) {
    let mut plain = true;
    at += 1;
    loop {
        at = next_mark(bytes, at);
        match bytes.get(at) {
            Some(b'"') => return (at + 1, plain),
            Some(_) => {
                plain &= !matches!(bytes.get(at + 1), Some(b'u' | b'/'));
                at += 2;
            }
            None => return (bytes.len(), plain),
        }
    }
}

/// The next quote or backslash at or behind `at`; the end if there is none.
///
/// Eight bytes at a time: outputs of tools hold an escape every few words, and a vectorised search
/// costs more to begin anew than it saves between two of them.
fn next_mark(bytes: &[u8], mut at: usize) -> usize {
    const ONES: u64 = u64::MAX / 0xFF;
    // The lowest byte in which the high bit is set is the first that is zero.
    let zeros = |word: u64| word.wrapping_sub(ONES) & !word & (ONES << 7);
    while let Some(chunk) = bytes.get(at..).and_then(<[u8]>::first_chunk::<8>) {
        let word = u64::from_le_bytes(*chunk);
        let marks =
            zeros(word ^ (ONES * u64::from(b'"'))) | zeros(word ^ (ONES * u64::from(b'\\')));
        if marks != 0 {
            return at + (marks.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    let rest = bytes.get(at..).unwrap_or_default();
    let mark = rest.iter().position(|byte| matches!(byte, b'"' | b'\\'));
    mark.map_or(bytes.len(), |ahead| at + ahead)
}

/// Where the object or list at `at` ends; any depth costs no stack.
fn nested_end(bytes: &[u8], mut at: usize) -> usize {
    let mut depth = 0_usize;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => {
                at = string_end(bytes, at).0;
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}

/// The next place at or behind `at` that is no white space.
pub(super) fn skip_blank(text: &str, at: usize) -> usize {
    let rest = text.as_bytes().get(at..).unwrap_or_default();
    at + rest.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(rest.len())
}

/// The values of a list, each as its JSON text; none if it is no list.
#[derive(Clone, Debug)]
pub(super) struct Elements<'a> {
    text: &'a str,
    at: usize,
    close: u8,
}

/// Goes over the values of a list.
pub(super) fn elements(list: &str) -> Elements<'_> {
    Elements { text: list, at: open(list, b'['), close: b']' }
}

/// Behind the opening bracket, or at the end if the value is of another kind.
fn open(text: &str, bracket: u8) -> usize {
    if text.as_bytes().first() == Some(&bracket) { 1 } else { text.len() }
}

impl<'a> Iterator for Elements<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let mut start = skip_blank(self.text, self.at);
        if self.text.as_bytes().get(start) == Some(&b',') {
            start = skip_blank(self.text, start + 1);
        }
        let first = *self.text.as_bytes().get(start)?;
        if first == self.close {
            return None;
        }
        let end = value_end(self.text, start);
        if end <= start {
            return None;
        }
        self.at = end;
        self.text.get(start..end)
    }
}

/// Goes over the members of an object: the key with its quotes, and the value; none if it is no
/// object.
pub(super) fn members(object: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut parts = Elements { text: object, at: open(object, b'{'), close: b'}' };
    std::iter::from_fn(move || {
        let key = parts.next()?;
        let colon = skip_blank(parts.text, parts.at);
        parts.at = colon + 1;
        let value = parts.next()?;
        Some((key, value))
    })
}

/// Whether a key as it is written, with its quotes, is `name`.
pub(super) fn is_key(written: &str, name: &str) -> bool {
    let inside = written.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    inside == Some(name) || (written.contains('\\') && text(written).as_deref() == Some(name))
}

/// The value at `key`: the last one, as most parsers take it. `None` too if it is null.
pub(super) fn member<'a>(object: &'a str, key: &str) -> Option<&'a str> {
    let own = members(object).filter(|(written, _)| is_key(written, key));
    own.last().map(|(_, value)| value).filter(|value| *value != "null")
}

/// The value at one of two spellings of a key.
pub(super) fn member_of<'a>(object: &'a str, keys: [&str; 2]) -> Option<&'a str> {
    keys.into_iter().find_map(|key| member(object, key))
}

/// What a JSON text says; `None` if it is another kind of value, or holds half a surrogate pair.
pub(super) fn text(value: &str) -> Option<Cow<'_, str>> {
    let inside = value.strip_prefix('"')?.strip_suffix('"')?;
    if !inside.contains('\\') {
        return Some(Cow::Borrowed(inside));
    }
    serde_json::from_str(value).ok().map(Cow::Owned)
}

/// The text at `key`; `None` if there is none.
pub(super) fn text_at<'a>(object: &'a str, key: &str) -> Option<Cow<'a, str>> {
    member(object, key).and_then(text)
}

/// Whether the text at `key` is `word`.
pub(super) fn says(object: &str, key: &str, word: &str) -> bool {
    text_at(object, key).as_deref() == Some(word)
}
