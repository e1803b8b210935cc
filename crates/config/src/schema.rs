//! The JSON Schema of a policy file.

use serde_json::{Map, Value as Json, json};

use crate::bounds;
use crate::ordered::Ordered;
use crate::shape::{ANY, Key, Shape, Word, defaults, file, is_file_key, names};

/// The JSON Schema (draft 2020-12) of a policy file, for editors: every key with its description,
/// default, bounds and allowed words. It says nothing about older formats.
#[must_use]
pub fn schema() -> Json {
    let mut root = of_shape(file(), &mut Vec::new());
    let extra = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Steersman policy",
        "description": "Every number a decision of Steersman depends on: the file steersman.yaml.",
    });
    if let (Json::Object(root), Json::Object(extra)) = (&mut root, extra) {
        root.extend(extra);
    }
    root
}

/// The schema as text, with a newline at its end.
#[must_use]
pub fn schema_text() -> String {
    // A JSON value serialises without fail.
    let mut text = serde_json::to_string_pretty(&schema()).unwrap_or_default();
    text.push('\n');
    text
}

fn of_shape<'s>(shape: &'s Shape, path: &mut Vec<&'s str>) -> Json {
    match shape {
        Shape::Section(keys) => of_section(keys, path),
        Shape::Table(entry) => {
            path.push(ANY);
            let mut schema = of_shape(entry, path);
            path.pop();
            // `null` takes an entry of the base out.
            allow_null(&mut schema);
            let mut table = json!({ "type": ["object", "null"], "additionalProperties": schema });
            let names: Vec<_> = names(path).iter().map(|(name, _)| name).collect();
            let names = Some(names).filter(|names| !names.is_empty());
            add(&mut table, "propertyNames", names.map(|names| json!({ "enum": names })));
            table
        }
        Shape::List(item) => {
            path.push("[]");
            let items = of_shape(item, path);
            path.pop();
            let mut schema = json!({ "type": "array", "items": items });
            add(&mut schema, "minItems", bounds::of(path, shape).min_items);
            schema
        }
        Shape::Whole { min, max } => {
            let bounds = bounds::of(path, shape);
            let mut schema = json!({ "type": "integer" });
            let min = bounds.min.map_or(*min, |min| min as i128);
            add(&mut schema, "minimum", i64::try_from(min).ok());
            // Beyond 2^53 readers of JSON disagree about numbers.
            let max = bounds.max.map_or(*max, |max| max as i128);
            add(&mut schema, "maximum", u64::try_from(max).ok().filter(|max| *max < 1 << 53));
            schema
        }
        Shape::Number { .. } => {
            let bounds = bounds::of(path, shape);
            let mut schema = json!({ "type": "number" });
            add(&mut schema, "minimum", bounds.min);
            add(&mut schema, "exclusiveMinimum", bounds.above);
            add(&mut schema, "maximum", bounds.max);
            schema
        }
        Shape::Text => json!({ "type": "string" }),
        Shape::Switch => json!({ "type": "boolean" }),
        Shape::Choice(words) => of_words(words),
        Shape::Other => json!({}),
    }
}

fn of_section<'s>(keys: &'s [Key], path: &mut Vec<&'s str>) -> Json {
    // An empty section reads as null and changes nothing.
    let in_table = path.last() == Some(&ANY);
    let mut members = Map::new();
    for key in keys {
        path.push(&key.name);
        let mut member = of_shape(&key.shape, path);
        if key.nullable || matches!(key.shape, Shape::Section(_)) {
            allow_null(&mut member);
        }
        add(&mut member, "description", Some(&key.doc).filter(|doc| !doc.is_empty()));
        if let Some(default) = default(key, path) {
            add(&mut member, "default", Some(default));
        }
        path.pop();
        members.insert(key.name.clone(), member);
    }
    let mut schema =
        json!({ "type": "object", "properties": members, "additionalProperties": false });
    let required: Vec<_> = keys.iter().filter(|key| key.required).map(|key| &key.name).collect();
    // Elsewhere the base has every key.
    if in_table && !required.is_empty() {
        add(&mut schema, "required", Some(required));
    }
    schema
}

/// The default of a key that is no section.
fn default(key: &Key, path: &[&str]) -> Option<Json> {
    let names: Vec<String> = path.iter().map(|name| (*name).to_owned()).collect();
    let (name, section) = names.split_last()?;
    if is_file_key(section, name) {
        return (name == "base").then(|| "default".into());
    }
    match &key.shape {
        Shape::Section(_) => None,
        Shape::Table(_) => Some(json!({})),
        _ => defaults().at(path.iter().copied()).map(Ordered::json),
    }
}

fn of_words(words: &[Word]) -> Json {
    if words.iter().all(|word| word.doc.is_empty()) {
        let names: Vec<_> = words.iter().map(|word| &word.name).collect();
        return json!({ "enum": names });
    }
    let one = |word: &Word| json!({ "const": word.name, "description": word.doc });
    json!({ "oneOf": words.iter().map(one).collect::<Vec<_>>() })
}

/// Lets the schema accept `null` as well.
fn allow_null(schema: &mut Json) {
    let Json::Object(members) = schema else { return };
    if let Some(kind @ Json::String(_)) = members.get_mut("type") {
        *kind = json!([kind.clone(), "null"]);
    } else if let Some(Json::Array(words)) = members.get_mut("oneOf") {
        words.push(json!({ "const": null }));
    } else if let Some(Json::Array(words)) = members.get_mut("enum") {
        words.push(Json::Null);
    }
}

fn add(schema: &mut Json, name: &str, value: Option<impl serde::Serialize>) {
    let value = value.and_then(|value| serde_json::to_value(value).ok());
    if let (Json::Object(members), Some(value)) = (schema, value) {
        members.insert(name.to_owned(), value);
    }
}
