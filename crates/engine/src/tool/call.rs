//! Reading one tool call.

use alloc::string::String;

use super::canon::{Fold, hash_loose, hash_path, hash_url, sketch};
use super::facts::{CallFacts, EditDigest, Facts};
use super::name_table::{Shape, Tool};
use super::names;
use super::scan::{Args, cut};
use super::{ToolKind, code, patch, shell};
use crate::digest::combine;

/// How many tools may be wrapped into each other.
const WRAP_LIMIT: u8 = 2;

impl CallFacts {
    /// Reads a call by its name and arguments (JSON text, or free text for free-form tools).
    ///
    /// `declared` is the kind the user gave the tool; it comes before what the name says. Of the
    /// arguments at most 64 KiB are parsed, of a command, code or patch in them 16 KiB looked
    /// into; anything beyond counts for the signature only. Broken JSON is treated as text.
    #[must_use]
    pub fn read(name: &str, arguments: &str, declared: Option<ToolKind>) -> Self {
        read_wrapped(name, arguments, declared, 0)
    }
}

fn read_wrapped(name: &str, arguments: &str, declared: Option<ToolKind>, depth: u8) -> CallFacts {
    let args = Args::read(arguments);
    let mut tool = names::tool_of(name);
    let mut shown = name;
    if tool.shape == Shape::Wrapper
        && depth < WRAP_LIMIT
        && let Some(inner) = &args.name
    {
        if let Some(text) = &args.inner {
            return read_wrapped(inner, text, declared, depth + 1);
        }
        (shown, tool) = (inner, names::tool_of(inner));
    }
    let command = command_of(name, &tool, &args);
    let mut facts = facts_of(&tool, &args, command);
    if let Some(kind) = declared {
        facts = declare(kind, facts, &tool);
    }
    complete(&mut facts, &args);
    let signature = combine(name_hash(shown), args.identity());
    if facts.resource.is_none() && matches!(facts.kind, ToolKind::Read | ToolKind::Search) {
        // A look-up by other arguments is about what its arguments name.
        facts.resource = Some(signature);
    }
    CallFacts {
        kind: facts.kind,
        signature,
        resource: facts.resource,
        range: facts.range,
        query: facts.query,
        edit: facts.edit,
        changes: facts.changes,
        polls: facts.polls,
        is_test: facts.is_test,
        finishes: facts.finishes,
        label: label(shown, &args, command),
    }
}

/// The shell command of a call, if it is one.
fn command_of<'a>(name: &str, tool: &Tool, args: &'a Args<'_>) -> Option<&'a str> {
    let command = args.command.as_deref();
    match tool.shape {
        Shape::Shell => command.or(args.code.as_deref()).or(args.text.as_deref()),
        Shape::Editor => None,
        // Some recordings name a command line after its first word.
        _ => command.filter(|command| {
            let first = command.split_ascii_whitespace().next().unwrap_or_default();
            tool.kind == ToolKind::Execute && tool.shape == Shape::Plain || first == name
        }),
    }
}

fn facts_of(tool: &Tool, args: &Args<'_>, command: Option<&str>) -> Facts {
    let mut facts = Facts {
        kind: tool.kind,
        changes: tool.changes,
        polls: tool.kind == ToolKind::Poll,
        is_test: tool.kind == ToolKind::Test,
        finishes: tool.finishes,
        ..Facts::default()
    };
    let cwd = args.workdir.as_deref().or(args.path.as_deref()).unwrap_or_default();
    let text = || {
        let text = args.code.as_deref().or(args.text.as_deref()).or(args.command.as_deref());
        text.or(args.query.as_deref()).unwrap_or_default()
    };
    match tool.shape {
        Shape::Shell => {
            if let Some(command) = command {
                facts = shell::read(command, cwd);
                if tool.kind == ToolKind::Test {
                    (facts.kind, facts.is_test) = (ToolKind::Test, true);
                }
                facts.query = facts.query.filter(|_| facts.kind == ToolKind::Search);
            }
        }
        Shape::Code => code::run(text(), &mut facts),
        Shape::Sql => {
            facts.kind = ToolKind::Other;
            code::sql(text(), &mut facts);
        }
        Shape::Script => {
            let script = args.code.as_deref().or(args.text.as_deref()).unwrap_or_default();
            facts.kind = ToolKind::Other;
            code::tool_calls(script, |name, text| add_script_call(&mut facts, name, text));
            facts.merge(ToolKind::Execute, None, None);
        }
        Shape::Patch => {
            let found = args.text.as_deref().or(args.command.as_deref()).and_then(patch::read);
            if let Some(found) = found {
                set_patch(&mut facts, found);
            }
        }
        Shape::Editor => editor(&mut facts, args),
        Shape::Action => {
            if let Some(action) = args.action.as_deref().or(command) {
                let by_action = names::by_words(action);
                facts = Facts {
                    finishes: by_action.finishes,
                    ..facts_of(&Tool { shape: Shape::Plain, ..by_action }, args, None)
                };
            }
        }
        Shape::Stdin => {
            facts.polls = args.chars.unwrap_or(true);
            facts.kind = if facts.polls { ToolKind::Poll } else { ToolKind::Execute };
        }
        Shape::Plain | Shape::Write | Shape::Replace | Shape::Wrapper => {}
    }
    facts
}

fn add_script_call(facts: &mut Facts, name: &str, text: &str) {
    match names::tool_of(name).shape {
        Shape::Shell => {
            let inner = shell::read(text, "");
            facts.merge(inner.kind, inner.resource, inner.range);
            facts.query = facts.query.or(inner.query);
            facts.edit = facts.edit.or(inner.edit);
            facts.changes |= inner.changes;
            facts.polls |= inner.polls;
            facts.is_test |= inner.is_test;
        }
        Shape::Patch => {
            facts.merge(ToolKind::Edit, None, None);
            facts.changes = true;
            if let Some(found) = patch::read(text) {
                set_patch(facts, found);
            }
        }
        Shape::Stdin if text.is_empty() => {
            facts.polls = true;
            facts.merge(ToolKind::Poll, None, None);
        }
        _ => {
            let tool = names::tool_of(name);
            facts.changes |= tool.changes;
            facts.merge(tool.kind, None, None);
        }
    }
}

fn set_patch(facts: &mut Facts, found: patch::Patch) {
    if let Some(resource) = found.resource {
        facts.resource = Some(resource);
        facts.edit = Some(EditDigest { resource, old: found.old, new: found.new });
    }
}

/// A file tool with sub-commands; without one, what else is given decides.
fn editor(facts: &mut Facts, args: &Args<'_>) {
    let reads = match args.command.as_deref().or(args.action.as_deref()) {
        Some("view" | "read" | "open" | "cat" | "list") => true,
        Some(_) => false,
        None => args.old.is_none() && args.new.is_none() && args.text.is_none(),
    };
    if reads {
        (facts.kind, facts.changes) = (ToolKind::Read, false);
    }
}

/// What the user declared holds; only what a command changes is still looked at.
fn declare(kind: ToolKind, facts: Facts, tool: &Tool) -> Facts {
    let looked_into = matches!(tool.shape, Shape::Shell | Shape::Code | Shape::Sql | Shape::Script);
    let changes = match kind {
        ToolKind::Edit => true,
        ToolKind::Execute => {
            if looked_into {
                facts.changes
            } else {
                true
            }
        }
        ToolKind::Test | ToolKind::Other => facts.changes,
        ToolKind::Read
        | ToolKind::Search
        | ToolKind::Poll
        | ToolKind::Paginate
        | ToolKind::Plan => false,
    };
    Facts { kind, changes, polls: kind == ToolKind::Poll, is_test: kind == ToolKind::Test, ..facts }
}

/// Adds what the arguments say on their own.
fn complete(facts: &mut Facts, args: &Args<'_>) {
    let path = args
        .path
        .as_deref()
        .map(|path| hash_path(args.workdir.as_deref().unwrap_or_default(), path));
    let url = args.url.as_deref().map(hash_url);
    if matches!(facts.kind, ToolKind::Search) && facts.query.is_none() {
        let words = args.query.as_deref().or(args.name.as_deref()).or(args.text.as_deref());
        facts.query = words.and_then(sketch);
        facts.resource = facts
            .resource
            .or_else(|| words.map(|words| combine(hash_loose(words), path.unwrap_or_default())));
    }
    facts.resource = facts.resource.or(path).or(url);
    if matches!(facts.kind, ToolKind::Read) && facts.range.is_none() {
        facts.range = args.range();
    }
    if facts.changes
        && facts.edit.is_none()
        && let Some(found) = args.text.as_deref().and_then(patch::read)
    {
        set_patch(facts, found);
    }
    if facts.changes
        && facts.edit.is_none()
        && let Some(resource) = path
        && (args.new.is_some() || args.old.is_some())
    {
        let (old, new) = (args.old.unwrap_or_default(), args.new.unwrap_or_default());
        facts.edit = Some(EditDigest { resource, old, new });
    }
}

fn name_hash(name: &str) -> u64 {
    let mut fold = Fold::new(11);
    for byte in name.trim().bytes() {
        fold.word(u64::from(byte.to_ascii_lowercase()));
    }
    fold.end()
}

/// Tool and target in one line.
fn label(name: &str, args: &Args<'_>, command: Option<&str>) -> String {
    let mut label = String::with_capacity(CallFacts::LABEL_MAX);
    push_line(&mut label, cut(names::bare(name), 48));
    let target = command
        .or(args.path.as_deref())
        .or(args.url.as_deref())
        .or(args.query.as_deref())
        .or(args.command.as_deref())
        .or(args.code.as_deref())
        .or(args.text.as_deref())
        .or(args.name.as_deref())
        .or(args.first.as_deref());
    if let Some(target) = target.map(str::trim).filter(|target| !target.is_empty()) {
        label.push_str(": ");
        push_line(&mut label, target);
    }
    label
}

/// Adds a text as far as there is room, line ends and other control characters as blanks.
fn push_line(label: &mut String, text: &str) {
    const MORE: char = '…';
    let room = CallFacts::LABEL_MAX - MORE.len_utf8() - label.len();
    let plain = |pair: &[u8]| matches!(pair[0], b' '..=b'~') && pair != b"  ";
    if text.len() <= room && text.as_bytes().windows(2).all(plain) && text.ends_with(is_plain) {
        label.push_str(text);
        return;
    }
    let mut blank = false;
    for c in text.chars() {
        let c = if c.is_control() { ' ' } else { c };
        if blank && c == ' ' {
            continue;
        }
        blank = c == ' ';
        if label.len() + c.len_utf8() + MORE.len_utf8() > CallFacts::LABEL_MAX {
            label.push(MORE);
            return;
        }
        label.push(c);
    }
}

const fn is_plain(c: char) -> bool {
    matches!(c, ' '..='~')
}
