//! Escapes in JSON strings.

use std::borrow::Cow;

use memchr::memchr;

/// Resolves the escapes of a JSON string's inside; borrowed if there are none.
///
/// What is no valid escape, and a surrogate without its partner, becomes U+FFFD: recorders that
/// cut long texts leave such halves behind.
pub(crate) fn unescape(raw: &str) -> Cow<'_, str> {
    let Some(first) = memchr(b'\\', raw.as_bytes()) else { return Cow::Borrowed(raw) };
    let mut text = String::with_capacity(raw.len());
    let mut from = 0;
    let mut next = Some(first);
    while let Some(at) = next {
        text.push_str(&raw[from..at]);
        from = push_escape(raw, at, &mut text);
        next = memchr(b'\\', &raw.as_bytes()[from..]).map(|found| from + found);
    }
    text.push_str(&raw[from..]);
    Cow::Owned(text)
}

/// What a backslash and this byte stand for; `None` if that takes more, or is no escape.
#[inline]
pub(crate) const fn simple_escape(byte: u8) -> Option<u8> {
    Some(match byte {
        b'n' => b'\n',
        b't' => b'\t',
        b'r' => b'\r',
        b'b' => 8,
        b'f' => 12,
        b'"' | b'\\' | b'/' => byte,
        _ => return None,
    })
}

/// Pushes what the escape at `at` stands for; gives where it ends.
#[inline]
fn push_escape(raw: &str, at: usize, text: &mut String) -> usize {
    let kind = raw.as_bytes().get(at + 1);
    if let Some(plain) = kind.and_then(|kind| simple_escape(*kind)) {
        text.push(char::from(plain));
        return at + 2;
    }
    if kind == Some(&b'u') {
        let (c, end) = unicode_escape(raw, at + 2).unwrap_or((char::REPLACEMENT_CHARACTER, at + 2));
        text.push(c);
        return end;
    }
    text.push(char::REPLACEMENT_CHARACTER);
    at + 1 + raw[at + 1..].chars().next().map_or(0, char::len_utf8)
}

/// The character of a `\u` escape, whose digits begin at `at`, and where it ends. A surrogate
/// without its partner is U+FFFD. `None` if there are no four digits.
pub(crate) fn unicode_escape(text: &str, at: usize) -> Option<(char, usize)> {
    let unit = hex(text, at)?;
    let end = at + 4;
    let low = || hex(text, end + 2).filter(|_| text.as_bytes()[end..].starts_with(b"\\u"));
    if (0xd800..0xdc00).contains(&unit)
        && let Some(low) = low().filter(|low| (0xdc00..0xe000).contains(low))
    {
        let code = 0x1_0000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
        return Some((char::from_u32(code)?, end + 6));
    }
    Some((char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER), end))
}

/// Four hexadecimal digits.
fn hex(text: &str, at: usize) -> Option<u32> {
    let digits = text.as_bytes().get(at..at + 4)?;
    digits.iter().try_fold(0, |unit, digit| Some(unit << 4 | char::from(*digit).to_digit(16)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resolves_escapes() {
        let cases = [
            ("plain é", "plain é"),
            (r#"a\n\t\r\b\f\"\\\/z"#, "a\n\t\r\u{8}\u{c}\"\\/z"),
            (r"\u00e9\ud83d\ude00!", "é😀!"),
            (r"\ud83d", "\u{fffd}"),
            (r"\ud83dx", "\u{fffd}x"),
            (r"\ud83d\u0041", "\u{fffd}A"),
            (r"\ude00", "\u{fffd}"),
            (r"\u12", "\u{fffd}12"),
            (r"\u+123", "\u{fffd}+123"),
            (r"\x", "\u{fffd}"),
            ("\\", "\u{fffd}"),
            (r"\é", "\u{fffd}"),
        ];
        for (raw, expected) in cases {
            assert_eq!(unescape(raw), expected, "{raw}");
        }
        assert!(matches!(unescape("plain"), Cow::Borrowed(_)));
    }
}
