//! Dotted paths of keys: `loops.cycle.notice`, `model_overrides."gpt-4.1*".loop_detection`.

/// The path of the key `name` in the section at `path`.
pub(crate) fn below(path: &str, name: &str) -> String {
    let name = quoted(name);
    if path.is_empty() { name } else { format!("{path}.{name}") }
}

/// The path that leads through `names`.
pub(crate) fn join<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    names.into_iter().fold(String::new(), |path, name| below(&path, name))
}

/// The name, in quotes where it would not be read back as one part of a path.
fn quoted(name: &str) -> String {
    let simple = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '*' | '?' | '/' | ':');
    if !name.is_empty() && name.chars().all(simple) {
        return name.to_owned();
    }
    format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""))
}

/// The names along a path; `None` if a quote is not closed or a name is missing.
pub(crate) fn split(path: &str) -> Option<Vec<String>> {
    let mut names = Vec::new();
    let mut rest = path;
    loop {
        let (name, after) = match rest.chars().next()? {
            quote @ ('"' | '\'') => take_quoted(&rest[1..], quote)?,
            _ => {
                let end = rest.find('.').unwrap_or(rest.len());
                (rest[..end].to_owned(), &rest[end..])
            }
        };
        if name.is_empty() && !rest.starts_with(['"', '\'']) {
            return None;
        }
        names.push(name);
        if after.is_empty() {
            return Some(names);
        }
        rest = after.strip_prefix('.')?;
    }
}

/// The text up to the closing quote, and what follows it. A backslash in double quotes takes the
/// next character as it is.
fn take_quoted(text: &str, quote: char) -> Option<(String, &str)> {
    let mut name = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        if c == quote {
            return Some((name, &text[at + 1..]));
        }
        name.push(if c == '\\' && quote == '"' { chars.next()?.1 } else { c });
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{join, split};

    #[test]
    fn paths_are_split_and_joined() {
        let cases: [(&str, Option<&[&str]>); 10] = [
            ("loops.cycle.notice", Some(&["loops", "cycle", "notice"])),
            ("mode", Some(&["mode"])),
            ("a.\"gpt-4.1*\".b", Some(&["a", "gpt-4.1*", "b"])),
            ("a.'x.y'.b", Some(&["a", "x.y", "b"])),
            ("a.gpt-*.b", Some(&["a", "gpt-*", "b"])),
            ("a.\"q\\\"q\"", Some(&["a", "q\"q"])),
            ("", None),
            ("a..b", None),
            ("a.", None),
            ("a.\"b", None),
        ];
        for (path, expected) in cases {
            let names = split(path);
            let found = names.as_ref().map(|n| n.iter().map(String::as_str).collect::<Vec<_>>());
            assert_eq!(found.as_deref(), expected, "{path}");
            if let Some(names) = expected {
                let again = split(&join(names.iter().copied()));
                assert_eq!(again.unwrap(), *names, "{path}");
            }
        }
    }
}
