//! The table of all keys in the manual.

use std::fmt::Write;

use crate::bounds;
use crate::shape::{ANY, Key, Shape, Word, defaults, file, is_file_key};
use crate::show::inline;

/// From so many sections of the same shape on, their keys are told once for all of them.
const ALIKE: usize = 3;

/// Every key of a policy file with type, default, bounds and meaning, as Markdown.
#[must_use]
pub fn reference() -> String {
    let mut text = String::new();
    let Shape::Section(keys) = file() else { return text };
    let (sections, single): (Vec<_>, Vec<_>) =
        keys.iter().partition(|key| matches!(key.shape, Shape::Section(_) | Shape::Table(_)));
    text.push_str("### At the top\n\n");
    text.push_str(TABLE);
    for key in single {
        row(&mut text, &[], "", key);
    }
    for key in sections {
        section(&mut text, key);
    }
    text
}

const TABLE: &str = "| Key | Type | Default | Allowed | Meaning |\n|---|---|---|---|---|\n";

fn section(text: &mut String, section: &Key) {
    // Writing to a string cannot fail.
    let _ = write!(text, "\n### `{}`\n\n{}\n\n", section.name, section.doc);
    let path = vec![section.name.as_str()];
    match &section.shape {
        Shape::Section(keys) => {
            if let Some(words) = shared(keys) {
                list_words(text, words);
            }
            text.push_str(TABLE);
            rows(text, &path, "", keys);
        }
        Shape::Table(entry) => {
            text.push_str("A mapping from names to:\n\n");
            match &**entry {
                Shape::Section(keys) => {
                    text.push_str(TABLE);
                    rows(text, &[section.name.as_str(), ANY], "*name*.", keys);
                }
                Shape::Choice(words) => list_words(text, words),
                shape => {
                    let _ = writeln!(text, "{}", kind(shape, false));
                }
            }
        }
        _ => {}
    }
}

fn list_words(text: &mut String, words: &[Word]) {
    for word in words {
        let _ = writeln!(text, "- `{}`: {}", word.name, word.doc);
    }
    text.push('\n');
}

/// The words of the choice that all keys share.
fn shared(keys: &[Key]) -> Option<&[Word]> {
    let (first, rest) = keys.split_first()?;
    let Shape::Choice(words) = &first.shape else { return None };
    (!rest.is_empty() && rest.iter().all(|key| key.shape == first.shape)).then_some(words)
}

fn rows<'k>(text: &mut String, path: &[&'k str], prefix: &str, keys: &'k [Key]) {
    let mut told: Vec<&Shape> = Vec::new();
    for key in keys {
        let Shape::Section(inner) = &key.shape else {
            row(text, path, prefix, key);
            continue;
        };
        row(text, path, prefix, key);
        let alike = keys.iter().filter(|other| other.shape == key.shape).count();
        let mut below = path.to_vec();
        below.push(&key.name);
        if alike < ALIKE {
            rows(text, &below, &format!("{prefix}{}.", key.name), inner);
        } else if !told.contains(&&key.shape) {
            told.push(&key.shape);
            // The rows stand behind the last section of this shape.
        }
        let last = keys.iter().rfind(|other| other.shape == key.shape);
        if alike >= ALIKE && last.is_some_and(|last| last.name == key.name) {
            for member in inner {
                row_of_all(text, &below, prefix, member);
            }
        }
    }
}

/// A key that several sections share: it has no default of its own.
fn row_of_all(text: &mut String, path: &[&str], prefix: &str, key: &Key) {
    let mut names = path.to_vec();
    names.push(&key.name);
    let bounds = bounds::of(&names, &key.shape).phrase();
    let kind = kind(&key.shape, key.nullable);
    let _ =
        writeln!(text, "| `{prefix}*.{}` | {kind} | | {bounds} | {} |", key.name, cell(&key.doc));
}

fn row(text: &mut String, path: &[&str], prefix: &str, key: &Key) {
    let mut names = path.to_vec();
    names.push(&key.name);
    let owned: Vec<String> = path.iter().map(|name| (*name).to_owned()).collect();
    let value = defaults().at(names.iter().copied());
    let default = match (&key.shape, value) {
        _ if is_file_key(&owned, &key.name) => String::new(),
        (Shape::Section(keys), Some(value)) if keys.iter().all(is_leaf) => {
            format!("`{}`", inline(value))
        }
        (Shape::Section(_) | Shape::Table(_), _) | (_, None) => String::new(),
        (_, Some(value)) => format!("`{}`", inline(value)),
    };
    let allowed = match &key.shape {
        Shape::Choice(words) => {
            words.iter().map(|word| format!("`{}`", word.name)).collect::<Vec<_>>().join(", ")
        }
        shape => bounds::of(&names, shape).phrase(),
    };
    let kind = kind(&key.shape, key.nullable);
    let doc = cell(&key.doc);
    let _ = writeln!(text, "| `{prefix}{}` | {kind} | {default} | {allowed} | {doc} |", key.name);
}

fn is_leaf(key: &Key) -> bool {
    !matches!(key.shape, Shape::Section(_) | Shape::Table(_))
}

fn kind(shape: &Shape, nullable: bool) -> String {
    let kind = match shape {
        Shape::Section(_) => "section".to_owned(),
        Shape::Table(_) => "mapping".to_owned(),
        Shape::List(item) => match &**item {
            Shape::Whole { .. } => "list of whole numbers".to_owned(),
            Shape::Text => "list of texts".to_owned(),
            _ => "list".to_owned(),
        },
        Shape::Whole { .. } => "whole number".to_owned(),
        Shape::Number { .. } => "number".to_owned(),
        Shape::Text => "text".to_owned(),
        Shape::Switch => "true or false".to_owned(),
        Shape::Choice(_) => "word".to_owned(),
        Shape::Other => "value".to_owned(),
    };
    if nullable { format!("{kind} or `null`") } else { kind }
}

/// The text in a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}
