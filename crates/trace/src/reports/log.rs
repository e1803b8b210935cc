//! The part of an output that is examined, freed from terminal control sequences.

use std::borrow::Cow;

use memchr::{memchr_iter, memchr2};

/// Bytes examined at the start of an output longer than [`HEAD`] + [`TAIL`].
pub(super) const HEAD: usize = 64 * 1024;
/// Bytes examined at the end of such an output: summaries stand last.
pub(super) const TAIL: usize = 256 * 1024;
/// A control string (`ESC ]`) longer than this is not one; the rest is taken as text.
const MAX_CONTROL_STRING: usize = 512;

const ESCAPE: char = '\x1b';

/// Returns the first [`HEAD`] and the last [`TAIL`] bytes of a long output, whole lines only, so
/// that no number is read from half a line.
pub(super) fn window(output: &str) -> Cow<'_, str> {
    let output = without_ellipsis(output);
    if output.len() <= HEAD + TAIL {
        return Cow::Borrowed(output);
    }
    let head = &output[..output.floor_char_boundary(HEAD)];
    let tail = &output[output.ceil_char_boundary(output.len() - TAIL)..];
    let head = head.rfind('\n').map_or("", |at| &head[..=at]);
    let tail = tail.find('\n').map_or("", |at| &tail[at + 1..]);
    Cow::Owned([head, tail].concat())
}

/// Cuts the `...` off that some clients put behind a shortened output, so that a last line that is
/// whole is read.
fn without_ellipsis(text: &str) -> &str {
    let text = text.trim_end();
    text.strip_suffix("...").or_else(|| text.strip_suffix('…')).unwrap_or(text)
}

/// Removes terminal control sequences and backspaces, and turns lone carriage returns into line
/// ends: what a progress display overwrote becomes a line of its own.
pub(super) fn clean(text: Cow<'_, str>) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let lone_return = memchr_iter(b'\r', bytes).any(|at| bytes.get(at + 1) != Some(&b'\n'));
    if !lone_return && memchr2(b'\x1b', b'\x08', bytes).is_none() {
        return text;
    }
    let mut cleaned = String::with_capacity(text.len());
    let mut rest = &*text;
    while let Some(at) = rest.find([ESCAPE, '\x08', '\r']) {
        cleaned.push_str(&rest[..at]);
        rest = &rest[at..];
        rest = match rest.as_bytes() {
            [b'\x1b', ..] => skip_sequence(rest),
            [b'\r', b'\n', ..] => {
                cleaned.push('\n');
                &rest[2..]
            }
            [b'\r', ..] => {
                cleaned.push('\n');
                &rest[1..]
            }
            _ => &rest[1..],
        };
    }
    cleaned.push_str(rest);
    Cow::Owned(cleaned)
}

/// Skips one control sequence; `text` begins with the escape character.
fn skip_sequence(text: &str) -> &str {
    let rest = &text[1..];
    match rest.as_bytes().first() {
        Some(b'[') => {
            let body = &rest[1..];
            let end = body.find(|c: char| !matches!(c, '\x20'..='\x3f')).unwrap_or(body.len());
            // The final byte belongs to the sequence; anything else shows it was cut.
            let last = usize::from(matches!(body.as_bytes().get(end), Some(0x40..=0x7e)));
            &body[end + last..]
        }
        Some(b']') => {
            let limit = rest.floor_char_boundary(MAX_CONTROL_STRING);
            match rest[..limit].find(['\x07', ESCAPE]) {
                Some(at) if rest[at..].starts_with('\x07') => &rest[at + 1..],
                Some(at) => rest[at..].strip_prefix("\x1b\\").unwrap_or(&rest[at..]),
                None => &rest[1..],
            }
        }
        Some(b'(' | b')' | b'#') => {
            &rest[rest.char_indices().nth(2).map_or(rest.len(), |(at, _)| at)..]
        }
        Some(0x20..=0x7e) => &rest[1..],
        _ => rest,
    }
}
