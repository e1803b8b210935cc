//! Where a JSON value ends, found without parsing it.

use memchr::memchr2;

/// Follows a JSON value over chunks of bytes until it is complete.
///
/// Only brackets and strings are followed; whether what lies between is valid JSON is left to the
/// parser that gets the value afterwards.
#[derive(Clone, Debug, Default)]
pub(crate) struct Extent {
    depth: u64,
    state: State,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// Nothing seen yet.
    #[default]
    Start,
    /// Inside brackets, outside strings.
    Between,
    /// Inside a string.
    InString,
    /// After a backslash in a string.
    Escaped,
    /// Inside a number, a literal, or garbage.
    Scalar,
}

impl Extent {
    /// Takes the next bytes, which must not begin with white space if they are the first; gives
    /// the number of them that belong to the value once it is complete.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut at = 0;
        while at < bytes.len() {
            let byte = bytes[at];
            match self.state {
                State::Escaped => {
                    self.state = State::InString;
                    at += 1;
                }
                State::InString => match memchr2(b'"', b'\\', &bytes[at..]) {
                    None => return None,
                    Some(skip) => {
                        at += skip + 1;
                        if bytes[at - 1] == b'\\' {
                            self.state = State::Escaped;
                        } else if self.depth == 0 {
                            return Some(at);
                        } else {
                            self.state = State::Between;
                        }
                    }
                },
                State::Scalar => {
                    if is_delimiter(byte) {
                        return Some(at);
                    }
                    at += 1;
                }
                State::Start | State::Between => {
                    at += 1;
                    if self.bracket(byte) {
                        return Some(at);
                    }
                }
            }
        }
        None
    }

    /// Whether the value is complete if the input ends here.
    pub(crate) fn ends_at_eof(&self) -> bool {
        self.state == State::Scalar
    }

    /// Takes a byte outside strings; true if it completes the value.
    fn bracket(&mut self, byte: u8) -> bool {
        match byte {
            b'"' => self.state = State::InString,
            b'{' | b'[' => {
                self.depth += 1;
                self.state = State::Between;
            }
            b'}' | b']' => {
                self.depth = self.depth.saturating_sub(1);
                return self.depth == 0;
            }
            _ if self.state == State::Start => {
                // A lone delimiter is a value of its own, so that garbage cannot stop the scan.
                if is_delimiter(byte) {
                    return true;
                }
                self.state = State::Scalar;
            }
            _ => {}
        }
        false
    }
}

fn is_delimiter(byte: u8) -> bool {
    matches!(byte, b',' | b']' | b'}' | b':') || byte.is_ascii_whitespace()
}

/// The elements of a JSON list in memory, as raw text. Ends where the list or its structure ends.
pub(crate) fn elements(list: &str) -> impl Iterator<Item = &str> {
    let mut rest = list.trim_start().strip_prefix('[').unwrap_or("");
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches(|c: char| c == ',' || c.is_ascii_whitespace());
        if rest.is_empty() || rest.starts_with(']') {
            return None;
        }
        let mut extent = Extent::default();
        let end = match extent.feed(rest.as_bytes()) {
            Some(end) => end,
            None if extent.ends_at_eof() => rest.len(),
            None => return None,
        };
        let (element, after) = rest.split_at_checked(end)?;
        rest = after;
        Some(element)
    })
}

/// The members of a JSON object in memory: key and value as raw text, the key with its quotes.
pub(crate) fn members(object: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = object.trim_start().strip_prefix('{').unwrap_or("");
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches(|c: char| c == ',' || c.is_ascii_whitespace());
        if !rest.starts_with('"') {
            return None;
        }
        let (key, after) = rest.split_at_checked(Extent::default().feed(rest.as_bytes())?)?;
        let after = after.trim_start().strip_prefix(':')?.trim_start();
        let (value, after) = after.split_at_checked(Extent::default().feed(after.as_bytes())?)?;
        rest = after;
        Some((key, value))
    })
}

/// Whether the text is one object whose brackets and strings close where it ends.
pub(crate) fn is_whole_object(text: &str) -> bool {
    let text = text.trim();
    text.starts_with('{') && Extent::default().feed(text.as_bytes()) == Some(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_end_however_the_bytes_are_cut() {
        let cases = [
            (r#"{"a":"}\"]","b":[1,{}]} ,"#, r#"{"a":"}\"]","b":[1,{}]}"#),
            (r#""a\\" ,"#, r#""a\\""#),
            ("12.5,3", "12.5"),
            ("null]", "null"),
            ("[] x", "[]"),
            ("garbage}", "garbage"),
        ];
        for (input, expected) in cases {
            for cut in 0..input.len() {
                let mut extent = Extent::default();
                let end = match extent.feed(&input.as_bytes()[..cut]) {
                    Some(end) => end,
                    None => cut + extent.feed(&input.as_bytes()[cut..]).unwrap(),
                };
                assert_eq!(&input[..end], expected, "cut at {cut}");
            }
        }
    }

    #[test]
    fn lists_members() {
        let all = |object| members(object).collect::<Vec<_>>();
        assert_eq!(
            all(r#" { "a" : [1,2], "b":"}" }"#),
            [(r#""a""#, "[1,2]"), (r#""b""#, r#""}""#)]
        );
        assert_eq!(all("{}"), []);
        assert_eq!(all(r#"{"a":1,"b""#), [(r#""a""#, "1")]);
        assert!(is_whole_object(r#" {"a":"{"} "#));
        assert!(!is_whole_object(r#"{"a":1}}"#));
        assert!(!is_whole_object(r#"{"a":"#));
    }

    #[test]
    fn lists_elements() {
        let all = |list| elements(list).collect::<Vec<_>>();
        assert_eq!(
            all(r#" [1, "a,]", {"b":[2]} , null]"#),
            ["1", r#""a,]""#, r#"{"b":[2]}"#, "null"]
        );
        assert_eq!(all("[]"), [""; 0]);
        assert_eq!(all("{}"), [""; 0]);
        assert_eq!(all("[1,{"), ["1"]);
        assert_eq!(all("[1,2"), ["1", "2"]);
    }
}
