//! Text for people: numbers, widths, and text from elsewhere made harmless.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Columns that text takes on a terminal.
pub(crate) fn width(text: &str) -> usize {
    text.width()
}

/// Text from elsewhere in one harmless line: control characters (which could drive the terminal)
/// and characters that turn the writing direction become spaces, runs of blanks become one.
pub(crate) fn plain(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    let mut blank = true;
    for c in text.chars() {
        if c.is_whitespace() || is_unprintable(c) {
            if !blank {
                line.push(' ');
            }
            blank = true;
        } else {
            line.push(c);
            blank = false;
        }
    }
    line.truncate(line.trim_end().len());
    line
}

/// A line from elsewhere that keeps its blanks, but cannot drive the terminal.
pub(crate) fn harmless(line: &str) -> String {
    line.chars().map(|c| if c != '\t' && is_unprintable(c) { ' ' } else { c }).collect()
}

fn is_unprintable(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}')
}

/// The first `columns` columns, with `…` where something is left out.
pub(crate) fn cut_end(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut kept = take_columns(text.chars(), columns.saturating_sub(1));
    kept.push('…');
    kept
}

/// Beginning and end, with `…` in the middle: what tells ids apart is often at the end.
pub(crate) fn cut_middle(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let room = columns.saturating_sub(1);
    let head = take_columns(text.chars(), room / 2);
    let tail = take_columns(text.chars().rev(), room - room / 2);
    head + "…" + &tail.chars().rev().collect::<String>()
}

/// The last `columns` columns, with `…` where something is left out.
pub(crate) fn cut_start(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let tail = take_columns(text.chars().rev(), columns.saturating_sub(1));
    format!("…{}", tail.chars().rev().collect::<String>())
}

fn take_columns(chars: impl Iterator<Item = char>, columns: usize) -> String {
    let mut used = 0;
    chars
        .take_while(|c| {
            used += c.width().unwrap_or(0);
            used <= columns
        })
        .collect()
}

/// The first `bytes` bytes at most, cut between characters, with `…` where something is left out.
pub(crate) fn bounded(text: &str, bytes: usize) -> String {
    if text.len() <= bytes {
        return text.to_owned();
    }
    let mut end = bytes;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}…", &text[..end])
}

/// Text padded on the right to `columns`.
pub(crate) fn left(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

/// Text padded on the left to `columns`.
pub(crate) fn right(text: &str, columns: usize) -> String {
    format!("{}{text}", " ".repeat(columns.saturating_sub(width(text))))
}

/// A number with thousands separators: `1,234,567`.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A number in at most five columns or so: `999`, `12k`, `1.2M`, `3.4B`.
pub(crate) fn compact(number: u64) -> String {
    scaled(number, ["", "k", "M", "B", "T"])
}

/// Bytes: `12 kB`, `1.2 GB`.
pub(crate) fn bytes(number: u64) -> String {
    scaled(number, [" B", " kB", " MB", " GB", " TB"])
}

fn scaled(number: u64, names: [&str; 5]) -> String {
    const UNITS: [u64; 4] = [1_000_000_000_000, 1_000_000_000, 1_000_000, 1_000];
    for (unit, name) in UNITS.into_iter().zip(names.into_iter().rev()) {
        if number >= unit {
            let tenths = number / (unit / 10);
            return if tenths < 100 {
                format!("{}.{}{name}", tenths / 10, tenths % 10)
            } else {
                format!("{}{name}", grouped(tenths / 10))
            };
        }
    }
    format!("{number}{}", names[0])
}

/// A number and its noun: `1 run`, `2 runs`.
pub(crate) fn counted(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", grouped(number), if number == 1 { "" } else { "s" })
}

/// A share in percent with two decimals: `4.17 %`; `–` if there is nothing to take a share of.
pub(crate) fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "–".to_owned(), |share| format!("{:.2} %", share * 100.0))
}

/// Turn numbers as ranges: `3–7, 9`.
pub(crate) fn ranges(numbers: &[u32]) -> String {
    let mut parts: Vec<(u32, u32)> = Vec::new();
    for &number in numbers {
        match parts.last_mut() {
            Some((_, end)) if number == *end || number == end.saturating_add(1) => *end = number,
            _ => parts.push((number, number)),
        }
    }
    let texts: Vec<String> = parts
        .iter()
        .map(|&(a, b)| if a == b { a.to_string() } else { format!("{a}–{b}") })
        .collect();
    texts.join(", ")
}

/// Breaks text at blanks into lines of at most `columns`, unless a word is longer; the lines after
/// the first are indented.
pub(crate) fn wrap(words: &str, columns: usize, indent: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let (mut line, mut blank) = (String::new(), true);
    for word in words.split_whitespace() {
        if !blank && width(&line) + 1 + width(word) > columns {
            lines.push(std::mem::replace(&mut line, " ".repeat(indent)));
            blank = true;
        }
        if !blank {
            line.push(' ');
        }
        line.push_str(word);
        blank = false;
    }
    if !blank {
        lines.push(line);
    }
    lines
}

/// A text after a mark, broken into lines of at most `columns` unless a word is longer; what
/// follows the first line stands below the text.
pub(crate) fn hang(mark: &str, words: &str, columns: usize) -> Vec<String> {
    let indent = width(mark);
    let lines = wrap(words, columns.saturating_sub(indent), 0);
    let before = |at| if at == 0 { mark.to_owned() } else { " ".repeat(indent) };
    lines.iter().enumerate().map(|(at, line)| before(at) + line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_readable() {
        for (number, expected) in
            [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")]
        {
            assert_eq!(grouped(number), expected);
        }
        let cases = [
            (999, "999"),
            (1_000, "1.0k"),
            (12_345, "12k"),
            (999_999, "999k"),
            (1_250_000, "1.2M"),
            (3_400_000_000, "3.4B"),
            (u64::MAX, "18,446,744T"),
        ];
        for (number, expected) in cases {
            assert_eq!(compact(number), expected);
        }
        assert_eq!(bytes(12), "12 B");
        assert_eq!(bytes(1_200_000), "1.2 MB");
        assert_eq!(percent(Some(0.0417)), "4.17 %");
        assert_eq!(percent(None), "–");
        assert_eq!(ranges(&[3, 4, 5, 9, 11, 12]), "3–5, 9, 11–12");
        assert_eq!(ranges(&[4, 4, 5, u32::MAX, u32::MAX]), "4–5, 4294967295");
    }

    #[test]
    fn cutting_counts_columns_not_bytes() {
        let cases = [
            ("abcdef", 6, "abcdef", "abcdef"),
            ("abcdefg", 6, "abcde…", "ab…efg"),
            ("日本語テキスト", 7, "日本語…", "日…ト"),
            ("", 3, "", ""),
            ("abc", 1, "…", "…"),
        ];
        for (text, columns, end, middle) in cases {
            assert_eq!(cut_end(text, columns), end);
            assert_eq!(cut_middle(text, columns), middle);
            assert!(width(&cut_middle(text, columns)) <= columns);
        }
        assert_eq!(bounded("añb", 2), "a…");
        assert_eq!(left("日", 4), "日  ");
        assert_eq!(right("日", 4), "  日");
    }

    #[test]
    fn lines_break_at_blanks() {
        let cases: [(&str, &[&str]); 4] = [
            ("", &[]),
            ("one two three four", &["one two", "  three", "  four"]),
            ("incomprehensible words", &["incomprehensible", "  words"]),
            ("日本 語語 a", &["日本", "  語語 a"]),
        ];
        for (words, expected) in cases {
            assert_eq!(wrap(words, 8, 2), expected);
        }
    }

    #[test]
    fn foreign_text_cannot_drive_the_terminal() {
        assert_eq!(plain("a\x1b[2Jb\n\n  c\u{202e}d\r"), "a [2Jb c d");
        assert_eq!(plain("\t \n"), "");
    }
}
