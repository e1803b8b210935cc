//! Numbers in front of words.

/// Reads a decimal number at the start of a text; saturates.
pub(super) fn number(text: &str) -> Option<(u32, &str)> {
    let end = text.bytes().position(|b| !b.is_ascii_digit()).unwrap_or(text.len());
    if end == 0 {
        return None;
    }
    let value = text[..end].parse().unwrap_or(u32::MAX);
    Some((value, &text[end..]))
}

/// Reads `3 failed` as `(3, "failed")`: number first, one space, then what is counted.
pub(super) fn counted(item: &str) -> Option<(u32, &str)> {
    let (value, rest) = number(item.trim())?;
    Some((value, rest.strip_prefix(' ')?))
}

/// Reads `Failures: 3` as `("Failures", 3)`, ignoring spaces around both and a final full stop.
pub(super) fn labelled(item: &str) -> Option<(&str, u32)> {
    let (label, value) = item.rsplit_once(':')?;
    let (value, rest) = number(value.trim())?;
    matches!(rest, "" | ".").then(|| (label.trim(), value))
}

/// Whether a text is a span of time such as `0.03s`, `12 ms`, `1m 2.5s`, `61.20s (0:01:01)`.
pub(super) fn is_duration(text: &str) -> bool {
    const UNITS: [&str; 11] =
        ["s", "ms", "m", "h", "min", "sec", "secs", "seconds", "us", "µs", "ns"];
    let text = text.trim().trim_start_matches(['<', '~']);
    let text = text.split_once(" (").map_or(text, |(span, _)| span);
    let (mut digits, mut unit) = (false, false);
    for token in text.split_whitespace() {
        let number_end = token
            .find(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | ':' | ','))
            .unwrap_or(token.len());
        digits |= token[..number_end].contains(|c: char| c.is_ascii_digit());
        let word = &token[number_end..];
        if !word.is_empty() {
            if !UNITS.contains(&word) {
                return false;
            }
            unit = true;
        }
    }
    digits && unit
}
