//! The check of the whole policy, with each of its errors at its place in the source.

use std::collections::BTreeMap;

use steersman_engine::Policy;
use steersman_engine::policy::PolicyError;

use crate::finding::{Finding, Found};
use crate::overlay::{Given, Overlay};
use crate::source::{Source, Span};
use crate::suggest;

/// What the check says about `policy`, pointed at where the source gave the values.
pub(crate) fn findings(source: &Source<'_>, policy: &Policy, overlay: &Overlay<'_, '_>) -> Found {
    let errors = policy.validate().err().unwrap_or_default();
    let mut found = Found::default();
    // A key of an older format may have been read as several: they are told of together.
    let mut former: BTreeMap<(usize, String), (&Given, Vec<String>)> = BTreeMap::new();
    // Errors in values that the source does not give come from one that it does give.
    let mut indirect: BTreeMap<usize, (&Given, Vec<PolicyError>)> = BTreeMap::new();
    for error in errors {
        // An error about a section of which a value was left out would be guesswork.
        if overlay.wrong.iter().any(|wrong| touches(&error.path, wrong)) {
            continue;
        }
        match overlay.given.get(&error.path) {
            Some(given) if given.former => {
                let key = (given.span.start, refusal(&error));
                former.entry(key).or_insert((given, Vec::new())).1.push(error.path);
            }
            Some(given) => {
                // A glob that is wrong stands in the key, not in the value.
                let is_key = given.names.last().is_some_and(|n| error.value == format!("{n:?}"));
                let span = if is_key { given.key } else { given.span };
                found.add(|| {
                    let path = given.shown.as_str();
                    let finding = Finding::error(source, span, path, refusal(&error));
                    if is_key { suggest::name(finding, &given.names) } else { finding }
                });
            }
            None => match cause(&error, overlay) {
                Some(given) => {
                    let entry = indirect.entry(given.span.start).or_insert((given, Vec::new()));
                    entry.1.push(error);
                }
                None if overlay.found.is_empty() => {
                    found.add(|| Finding::error(source, Span::default(), "", error.to_string()));
                }
                None => {}
            },
        }
    }
    for ((_, what), (given, paths)) in former {
        let paths: Vec<_> = paths.iter().map(|path| format!("`{path}`")).collect();
        let help = format!("it is read as {}", paths.join(", "));
        let path = given.shown.as_str();
        found.add(|| Finding::error(source, given.span, path, what).with_help(help));
    }
    for (given, errors) in indirect.into_values() {
        found.add(|| caused(source, given, &errors));
    }
    found
}

/// The finding about a value that makes others wrong.
fn caused(source: &Source<'_>, given: &Given, errors: &[PolicyError]) -> Finding {
    let error = |error: &PolicyError| format!("with this value, {error}");
    let what = errors.first().map_or_else(String::new, error);
    let finding = Finding::error(source, given.span, given.shown.as_str(), what);
    let path = |error: &PolicyError| format!("{} ({})", error.path, error.value);
    let more: Vec<_> = errors.iter().skip(1).map(path).collect();
    if more.is_empty() {
        return finding;
    }
    finding.with_help(format!("the same holds for {}", more.join(", ")))
}

/// Whether one of two paths leads to the other.
fn touches(one: &str, other: &str) -> bool {
    let below = |path: &str, section: &str| {
        path.strip_prefix(section).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    below(one, other) || below(other, one)
}

/// What the check says, without the path.
fn refusal(error: &PolicyError) -> String {
    format!("{} is not allowed: {}", error.value, error.allowed)
}

/// The key of the source that an error in another value comes from: one that the error names, else
/// the nearest section around the value, else the nearest key beside it.
fn cause<'o>(error: &PolicyError, overlay: &'o Overlay<'_, '_>) -> Option<&'o Given> {
    let section = error.path.rsplit_once('.').map_or("", |(section, _)| section);
    let names = error.allowed.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.')));
    for name in names.filter(|name| !name.is_empty()) {
        for path in [name.to_owned(), format!("{section}.{name}")] {
            if let Some(given) = overlay.given.get(&path) {
                return Some(given);
            }
        }
    }
    let mut around = section;
    while !around.is_empty() {
        if let Some(given) = overlay.given.get(around) {
            return Some(given);
        }
        around = around.rsplit_once('.').map_or("", |(section, _)| section);
    }
    None
}
