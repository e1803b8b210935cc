//! What stands behind the question mark.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// Most bytes of a query.
const MAX_QUERY: usize = 4096;

/// A parameter of a query.
pub(super) struct Param {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) takes: Takes,
}

/// What a parameter may be.
#[derive(Clone, Copy)]
pub(super) enum Takes {
    Text { max: usize },
    Number { min: u64, max: u64 },
    Word(&'static [&'static str]),
}

impl Takes {
    pub(super) fn schema(self) -> Value {
        match self {
            Self::Text { max } => json!({"type": "string", "maxLength": max}),
            Self::Number { min, max: u64::MAX } => json!({"type": "integer", "minimum": min}),
            Self::Number { min, max } => {
                json!({"type": "integer", "minimum": min, "maximum": max})
            }
            Self::Word(words) => json!({"enum": words}),
        }
    }

    fn check(self, name: &str, value: &str) -> Result<(), String> {
        match self {
            Self::Text { max } if value.len() > max => {
                Err(format!("`{name}` is too long: at most {max} bytes"))
            }
            Self::Text { .. } => Ok(()),
            Self::Number { min, max } => {
                let fits = value.parse().is_ok_and(|number: u64| (min..=max).contains(&number));
                let most = if max == u64::MAX { String::new() } else { format!(" to {max}") };
                if fits { Ok(()) } else { Err(format!("`{name}` is a number from {min}{most}")) }
            }
            Self::Word(words) if words.contains(&value) => Ok(()),
            Self::Word(words) => Err(format!("`{name}` is one of: {}", words.join(", "))),
        }
    }
}

/// The parameters of a request, each of them allowed.
#[derive(Debug, Default)]
pub(super) struct Query(BTreeMap<&'static str, String>);

impl Query {
    /// # Errors
    /// What is wrong with it, and what is allowed.
    pub(super) fn parse(params: &'static [Param], query: &str) -> Result<Self, String> {
        if query.len() > MAX_QUERY {
            return Err(format!("the query is too long: at most {MAX_QUERY} bytes"));
        }
        let mut found = BTreeMap::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let Some(param) = params.iter().find(|param| param.name == name) else {
                return Err(unknown(params, name));
            };
            let value = decode(value).ok_or_else(|| format!("`{name}` is not UTF-8"))?;
            param.takes.check(name, &value)?;
            if found.insert(param.name, value).is_some() {
                return Err(format!("`{name}` is given twice"));
            }
        }
        Ok(Self(found))
    }

    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    pub(super) fn number(&self, name: &str) -> Option<u64> {
        self.text(name)?.parse().ok()
    }
}

fn unknown(params: &[Param], name: &str) -> String {
    let shown: String = name.chars().take(80).collect();
    let allowed: Vec<&str> = params.iter().map(|param| param.name).collect();
    let allowed = if allowed.is_empty() { "none".to_owned() } else { allowed.join(", ") };
    format!("there is no parameter {shown:?}; allowed: {allowed}")
}

/// Decodes `%41` and `+`; `None` if what comes of it is no text.
pub(crate) fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        rest = tail;
        let digit = |at: usize| tail.get(at).and_then(|byte| char::from(*byte).to_digit(16));
        match (first, digit(0), digit(1)) {
            (b'%', Some(high), Some(low)) => {
                bytes.push(u8::try_from(high * 16 + low).ok()?);
                rest = tail.get(2..)?;
            }
            (b'+', ..) => bytes.push(b' '),
            (byte, ..) => bytes.push(*byte),
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    static PARAMS: [Param; 3] = [
        Param { name: "text", about: "", takes: Takes::Text { max: 8 } },
        Param { name: "limit", about: "", takes: Takes::Number { min: 1, max: 9 } },
        Param { name: "bucket", about: "", takes: Takes::Word(&["hour", "day"]) },
    ];

    fn check(query: &str, expected: Result<&str, &str>) {
        let found = Query::parse(&PARAMS, query);
        let found = found.map(|query| format!("{:?}", query.0));
        match (&found, expected) {
            (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{query}"),
            (Err(found), Err(expected)) => assert!(found.contains(expected), "{query}: {found}"),
            _ => panic!("{query}: {found:?} is not {expected:?}"),
        }
    }

    #[test]
    fn queries_are_read_or_refused_with_what_is_allowed() {
        check("", Ok("{}"));
        check("text=a%20b%2B+c&limit=9&", Ok(r#"{"limit": "9", "text": "a b+ c"}"#));
        check("text=%C3%A9%4", Ok(r#"{"text": "é%4"}"#));
        check("text=%ff", Err("not UTF-8"));
        check("text=123456789", Err("at most 8 bytes"));
        check("limit=0", Err("from 1 to 9"));
        check("limit=-1", Err("from 1 to 9"));
        check("limit=", Err("from 1 to 9"));
        check("bucket=week", Err("hour, day"));
        check("limit=1&limit=2", Err("given twice"));
        check("no=1", Err("allowed: text, limit, bucket"));
        check(&"x".repeat(5000), Err("too long"));
    }
}
