//! Laying the keys of a file over a base policy.

use std::collections::HashMap;

use serde_json::{Map, Value as Json};

use crate::bounds::{self, Bounds};
use crate::finding::{Finding, Found};
use crate::path::below;
use crate::scalar::{Meaning, meaning};
use crate::shape::{ANY, Key, Shape, Word, file, is_file_key};
use crate::source::{Source, Span};
use crate::suggest;
use crate::tree::{Entry, Node, Value};

/// Where a key of the policy stands in the source.
#[derive(Clone, Debug)]
pub(crate) struct Given {
    /// The place to point at: the value if it is a scalar or a list, else the key.
    pub(crate) span: Span,
    /// Where the key stands.
    pub(crate) key: Span,
    /// The names along the path of the policy.
    pub(crate) names: Vec<String>,
    /// The path as it stands in the source.
    pub(crate) shown: String,
    /// Whether a key of an older format was read as this one.
    pub(crate) former: bool,
}

/// A base policy as JSON, and what was laid over it.
pub(crate) struct Overlay<'s, 'a> {
    source: &'s Source<'a>,
    /// The shape of the whole; `None` is that of a policy.
    shape: Option<&'s Shape>,
    /// The policy so far.
    pub(crate) json: Json,
    /// Where each key stands, by its path in the form of the check: names joined by dots.
    pub(crate) given: HashMap<String, Given>,
    /// What is wrong.
    pub(crate) found: Found,
    /// Dotted paths (form of the check) of values that were left out because they are wrong.
    pub(crate) wrong: Vec<String>,
}

/// One value that is being looked at.
struct Place<'n> {
    names: Vec<String>,
    shown: String,
    node: &'n Node,
}

impl Place<'_> {
    fn below<'n>(&self, entry: &'n Entry) -> Place<'n> {
        let mut names = self.names.clone();
        names.push(entry.name.clone());
        let shown = entry.written.clone().unwrap_or_else(|| below(&self.shown, &entry.name));
        Place { names, shown, node: &entry.node }
    }
}

impl<'s, 'a> Overlay<'s, 'a> {
    /// An overlay over a base policy.
    pub(crate) fn over(source: &'s Source<'a>, base: Json) -> Self {
        let (given, found, wrong) = (HashMap::new(), Found::default(), Vec::new());
        Self { source, shape: None, json: base, given, found, wrong }
    }

    /// An overlay over nothing, for a file of another shape than a policy's.
    pub(crate) fn of(source: &'s Source<'a>, shape: &'s Shape) -> Self {
        Self { shape: Some(shape), ..Self::over(source, Json::Object(Map::new())) }
    }

    /// Lays a whole file over the base.
    pub(crate) fn lay(&mut self, root: &Node) {
        self.lay_at(root, String::new());
    }

    /// As [`Overlay::lay`], for what stands under the path `shown` of a larger file.
    pub(crate) fn lay_at(&mut self, root: &Node, shown: String) {
        let mut json = std::mem::take(&mut self.json);
        match &root.value {
            Value::Map(_) => {
                let place = Place { names: Vec::new(), shown, node: root };
                self.value(&place, self.shape.unwrap_or(file()), false, &mut json);
            }
            _ => {
                let about = self.source.about;
                let what = format!("{}, not {about}", kind(root));
                let finding = Finding::error(self.source, root.span, shown, what);
                let example = if self.shape.is_none() { "loops: …" } else { "key: value" };
                let help = format!("{about} is a mapping: `{example}`");
                self.found.add(|| finding.with_help(help));
            }
        }
        self.json = json;
    }

    /// Lays one value; leaves `into` as it is where the value is wrong.
    fn value(&mut self, place: &Place<'_>, shape: &Shape, nullable: bool, into: &mut Json) {
        let node = place.node;
        if let Value::Scalar { text, plain: true } = &node.value
            && meaning(text) == Meaning::Null
        {
            match shape {
                _ if nullable => *into = Json::Null,
                // An empty section, all of its keys commented out: nothing is changed.
                Shape::Section(_) | Shape::Table(_) => {}
                _ => self.refuse(place, shape, nullable),
            }
            return;
        }
        match (shape, &node.value) {
            (Shape::Section(keys), Value::Map(entries)) => {
                self.section(place, keys, entries, into);
            }
            (Shape::Table(entry), Value::Map(entries)) => self.table(place, entry, entries, into),
            (Shape::List(item), Value::List(items)) => self.list(place, item, items, into),
            (Shape::Other, _) => *into = untyped(node),
            (_, Value::Scalar { text, plain }) => match scalar(shape, text, *plain) {
                Some(json) => *into = json,
                None => self.refuse(place, shape, nullable),
            },
            _ => self.refuse(place, shape, nullable),
        }
    }

    fn section(&mut self, place: &Place<'_>, keys: &[Key], entries: &[Entry], into: &mut Json) {
        if !into.is_object() {
            *into = Json::Object(Map::new());
        }
        for entry in entries {
            let at = place.below(entry);
            let Some(key) = keys.iter().find(|key| key.name == entry.name) else {
                let (source, of_policy) = (self.source, self.shape.is_none());
                self.found.add(|| {
                    let finding = Finding::error(source, entry.span, at.shown, "unknown key");
                    let elsewhere = of_policy.then(|| suggest::elsewhere(&entry.name)).flatten();
                    suggest::key(finding, &entry.name, keys, (&place.shown, elsewhere))
                });
                continue;
            };
            if self.shape.is_none() && is_file_key(&place.names, &key.name) {
                // It was taken into account when the base was made; here its value is checked.
                self.value(&at, &key.shape, false, &mut Json::Null);
                continue;
            }
            self.note(&at, entry);
            let Json::Object(members) = &mut *into else { continue };
            let member = members.entry(key.name.clone()).or_insert(Json::Null);
            self.value(&at, &key.shape, key.nullable, member);
        }
        self.require(place, keys, into);
    }

    /// A new entry of a table must name what has no default.
    fn require(&mut self, place: &Place<'_>, keys: &[Key], into: &Json) {
        for key in keys.iter().filter(|key| key.required) {
            let path = place.names.join(".");
            let dropped = self.wrong.contains(&format!("{path}.{}", key.name));
            if into.get(&key.name).is_none() && !dropped {
                let what = format!("the key `{}` is missing", key.name);
                let (source, shown) = (self.source, place.shown.clone());
                self.found.add(|| Finding::error(source, place.node.span, shown, what));
            }
        }
    }

    fn table(&mut self, place: &Place<'_>, shape: &Shape, entries: &[Entry], into: &mut Json) {
        if !into.is_object() {
            *into = Json::Object(Map::new());
        }
        let Json::Object(members) = into else { return };
        for entry in entries {
            let at = place.below(entry);
            self.note(&at, entry);
            if is_null(&entry.node) {
                members.remove(&entry.name);
                continue;
            }
            let mut value = members.get(&entry.name).cloned().unwrap_or(Json::Null);
            self.value(&at, shape, false, &mut value);
            if !value.is_null() {
                members.insert(entry.name.clone(), value);
            }
        }
    }

    fn list(&mut self, place: &Place<'_>, shape: &Shape, items: &[Node], into: &mut Json) {
        let mut list = Vec::with_capacity(items.len());
        for (at, node) in items.iter().enumerate() {
            let mut names = place.names.clone();
            names.push(format!("[{at}]"));
            let item = Place { names, shown: format!("{}[{at}]", place.shown), node };
            // What a policy's check says of an item has another path.
            if self.shape.is_some() {
                let (span, names) = (item.node.span, item.names.clone());
                let (shown, key) = (item.shown.clone(), span);
                let given = Given { span, key, names, shown, former: false };
                self.given.insert(item.names.join("."), given);
            }
            let mut json = Json::Null;
            self.value(&item, shape, false, &mut json);
            list.push(json);
        }
        if list.iter().any(Json::is_null) {
            self.wrong.push(place.names.join("."));
        } else {
            *into = Json::Array(list);
        }
    }

    /// Remembers where a key stands.
    fn note(&mut self, at: &Place<'_>, entry: &Entry) {
        let value = entry.node.span;
        let span = match entry.node.value {
            Value::Map(_) => entry.span,
            _ if value.start == value.end => entry.span,
            _ => value,
        };
        let (shown, former) = (at.shown.clone(), entry.written.is_some());
        let (key, names) = (entry.span, at.names.clone());
        self.given.insert(at.names.join("."), Given { span, key, names, shown, former });
    }

    /// Says that a value is not allowed, and what is.
    fn refuse(&mut self, place: &Place<'_>, shape: &Shape, nullable: bool) {
        if !self.found.is_full() {
            self.wrong.push(place.names.join("."));
        }
        let (source, of_policy) = (self.source, self.shape.is_none());
        self.found.add(|| {
            let names: Vec<&str> = place.names.iter().map(String::as_str).collect();
            let bounds = match of_policy {
                true => bounds::of(&template(&names), shape),
                false => Bounds::of_shape(shape),
            };
            let or_null = if nullable { ", or null" } else { "" };
            refusal(source, place, shape, &(allowed(shape, &bounds) + or_null))
        });
    }
}

/// The finding about a value that is not allowed.
fn refusal(source: &Source<'_>, place: &Place<'_>, shape: &Shape, allowed: &str) -> Finding {
    let node = place.node;
    let shown = match &node.value {
        Value::Scalar { .. } => match source.excerpt(node.span) {
            text if text.is_empty() => "no value".to_owned(),
            text => text,
        },
        _ => kind(node).to_owned(),
    };
    let mut span = node.span;
    if matches!(node.value, Value::Map(_) | Value::List(_)) {
        // The whole block would be underlined: its beginning is enough.
        span.end = span.start + 1;
    }
    let what = format!("{shown} is not allowed: {allowed}");
    let finding = Finding::error(source, span, place.shown.as_str(), what);
    let empty = node.span.start == node.span.end;
    let help = out_of_range(shape, node).or_else(|| suggest::value(shape, node, empty));
    match help {
        Some(help) => finding.with_help(help),
        None => finding,
    }
}

/// What a node is, in words.
fn kind(node: &Node) -> &'static str {
    match &node.value {
        Value::Scalar { .. } => "a single value",
        Value::List(_) => "a list",
        Value::Map(_) => "a mapping",
    }
}

/// Whether the node is null.
pub(crate) fn is_null(node: &Node) -> bool {
    matches!(&node.value, Value::Scalar { text, plain: true } if meaning(text) == Meaning::Null)
}

/// A scalar as JSON, if the shape allows it.
fn scalar(shape: &Shape, text: &str, plain: bool) -> Option<Json> {
    let meaning = if plain { meaning(text) } else { Meaning::Text };
    match (shape, meaning) {
        (Shape::Choice(words), _) => {
            words.iter().any(|word| word.name == text).then(|| text.into())
        }
        (Shape::Text, Meaning::Text | Meaning::OldSwitch(_)) => Some(text.into()),
        (Shape::Switch, Meaning::Switch(on)) => Some(on.into()),
        (Shape::Whole { min, max }, Meaning::Whole(whole)) if (*min..=*max).contains(&whole) => {
            u64::try_from(whole)
                .map(Json::from)
                .or_else(|_| i64::try_from(whole).map(Json::from))
                .ok()
        }
        (Shape::Number { .. }, Meaning::Whole(whole)) => number(whole as f64, shape),
        (Shape::Number { .. }, Meaning::Number(value)) => number(value, shape),
        _ => None,
    }
}

fn number(value: f64, shape: &Shape) -> Option<Json> {
    let Shape::Number { small, min, max } = *shape else { return None };
    let within = min.is_none_or(|min| value >= min) && max.is_none_or(|max| value <= max);
    let fits = within && (!small || (value as f32).is_finite());
    fits.then(|| serde_json::Number::from_f64(value).map(Json::Number)).flatten()
}

/// The node as JSON where its shape is not known.
pub(crate) fn untyped(node: &Node) -> Json {
    match &node.value {
        Value::Scalar { text, plain: true } => match meaning(text) {
            Meaning::Null => Json::Null,
            Meaning::Switch(on) => on.into(),
            Meaning::Whole(whole) => i64::try_from(whole).map_or(text.as_str().into(), Json::from),
            Meaning::Number(value) => value.into(),
            _ => text.as_str().into(),
        },
        Value::Scalar { text, .. } => text.as_str().into(),
        Value::List(items) => items.iter().map(untyped).collect(),
        Value::Map(entries) => {
            entries.iter().map(|entry| (entry.name.clone(), untyped(&entry.node))).collect()
        }
    }
}

/// What a shape allows, in words; with the bounds where it is a number.
fn allowed(shape: &Shape, bounds: &Bounds) -> String {
    match shape {
        Shape::Section(_) => "a mapping of keys".to_owned(),
        Shape::Table(_) => "a mapping of names".to_owned(),
        Shape::List(item) => match &**item {
            Shape::Whole { .. } => "a list of whole numbers".to_owned(),
            Shape::Number { .. } => "a list of numbers".to_owned(),
            Shape::Text => "a list of texts".to_owned(),
            _ => "a list".to_owned(),
        },
        Shape::Whole { .. } => numbers("a whole number", bounds),
        Shape::Number { .. } => numbers("a number", bounds),
        Shape::Text => "a text".to_owned(),
        Shape::Switch => "true or false".to_owned(),
        Shape::Choice(words) => choices(words),
        Shape::Other => "another value".to_owned(),
    }
}

/// Help for a whole number that the type cannot hold.
fn out_of_range(shape: &Shape, node: &Node) -> Option<String> {
    let (Shape::Whole { min, max }, Value::Scalar { text, plain: true }) = (shape, &node.value)
    else {
        return None;
    };
    match meaning(text) {
        Meaning::Whole(whole) if whole < *min => Some(format!("the smallest is {min}")),
        Meaning::Whole(_) => Some(format!("the largest is {max}")),
        _ => None,
    }
}

/// Numbers and their bounds, in the words of the check.
fn numbers(kind: &str, bounds: &Bounds) -> String {
    match (bounds.above, bounds.min, bounds.max) {
        (Some(above), _, Some(max)) => format!("{kind} above {above}, up to {max}"),
        (_, Some(min), Some(max)) if min == max => format!("{min}"),
        (_, Some(min), Some(max)) => format!("{kind} from {min} to {max}"),
        (_, Some(min), None) => format!("{kind} of at least {min}"),
        _ => kind.to_owned(),
    }
}

/// The words of a choice: `act or shadow`, `off, nudge, urge or end`.
fn choices(words: &[Word]) -> String {
    let names: Vec<&str> = words.iter().map(|word| word.name.as_str()).collect();
    match names.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
        None => String::new(),
    }
}

/// The path with [`ANY`] in place of the names of a table's entries.
fn template<'n>(names: &[&'n str]) -> Vec<&'n str> {
    let mut shape = Some(file());
    let mut path = Vec::new();
    for &name in names {
        shape = match shape {
            Some(Shape::Table(entry)) => {
                path.push(ANY);
                Some(&**entry)
            }
            Some(section) => {
                path.push(name);
                section.key(name).map(|key| &key.shape)
            }
            None => {
                path.push(name);
                None
            }
        };
    }
    path
}
