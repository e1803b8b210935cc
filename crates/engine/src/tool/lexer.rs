//! Shell commands in pieces: simple commands, their words and redirections.
//!
//! No shell is rebuilt here. Quotes, escapes, substitutions, comments and here-documents are
//! respected as far as it takes not to find a `;` or `>` where there is none.

use memchr::{memchr, memmem, memrchr};

/// How many simple commands of one command line are looked at.
const PARTS_LIMIT: usize = 64;

/// A simple command: what stands between `&&`, `||`, `;`, `|`, `&` and line ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part<'a> {
    /// The command without its here-document.
    pub(super) text: &'a str,
    /// The body of its here-document; `None` if it has none.
    pub(super) heredoc: Option<&'a str>,
    /// Whether it reads the output of the command before it.
    pub(super) piped: bool,
}

/// Cuts a command line into simple commands.
pub(super) fn parts(script: &str) -> impl Iterator<Item = Part<'_>> {
    Parts { script, at: 0, piped: false, skip: None }
        .filter(|part| !part.text.is_empty())
        .take(PARTS_LIMIT)
}

/// Bytes that mean nothing wherever they stand in a command line.
static PLAIN: [bool; 256] = {
    let mut plain = [true; 256];
    let marked = b"\\'\"`()#<&|;\n";
    let mut at = 0;
    while at < marked.len() {
        plain[marked[at] as usize] = false;
        at += 1;
    }
    plain
};

struct Parts<'a> {
    script: &'a str,
    at: usize,
    piped: bool,
    /// Where the next line end continues: behind the here-documents of this line.
    skip: Option<usize>,
}

impl<'a> Iterator for Parts<'a> {
    type Item = Part<'a>;

    fn next(&mut self) -> Option<Part<'a>> {
        let bytes = self.script.as_bytes();
        if self.at >= bytes.len() {
            return None;
        }
        let (start, piped) = (self.at, self.piped);
        let mut heredoc = None;
        let (mut quote, mut depth) = (0_u8, 0_u32);
        let mut at = start;
        let mut end = bytes.len();
        self.piped = false;
        while at < bytes.len() {
            let byte = bytes[at];
            if PLAIN[usize::from(byte)] {
                at += 1;
                continue;
            }
            let next = bytes.get(at + 1).copied().unwrap_or(0);
            match byte {
                b'\\' if quote != b'\'' => at += 1,
                _ if quote != 0 && byte == quote => quote = 0,
                _ if quote != 0 => {}
                b'\'' | b'"' | b'`' => quote = byte,
                b'(' if depth > 0 || (at > start && bytes[at - 1] == b'$') => depth += 1,
                b')' if depth > 0 => depth -= 1,
                _ if depth > 0 => {}
                b'#' if at == start || bytes[at - 1].is_ascii_whitespace() => {
                    // A comment: its line end is looked at next.
                    if self.script[start..at].trim_ascii().is_empty() {
                        self.at = self.line_end(at);
                        return Some(Part { text: "", heredoc: None, piped });
                    }
                    end = at;
                    at = self.line_end(at);
                    break;
                }
                b'<' if next == b'<' && bytes.get(at + 2) != Some(&b'<') => {
                    let from = self.skip.unwrap_or_else(|| self.line_end(at));
                    if let Some((body, after)) = self.heredoc(at + 2, from) {
                        heredoc = heredoc.or(Some(body));
                        self.skip = Some(after);
                    }
                    at += 1;
                }
                b'&' if next == b'>' || (at > start && matches!(bytes[at - 1], b'>' | b'<')) => {}
                b'|' if at > start && bytes[at - 1] == b'>' => {}
                b';' | b'|' | b'&' | b'\n' => {
                    end = at;
                    break;
                }
                _ => {}
            }
            at += 1;
        }
        let end = end.min(bytes.len());
        self.pass_separator(at);
        let text = self.script.get(start..end).unwrap_or_default();
        Some(Part { text: text.trim_ascii(), heredoc, piped })
    }
}

impl<'a> Parts<'a> {
    fn line_end(&self, from: usize) -> usize {
        let rest = &self.script.as_bytes()[from..];
        from + rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len())
    }

    /// Goes on behind the separator at `at`.
    fn pass_separator(&mut self, at: usize) {
        let bytes = self.script.as_bytes();
        let Some(&separator) = bytes.get(at) else {
            self.at = bytes.len();
            return;
        };
        let doubled = bytes.get(at + 1) == Some(&separator);
        self.at = at + 1;
        match separator {
            b'\n' => {
                if let Some(after) = self.skip.take() {
                    self.at = after;
                }
            }
            b'|' if !doubled => self.piped = true,
            b'|' | b'&' | b';' if doubled => self.at = at + 2,
            _ => {}
        }
        while !self.script.is_char_boundary(self.at) {
            self.at += 1;
        }
    }

    /// The body of a here-document whose delimiter is at `word`, and where it ends.
    fn heredoc(&self, word: usize, line_end: usize) -> Option<(&'a str, usize)> {
        let rest = self.script.get(word..)?.trim_start_matches(['-', ' ', '~']);
        let delimiter = match rest.as_bytes().first()? {
            quote @ (b'\'' | b'"') => rest[1..].split(char::from(*quote)).next()?,
            _ => rest
                .split(|c: char| {
                    c.is_ascii_whitespace() || matches!(c, ';' | '|' | '&' | '>' | ')')
                })
                .next()?
                .trim_start_matches('\\'),
        };
        if delimiter.is_empty() || delimiter.as_bytes()[0].is_ascii_digit() {
            return None;
        }
        let body = self.script.get(line_end + 1..)?;
        // Few lines hold the delimiter: only those are looked at.
        let finder = memmem::Finder::new(delimiter);
        let mut start = 0;
        while let Some(found) = finder.find(&body.as_bytes()[start..]) {
            let at = start + found;
            start += memrchr(b'\n', &body.as_bytes()[start..at]).map_or(0, |before| before + 1);
            let end = memchr(b'\n', &body.as_bytes()[at..]).map_or(body.len(), |len| at + len + 1);
            if body[start..end].trim_ascii() == delimiter {
                return Some((&body[..start], line_end + 1 + end));
            }
            start = end;
        }
        // The end is missing or cut off: all the rest is its body.
        Some((body, self.script.len()))
    }
}

/// A word of a simple command, or a redirection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// A word, quotes included.
    Word(&'a str),
    /// `> file` and its relatives.
    Write(&'a str),
    /// `< file`.
    Read(&'a str),
}

/// Cuts a simple command into words and redirections.
pub(super) const fn tokens(part: &str) -> Tokens<'_> {
    Tokens { text: part }
}

pub(super) struct Tokens<'a> {
    text: &'a str,
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        loop {
            self.text = self.text.trim_ascii_start();
            let bytes = self.text.as_bytes();
            let first = *bytes.first()?;
            let after_fd = bytes.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(0);
            let sign = bytes.get(after_fd).copied().unwrap_or(first);
            let both = first == b'&' && bytes.get(1) == Some(&b'>');
            if !matches!(sign, b'>' | b'<') && !both {
                return Some(Token::Word(self.take_word()));
            }
            let signs = &self.text[if both { 1 } else { after_fd }..];
            let after = signs.trim_start_matches(['>', '<']);
            let (kind, amount) = (sign, signs.len() - after.len());
            let after = after.strip_prefix(['|', '&', '-']).unwrap_or(after);
            let duplicates = signs.as_bytes().get(amount) == Some(&b'&');
            self.text = after;
            if after.starts_with('(') {
                return Some(Token::Word(self.take_word()));
            }
            self.text = self.text.trim_ascii_start();
            let target = self.take_word();
            let is_fd = duplicates && target.bytes().all(|b| b.is_ascii_digit() || b == b'-');
            if target.is_empty() && self.text.is_empty() {
                return None;
            }
            if is_fd || target.is_empty() {
                continue;
            }
            match (kind, amount) {
                (b'<', 1) => return Some(Token::Read(target)),
                // The delimiter of a here-document, or a here-string.
                (b'<', _) => {}
                _ => return Some(Token::Write(target)),
            }
        }
    }
}

impl<'a> Tokens<'a> {
    fn take_word(&mut self) -> &'a str {
        let bytes = self.text.as_bytes();
        let (mut quote, mut depth, mut at) = (0_u8, 0_u32, 0);
        while at < bytes.len() {
            match bytes[at] {
                b'\\' if quote != b'\'' => at += 1,
                byte if quote != 0 && byte == quote => quote = 0,
                _ if quote != 0 => {}
                byte @ (b'\'' | b'"' | b'`') => quote = byte,
                b'(' => depth += 1,
                b')' if depth > 0 => depth -= 1,
                _ if depth > 0 => {}
                b'>' | b'<' => break,
                byte if byte.is_ascii_whitespace() => break,
                _ => {}
            }
            at += 1;
        }
        let at = self.text.ceil_char_boundary(at.min(bytes.len()));
        let (word, rest) = self.text.split_at(at);
        self.text = rest;
        word
    }
}

/// A word without the quotes around it.
pub(super) fn unquote(word: &str) -> &str {
    for quote in ['"', '\''] {
        if word.len() >= 2
            && let Some(inner) = word.strip_prefix(quote)
        {
            return inner.strip_suffix(quote).unwrap_or(inner);
        }
    }
    word
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    #[test]
    fn scripts_are_cut_where_a_shell_would() {
        let cases: [(&str, &[&str]); 16] = [
            ("a && b || c; d | e & f", &["a", "b", "c", "d", "e", "f"]),
            ("echo 'a && b; c'", &["echo 'a && b; c'"]),
            ("echo \"a | \\\" b\" ; c", &["echo \"a | \\\" b\"", "c"]),
            ("a $(b; c) d; e", &["a $(b; c) d", "e"]),
            ("a 2>&1 | b", &["a 2>&1", "b"]),
            ("a &> x; b", &["a &> x", "b"]),
            ("a >| x", &["a >| x"]),
            ("# note\nls # other; rm x\npwd", &["ls", "pwd"]),
            ("cat > f <<'EOF'\nrm x; y\nEOF\nls", &["cat > f <<'EOF'", "ls"]),
            ("cat <<E | sort\nz;y\nE\nls", &["cat <<E", "sort", "ls"]),
            ("cat <<E > f\nnever ends", &["cat <<E > f"]),
            ("a\\\n b", &["a\\\n b"]),
            ("", &[]),
            (";;;&&", &[]),
            ("a <<< x; b", &["a <<< x", "b"]),
            ("grep -c '#' f", &["grep -c '#' f"]),
        ];
        for (script, expected) in cases {
            let found: Vec<_> = parts(script).map(|part| part.text).collect();
            assert_eq!(found, expected, "{script:?}");
        }
    }

    #[test]
    fn here_documents_belong_to_their_command() {
        let found: Vec<_> = parts("cat > f <<'EOF' && ls\nx\ny\nEOF\npwd").collect();
        assert_eq!(found[0].heredoc, Some("x\ny\n"));
        assert_eq!(found[1], Part { text: "ls", heredoc: None, piped: false });
        assert_eq!(found[2].text, "pwd");
        assert!(parts("a | b").nth(1).unwrap().piped);
    }

    #[test]
    fn words_and_redirections_are_told_apart() {
        use Token::{Read, Word, Write};
        let cases: [(&str, &[Token<'_>]); 9] = [
            ("a 'b c' d", &[Word("a"), Word("'b c'"), Word("d")]),
            ("a >f", &[Word("a"), Write("f")]),
            ("a>f", &[Word("a"), Write("f")]),
            ("a 2>/dev/null 2>&1", &[Word("a"), Write("/dev/null")]),
            ("a >> 'f g' <h", &[Word("a"), Write("'f g'"), Read("h")]),
            ("a &>x", &[Word("a"), Write("x")]),
            ("cat <<EOF", &[Word("cat")]),
            ("a '>' b", &[Word("a"), Word("'>'"), Word("b")]),
            ("a >&2", &[Word("a")]),
        ];
        for (part, expected) in cases {
            assert_eq!(tokens(part).collect::<Vec<_>>(), expected, "{part:?}");
        }
    }
}
