//! A policy as YAML: all of it, or what differs from its base.

use std::fmt::Write;

use steersman_engine::Policy;

use crate::ordered::Ordered;
use crate::scalar::{Meaning, meaning};
use crate::shape::{ANY, defaults};

/// The policy as a policy file with every key, in the order of the reference. Reading it gives the
/// same policy.
#[must_use]
pub fn to_yaml(policy: &Policy) -> String {
    let mut shown = Ordered::of(policy);
    // Reading lays the file over `default`: what only that has must be taken out.
    take_out(&mut shown, &Ordered::of(&Policy::default()));
    let mut text = String::new();
    write_entries(&mut text, &shown, 0);
    text
}

/// The policy as a policy file with only the keys that differ from a built-in policy, and `base`.
/// Reading it gives the same policy. `None` if there is no built-in policy of that name.
#[must_use]
pub fn to_yaml_over(policy: &Policy, base: &str) -> Option<String> {
    let other = Policy::built_in(base)?;
    let mut text = String::new();
    let named = Ordered::Map(vec![("base".to_owned(), Ordered::Text(base.to_owned()))]);
    write_entries(&mut text, &named, 0);
    let (shown, other) = (Ordered::of(policy), Ordered::of(&other));
    if let Some(difference) = difference(&shown, &other, defaults()) {
        write_entries(&mut text, &difference, 0);
    }
    Some(text)
}

/// The policy as JSON with every key, in the order of the reference.
#[must_use]
pub fn to_json_text(policy: &Policy) -> String {
    // A policy is plain data; serialising it cannot fail.
    let mut text = serde_json::to_string_pretty(policy).unwrap_or_default();
    text.push('\n');
    text
}

/// Adds `null` for every key that only `base` has: only tables have such keys.
fn take_out(shown: &mut Ordered, base: &Ordered) {
    let (Ordered::Map(entries), Ordered::Map(others)) = (shown, base) else { return };
    for (name, other) in others {
        match entries.iter_mut().find(|(key, _)| key == name) {
            Some((_, value)) => take_out(value, other),
            None => entries.push((name.clone(), Ordered::Null)),
        }
    }
}

/// What must be laid over `base` to make `value`; `None` if they are equal. `defaults` is what a
/// new entry of a table starts from, under [`ANY`].
fn difference(value: &Ordered, base: &Ordered, defaults: &Ordered) -> Option<Ordered> {
    let (Ordered::Map(entries), Ordered::Map(others)) = (value, base) else {
        return (value != base).then(|| value.clone());
    };
    let mut changed = Vec::new();
    for (name, value) in entries {
        let other = others.iter().find(|(key, _)| key == name);
        let inner = defaults.key(name).or_else(|| defaults.key(ANY)).unwrap_or(&Ordered::Null);
        let change = match other {
            Some((_, other)) => difference(value, other, inner),
            None if matches!(inner, Ordered::Map(_)) => {
                Some(difference(value, inner, inner).unwrap_or(Ordered::Map(vec![])))
            }
            None => Some(value.clone()),
        };
        changed.extend(change.map(|change| (name.clone(), change)));
    }
    let gone = others.iter().filter(|(name, _)| value.key(name).is_none());
    changed.extend(gone.map(|(name, _)| (name.clone(), Ordered::Null)));
    (!changed.is_empty()).then_some(Ordered::Map(changed))
}

fn write_entries(text: &mut String, value: &Ordered, depth: usize) {
    let Ordered::Map(entries) = value else { return };
    for (name, value) in entries {
        write_entry(text, &key(name), value, depth);
    }
}

/// One key with its value, on as many lines as it takes.
fn write_entry(text: &mut String, name: &str, value: &Ordered, depth: usize) {
    let indent = "  ".repeat(depth);
    text.push_str(&indent);
    match value {
        Ordered::Map(entries) if !entries.is_empty() => {
            text.push_str(name);
            text.push_str(":\n");
            write_entries(text, value, depth + 1);
        }
        Ordered::List(items) if items.iter().any(|item| matches!(item, Ordered::Text(_))) => {
            text.push_str(name);
            text.push_str(":\n");
            for item in items {
                // Writing to a string cannot fail.
                let _ = writeln!(text, "{indent}  - {}", inline(item));
            }
        }
        _ => {
            let _ = writeln!(text, "{name}: {}", inline(value));
        }
    }
}

/// The value on one line.
pub(crate) fn inline(value: &Ordered) -> String {
    match value {
        Ordered::Null => "null".to_owned(),
        Ordered::Switch(on) => on.to_string(),
        Ordered::Number(number) => number.to_string(),
        Ordered::Text(text) => scalar(text),
        Ordered::List(items) => {
            let items: Vec<_> = items.iter().map(inline).collect();
            format!("[{}]", items.join(", "))
        }
        Ordered::Map(entries) => {
            let entry =
                |(name, value): &(String, Ordered)| format!("{}: {}", key(name), inline(value));
            let entries: Vec<_> = entries.iter().map(entry).collect();
            format!("{{{}}}", entries.join(", "))
        }
    }
}

/// A key in the form in which it is read as itself.
pub(crate) fn key(name: &str) -> String {
    let simple = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let plain =
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && name.chars().all(simple);
    if plain { name.to_owned() } else { quoted(name) }
}

/// A text in the form in which it is read as itself.
fn scalar(text: &str) -> String {
    let simple = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ' ');
    let plain = text.starts_with(|c: char| c.is_ascii_alphabetic())
        && !text.ends_with(' ')
        && text.chars().all(simple)
        && matches!(meaning(text), Meaning::Text | Meaning::OldSwitch(_));
    if plain { text.to_owned() } else { quoted(text) }
}

/// The text in double quotes, with escapes for everything that YAML or a terminal would take for
/// something else.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        let code = u32::from(c);
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            _ if code > 0xffff && is_unsafe(c) => {
                let _ = write!(quoted, "\\U{code:08x}");
            }
            _ if is_unsafe(c) => {
                let _ = write!(quoted, "\\u{code:04x}");
            }
            _ => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

fn is_unsafe(c: char) -> bool {
    crate::source::printable(c) != c
        || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}')
        || u32::from(c) & 0xfffe == 0xfffe
}
