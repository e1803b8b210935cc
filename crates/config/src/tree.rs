//! YAML text as a tree of nodes that know their place.
//!
//! Only what our files need: one document of mappings, lists and scalars. Anchors, aliases, merge
//! keys and tags are refused, so nothing can expand; depth and number of nodes are bounded.

use std::collections::HashMap;

use granit_parser::{ErrorKind, Event, Parser, ScalarStyle, ScanError, Tag};

use crate::finding::{Finding, Found};
use crate::path::{below, join};
use crate::source::{Source, Span};

/// Deepest nesting of mappings and lists.
const MAX_DEPTH: usize = 16;

/// Most nodes in a file.
const MAX_NODES: usize = 50_000;

/// Longest key. Bytes.
const MAX_KEY: usize = 256;

/// A node and its place.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    /// Where the value stands.
    pub(crate) span: Span,
    /// What it is.
    pub(crate) value: Value,
}

/// What a node is.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    /// A scalar: its text, and whether it stands without quotes.
    Scalar {
        /// Text after escapes.
        text: String,
        /// Whether it is plain, so that it can be a number, a switch or null.
        plain: bool,
    },
    /// A list.
    List(Vec<Node>),
    /// A mapping in the order of the file; keys are unique.
    Map(Vec<Entry>),
}

/// One key of a mapping with its value.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// The key's name.
    pub(crate) name: String,
    /// Where the key stands.
    pub(crate) span: Span,
    /// The path as written, where an older format was rewritten into this key.
    pub(crate) written: Option<String>,
    /// The value.
    pub(crate) node: Node,
}

impl Node {
    /// An empty mapping at a place.
    pub(crate) const fn empty_map(span: Span) -> Self {
        Self { span, value: Value::Map(Vec::new()) }
    }

    /// The entries, if it is a mapping.
    pub(crate) fn entries(&self) -> Option<&[Entry]> {
        match &self.value {
            Value::Map(entries) => Some(entries),
            _ => None,
        }
    }

    /// The value of a key, if it is a mapping that has it.
    pub(crate) fn key(&self, name: &str) -> Option<&Entry> {
        self.entries()?.iter().find(|entry| entry.name == name)
    }
}

/// What was read.
pub(crate) struct Document {
    /// The tree; `None` if there is nothing but white space and comments.
    pub(crate) root: Option<Node>,
    /// What is wrong with it as YAML.
    pub(crate) found: Found,
}

/// Reads the document in a part of the source. What is refused is left out of the tree.
///
/// # Errors
/// What is wrong, where the text is so broken that there is no tree.
pub(crate) fn read(source: &Source<'_>, part: Span) -> Result<Document, Found> {
    let text = source.text.get(part.start..part.end).unwrap_or("");
    let options = granit_parser::options! {
        block_nesting_limit: MAX_DEPTH,
        flow_nesting_limit: MAX_DEPTH,
        emit_anchor_events: true,
        emit_unresolved_aliases: true,
    };
    let mut parser = Parser::new_from_str_with_options(text, options);
    let mut builder = Builder::new(source);
    while let Some(step) = parser.next_event() {
        let outcome = match step {
            Ok((event, span)) => {
                let at = |marker: &_| part.start + offset(text, marker);
                let named =
                    |tag: granit_parser::Span| Span { start: at(&tag.start), end: at(&tag.end) };
                let tag = span.tag_span().map(named);
                let span = Span { start: at(&span.start), end: at(&span.end) };
                builder.take(event, span, tag)
            }
            Err(error) => {
                Err(scan_finding(source, part.start + offset(text, error.marker()), &error).into())
            }
        };
        // After the first error of this kind the rest would be guesswork.
        if let Err(found) = outcome {
            builder.found.extend(found);
            return Err(builder.found);
        }
        if builder.found.is_full() {
            return Err(builder.found);
        }
    }
    Ok(Document { root: builder.root, found: builder.found })
}

/// Collects events into nodes.
struct Builder<'s, 'a> {
    source: &'s Source<'a>,
    open: Vec<Open>,
    root: Option<Node>,
    nodes: usize,
    documents: usize,
    found: Found,
}

/// A mapping or list that is not closed yet.
enum Open {
    List { span: Span, items: Vec<Node> },
    Map { span: Span, entries: Vec<Entry>, seen: HashMap<String, Span>, key: Option<PendingKey> },
}

/// A key whose value is still to come.
struct PendingKey {
    name: String,
    span: Span,
    /// A second key of the same name, or one that is no text: its value is read and left out.
    dropped: bool,
}

impl<'s, 'a> Builder<'s, 'a> {
    fn new(source: &'s Source<'a>) -> Self {
        Self {
            source,
            open: Vec::new(),
            root: None,
            nodes: 0,
            documents: 0,
            found: Found::default(),
        }
    }

    fn take(&mut self, event: Event<'_>, span: Span, tag: Option<Span>) -> Result<(), Found> {
        match event {
            Event::DocumentStart(..) => {
                self.documents += 1;
                if self.documents > 1 {
                    let what = format!("a second YAML document: {} is one", self.source.about);
                    return Err(self.error(span, what).into());
                }
            }
            Event::Scalar(text, style, _, named) => {
                self.begin(tag.unwrap_or(span), named.as_deref());
                let plain = style == ScalarStyle::Plain;
                let value = Value::Scalar { text: text.into_owned(), plain };
                self.push(Node { span, value })?;
            }
            Event::SequenceStart(_, _, named) => {
                self.begin(tag.unwrap_or(span), named.as_deref());
                self.enter(span, Open::List { span, items: Vec::new() })?;
            }
            Event::MappingStart(_, _, named) => {
                self.begin(tag.unwrap_or(span), named.as_deref());
                let (entries, seen) = (Vec::new(), HashMap::new());
                self.enter(span, Open::Map { span, entries, seen, key: None })?;
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(span)?,
            // It comes after the node that it stands before.
            Event::Anchor(..) => {
                let what = format!("an anchor: {} has no anchors and aliases", self.source.about);
                let finding = Finding::error(self.source, span, self.path_of_last(), what);
                let finding = finding.with_help("write the value out where it is used");
                self.found.add(|| finding);
            }
            Event::Alias(_) | Event::UnresolvedAlias(_) => {
                let what = format!("an alias: {} has no anchors and aliases", self.source.about);
                let finding = self.error(span, what);
                self.found.add(|| finding.with_help("write the value out"));
                self.leave_out();
            }
            _ => {}
        }
        Ok(())
    }

    fn enter(&mut self, span: Span, open: Open) -> Result<(), Found> {
        if self.open.len() >= MAX_DEPTH {
            return Err(self.error(span, format!("nested deeper than {MAX_DEPTH} levels")).into());
        }
        self.open.push(open);
        Ok(())
    }

    fn close(&mut self, end: Span) -> Result<(), Found> {
        let close = |span: Span| Span { start: span.start, end: end.end.max(span.end) };
        match self.open.pop() {
            Some(Open::List { span, items }) => {
                self.push(Node { span: close(span), value: Value::List(items) })
            }
            Some(Open::Map { span, entries, .. }) => {
                self.push(Node { span: close(span), value: Value::Map(entries) })
            }
            None => Ok(()),
        }
    }

    fn push(&mut self, node: Node) -> Result<(), Found> {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            return Err(self.error(node.span, format!("more than {MAX_NODES} values")).into());
        }
        if matches!(self.open.last(), Some(Open::Map { key: None, .. })) {
            let pending = self.key(node);
            if let Some(Open::Map { key, seen, .. }) = self.open.last_mut() {
                if !pending.dropped {
                    seen.insert(pending.name.clone(), pending.span);
                }
                *key = Some(pending);
            }
            return Ok(());
        }
        match self.open.last_mut() {
            None => self.root = Some(node),
            Some(Open::List { items, .. }) => items.push(node),
            Some(Open::Map { entries, key, .. }) => {
                if let Some(PendingKey { name, span, dropped: false }) = key.take() {
                    entries.push(Entry { name, span, written: None, node });
                }
            }
        }
        Ok(())
    }

    /// The key that a node is; what is wrong with it is told.
    fn key(&mut self, node: Node) -> PendingKey {
        let span = node.span;
        let first = |name: &str| match self.open.last() {
            Some(Open::Map { seen, .. }) => seen.get(name).copied(),
            _ => None,
        };
        let (name, what, help) = match node.value {
            Value::Scalar { text, plain: true } if text == "<<" => (
                None,
                format!("a merge key: {} has no anchors and merge keys", self.source.about),
                "write the keys out",
            ),
            Value::Scalar { text, .. } if text.len() > MAX_KEY => {
                (None, format!("a key of more than {MAX_KEY} bytes"), "names are short")
            }
            Value::Scalar { text, .. } => match first(&text) {
                Some(first) => {
                    let line = self.source.place(first).line;
                    let what = format!("given twice: first in line {line}");
                    (Some(text), what, "keep one of the two")
                }
                None => return PendingKey { name: text, span, dropped: false },
            },
            _ => (None, "a key that is a mapping or a list".to_owned(), "keys are names"),
        };
        let (source, section) = (self.source, &self.open);
        self.found.add(|| {
            let section = path(section);
            let path = name.map_or(section.clone(), |name| below(&section, &name));
            Finding::error(source, span, path, what).with_help(help)
        });
        PendingKey { name: String::new(), span, dropped: true }
    }

    /// Leaves out a node that has been refused, and its key.
    fn leave_out(&mut self) {
        if let Some(Open::Map { key, .. }) = self.open.last_mut() {
            let dropped = PendingKey { name: String::new(), span: Span::default(), dropped: true };
            *key = if key.is_some() { None } else { Some(dropped) };
        }
    }

    /// A node begins: its tag is refused.
    fn begin(&mut self, span: Span, tag: Option<&Tag>) {
        if let Some(tag) = tag {
            let what = format!("the tag {}: {} has no tags", tag.original(), self.source.about);
            let finding = self.error(span, what).with_help("leave it out: the key says the type");
            self.found.add(|| finding);
        }
    }

    fn error(&self, span: Span, what: impl Into<String>) -> Finding {
        Finding::error(self.source, span, self.path(), what)
    }

    /// The dotted path of the place that is being read.
    fn path(&self) -> String {
        path(&self.open)
    }

    /// The dotted path of the node that was begun last.
    fn path_of_last(&self) -> String {
        match self.open.last() {
            // A scalar has been put into its mapping already.
            Some(Open::Map { key: None, entries, .. }) => match entries.last() {
                Some(entry) => below(&self.path(), &entry.name),
                None => self.path(),
            },
            _ => self.path(),
        }
    }
}

/// The dotted path of the keys that are being read.
fn path(open: &[Open]) -> String {
    join(open.iter().filter_map(|open| match open {
        Open::Map { key: Some(key), .. } if !key.dropped => Some(key.name.as_str()),
        _ => None,
    }))
}

/// The parser's place as bytes; it gives byte offsets for every text that is in memory.
fn offset(text: &str, marker: &granit_parser::Marker) -> usize {
    marker.byte_offset().unwrap_or(text.len()).min(text.len())
}

/// What the parser says, with help where its words are about tabs or depth.
fn scan_finding(source: &Source<'_>, at: usize, error: &ScanError) -> Finding {
    let line_start = source.text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let line = source.text[line_start..].split('\n').next().unwrap_or("");
    let indentation = &line[..line.len() - line.trim_start().len()];
    if let Some(tab) = indentation.find('\t') {
        let span = Span { start: line_start + tab, end: line_start + tab + 1 };
        let finding = Finding::error(source, span, String::new(), "a tab in the indentation");
        return finding.with_help("YAML is indented with spaces");
    }
    let span = Span { start: at, end: at };
    match error.kind() {
        ErrorKind::RecursionLimitExceeded => {
            let what = format!("nested deeper than {MAX_DEPTH} levels");
            Finding::error(source, span, String::new(), what)
        }
        kind => {
            let what = format!("not YAML: {}", error.info());
            let finding = Finding::error(source, span, String::new(), what);
            match kind {
                ErrorKind::MappingValueNotAllowed => finding.with_help(
                    "a line before may lack the space after its `:`, or be indented differently",
                ),
                _ => finding,
            }
        }
    }
}
