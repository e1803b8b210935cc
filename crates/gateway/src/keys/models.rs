//! Which models a request asks for, read so that no server can read others from it.

use std::borrow::Cow;
use std::fmt;

use serde::de::{self, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// The models a body names: `model`, and the list `models` of those that may take its place.
///
/// # Errors
/// A body that is no JSON object, or that names `model` not exactly once: servers differ in which
/// one they take, and some do not mind capitals.
pub(super) fn models_of(body: &[u8]) -> Result<Vec<String>, String> {
    let Named(models) = serde_json::from_slice(body).map_err(|error| error.to_string())?;
    Ok(models)
}

struct Named(Vec<String>);

impl<'de> Deserialize<'de> for Named {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Members)
    }
}

struct Members;

impl<'de> Visitor<'de> for Members {
    type Value = Named;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Named, A::Error> {
        let (mut model, mut others) = (None, Vec::new());
        while let Some(Text(key)) = map.next_key::<Text<'_>>()? {
            if key.eq_ignore_ascii_case("model") {
                if key != "model" || model.is_some() {
                    return Err(de::Error::custom("`model` has to stand there once"));
                }
                model = Some(map.next_value::<String>()?);
            } else if key.eq_ignore_ascii_case("models") {
                others.extend(map.next_value::<Option<Vec<String>>>()?.unwrap_or_default());
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        let model = model.ok_or_else(|| de::Error::custom("`model` is missing"))?;
        others.push(model);
        Ok(Named(others))
    }
}

/// A text that is borrowed where it can be.
#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

#[cfg(test)]
mod tests {
    use super::models_of;

    fn check(body: &str, expected: Option<&str>) {
        let found = models_of(body.as_bytes()).ok().map(|models| models.join(" "));
        assert_eq!(found.as_deref(), expected, "{body}");
    }

    #[test]
    fn the_model_is_the_one_that_every_server_reads() {
        check(r#"{"model": "m", "x": {"model": "n"}}"#, Some("m"));
        check(r#"{"x": [1], "mod\u0065l": "m"}"#, Some("m"));
        check(r#"{"model": "m", "models": ["a", "b"]}"#, Some("a b m"));
        check(r#"{"model": "m", "models": null}"#, Some("m"));
        for body in [
            r#"{"model": "m", "model": "n"}"#,
            r#"{"model": "m", "Model": "n"}"#,
            r#"{"MODEL": "n"}"#,
            r#"{"model": 7}"#,
            r#"{"model": "m", "models": "n"}"#,
            r#"{"model": "m"} {"model": "n"}"#,
            "{}",
            "[]",
            "",
            "\u{feff}{}",
        ] {
            check(body, None);
        }
    }
}
