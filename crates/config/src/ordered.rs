//! JSON that keeps the order of its keys, so that a policy is shown in the order of its types.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Number;
use steersman_engine::Policy;

/// A JSON value whose objects keep the order in which their keys were written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Ordered {
    Null,
    Switch(bool),
    Number(Number),
    Text(String),
    List(Vec<Ordered>),
    Map(Vec<(String, Ordered)>),
}

impl Ordered {
    /// The policy as it is serialised, in the order of its fields. Numbers keep their shortest
    /// spelling: 0.6 stays 0.6.
    pub(crate) fn of(policy: &Policy) -> Self {
        // A policy is plain data; serialising it cannot fail.
        let text = serde_json::to_string(policy).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or(Self::Null)
    }

    /// The value of a key.
    pub(crate) fn key(&self, name: &str) -> Option<&Self> {
        let Self::Map(entries) = self else { return None };
        entries.iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// The value at the end of a path.
    pub(crate) fn at<'p>(&self, path: impl IntoIterator<Item = &'p str>) -> Option<&Self> {
        path.into_iter().try_fold(self, |value, name| value.key(name))
    }

    /// The value as JSON without order.
    pub(crate) fn json(&self) -> serde_json::Value {
        match self {
            Self::Null => serde_json::Value::Null,
            Self::Switch(on) => (*on).into(),
            Self::Number(number) => serde_json::Value::Number(number.clone()),
            Self::Text(text) => text.clone().into(),
            Self::List(items) => items.iter().map(Self::json).collect(),
            Self::Map(entries) => {
                entries.iter().map(|(key, value)| (key.clone(), value.json())).collect()
            }
        }
    }
}

impl<'de> Deserialize<'de> for Ordered {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OrderedVisitor)
    }
}

struct OrderedVisitor;

impl<'de> Visitor<'de> for OrderedVisitor {
    type Value = Ordered;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Ordered, E> {
        Ok(Ordered::Null)
    }

    fn visit_bool<E>(self, on: bool) -> Result<Ordered, E> {
        Ok(Ordered::Switch(on))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Ordered, E> {
        Ok(Ordered::Number(number.into()))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Ordered, E> {
        Ok(Ordered::Number(number.into()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Ordered, E> {
        Ok(Number::from_f64(number).map_or(Ordered::Null, Ordered::Number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Ordered, E> {
        Ok(Ordered::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Ordered, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(Ordered::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Ordered, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(Ordered::Map(entries))
    }
}
