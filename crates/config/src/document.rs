//! Files of other shapes than a policy's, read in the same way: a YAML text becomes a value of a
//! type, and whatever is wrong is told with file, line, column, key, value and what is allowed.
//!
//! Keys, types and bounds come from the type's JSON Schema. What a schema cannot say is checked by
//! whoever knows it, with [`Document::error`] to name the place.

use std::collections::HashMap;
use std::marker::PhantomData;
use std::ops::Range;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Value as Json, json};
use steersman_engine::Policy;

use crate::error::LoadError;
use crate::finding::{Finding, Found};
use crate::load::{judged, to_json, with_preset};
use crate::overlay::{Given, Overlay, is_null};
use crate::path;
use crate::shape::{Shape, doc, raw_schema, read};
use crate::source::{Origin, Source, Span};
use crate::tree::{self, Node};

/// A named text in which places can be pointed at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    name: String,
    text: String,
    about: &'static str,
}

impl Text {
    /// A text and the name shown before every finding; `about` says what it is: `a prompt`. A byte
    /// order mark is left out.
    #[must_use]
    pub fn new(name: &str, text: &str, about: &'static str) -> Self {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        Self { name: name.to_owned(), text: text.to_owned(), about }
    }

    /// As [`Text::new`], from bytes that should be UTF-8 and no more than `most`.
    ///
    /// # Errors
    /// The finding about a text that is too large or is not UTF-8, with the line.
    pub fn from_bytes(
        name: &str,
        bytes: &[u8],
        most: usize,
        about: &'static str,
    ) -> Result<Self, Box<Finding>> {
        let refuse = |what: String| Err(Box::new(Finding::of_file(name, what)));
        if bytes.len() > most {
            return refuse(format!("larger than {most} bytes: {about} is not"));
        }
        match std::str::from_utf8(bytes) {
            Ok(text) => Ok(Self::new(name, text, about)),
            Err(error) => {
                let at = error.valid_up_to();
                let line = bytes[..at].iter().filter(|&&byte| byte == b'\n').count() + 1;
                refuse(format!("not UTF-8: byte 0x{:02x} in line {line}", bytes[at]))
            }
        }
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// An error at a range of bytes; `path` is the dotted path of the key, empty if there is none.
    #[must_use]
    pub fn error(&self, at: Range<usize>, path: &str, what: impl Into<String>) -> Finding {
        let span = Span { start: at.start, end: at.end };
        Finding::error(&self.source(), span, path, what)
    }

    fn source(&self) -> Source<'_> {
        let (name, text) = (self.name.as_str(), self.text.as_str());
        Source { name, text, origin: Origin::File, about: self.about }
    }
}

/// A value that was read from a text, and where each of its keys stands.
#[derive(Clone, Debug)]
pub struct Document<T> {
    text: Text,
    root: Node,
    given: HashMap<Vec<String>, Given>,
    kind: PhantomData<fn() -> T>,
}

/// Reads a part of a text (`None` is all of it) as YAML. An empty text is an empty mapping.
///
/// # Errors
/// Everything that is wrong, in the order of the text: what is no YAML, unknown keys, missing
/// keys, wrong types, numbers out of bounds.
pub fn parse<T: DeserializeOwned + JsonSchema>(
    text: Text,
    part: Option<Range<usize>>,
) -> Result<(T, Document<T>), LoadError> {
    let shape = read(&raw_schema::<T>());
    let part = part.map_or(0..text.text.len(), |part| part);
    let (value, root, given) = {
        let source = text.source();
        let span = Span { start: part.start, end: part.end };
        let document = tree::read(&source, span).map_err(LoadError::bad)?;
        let empty = || Node::empty_map(Span { start: span.start, end: span.start });
        let root = document.root.filter(|root| !is_null(root)).unwrap_or_else(empty);
        let mut overlay = Overlay::of(&source, &shape);
        overlay.found.extend(document.found);
        overlay.lay(&root);
        let value = converted(&source, &mut overlay)?;
        let given = overlay.given.into_values().map(|given| (given.names.clone(), given));
        (value, root, given.collect())
    };
    Ok((value, Document { text, root, given, kind: PhantomData }))
}

/// The value that an overlay makes, if nothing is wrong.
fn converted<T: DeserializeOwned>(
    source: &Source<'_>,
    overlay: &mut Overlay<'_, '_>,
) -> Result<T, LoadError> {
    let found = std::mem::take(&mut overlay.found);
    if !found.is_empty() {
        return Err(LoadError::bad(found));
    }
    let converted = serde_json::from_value(std::mem::take(&mut overlay.json));
    // Only a rule that the type's schema does not tell can come here.
    converted.map_err(|error| LoadError::bad(Finding::of_file(source.name, error.to_string())))
}

impl<T> Document<T> {
    /// The text.
    #[must_use]
    pub fn text(&self) -> &Text {
        &self.text
    }

    /// An error at the value that stands at a path, or at the nearest key above that is given.
    #[must_use]
    pub fn error(&self, names: &[&str], what: impl Into<String>) -> Finding {
        self.finding(names, what.into(), |given| given.span)
    }

    /// As [`Document::error`], at the key itself.
    #[must_use]
    pub fn key_error(&self, names: &[&str], what: impl Into<String>) -> Finding {
        self.finding(names, what.into(), |given| given.key)
    }

    /// Bytes at which the value at a path stands; `None` if it is not given.
    #[must_use]
    pub fn place(&self, names: &[&str]) -> Option<Range<usize>> {
        self.find(names).map(|given| given.span.start..given.span.end)
    }

    /// The policy with the keys of a section of this document laid over it, as they would stand in
    /// a policy file. Without the section it is the policy as it was.
    ///
    /// # Errors
    /// Everything that is wrong with the keys, at their places in this document.
    pub fn lay_over(&self, policy: Policy, names: &[&str]) -> Result<Policy, LoadError> {
        let mut node = &self.root;
        for name in names {
            match node.key(name) {
                Some(entry) => node = &entry.node,
                None => return Ok(policy),
            }
        }
        if is_null(node) {
            return Ok(policy);
        }
        let source = Source { about: "a policy", ..self.text.source() };
        let policy = with_preset(policy, node);
        let mut overlay = Overlay::over(&source, to_json(&policy));
        overlay.lay_at(node, path::join(names.iter().copied()));
        if let Some(base) = node.key("base") {
            let shown = path::join(names.iter().copied().chain(["base"]));
            let finding = Finding::error(&source, base.span, shown, "cannot be named here");
            let help = "the keys are laid over the policy that holds for the project";
            overlay.found.add(|| finding.with_help(help));
        }
        judged(&source, &mut overlay)
    }

    fn find(&self, names: &[&str]) -> Option<&Given> {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        self.given.get(&names)
    }

    fn finding(&self, names: &[&str], what: String, at: impl Fn(&Given) -> Span) -> Finding {
        let nearest = (1..=names.len()).rev().find_map(|count| self.find(&names[..count]));
        let shown = match nearest.filter(|given| given.names.len() == names.len()) {
            Some(given) => given.shown.clone(),
            None => path::join(names.iter().copied()),
        };
        let span = nearest.map_or(Span::default(), at);
        Finding::error(&self.text.source(), span, shown, what)
    }
}

/// Findings as one error, in the order of the file.
///
/// # Errors
/// The findings; `Ok` if there are none.
pub fn refuse(findings: Vec<Finding>) -> Result<(), LoadError> {
    if findings.is_empty() {
        return Ok(());
    }
    let mut found = Found::default();
    for finding in findings {
        found.add(|| finding);
    }
    Err(LoadError::bad(found))
}

/// The JSON Schema (draft 2020-12) of a file that [`parse`] reads as `T`, for editors. At a member
/// called `policy` that may be anything the schema of a policy stands.
#[must_use]
pub fn schema_of<T: JsonSchema>(title: &str, description: &str) -> Json {
    let mut schema = raw_schema::<T>();
    let uses_policy = polish(&mut schema);
    if let Json::Object(root) = &mut schema {
        root.insert("title".to_owned(), title.into());
        root.insert("description".to_owned(), description.into());
        if uses_policy {
            let mut policy = crate::schema();
            if let Json::Object(policy) = &mut policy {
                policy.remove("$schema");
            }
            root.insert("$defs".to_owned(), json!({ "policy": policy }));
        }
    }
    schema
}

/// Puts descriptions into the words of the file, drops what only names the types, and points
/// members called `policy` to the schema of a policy. Returns whether there is one.
fn polish(schema: &mut Json) -> bool {
    let mut uses_policy = false;
    match schema {
        Json::Object(members) => {
            let text = doc(&Json::Object(members.clone()));
            if !text.is_empty() {
                members.insert("description".to_owned(), text.into());
            }
            if members.get("title").is_some_and(Json::is_string) {
                members.remove("title");
            }
            if let Some(Json::Object(properties)) = members.get_mut("properties")
                && let Some(policy) = properties.get_mut("policy")
                && read(policy) == Shape::Other
            {
                let text = doc(policy);
                *policy = json!({ "$ref": "#/$defs/policy", "description": text });
                uses_policy = true;
            }
            for member in members.values_mut() {
                uses_policy |= polish(member);
            }
        }
        Json::Array(items) => {
            for item in items {
                uses_policy |= polish(item);
            }
        }
        _ => {}
    }
    uses_policy
}
