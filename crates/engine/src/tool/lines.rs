//! Which lines of a file a filter prints or changes: `head`, `tail`, `sed`, `awk`.

use super::canon::hash_text;

/// The range behind a number of lines: the first ones, the last ones, or from a line on (`+n`).
pub(super) fn amount(number: &str, from_end: bool) -> Option<(u32, u32)> {
    if let Some(from) = number.strip_prefix('+') {
        return Some((from.parse().ok()?, u32::MAX));
    }
    let count: u32 = number.parse().ok()?;
    Some(if from_end { (u32::MAX - count, u32::MAX) } else { (1, count) })
}

/// The lines a `sed` or `awk` script prints: `10,20p`, `10p`, `NR>=10 && NR<=20`.
pub(super) fn lines_of(script: &str) -> Option<(u32, u32)> {
    if script.contains("NR") {
        let after = |sign: &str, off: u32| {
            let (_, rest) = script.split_once(sign)?;
            Some(leading_number(rest)?.0.saturating_add(off))
        };
        let first = after("NR>=", 0).or_else(|| after("NR>", 1)).or_else(|| after("NR==", 0))?;
        let single = script.contains("NR==") && !script.contains("NR<");
        let last = after("NR<=", 0).or_else(|| after("NR<", 0));
        return Some((first, last.unwrap_or(if single { first } else { u32::MAX }).max(first)));
    }
    let (first, rest) = leading_number(script)?;
    let last = match rest.strip_prefix(',') {
        Some(rest) if rest.starts_with('$') => u32::MAX,
        Some(rest) => match rest.strip_prefix('+') {
            Some(more) => first.saturating_add(leading_number(more)?.0),
            None => leading_number(rest)?.0,
        },
        None if rest.starts_with('p') => first,
        None => return None,
    };
    Some((first, last.max(first)))
}

fn leading_number(text: &str) -> Option<(u32, &str)> {
    let text = text.trim_start();
    let end = text.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    Some((text[..end].parse().ok()?, &text[end..]))
}

/// Hashes of what `s/old/new/` takes out and puts in.
pub(super) fn substitution(script: &str) -> Option<(u64, u64)> {
    let rest = script.split_once('s')?.1;
    let mut chars = rest.chars();
    let separator = chars.next().filter(|c| c.is_ascii_punctuation())?;
    let mut fields = chars.as_str().split(separator);
    Some((hash_text(fields.next()?), hash_text(fields.next()?)))
}
