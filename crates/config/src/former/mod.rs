//! Older formats: their keys are read as today's, each with a notice.
//!
//! One visible list of changes says what became of every key; a key that is in neither format is
//! an error. Where an old key and today's are both given, today's holds.

mod changes;

use self::changes::{Change, Convert, Takes};
use crate::finding::{Finding, Found};
use crate::path::{below, join};
use crate::shape::{Shape, file};
use crate::source::{Source, Span};
use crate::suggest;
use crate::tree::{Entry, Node, Value};

/// The key of another file, in which older continuation settings stood.
const AGENTS: &str = "agents";

/// What the translation found: notices, and errors about keys that no format knows.
#[derive(Default)]
pub(crate) struct Translated {
    /// Which old key was read as what.
    pub(crate) notices: Vec<Finding>,
    /// Keys of older sections that those sections did not have.
    pub(crate) errors: Found,
}

/// An old key that was found.
struct Taken {
    /// What the stars of the pattern stood for.
    bound: Vec<String>,
    /// The path as it stands in the file.
    shown: String,
    entry: Entry,
}

/// Rewrites every key of an older format into today's.
pub(crate) fn translate(source: &Source<'_>, root: &mut Node) -> Translated {
    let mut translated = Translated::default();
    lower_task_types(source, root, &mut translated.notices);
    for change in changes::all() {
        let mut found = Vec::new();
        let pattern: Vec<&str> = change.from.split('.').collect();
        take(root, &pattern, "", &mut Vec::new(), change.takes, &mut found);
        if found.is_empty() {
            continue;
        }
        let notice = notice(source, &change, &found);
        let mut held = Vec::new();
        for found in found {
            for target in &change.to {
                let names = names(target, &found.bound);
                for names in expand(names) {
                    let entry = converted(&found.entry, change.convert, &found.shown);
                    put(root, &names, "", entry, &mut held);
                }
            }
        }
        translated.notices.push(match held.as_slice() {
            [] => notice,
            held => notice.with_help(format!("already given, and that holds: {}", held.join(", "))),
        });
    }
    refuse_rest(source, root, &mut translated.errors);
    translated
}

/// Task types were written in capitals by some: `EDIT` is `edit`.
fn lower_task_types(source: &Source<'_>, root: &mut Node, notices: &mut Vec<Finding>) {
    let Value::Map(entries) = &mut root.value else { return };
    let Some(known) = file().key("task_types").map(|key| &key.shape) else { return };
    let is_types = |entry: &&mut Entry| matches!(&*entry.name, "task_types" | "task_configs");
    for section in entries.iter_mut().filter(is_types) {
        let Value::Map(types) = &mut section.node.value else { continue };
        for index in 0..types.len() {
            let lower = types[index].name.to_lowercase();
            let is_known = known.key(&lower).is_some() || changes::is_coarse(&lower);
            let is_other = is_known && lower != types[index].name;
            if is_other && !types.iter().any(|entry| entry.name == lower) {
                let written = below(&section.name, &types[index].name);
                let what = format!("a key of an older format, read as `task_types.{lower}`");
                notices.push(Finding::notice(source, types[index].span, written.as_str(), what));
                types[index].name = lower;
                types[index].written.get_or_insert(written);
            }
        }
    }
}

/// Takes every entry that the pattern names out of the tree. A mapping that is empty afterwards
/// goes too, unless it was empty before.
fn take(
    node: &mut Node,
    pattern: &[&str],
    shown: &str,
    bound: &mut Vec<String>,
    takes: Takes,
    found: &mut Vec<Taken>,
) {
    let (Value::Map(entries), Some((first, rest))) = (&mut node.value, pattern.split_first())
    else {
        return;
    };
    let mut kept = Vec::with_capacity(entries.len());
    for mut entry in std::mem::take(entries) {
        if *first != "*" && *first != entry.name {
            kept.push(entry);
            continue;
        }
        let shown = entry.written.clone().unwrap_or_else(|| below(shown, &entry.name));
        if *first == "*" {
            bound.push(entry.name.clone());
        }
        if rest.is_empty() {
            let fits = match takes {
                Takes::Value => entry.node.entries().is_none(),
                Takes::Section => entry.node.entries().is_some(),
                Takes::Anything => true,
            };
            if fits {
                found.push(Taken { bound: bound.clone(), shown, entry });
            } else {
                kept.push(entry);
            }
        } else {
            let before = found.len();
            take(&mut entry.node, rest, &shown, bound, takes, found);
            let emptied = entry.node.entries().is_some_and(<[Entry]>::is_empty);
            if found.len() == before || !emptied {
                kept.push(entry);
            }
        }
        if *first == "*" {
            bound.pop();
        }
    }
    *entries = kept;
}

/// The names along a target, with what the stars of the pattern stood for.
fn names(target: &str, bound: &[String]) -> Vec<String> {
    let name = |name: &str| match (name, bound.first()) {
        ("{1}", Some(bound)) => bound.clone(),
        _ => name.to_owned(),
    };
    target.split('.').map(name).collect()
}

/// The targets that `{all}` stands for: every key of the section in which it stands.
fn expand(names: Vec<String>) -> Vec<Vec<String>> {
    let Some(at) = names.iter().position(|name| name == "{all}") else { return vec![names] };
    let section = names[..at].iter().try_fold(file(), |shape, name| Some(&shape.key(name)?.shape));
    let Some(Shape::Section(keys)) = section else { return vec![] };
    let with = |key: &crate::shape::Key| {
        let mut names = names.clone();
        names[at].clone_from(&key.name);
        names
    };
    keys.iter().map(with).collect()
}

/// The entry in today's units, with the path as it was written.
fn converted(entry: &Entry, convert: Convert, shown: &str) -> Entry {
    let mut entry = entry.clone();
    entry.written = Some(shown.to_owned());
    if let (Convert::SecondsToMilliseconds, Value::Scalar { text, plain: true }) =
        (convert, &mut entry.node.value)
        && let Ok(seconds) = text.parse::<f64>()
        && (0.0..1e12).contains(&seconds)
    {
        *text = format!("{:.0}", seconds * 1000.0);
    }
    entry
}

/// Puts an entry at a path below the section at `path`. A value that stands there already stays,
/// and its path goes to `held`.
fn put(node: &mut Node, names: &[String], path: &str, entry: Entry, held: &mut Vec<String>) {
    let Some((first, rest)) = names.split_first() else { return };
    if crate::overlay::is_null(node) {
        *node = Node::empty_map(node.span);
    }
    // Where a section should be and is none, the file is refused for that.
    let Value::Map(entries) = &mut node.value else { return };
    let path = below(path, first);
    let existing = entries.iter_mut().find(|existing| existing.name == *first);
    match (existing, rest.is_empty()) {
        (None, true) => entries.push(Entry { name: first.clone(), ..entry }),
        (None, false) => {
            let span = entry.span;
            let mut section = Node::empty_map(span);
            put(&mut section, rest, &path, entry, held);
            entries.push(Entry { name: first.clone(), span, written: None, node: section });
        }
        (Some(existing), false) => put(&mut existing.node, rest, &path, entry, held),
        (Some(existing), true) => merge(&mut existing.node, &path, entry, held),
    }
}

/// Lays a section under one that is there: what is there stays.
fn merge(existing: &mut Node, path: &str, entry: Entry, held: &mut Vec<String>) {
    let Value::Map(inner) = entry.node.value else {
        held.push(format!("`{path}`"));
        return;
    };
    let shown = entry.written.unwrap_or_default();
    for mut entry in inner {
        entry.written.get_or_insert_with(|| below(&shown, &entry.name));
        let name = [entry.name.clone()];
        put(existing, &name, path, entry, held);
    }
}

/// One notice for all places of a change.
fn notice(source: &Source<'_>, change: &Change, found: &[Taken]) -> Finding {
    let (span, path) = found.first().map_or((Span::default(), ""), |f| (f.entry.span, &f.shown));
    let what = if change.to.is_empty() {
        format!("a key of an older format, left out: {}", change.why)
    } else {
        let bound = found.first().map_or(&[][..], |found| &found.bound);
        let target = |target: &String| {
            let path =
                join(names(target, bound).iter().map(String::as_str)).replace("\"{all}\"", "*");
            format!("`{path}`")
        };
        let targets: Vec<_> = change.to.iter().map(target).collect();
        let why = if change.why.is_empty() { String::new() } else { format!(": {}", change.why) };
        format!("a key of an older format, read as {}{why}", targets.join(", "))
    };
    let finding = Finding::notice(source, span, path, what);
    // Counting lines takes time, and nobody reads that many numbers.
    const MOST_LINES: usize = 12;
    let line = |found: &Taken| source.place(found.entry.span).line.to_string();
    let lines: Vec<_> = found.iter().skip(1).take(MOST_LINES).map(line).collect();
    let more = if found.len() > MOST_LINES + 1 { " and more" } else { "" };
    match lines.as_slice() {
        [] => finding,
        [line] => finding.with_help(format!("the same in line {line}")),
        lines => finding.with_help(format!("the same in lines {}{more}", lines.join(", "))),
    }
}

/// Refuses what is left in sections that only older formats had.
fn refuse_rest(source: &Source<'_>, root: &mut Node, errors: &mut Found) {
    let all = changes::all();
    let Value::Map(sections) = &mut root.value else { return };
    sections.retain(|section| {
        if section.name == AGENTS {
            let help = "a policy holds for one: copy an agent's `continuation_config` to the top";
            errors.add(|| {
                let what = "a registry of agents";
                Finding::error(source, section.span, AGENTS, what).with_help(help)
            });
            return false;
        }
        let below_it = |change: &Change| {
            let rest = change.from.strip_prefix(section.name.as_str())?.strip_prefix('.')?;
            (!rest.contains('.')).then(|| rest.to_owned())
        };
        let known: Vec<String> = all.iter().filter_map(below_it).collect();
        let Some(entries) = section.node.entries() else { return true };
        if known.is_empty() || file().key(&section.name).is_some() {
            return true;
        }
        for entry in entries {
            errors.add(|| unknown(source, &section.name, entry, &known));
        }
        false
    });
}

/// The finding about a key that an older section did not have.
fn unknown(source: &Source<'_>, section: &str, entry: &Entry, known: &[String]) -> Finding {
    let path = below(section, &entry.name);
    let what = "unknown key in a section of an older format";
    let mut finding = Finding::error(source, entry.span, path, what);
    if let Some(near) = suggest::nearest(&entry.name, known.iter().map(String::as_str)) {
        finding = finding.with_help(format!("did you mean `{near}`?"));
    }
    let mut names: Vec<_> =
        known.iter().map(|name| format!("`{}`", changes::short(name))).collect();
    // Names with one ending per task type have become equal, or differ in case only.
    names.dedup_by(|one, other| one.eq_ignore_ascii_case(other));
    finding.with_help(format!("known there: {}", names.join(", ")))
}
