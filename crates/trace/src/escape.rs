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
    let mut rest = raw;
    let mut next = Some(first);
    while let Some(at) = next {
        let (before, escape) = rest.split_at(at);
        text.push_str(before);
        rest = push_escape(escape, &mut text);
        next = memchr(b'\\', rest.as_bytes());
    }
    text.push_str(rest);
    Cow::Owned(text)
}

/// Pushes what the escape at the start of `escape` stands for; gives what follows it.
fn push_escape<'a>(escape: &'a str, text: &mut String) -> &'a str {
    let mut chars = escape.chars();
    chars.next();
    let plain = match chars.next() {
        Some('n') => '\n',
        Some('t') => '\t',
        Some('r') => '\r',
        Some('b') => '\u{8}',
        Some('f') => '\u{c}',
        Some(c @ ('"' | '\\' | '/')) => c,
        Some('u') => return push_unicode(chars.as_str(), text),
        _ => char::REPLACEMENT_CHARACTER,
    };
    text.push(plain);
    chars.as_str()
}

/// Pushes the character of a `\u` escape, whose digits `digits` begins with.
fn push_unicode<'a>(digits: &'a str, text: &mut String) -> &'a str {
    let Some((unit, rest)) = hex(digits) else {
        text.push(char::REPLACEMENT_CHARACTER);
        return digits;
    };
    if !(0xd800..0xdc00).contains(&unit) {
        text.push(char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER));
        return rest;
    }
    let low = rest.strip_prefix("\\u").and_then(hex);
    match low.filter(|(low, _)| (0xdc00..0xe000).contains(low)) {
        Some((low, after)) => {
            let code = 0x1_0000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
            text.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            after
        }
        None => {
            text.push(char::REPLACEMENT_CHARACTER);
            rest
        }
    }
}

/// Four hexadecimal digits and what follows them.
fn hex(text: &str) -> Option<(u32, &str)> {
    let (digits, rest) = text.split_at_checked(4)?;
    let is_hex = digits.bytes().all(|b| b.is_ascii_hexdigit());
    let unit = u32::from_str_radix(digits, 16).ok().filter(|_| is_hex)?;
    Some((unit, rest))
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
