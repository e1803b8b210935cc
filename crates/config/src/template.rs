//! The commented policy file that `steersman config init` writes.

use std::fmt::Write;

use steersman_engine::Policy;

use crate::ordered::Ordered;
use crate::shape::{ANY, Key, Shape, Word, defaults, file, is_file_key, names};
use crate::show::{inline, key};

/// Widest line of an explanation. Characters.
const WIDTH: usize = 100;

/// A policy file over a built-in policy in which every key stands with its explanation and the
/// value that the base gives it, commented out. `None` if there is no built-in policy of that name.
#[must_use]
pub fn template(base: &str) -> Option<String> {
    let policy = Policy::built_in(base)?;
    let mut text = String::from(HEAD);
    let Shape::Section(keys) = file() else { return None };
    let values = Ordered::of(&policy);
    for member in keys {
        text.push('\n');
        if is_file_key(&[], &member.name) {
            explain(&mut text, member, 0, false);
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{}: {base}", member.name);
            continue;
        }
        write_key(&mut text, &[], member, values.key(&member.name), false);
    }
    Some(text)
}

const HEAD: &str = "\
# The policy of Steersman: every number a decision depends on.
#
# Lines with `##` explain. A key stands behind a single `#`, with the value that holds without it:
# take the `#` away, and the one before the section the key stands in, to give it another value.
# `steersman config check` says whether the file is right, `steersman config show` what holds.
";

/// One key with its explanation, commented out. `told` says that the words of its choice have been
/// explained before.
fn write_key(
    text: &mut String,
    section: &[String],
    member: &Key,
    value: Option<&Ordered>,
    told: bool,
) {
    let depth = section.len();
    let indent = "  ".repeat(depth);
    explain(text, member, depth, told);
    let mut path = section.to_vec();
    path.push(member.name.clone());
    match (&member.shape, value) {
        (Shape::Section(keys), value) => {
            let words = shared_words(keys);
            explain_words(text, words, &indent);
            let _ = writeln!(text, "{indent}#{}:", member.name);
            for inner in keys {
                let value = value.and_then(|value| value.key(&inner.name));
                write_key(text, &path, inner, value, words.is_some());
            }
        }
        (Shape::Table(entry), Some(Ordered::Map(entries))) if !entries.is_empty() => {
            let _ = writeln!(text, "{indent}#{}:", member.name);
            for (name, value) in entries {
                write_entry(text, &key(name), value, depth + 1);
            }
            example(text, &path, entry);
        }
        (Shape::Table(entry), _) => {
            let _ = writeln!(text, "{indent}#{}: {{}}", member.name);
            example(text, &path, entry);
        }
        // A key of the file only: it has no value, so its first word stands for an example.
        (Shape::Choice(words), None) => {
            let name = words.first().map_or("", |word| word.name.as_str());
            let _ = writeln!(text, "{indent}## {}: {name}", member.name);
        }
        (_, value) => {
            let value = value.map_or_else(String::new, inline);
            let _ = writeln!(text, "{indent}#{}: {value}", member.name);
        }
    }
}

/// An entry of a table of the base.
fn write_entry(text: &mut String, name: &str, value: &Ordered, depth: usize) {
    let indent = "  ".repeat(depth);
    match value {
        Ordered::Map(entries) if !entries.is_empty() => {
            let _ = writeln!(text, "{indent}#{name}:");
            for (name, value) in entries {
                write_entry(text, &key(name), value, depth + 1);
            }
        }
        _ => {
            let _ = writeln!(text, "{indent}#{name}: {}", inline(value));
        }
    }
}

/// What an entry of a table looks like, as an explanation.
fn example(text: &mut String, path: &[String], entry: &Shape) {
    let indent = "  ".repeat(path.len());
    let entries = path.iter().map(String::as_str).chain([ANY]);
    match entry {
        Shape::Section(keys) => {
            let _ =
                writeln!(text, "{indent}## An entry, with the values that hold without its keys:");
            let _ = writeln!(text, "{indent}## \"{ANY}\":");
            let values = defaults().at(entries);
            for member in keys {
                for line in wrap(&member.doc, WIDTH.saturating_sub(indent.len() + 7)) {
                    let _ = writeln!(text, "{indent}##   # {line}");
                }
                let value = values.and_then(|values| values.key(&member.name));
                let value = value.map_or_else(String::new, inline);
                let _ = writeln!(text, "{indent}##   {}: {value}", member.name);
            }
        }
        Shape::Choice(words) => {
            let name = words.first().map_or("", |word| word.name.as_str());
            explain_words(text, Some(words), &indent);
            let _ = writeln!(text, "{indent}## An entry: \"name*\": {name}");
        }
        Shape::List(_) => {
            let path: Vec<&str> = path.iter().map(String::as_str).collect();
            for (name, built_in) in names(&path) {
                let _ = writeln!(text, "{indent}## {name}:");
                item(text, &format!("{indent}##  "), built_in);
            }
        }
        _ => {}
    }
}

/// The explanation of a key, with the words it allows.
fn explain(text: &mut String, member: &Key, depth: usize, told: bool) {
    let indent = "  ".repeat(depth);
    for line in wrap(&member.doc, WIDTH.saturating_sub(indent.len() + 3)) {
        let _ = writeln!(text, "{indent}## {line}");
    }
    if let (Shape::Choice(words), false) = (&member.shape, told) {
        explain_words(text, Some(words), &indent);
    }
}

fn explain_words(text: &mut String, words: Option<&[Word]>, indent: &str) {
    let Some(words) = words else { return };
    if words.iter().all(|word| word.doc.is_empty()) {
        let names: Vec<_> = words.iter().map(|word| word.name.as_str()).collect();
        let _ = writeln!(text, "{indent}## One of {}.", names.join(", "));
        return;
    }
    for word in words {
        let line = format!("{}: {}", word.name, word.doc);
        item(text, &format!("{indent}##"), &line);
    }
}

/// An item of a list, on as many lines as it takes.
fn item(text: &mut String, start: &str, item: &str) {
    for (at, line) in wrap(item, WIDTH.saturating_sub(start.len() + 3)).iter().enumerate() {
        let dash = if at == 0 { "-" } else { " " };
        let _ = writeln!(text, "{start} {dash} {line}");
    }
}

/// The words of the choice that all keys of a section share.
fn shared_words(keys: &[Key]) -> Option<&[Word]> {
    let (first, rest) = keys.split_first()?;
    let Shape::Choice(words) = &first.shape else { return None };
    (!rest.is_empty() && rest.iter().all(|key| key.shape == first.shape)).then_some(words)
}

/// The text in lines of at most `width` characters, broken between words.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + word.chars().count() < width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}
