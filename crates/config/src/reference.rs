//! The table of all keys in the manual.

use std::fmt::Write;

use crate::bounds;
use crate::shape::{ANY, Key, Shape, Word, defaults, file, is_file_key, names};
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
        row(&mut text, &[&key.name], "", key, Shown::Default);
    }
    for key in sections {
        section(&mut text, key);
    }
    text
}

/// What a row shows besides type, bounds and meaning.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shown {
    /// The default.
    Default,
    /// The default; what is allowed has been told.
    DefaultOnly,
    /// No default: the key stands for several.
    NoDefault,
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
            text.push_str("A mapping from names to this:\n\n");
            match &**entry {
                Shape::Section(keys) => {
                    text.push_str(TABLE);
                    rows(text, &[section.name.as_str(), ANY], "NAME.", keys);
                }
                Shape::Choice(words) => list_words(text, words),
                shape => {
                    let _ = writeln!(text, "- a {}", kind(shape, false));
                }
            }
        }
        _ => {}
    }
    let names = names(&path);
    if !names.is_empty() {
        text.push_str(
            "\nThe names, and what stands there without the key:\n\n| Name | Text |\n|---|---|\n",
        );
        for (name, built_in) in names {
            text_row(text, name, built_in);
        }
        alternatives(text, names);
    }
}

fn text_row(text: &mut String, name: &str, built_in: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "| `{name}` | {} |", built_in.replace('|', "\\|"));
}

/// What else is said where the wording is drawn.
fn alternatives(text: &mut String, names: &[(&str, &str)]) {
    text.push_str(
        "\nWhat is said as well where the wording is drawn (see `wording`), in this order \
         after the first:\n\n| Name | Text |\n|---|---|\n",
    );
    for (name, _) in names {
        for other in steersman_engine::alternative_texts(name) {
            text_row(text, name, other);
        }
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
    let shown = if shared(keys).is_some() { Shown::DefaultOnly } else { Shown::Default };
    for key in keys {
        let mut below = path.to_vec();
        below.push(&key.name);
        let Shape::Section(inner) = &key.shape else {
            row(text, &below, prefix, key, shown);
            continue;
        };
        let alike = keys.iter().filter(|other| other.shape == key.shape).count();
        if alike < ALIKE {
            row(text, &below, prefix, key, Shown::NoDefault);
            rows(text, &below, &format!("{prefix}{}.", key.name), inner);
            continue;
        }
        row(text, &below, prefix, key, Shown::Default);
        // Keys that sections share stand behind the last of them.
        let last = keys.iter().rfind(|other| other.shape == key.shape);
        if last.is_some_and(|last| last.name == key.name) {
            for member in inner {
                let mut below = below.clone();
                below.push(&member.name);
                row(text, &below, &format!("{prefix}*."), member, Shown::NoDefault);
            }
        }
    }
}

fn row(text: &mut String, path: &[&str], prefix: &str, key: &Key, shown: Shown) {
    let names: Vec<String> = path.iter().map(|name| (*name).to_owned()).collect();
    let is_of_file = is_file_key(&names[..names.len() - 1], &key.name);
    let value = defaults().at(path.iter().copied()).map(inline);
    let default = match value {
        Some(value) if shown != Shown::NoDefault && !is_of_file => format!(" `{value}`"),
        _ => String::new(),
    };
    let allowed = match &key.shape {
        _ if shown == Shown::DefaultOnly => String::new(),
        Shape::Choice(words) => {
            words.iter().map(|word| format!(" `{}`", word.name)).collect::<Vec<_>>().join(",")
        }
        shape => match bounds::of(path, shape).phrase() {
            phrase if phrase.is_empty() => phrase,
            phrase => format!(" {phrase}"),
        },
    };
    let (name, kind) = (&key.name, kind(&key.shape, key.nullable));
    let doc = key.doc.replace('|', "\\|");
    let _ = writeln!(text, "| `{prefix}{name}` | {kind} |{default} |{allowed} | {doc} |");
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
