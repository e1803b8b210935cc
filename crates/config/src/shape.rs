//! The shape of a policy file, derived from the type [`Policy`] itself.
//!
//! There is no second list of keys: names, types, allowed words and descriptions come from the
//! types (through their JSON Schema), order and defaults from the policy `default` as it is
//! serialised. A member added to a type of the engine is known here at once.

use std::sync::OnceLock;

use schemars::JsonSchema;
use serde_json::{Map, Value as Json};
use steersman_engine::Policy;
use steersman_engine::policy::Preset;

use crate::ordered::Ordered;

/// What may stand at a place of the file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Shape {
    /// A mapping with fixed keys.
    Section(Vec<Key>),
    /// A mapping from names of the user's choice.
    Table(Box<Shape>),
    /// A list.
    List(Box<Shape>),
    /// A whole number within what its type can hold.
    Whole { min: i128, max: i128 },
    /// A number within bounds, if its type states any; whether that is the small one (32 bits).
    Number { small: bool, min: Option<f64>, max: Option<f64> },
    /// A text.
    Text,
    /// True or false.
    Switch,
    /// One of several words.
    Choice(Vec<Word>),
    /// A shape this crate does not know: the type itself judges it.
    Other,
}

/// A key of a section.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Key {
    /// Its name.
    pub(crate) name: String,
    /// What it means: one paragraph.
    pub(crate) doc: String,
    /// Whether `null` is a value.
    pub(crate) nullable: bool,
    /// Whether a new section must name it.
    pub(crate) required: bool,
    /// What may stand there.
    pub(crate) shape: Shape,
}

/// A word of a choice.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Word {
    /// The word.
    pub(crate) name: String,
    /// What it means.
    pub(crate) doc: String,
}

/// Keys of the file that are no members of the policy: the section they stand in, and the name.
pub(crate) const FILE_KEYS: [(&str, &str); 2] = [("", "base"), ("tests", "preset")];

/// The name under which a table is asked what an entry of it looks like.
pub(crate) const ANY: &str = "*";

/// The shape of a policy file.
pub(crate) fn file() -> &'static Shape {
    static FILE: OnceLock<Shape> = OnceLock::new();
    FILE.get_or_init(|| {
        let mut shape = read(&raw_schema::<Policy>());
        let probe = probe(&shape);
        shape.sort(Some(&probe));
        shape.add_file_keys();
        shape
    })
}

/// The policy `default` with one entry in every table whose entries have defaults.
pub(crate) fn defaults() -> &'static Ordered {
    static DEFAULTS: OnceLock<Ordered> = OnceLock::new();
    DEFAULTS.get_or_init(|| probe(file()))
}

/// The schema that a type itself gives.
pub(crate) fn raw_schema<T: JsonSchema>() -> Json {
    let settings = schemars::generate::SchemaSettings::draft2020_12()
        .with(|settings| settings.inline_subschemas = true);
    settings.into_generator().into_root_schema_for::<T>().to_value()
}

/// The default policy, serialised with an entry in every table of sections.
fn probe(shape: &Shape) -> Ordered {
    let plain = Ordered::of(&Policy::default());
    let mut json = plain.json();
    fill_tables(shape, &mut json);
    serde_json::from_value::<Policy>(json).map_or(plain, |policy| Ordered::of(&policy))
}

fn fill_tables(shape: &Shape, json: &mut Json) {
    match (shape, json) {
        (Shape::Section(keys), Json::Object(members)) => {
            for key in keys {
                if let Some(member) = members.get_mut(&key.name) {
                    fill_tables(&key.shape, member);
                }
            }
        }
        (Shape::Table(entry), Json::Object(members)) if entry.has_defaults() => {
            members.insert(ANY.to_owned(), Json::Object(Map::new()));
        }
        _ => {}
    }
}

impl Shape {
    /// Whether it is a section none of whose keys must be named.
    fn has_defaults(&self) -> bool {
        matches!(self, Self::Section(keys) if keys.iter().all(|key| !key.required))
    }

    /// The key of a section.
    pub(crate) fn key(&self, name: &str) -> Option<&Key> {
        let Self::Section(keys) = self else { return None };
        keys.iter().find(|key| key.name == name)
    }

    /// Puts keys in the order in which the types serialise them.
    fn sort(&mut self, order: Option<&Ordered>) {
        match self {
            Self::Section(keys) => {
                let position = |name: &str| match order {
                    Some(Ordered::Map(entries)) => {
                        entries.iter().position(|(key, _)| key == name).unwrap_or(usize::MAX)
                    }
                    _ => usize::MAX,
                };
                keys.sort_by_key(|key| position(&key.name));
                for key in keys {
                    key.shape.sort(order.and_then(|order| order.key(&key.name)));
                }
            }
            Self::Table(entry) => entry.sort(order.and_then(|order| order.key(ANY))),
            _ => {}
        }
    }

    /// Adds the keys that only a file has: `base` and `tests.preset`.
    fn add_file_keys(&mut self) {
        let Self::Section(keys) = self else { return };
        let word = |name: &&str| Word { name: (*name).to_owned(), doc: String::new() };
        let base = Key {
            name: "base".to_owned(),
            doc:
                "The built-in policy over which the keys of this file are laid. Default `default`."
                    .to_owned(),
            nullable: false,
            required: false,
            shape: Self::Choice(Policy::BUILT_IN.iter().map(word).collect()),
        };
        keys.insert(0, base);
        let schema = schemars::generate::SchemaSettings::draft2020_12()
            .into_generator()
            .into_root_schema_for::<Preset>()
            .to_value();
        let preset = Key {
            name: "preset".to_owned(),
            doc: "Sets the numbers of a preset; keys beside it come on top. Default: none."
                .to_owned(),
            nullable: false,
            required: false,
            shape: read(&schema),
        };
        if let Some(Key { shape: Self::Section(tests), .. }) =
            keys.iter_mut().find(|key| key.name == "tests")
        {
            tests.insert(0, preset);
        }
    }
}

/// Whether the key `name` of the section at `path` belongs to the file and not to the policy.
pub(crate) fn is_file_key(path: &[String], name: &str) -> bool {
    let section = match path {
        [] => "",
        [section] => section,
        _ => return false,
    };
    FILE_KEYS.contains(&(section, name))
}

/// The names that a table may hold, where they are not of the user's choice, each with the value it
/// stands in place of: texts have the names of the built-in ones.
pub(crate) fn names(path: &[&str]) -> &'static [(&'static str, &'static str)] {
    if path == ["texts"] { steersman_engine::built_in_texts() } else { &[] }
}

/// The shape that a schema describes.
pub(crate) fn read(schema: &Json) -> Shape {
    if let Some(words) = words(schema) {
        return Shape::Choice(words);
    }
    let types = types(schema);
    let is = |name: &str| types.contains(&name);
    if is("object") {
        if let Some(Json::Object(members)) = schema.get("properties") {
            return Shape::Section(keys(schema, members));
        }
        if let Some(entry @ Json::Object(_)) = schema.get("additionalProperties") {
            return Shape::Table(Box::new(read(entry)));
        }
    } else if is("array") {
        return Shape::List(Box::new(schema.get("items").map_or(Shape::Other, read)));
    } else if is("integer") {
        return whole(schema);
    } else if is("number") {
        let bound = |name: &str| schema.get(name).and_then(Json::as_f64);
        let small = schema.get("format") == Some(&"float".into());
        return Shape::Number { small, min: bound("minimum"), max: bound("maximum") };
    } else if is("string") {
        return Shape::Text;
    } else if is("boolean") {
        return Shape::Switch;
    }
    Shape::Other
}

fn types(schema: &Json) -> Vec<&str> {
    match schema.get("type") {
        Some(Json::String(one)) => vec![one],
        Some(Json::Array(many)) => many.iter().filter_map(Json::as_str).collect(),
        _ => vec![],
    }
}

fn keys(schema: &Json, members: &Map<String, Json>) -> Vec<Key> {
    let required = |name: &str| {
        let list = schema.get("required").and_then(Json::as_array);
        list.is_some_and(|list| list.iter().any(|item| item.as_str() == Some(name)))
    };
    let key = |(name, member): (&String, &Json)| {
        let (shape, nullable) = optional(member);
        Key { name: name.clone(), doc: doc(member), nullable, required: required(name), shape }
    };
    members.iter().map(key).collect()
}

/// The shape of a member, and whether it may be null.
fn optional(member: &Json) -> (Shape, bool) {
    if let Some(Json::Array(either)) = member.get("anyOf") {
        let is_null = |schema: &&Json| types(schema) == ["null"];
        if let Some(other) = either.iter().find(|schema| !is_null(schema)) {
            return (read(other), either.iter().any(|schema| is_null(&schema)));
        }
    }
    (read(member), types(member).contains(&"null"))
}

/// The words of a choice: `enum`, or `oneOf` of constants.
fn words(schema: &Json) -> Option<Vec<Word>> {
    if let Some(Json::Array(names)) = schema.get("enum") {
        let word = |name: &Json| Some(Word { name: name.as_str()?.to_owned(), doc: String::new() });
        return names.iter().filter(|name| !name.is_null()).map(word).collect();
    }
    let mut words = Vec::new();
    for one in schema.get("oneOf")?.as_array()? {
        match one.get("const") {
            Some(name) => words.push(Word { name: name.as_str()?.to_owned(), doc: doc(one) }),
            // Words without a description come together.
            None => words.extend(self::words(one)?),
        }
    }
    Some(words)
}

/// The whole numbers that the type can hold.
fn whole(schema: &Json) -> Shape {
    let format = schema.get("format").and_then(Json::as_str).unwrap_or("int64");
    let (min, max) = match format {
        "uint8" => (0, i128::from(u8::MAX)),
        "uint16" => (0, i128::from(u16::MAX)),
        "uint32" => (0, i128::from(u32::MAX)),
        "uint64" | "uint" => (0, i128::from(u64::MAX)),
        "int32" => (i128::from(i32::MIN), i128::from(i32::MAX)),
        _ => (i128::from(i64::MIN), i128::from(i64::MAX)),
    };
    let bound = |name: &str| schema.get(name).and_then(Json::as_i64).map(i128::from);
    let min = bound("minimum").map_or(min, |bound| bound.max(min));
    let max = bound("maximum").map_or(max, |bound| bound.min(max));
    Shape::Whole { min, max }
}

/// The description as one paragraph in the words of the file: `null` for `None`, and without
/// references to the documents that the developers work from.
pub(crate) fn doc(schema: &Json) -> String {
    let text = schema.get("description").and_then(Json::as_str).unwrap_or("");
    let mut words = String::new();
    for word in text.split_whitespace() {
        let gap = if words.is_empty() { "" } else { " " };
        words.push_str(gap);
        words.push_str(word);
    }
    let words = words.replace("`None` (`null`)", "`null`").replace("`None`", "`null`");
    without_references(&words)
}

/// The text without parentheses such as `(A4)`, `(D5, second)` or `(document B)`.
fn without_references(text: &str) -> String {
    let mut kept = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(" (") {
        let (inside, tail) = after.split_once(')').unwrap_or((after, ""));
        kept.push_str(before);
        let bytes = inside.as_bytes();
        let id = matches!(bytes, [b'A'..=b'E', digit, ..] if digit.is_ascii_digit());
        let source = ["document ", "documents ", "evidence", "beyond "];
        if !id && !source.iter().any(|word| inside.starts_with(word)) {
            kept.push_str(" (");
            rest = after;
        } else {
            rest = tail;
        }
    }
    kept.push_str(rest);
    kept
}

#[cfg(test)]
mod tests {
    use super::{Shape, file, without_references};
    use crate::ordered::Ordered;
    use steersman_engine::Policy;

    /// Every member of the serialised policy is a key of a known shape, and nothing else is.
    #[test]
    fn the_shape_is_the_policy() {
        fn check(shape: &Shape, value: &Ordered, path: &str) {
            assert_ne!(*shape, Shape::Other, "{path}");
            let (Shape::Section(keys), Ordered::Map(members)) = (shape, value) else { return };
            let of_policy = keys.iter().filter(|key| {
                !(key.name == "preset" && path == ".tests" || key.name == "base" && path.is_empty())
            });
            let names: Vec<_> = of_policy.map(|key| &key.name).collect();
            let expected: Vec<_> = members.iter().map(|(name, _)| name).collect();
            assert_eq!(names, expected, "{path}");
            for key in keys {
                assert!(!key.doc.is_empty(), "{path}.{} has no description", key.name);
                if let Some(member) = value.key(&key.name) {
                    check(&key.shape, member, &format!("{path}.{}", key.name));
                }
            }
        }
        check(file(), &Ordered::of(&Policy::default()), "");
    }

    #[test]
    fn references_to_documents_are_left_out() {
        let cases = [
            ("The score is low (A4).", "The score is low."),
            ("`classic` 5 (B1), `default` none.", "`classic` 5, `default` none."),
            ("Progress (documents A and C).", "Progress."),
            ("Nano-dollars (10⁻⁹ USD), at least 1.", "Nano-dollars (10⁻⁹ USD), at least 1."),
            ("Open (paren", "Open (paren"),
            ("Stop (D5, first). End (or not).", "Stop. End (or not)."),
        ];
        for (text, expected) in cases {
            assert_eq!(without_references(text), expected);
        }
    }
}
