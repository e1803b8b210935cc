//! JSON Schema in the dialect that Gemini takes.

use serde_json::{Map, Value, json};

/// How deep schemas may nest; references that go in circles end here.
const MAX_DEPTH: usize = 16;

/// Most values of an adapted schema: references can repeat a part many times over.
const MAX_NODES: usize = 4096;

/// Keys taken as they are.
const KEPT: &[&str] = &[
    "description",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "nullable",
    "pattern",
    "title",
    "propertyOrdering",
];

/// The schema without what Gemini refuses: `additionalProperties`, `$schema`, references (put in
/// place), lists of types, constants. `None` for an object without properties.
pub(super) fn adapt(schema: &Value) -> Option<Value> {
    let root = schema.as_object()?;
    let mut adapted = Adapter { root: schema, left: MAX_NODES }.object(root, 0);
    if adapted.get("type").is_none() {
        adapted.insert("type".into(), "object".into());
    }
    let empty = |key: &str| adapted.get(key).is_none_or(crate::json::is_blank);
    if adapted["type"] == "object" && empty("properties") && empty("anyOf") {
        return None;
    }
    Some(Value::Object(adapted))
}

struct Adapter<'a> {
    root: &'a Value,
    left: usize,
}

impl Adapter<'_> {
    fn schema(&mut self, schema: &Value, depth: usize) -> Value {
        match schema {
            Value::Object(own) => Value::Object(self.object(own, depth)),
            // `true` takes anything, and so does a schema without a word.
            _ => json!({}),
        }
    }

    fn object(&mut self, schema: &Map<String, Value>, depth: usize) -> Map<String, Value> {
        self.left = self.left.saturating_sub(1);
        if depth >= MAX_DEPTH || self.left == 0 {
            return Map::from_iter([("type".to_owned(), Value::from("object"))]);
        }
        let mut adapted = self.referred(schema, depth);
        for (key, value) in schema {
            match key.as_str() {
                "type" => types(value, &mut adapted),
                // Only texts can be listed.
                "enum" if is_texts(value) => {
                    adapted.insert("enum".into(), value.clone());
                }
                "const" if value.is_string() => {
                    adapted.insert("enum".into(), json!([value]));
                    adapted.entry("type").or_insert_with(|| "string".into());
                }
                "format"
                    if matches!(
                        value.as_str(),
                        Some("date-time" | "enum" | "int32" | "int64" | "float" | "double")
                    ) =>
                {
                    adapted.insert(key.clone(), value.clone());
                }
                "items" => {
                    let items = self.schema(value, depth + 1);
                    adapted.insert("items".into(), items);
                }
                "properties" => {
                    let own = value.as_object().into_iter().flatten();
                    let own = own.map(|(name, one)| (name.clone(), self.schema(one, depth + 1)));
                    let own: Map<_, _> = own.collect();
                    adapted.insert("properties".into(), own.into());
                }
                "anyOf" | "oneOf" => self.choices(value, depth, &mut adapted),
                "allOf" => {
                    for one in value.as_array().into_iter().flatten() {
                        if let Value::Object(one) = self.schema(one, depth + 1) {
                            crate::json::merge(&mut adapted, &one);
                        }
                    }
                }
                key if KEPT.contains(&key) => {
                    adapted.insert(key.to_owned(), value.clone());
                }
                _ => {}
            }
        }
        required(schema, &mut adapted);
        adapted
    }

    /// What a `$ref` into the same schema stands for.
    fn referred(&mut self, schema: &Map<String, Value>, depth: usize) -> Map<String, Value> {
        let pointer = schema.get("$ref").and_then(Value::as_str);
        let target = pointer.and_then(|pointer| self.root.pointer(pointer.strip_prefix('#')?));
        match target.and_then(Value::as_object) {
            Some(target) => {
                let target = target.clone();
                self.object(&target, depth + 1)
            }
            None => Map::new(),
        }
    }

    /// Choices without the empty one, which is said by `nullable`.
    fn choices(&mut self, value: &Value, depth: usize, adapted: &mut Map<String, Value>) {
        let all = value.as_array().map(Vec::as_slice).unwrap_or_default();
        let is_null = |one: &&Value| one.get("type") == Some(&"null".into());
        if all.iter().any(|one| is_null(&one)) {
            adapted.insert("nullable".into(), true.into());
        }
        let some = all.iter().filter(|one| !is_null(one));
        let mut some: Vec<_> = some.map(|one| self.schema(one, depth + 1)).collect();
        if some.len() > 1 {
            adapted.insert("anyOf".into(), some.into());
        } else if let Some(Value::Object(only)) = some.pop() {
            adapted.extend(only);
        }
    }
}

fn is_texts(value: &Value) -> bool {
    value.as_array().is_some_and(|all| all.iter().all(Value::is_string))
}

/// One type, and whether it may be null.
fn types(value: &Value, adapted: &mut Map<String, Value>) {
    let Value::Array(all) = value else {
        adapted.insert("type".into(), value.clone());
        return;
    };
    let mut some: Vec<_> = all.iter().filter(|one| *one != "null").collect();
    if some.len() < all.len() {
        adapted.insert("nullable".into(), true.into());
    }
    if some.len() > 1 {
        let each = some.iter().map(|one| json!({"type": one}));
        adapted.insert("anyOf".into(), each.collect());
    } else if let Some(only) = some.pop() {
        adapted.insert("type".into(), only.clone());
    }
}

/// Only properties that exist can be required.
fn required(schema: &Map<String, Value>, adapted: &mut Map<String, Value>) {
    let Some(Value::Array(names)) = schema.get("required") else { return };
    let Some(Value::Object(known)) = adapted.get("properties") else { return };
    let named = |name: &&Value| name.as_str().is_some_and(|name| known.contains_key(name));
    let names: Vec<_> = names.iter().filter(named).cloned().collect();
    if !names.is_empty() {
        adapted.insert("required".into(), names.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(schema: Value, expected: Value) {
        assert_eq!(adapt(&schema).unwrap_or(Value::Null), expected, "{schema}");
    }

    #[test]
    fn what_gemini_refuses_is_left_out() {
        check(
            json!({"type": "object", "properties": {}, "additionalProperties": false}),
            Value::Null,
        );
        check(Value::Null, Value::Null);
        check(
            json!({
                "$schema": "http://json-schema.org/draft-07/schema#",
                "type": "object", "additionalProperties": false, "required": ["path", "gone"],
                "properties": {
                    "path": {"type": ["string", "null"], "format": "uri", "default": "."},
                    "mode": {"const": "fast"},
                    "lines": {"anyOf": [{"type": "integer", "exclusiveMinimum": 0}, {"type": "null"}]},
                    "to": {"$ref": "#/$defs/place", "description": "where"},
                    "any": true,
                    "n": {"type": "integer", "enum": [1, 2]},
                },
                "$defs": {"place": {"type": "object", "properties": {"next": {"type": "string"}}}},
            }),
            json!({
                "type": "object", "required": ["path"],
                "properties": {
                    "path": {"type": "string", "nullable": true},
                    "mode": {"type": "string", "enum": ["fast"]},
                    "lines": {"type": "integer", "nullable": true},
                    "to": {"type": "object", "description": "where",
                           "properties": {"next": {"type": "string"}}},
                    "any": {},
                    "n": {"type": "integer"},
                },
            }),
        );
    }

    #[test]
    fn circles_end() {
        let circle = json!({"type": "object", "properties": {
            "a": {"$ref": "#"}, "b": {"$ref": "#"}, "c": {"$ref": "#"},
        }});
        let adapted = adapt(&circle).unwrap().to_string();
        assert!(adapted.len() < 1_000_000, "{}", adapted.len());
    }
}
