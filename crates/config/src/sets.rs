//! Single keys laid over a policy: `--set loops.cycle.notice=5`.

use steersman_engine::Policy;

use crate::error::LoadError;
use crate::finding::{Finding, Found};
use crate::load::{judged, to_json, with_preset};
use crate::overlay::Overlay;
use crate::path;
use crate::source::{Origin, Source, Span};
use crate::tree::{self, Entry, Node, Value};

/// Most names along a path.
const MAX_NAMES: usize = 16;

/// The policy with single keys set: pairs of a dotted path and a value in YAML. Where a key is set
/// twice, the last one holds.
///
/// A name in which a dot stands is put in quotes: `model_overrides."gpt-4.1*".loop_detection`.
/// Numbers, words, lists (`[20, 40]`), mappings (`{notice: 3}`) and `null` are values.
///
/// # Errors
/// Everything that is wrong with the keys or the values.
pub fn with_overrides(policy: Policy, sets: &[(&str, &str)]) -> Result<Policy, LoadError> {
    let lines: Vec<String> = sets.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let text = lines.join("\n");
    let source = Source { name: "--set", text: &text, origin: Origin::Argument, about: "a policy" };
    let mut root = Node::empty_map(Span::default());
    let mut found = Found::default();
    let mut start = 0;
    for (line, (key, _)) in lines.iter().zip(sets) {
        let key = Span { start, end: start + key.len() };
        let value = Span { start: key.end + 1, end: start + line.len() };
        start += line.len() + 1;
        match set(&source, key, value) {
            Ok((names, node)) => put(&mut root, &names, key, node),
            Err(more) => found.extend(more),
        }
    }
    let policy = with_preset(policy, &root);
    let mut overlay = Overlay::over(&source, to_json(&policy));
    overlay.found.extend(found);
    overlay.lay(&root);
    if let Some(base) = root.key("base") {
        let finding = Finding::error(&source, base.span, "base", "cannot be set over a policy");
        overlay.found.add(|| finding.with_help("name the policy to start from instead"));
    }
    judged(&source, &mut overlay)
}

/// The names along the key, and the value.
fn set(source: &Source<'_>, key: Span, value: Span) -> Result<(Vec<String>, Node), Found> {
    let name = source.text.get(key.start..key.end).unwrap_or("");
    let names = path::split(name).filter(|names| names.len() <= MAX_NAMES);
    let Some(names) = names else {
        let finding = Finding::error(source, key, "", "not a path of a key");
        return Err(finding.with_help("for example loops.cycle.notice=5").into());
    };
    let document = tree::read(source, value)?;
    let Some(node) = document.root else {
        let finding = Finding::error(source, key, name, "no value is given");
        return Err(finding.with_help("write null for none").into());
    };
    if document.found.is_empty() { Ok((names, node)) } else { Err(document.found) }
}

/// Puts a value at a path; one that stands there gives way.
fn put(node: &mut Node, names: &[String], span: Span, value: Node) {
    let Some((first, rest)) = names.split_first() else {
        *node = value;
        return;
    };
    if node.entries().is_none() {
        *node = Node::empty_map(span);
    }
    let Value::Map(entries) = &mut node.value else { return };
    let at = entries.iter().position(|entry| entry.name == *first).unwrap_or_else(|| {
        let node = Node::empty_map(span);
        entries.push(Entry { name: first.clone(), span, written: None, node });
        entries.len() - 1
    });
    entries[at].span = span;
    put(&mut entries[at].node, rest, span, value);
}
