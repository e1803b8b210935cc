//! JSON field types that accept whatever a recorder wrote.
//!
//! A value of an unexpected type counts as absent: one odd field must not cost a whole run.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::escape::unescape;

/// Elements kept of one list inside a message (calls, blocks); the rest is dropped.
pub(crate) const MAX_ITEMS: usize = 4096;

/// Text as it stands in the JSON, between its quotes; numbers and booleans count as text, anything
/// else as empty.
///
/// Escapes are resolved by [`Str::text`] only, when the text is needed: a run's parsed steps are
/// then mere references into its line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Str<'a>(&'a str);

impl<'a> Str<'a> {
    /// A text without escapes.
    pub(crate) fn plain(text: &'a str) -> Self {
        Self(text)
    }

    /// The text; borrowed if nothing in it was escaped.
    pub(crate) fn text(self) -> Cow<'a, str> {
        unescape(self.0)
    }

    /// The text with its escapes: to compare with the words of a format, and for ids.
    pub(crate) fn word(self) -> &'a str {
        self.0
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// From the raw JSON text of a value.
    pub(crate) fn of_raw(raw: &'a str) -> Self {
        Self(match raw.as_bytes().first() {
            Some(b'"') => inside(raw),
            Some(b'n' | b'{' | b'[') | None => "",
            Some(_) => raw,
        })
    }
}

/// What stands between the quotes of a raw JSON string; other text as it is.
fn inside(raw: &str) -> &str {
    raw.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(raw)
}

/// A whole number; fractions are rounded, anything else is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Count(pub(crate) Option<i64>);

impl Count {
    /// The number, zero if absent or negative.
    pub(crate) fn amount(self) -> u64 {
        self.0.and_then(|n| u64::try_from(n).ok()).unwrap_or(0)
    }

    /// The number, `None` if absent or negative.
    pub(crate) fn positive(self) -> Option<u64> {
        self.0.and_then(|n| u64::try_from(n).ok())
    }

    /// The number as an exit code.
    pub(crate) fn code(self) -> Option<i32> {
        self.0.and_then(|n| i32::try_from(n).ok())
    }
}

/// Dollars, kept as nano-dollars rounded to the nearest one; negative or absurd sums count as zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Dollars(pub(crate) u64);

/// Largest sum taken for money: a billion dollars per call is a broken field.
const MAX_DOLLARS: f64 = 1e9;

impl Dollars {
    fn from_f64(dollars: f64) -> Self {
        if dollars.is_finite() && dollars > 0.0 && dollars <= MAX_DOLLARS {
            Self((dollars * 1e9).round() as u64)
        } else {
            Self(0)
        }
    }
}

/// Yes or no; a non-empty text (an error message in place of a flag) is yes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Flag(pub(crate) Option<bool>);

impl Flag {
    pub(crate) fn is_set(self) -> bool {
        self.0 == Some(true)
    }
}

/// An object; anything else counts as the default.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Obj<T>(pub(crate) T);

/// An object; anything else is an error. A plain derived type would take a list as well.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Strict<T>(pub(crate) T);

/// Parses a JSON object.
///
/// # Errors
/// If the text is not valid JSON, or no object.
pub(crate) fn parse<'a, T: Deserialize<'a>>(json: &'a str) -> serde_json::Result<T> {
    serde_json::from_str::<Strict<T>>(json).map(|Strict(value)| value)
}

/// A list of objects, at most [`MAX_ITEMS`]; a single object counts as a list of one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct List<T>(pub(crate) Vec<T>);

impl<T> Default for List<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

/// Raw JSON text of a value; `None` for null and absent.
pub(crate) type Raw<'a> = Option<&'a RawValue>;

/// The JSON text of a value, not read yet; `None` for null and absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Unread<'a>(pub(crate) Option<&'a str>);

impl<'a> Unread<'a> {
    /// From the raw JSON text of a value.
    pub(crate) fn of_raw(raw: &'a str) -> Self {
        Self((raw != "null").then_some(raw))
    }
}

/// The text inside raw JSON: a string's own text, anything else as it stands.
pub(crate) fn raw_text(raw: &RawValue) -> Cow<'_, str> {
    text_of(raw.get())
}

/// As [`raw_text`] of the text itself.
pub(crate) fn text_of(text: &str) -> Cow<'_, str> {
    if text.starts_with('"') { unescape(inside(text)) } else { Cow::Borrowed(text) }
}

impl<'de: 'a, 'a> Deserialize<'de> for Str<'a> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        Ok(Self::of_raw(<&RawValue>::deserialize(d)?.get()))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Unread<'a> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        Ok(Self::of_raw(<&RawValue>::deserialize(d)?.get()))
    }
}

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let text = inside(<&RawValue>::deserialize(d)?.get()).trim();
        let rounded = || {
            let number: f64 = text.parse().ok()?;
            (number.is_finite() && number.abs() < 9e15).then(|| number.round() as i64)
        };
        Ok(Self(text.parse().ok().or_else(rounded)))
    }
}

impl<'de> Deserialize<'de> for Dollars {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let text = inside(<&RawValue>::deserialize(d)?.get());
        Ok(Self::from_f64(text.trim().parse().unwrap_or(0.0)))
    }
}

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let raw = <&RawValue>::deserialize(d)?.get();
        Ok(Self(match raw.as_bytes().first() {
            Some(b't') => Some(true),
            Some(b'f') => Some(false),
            Some(b'"') => match inside(raw) {
                "" => None,
                "false" => Some(false),
                _ => Some(true),
            },
            Some(b'-' | b'0'..=b'9') => raw.parse::<f64>().ok().map(|number| number != 0.0),
            _ => None,
        }))
    }
}

/// Implements the visitor methods that swallow scalars as the default.
macro_rules! scalar_is_absent {
    ($absent:expr) => {
        fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
            Ok($absent)
        }
        fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
            Ok($absent)
        }
        fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
            Ok($absent)
        }
        fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
            Ok($absent)
        }
        fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
            Ok($absent)
        }
        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            Ok($absent)
        }
    };
}

struct ObjVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de> + Default> Visitor<'de> for ObjVisitor<T> {
    type Value = Obj<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }
    scalar_is_absent!(Obj(T::default()));
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Obj<T>, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Obj(T::default()))
    }
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Obj<T>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(Obj)
    }
}

impl<'de, T: Deserialize<'de> + Default> Deserialize<'de> for Obj<T> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_any(ObjVisitor(PhantomData))
    }
}

struct StrictVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for StrictVisitor<T> {
    type Value = Strict<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Strict<T>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(Strict)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Strict<T> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_any(StrictVisitor(PhantomData))
    }
}

struct ListVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de> + Default> Visitor<'de> for ListVisitor<T> {
    type Value = List<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of objects")
    }
    scalar_is_absent!(List(Vec::new()));
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<List<T>, A::Error> {
        let mut items = Vec::new();
        while items.len() < MAX_ITEMS {
            match seq.next_element::<Obj<T>>()? {
                Some(item) => items.push(item.0),
                None => return Ok(List(items)),
            }
        }
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(List(items))
    }
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<List<T>, A::Error> {
        Ok(List(vec![T::deserialize(MapAccessDeserializer::new(map))?]))
    }
}

impl<'de, T: Deserialize<'de> + Default> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_any(ListVisitor(PhantomData))
    }
}
