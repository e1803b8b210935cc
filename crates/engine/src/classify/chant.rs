//! Chanting: the same long text again and again inside one reply.

use crate::bytes::find_any;
use crate::digest::hash_bytes;

/// How much of the end of a reply is looked at, in bytes: a chant lasts to the end.
const TAIL: usize = 16 * 1024;

/// Replies shorter than this many bytes are never chants.
const MIN_LEN: usize = 400;

/// Shortest text that counts, in bytes.
const MIN_UNIT: usize = 24;

/// How many different units are followed.
const UNITS: usize = 16;

/// How often the most repeated text of the reply stands in its last 16 KiB, if these repeats are at
/// least two fifths of it; 0 otherwise.
///
/// Units are lines and sentences of at least 24 bytes. Code, tables and lists repeat their shape,
/// not whole lines; a chant repeats whole lines.
#[must_use]
pub fn chants(text: &str) -> u32 {
    if text.len() < MIN_LEN {
        return 0;
    }
    let tail = &text[text.ceil_char_boundary(text.len().saturating_sub(TAIL))..];
    let mut units = [(0_u64, 0_u32, 0_usize); UNITS];
    let mut next = 0;
    let bytes = tail.as_bytes();
    let mut from = 0;
    while from < bytes.len() {
        let end = find_any(bytes, from, *b"\n.!?").unwrap_or(bytes.len());
        let unit = &bytes[from..end];
        from = end + 1;
        if unit.len() < MIN_UNIT {
            continue;
        }
        let unit = unit.trim_ascii();
        if unit.len() < MIN_UNIT || !unit.iter().any(u8::is_ascii_alphanumeric) {
            continue;
        }
        let hash = hash_bytes(unit);
        if let Some(known) = units.iter_mut().find(|known| known.0 == hash) {
            known.1 += 1;
            known.2 += unit.len();
        } else {
            // The units seen once make room in turn; a repeated one stays.
            let free = (0..UNITS).map(|at| (next + at) % UNITS).find(|at| units[*at].1 <= 1);
            if let Some(free) = free {
                units[free] = (hash, 1, unit.len());
                next = (free + 1) % UNITS;
            }
        }
    }
    let repeated = units.iter().filter(|unit| unit.1 > 1);
    let covered: usize = repeated.clone().map(|unit| unit.2).sum();
    let most = repeated.map(|unit| unit.1).max().unwrap_or(0);
    if covered * 5 >= tail.len() * 2 { most } else { 0 }
}

#[cfg(test)]
mod tests {
    use std::format;
    use std::string::String;

    use super::chants;

    #[test]
    fn whole_lines_repeated_to_the_end_are_a_chant() {
        let line = "I should look at the configuration file again before I decide.\n";
        let list: String =
            (0..40).map(|n| format!("- item {n}: checked the module number {n}\n")).collect();
        let code = "    }\n}\n".repeat(80);
        let cases = [
            (line.repeat(12), 12),
            (format!("{list}{}", line.repeat(40)), 40),
            (line.replace('\n', " ").repeat(9), 9),
            (list, 0),
            (code, 0),
            (line.repeat(2), 0),
            (String::new(), 0),
        ];
        for (text, expected) in cases {
            assert_eq!(chants(&text), expected, "{text}");
        }
    }
}
