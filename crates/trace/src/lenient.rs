//! JSON field types that accept whatever a recorder wrote.
//!
//! A value of an unexpected type counts as absent: one odd field must not cost a whole run.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// Elements kept of one list inside a message (calls, blocks); the rest is dropped.
pub(crate) const MAX_ITEMS: usize = 4096;

/// Text; numbers and booleans count as their digits, anything else as empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Str<'a>(pub(crate) Cow<'a, str>);

impl Str<'_> {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl std::ops::Deref for Str<'_> {
    type Target = str;
    fn deref(&self) -> &str {
        &self.0
    }
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

/// The text inside raw JSON: a string's own text, anything else as it stands.
pub(crate) fn raw_text(raw: &RawValue) -> Cow<'_, str> {
    let text = raw.get();
    if text.starts_with('"') {
        serde_json::from_str::<Str<'_>>(text).map_or(Cow::Borrowed(text), |s| s.0)
    } else {
        Cow::Borrowed(text)
    }
}

/// Implements the visitor methods that swallow compound values as absent.
macro_rules! compound_is_absent {
    ($lifetime:lifetime, $absent:expr) => {
        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            Ok($absent)
        }
        fn visit_none<E>(self) -> Result<Self::Value, E> {
            Ok($absent)
        }
        fn visit_some<D: Deserializer<$lifetime>>(self, d: D) -> Result<Self::Value, D::Error> {
            d.deserialize_any(self)
        }
        fn visit_seq<A: SeqAccess<$lifetime>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
            while seq.next_element::<IgnoredAny>()?.is_some() {}
            Ok($absent)
        }
        fn visit_map<A: MapAccess<$lifetime>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            Ok($absent)
        }
    };
}

struct StrVisitor;

impl<'de> Visitor<'de> for StrVisitor {
    type Value = Str<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("text")
    }
    fn visit_borrowed_str<E>(self, v: &'de str) -> Result<Str<'de>, E> {
        Ok(Str(Cow::Borrowed(v)))
    }
    fn visit_str<E>(self, v: &str) -> Result<Str<'de>, E> {
        Ok(Str(Cow::Owned(v.to_owned())))
    }
    fn visit_string<E>(self, v: String) -> Result<Str<'de>, E> {
        Ok(Str(Cow::Owned(v)))
    }
    fn visit_bool<E>(self, v: bool) -> Result<Str<'de>, E> {
        Ok(Str(Cow::Borrowed(if v { "true" } else { "false" })))
    }
    fn visit_i64<E>(self, v: i64) -> Result<Str<'de>, E> {
        Ok(Str(Cow::Owned(v.to_string())))
    }
    fn visit_u64<E>(self, v: u64) -> Result<Str<'de>, E> {
        Ok(Str(Cow::Owned(v.to_string())))
    }
    fn visit_f64<E>(self, v: f64) -> Result<Str<'de>, E> {
        Ok(Str(Cow::Owned(v.to_string())))
    }
    compound_is_absent!('de, Str::default());
}

impl<'de: 'a, 'a> Deserialize<'de> for Str<'a> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_any(StrVisitor)
    }
}

struct CountVisitor;

impl<'de> Visitor<'de> for CountVisitor {
    type Value = Count;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number")
    }
    fn visit_bool<E>(self, _: bool) -> Result<Count, E> {
        Ok(Count(None))
    }
    fn visit_i64<E>(self, v: i64) -> Result<Count, E> {
        Ok(Count(Some(v)))
    }
    fn visit_u64<E>(self, v: u64) -> Result<Count, E> {
        Ok(Count(i64::try_from(v).ok()))
    }
    fn visit_f64<E>(self, v: f64) -> Result<Count, E> {
        let fits = v.is_finite() && v.abs() < 9e15;
        Ok(Count(fits.then_some(v.round() as i64)))
    }
    fn visit_str<E>(self, v: &str) -> Result<Count, E> {
        Ok(Count(v.trim().parse().ok()))
    }
    compound_is_absent!('de, Count(None));
}

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_any(CountVisitor)
    }
}

struct DollarsVisitor;

impl<'de> Visitor<'de> for DollarsVisitor {
    type Value = Dollars;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a sum in dollars")
    }
    fn visit_bool<E>(self, _: bool) -> Result<Dollars, E> {
        Ok(Dollars(0))
    }
    fn visit_i64<E>(self, v: i64) -> Result<Dollars, E> {
        Ok(Dollars::from_f64(v as f64))
    }
    fn visit_u64<E>(self, v: u64) -> Result<Dollars, E> {
        Ok(Dollars::from_f64(v as f64))
    }
    fn visit_f64<E>(self, v: f64) -> Result<Dollars, E> {
        Ok(Dollars::from_f64(v))
    }
    fn visit_str<E>(self, v: &str) -> Result<Dollars, E> {
        Ok(Dollars::from_f64(v.trim().parse().unwrap_or(0.0)))
    }
    compound_is_absent!('de, Dollars(0));
}

impl<'de> Deserialize<'de> for Dollars {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_any(DollarsVisitor)
    }
}

struct FlagVisitor;

impl<'de> Visitor<'de> for FlagVisitor {
    type Value = Flag;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("yes or no")
    }
    fn visit_bool<E>(self, v: bool) -> Result<Flag, E> {
        Ok(Flag(Some(v)))
    }
    fn visit_i64<E>(self, v: i64) -> Result<Flag, E> {
        Ok(Flag(Some(v != 0)))
    }
    fn visit_u64<E>(self, v: u64) -> Result<Flag, E> {
        Ok(Flag(Some(v != 0)))
    }
    fn visit_f64<E>(self, v: f64) -> Result<Flag, E> {
        Ok(Flag(Some(v != 0.0)))
    }
    fn visit_str<E>(self, v: &str) -> Result<Flag, E> {
        Ok(Flag(match v {
            "" => None,
            "false" => Some(false),
            _ => Some(true),
        }))
    }
    compound_is_absent!('de, Flag(None));
}

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_any(FlagVisitor)
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
