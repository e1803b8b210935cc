//! A JSON Schema validator for the keywords that the schema of the policy uses. Another keyword is
//! an error, so that nothing is passed over.

use serde_json::{Map, Value as Json};

/// What is wrong with `value`, as paths.
pub(super) fn violations(schema: &Json, value: &Json) -> Vec<String> {
    let mut found = Vec::new();
    validate(schema, value, "", &mut found);
    found
}

fn validate(schema: &Json, value: &Json, path: &str, found: &mut Vec<String>) {
    let schema = schema.as_object().expect("a schema is an object");
    for (keyword, rule) in schema {
        let fits = match keyword.as_str() {
            "$schema" | "title" | "description" | "default" => true,
            "type" => match rule {
                Json::Array(kinds) => kinds.iter().any(|kind| is_kind(kind, value)),
                kind => is_kind(kind, value),
            },
            "enum" => rule.as_array().unwrap().contains(value),
            "const" => rule == value,
            "oneOf" => {
                let fits = |one: &&Json| violations(one, value).is_empty();
                rule.as_array().unwrap().iter().filter(fits).count() == 1
            }
            "minimum" => value.as_f64().is_none_or(|number| number >= rule.as_f64().unwrap()),
            "maximum" => value.as_f64().is_none_or(|number| number <= rule.as_f64().unwrap()),
            "exclusiveMinimum" => {
                value.as_f64().is_none_or(|number| number > rule.as_f64().unwrap())
            }
            "minItems" => {
                value.as_array().is_none_or(|items| items.len() as u64 >= rule.as_u64().unwrap())
            }
            "items" => {
                for (at, item) in value.as_array().into_iter().flatten().enumerate() {
                    validate(rule, item, &format!("{path}[{at}]"), found);
                }
                true
            }
            "required" => {
                let names = rule.as_array().unwrap().iter().map(|name| name.as_str().unwrap());
                value
                    .as_object()
                    .is_none_or(|members| names.into_iter().all(|name| members.contains_key(name)))
            }
            "properties" | "additionalProperties" => {
                if let Some(members) = value.as_object() {
                    validate_members(schema, keyword, members, path, found);
                }
                true
            }
            other => panic!("the validator does not know the keyword {other}"),
        };
        if !fits {
            found.push(format!("{path}: {keyword}"));
        }
    }
}

fn validate_members(
    schema: &Map<String, Json>,
    keyword: &str,
    members: &Map<String, Json>,
    path: &str,
    found: &mut Vec<String>,
) {
    let known = schema.get("properties").and_then(Json::as_object);
    for (name, member) in members {
        let path = format!("{path}.{name}");
        match (keyword, known.and_then(|known| known.get(name))) {
            ("properties", Some(schema)) => validate(schema, member, &path, found),
            ("additionalProperties", None) => match &schema["additionalProperties"] {
                Json::Bool(true) => {}
                Json::Bool(false) => found.push(format!("{path}: additionalProperties")),
                schema => validate(schema, member, &path, found),
            },
            _ => {}
        }
    }
}

fn is_kind(kind: &Json, value: &Json) -> bool {
    match kind.as_str().unwrap() {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("the validator does not know the type {other}"),
    }
}

#[test]
fn the_validator_refuses() {
    let cases = [
        (r#"{"type": "integer", "minimum": 2, "maximum": 3}"#, "2", true),
        (r#"{"type": "integer"}"#, "2.5", false),
        (r#"{"minimum": 2}"#, "1", false),
        (r#"{"maximum": 2}"#, "3", false),
        (r#"{"exclusiveMinimum": 0}"#, "0", false),
        (r#"{"type": ["string", "null"]}"#, "null", true),
        (r#"{"type": ["string", "null"]}"#, "1", false),
        (r#"{"enum": ["a", null]}"#, "\"b\"", false),
        (r#"{"oneOf": [{"const": "a"}, {"const": "b"}]}"#, "\"b\"", true),
        (r#"{"oneOf": [{"const": "a"}, {"const": "b"}]}"#, "\"c\"", false),
        (r#"{"items": {"type": "string"}, "minItems": 1}"#, "[1]", false),
        (r#"{"items": {"type": "string"}, "minItems": 1}"#, "[]", false),
        (r#"{"required": ["a"]}"#, "{}", false),
        (r#"{"properties": {"a": {"type": "null"}}}"#, r#"{"a": 1}"#, false),
        (r#"{"properties": {"a": {}}, "additionalProperties": false}"#, r#"{"b": 1}"#, false),
        (r#"{"additionalProperties": {"type": "null"}}"#, r#"{"b": 1}"#, false),
        (r#"{"additionalProperties": {"type": "null"}}"#, r#"{"b": null}"#, true),
    ];
    for (schema, value, fits) in cases {
        let (schema, value) = (schema.parse().unwrap(), value.parse().unwrap());
        let found = violations(&schema, &value);
        assert_eq!(found.is_empty(), fits, "{schema} {value} {found:?}");
    }
}
