//! Help for a key or a value that is not known.

use crate::bounds::each_key;
use crate::finding::Finding;
use crate::path::join;
use crate::scalar::{Meaning, meaning};
use crate::shape::{Key, Shape, names};
use crate::tree::{Node, Value};

/// The finding about an unknown key, with the nearest known key, the place where a key of that
/// name is known, and all that is allowed here. `section` is the path of the section.
pub(crate) fn key(
    finding: Finding,
    name: &str,
    keys: &[Key],
    (section, elsewhere): (&str, Option<String>),
) -> Finding {
    let known = keys.iter().map(|key| key.name.as_str());
    let mut finding = finding;
    if let Some(near) = nearest(name, known.clone()) {
        finding = finding.with_help(format!("did you mean `{near}`?"));
    } else if let Some(place) = elsewhere {
        finding = finding.with_help(format!("there is a key `{place}`"));
    }
    let allowed: Vec<_> = known.map(|key| format!("`{key}`")).collect();
    let place =
        if section.is_empty() { "at the top".to_owned() } else { format!("in `{section}`") };
    finding.with_help(format!("allowed {place}: {}", allowed.join(", ")))
}

/// The finding about a wrong name in a table, with the nearest name if the table has fixed ones.
pub(crate) fn name(finding: Finding, path: &[String]) -> Finding {
    let Some((name, table)) = path.split_last() else { return finding };
    let table: Vec<&str> = table.iter().map(String::as_str).collect();
    let known = names(&table).iter().map(|(known, _)| *known);
    match nearest(name, known) {
        Some(near) => finding.with_help(format!("did you mean `{near}`?")),
        None => finding,
    }
}

/// The name among `known` that `name` is most likely meant to be.
#[must_use]
pub fn nearest<'k>(name: &str, known: impl Iterator<Item = &'k str>) -> Option<&'k str> {
    // Edit distance is quadratic: a very long name is no slip of the finger anyway.
    const LONGEST: usize = 64;
    if name.len() > LONGEST {
        return None;
    }
    let lower = name.to_lowercase().replace('-', "_");
    let distance = |key: &str| strsim::damerau_levenshtein(&lower, &key.to_lowercase());
    let (near, distance) = known.map(|key| (key, distance(key))).min_by_key(|near| near.1)?;
    let limit = (near.chars().count().min(name.chars().count()) / 3).max(1);
    (distance <= limit).then_some(near)
}

/// The path at which a key of this name is known, if there is exactly one.
pub(crate) fn elsewhere(name: &str) -> Option<String> {
    let mut found = Vec::new();
    each_key(|path, key, _| {
        if key.name == name {
            found.push(join(path.iter().copied()));
        }
    });
    (found.len() == 1).then(|| found.remove(0))
}

/// What to write in place of a value that the shape does not allow. `empty` says that none is
/// written.
pub(crate) fn value(shape: &Shape, node: &Node, empty: bool) -> Option<String> {
    let Value::Scalar { text, plain } = &node.value else {
        return matches!(
            (shape, &node.value),
            (Shape::Section(_) | Shape::Table(_), Value::List(_))
        )
        .then(|| "leave out the dashes: `key: value`".to_owned());
    };
    let meaning = meaning(text);
    let numeric = matches!(shape, Shape::Whole { .. } | Shape::Number { .. });
    match (shape, meaning) {
        (Shape::Whole { .. }, Meaning::Whole(_)) | (Shape::Number { .. }, Meaning::Whole(_))
            if !plain =>
        {
            Some(format!("a number in quotes is a text: write {text}"))
        }
        (Shape::Number { .. }, Meaning::Number(_)) if !plain => {
            Some(format!("a number in quotes is a text: write {text}"))
        }
        (Shape::Whole { min, .. }, Meaning::Number(value)) => {
            let whole = value.fract() == 0.0 && value.abs() < 1e15 && value >= *min as f64;
            whole.then(|| format!("write {value:.0}"))
        }
        (_, Meaning::UnclearNumber(Some(clear))) if numeric => Some(format!("write {clear}")),
        (_, Meaning::UnclearNumber(None)) if numeric => {
            Some("a leading zero means octal to some readers: leave it out".to_owned())
        }
        (Shape::Switch, Meaning::OldSwitch(on)) => Some(format!("write {on}")),
        (Shape::Switch, Meaning::Switch(on)) => {
            Some(format!("a word in quotes is a text: write {on}"))
        }
        (Shape::Text, _) if empty => Some("write \"\" for an empty text".to_owned()),
        (Shape::Text, _) => Some(format!("in quotes it is a text: \"{text}\"")),
        (Shape::List(_), Meaning::Null) => Some("write [] for an empty list".to_owned()),
        (Shape::List(_), _) => Some(format!("write [{text}] for a list of one")),
        (Shape::Choice(words), meaning) => {
            let off = words.iter().any(|word| word.name == "off");
            if off && matches!(meaning, Meaning::Switch(false) | Meaning::OldSwitch(false)) {
                return Some("write off".to_owned());
            }
            let known = words.iter().map(|word| word.name.as_str());
            nearest(text, known).map(|near| format!("did you mean {near}?"))
        }
        _ => None,
    }
}
