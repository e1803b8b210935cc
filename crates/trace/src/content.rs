//! Message content: plain text, or a list of typed blocks.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use steersman_engine::digest::hash_bytes;

use crate::lenient::{Flag, MAX_ITEMS, Raw, Str};

/// Content of a message or of a tool result.
#[derive(Clone, Debug, Default)]
pub(crate) enum Content<'a> {
    /// Null, missing, or of a type nobody writes.
    #[default]
    Empty,
    /// Plain text.
    Text(Cow<'a, str>),
    /// Typed blocks, at most [`MAX_ITEMS`].
    Blocks(Vec<Block<'a>>),
}

/// One typed block of content, as any of the providers writes it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Block<'a> {
    #[serde(rename = "type", borrow)]
    pub(crate) kind: Str<'a>,
    #[serde(borrow)]
    pub(crate) text: Str<'a>,
    #[serde(borrow)]
    pub(crate) thinking: Str<'a>,
    #[serde(borrow)]
    pub(crate) refusal: Str<'a>,
    #[serde(borrow)]
    pub(crate) id: Str<'a>,
    #[serde(borrow)]
    pub(crate) name: Str<'a>,
    #[serde(borrow)]
    pub(crate) input: Raw<'a>,
    #[serde(borrow)]
    pub(crate) tool_use_id: Str<'a>,
    #[serde(borrow)]
    pub(crate) content: Box<Content<'a>>,
    pub(crate) is_error: Flag,
    #[serde(borrow)]
    source: Raw<'a>,
    #[serde(borrow)]
    image_url: Raw<'a>,
}

impl<'a> Block<'a> {
    fn of_text(text: Str<'a>) -> Self {
        Self { kind: Str(Cow::Borrowed("text")), text, ..Self::default() }
    }

    /// Whether the block is visible text.
    fn is_text(&self) -> bool {
        matches!(
            &*self.kind,
            "" | "text" | "input_text" | "output_text" | "summary_text" | "refusal"
        )
    }

    /// What stands for the block where only text can stand; empty for calls and reasoning.
    pub(crate) fn into_text(self) -> Cow<'a, str> {
        if self.is_text() {
            return if self.text.is_empty() { self.refusal.0 } else { self.text.0 };
        }
        let picture = self.source.or(self.image_url);
        match picture {
            // Two screenshots are two outcomes: the placeholder must differ as they do.
            Some(raw) => Cow::Owned(format!("[image {:016x}]", hash_bytes(raw.get().as_bytes()))),
            None => Cow::Borrowed(""),
        }
    }
}

impl<'a> Content<'a> {
    /// The visible text; text blocks are joined by line breaks.
    pub(crate) fn into_text(self) -> Cow<'a, str> {
        match self {
            Self::Empty => Cow::Borrowed(""),
            Self::Text(text) => text,
            Self::Blocks(blocks) => join(blocks.into_iter().map(Block::into_text)),
        }
    }
}

/// Joins the parts that are not empty by line breaks; a single part is not copied.
pub(crate) fn join<'a>(parts: impl Iterator<Item = Cow<'a, str>>) -> Cow<'a, str> {
    let mut all: Cow<'a, str> = Cow::Borrowed("");
    for part in parts.filter(|part| !part.is_empty()) {
        append(&mut all, part);
    }
    all
}

/// Appends text after a line break; an empty side costs nothing.
pub(crate) fn append<'a>(text: &mut Cow<'a, str>, more: Cow<'a, str>) {
    if text.is_empty() {
        *text = more;
    } else if !more.is_empty() {
        let text = text.to_mut();
        text.push('\n');
        text.push_str(&more);
    }
}

struct ContentVisitor;

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = Content<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("text or blocks")
    }
    fn visit_borrowed_str<E>(self, v: &'de str) -> Result<Content<'de>, E> {
        Ok(Content::Text(Cow::Borrowed(v)))
    }
    fn visit_str<E>(self, v: &str) -> Result<Content<'de>, E> {
        Ok(Content::Text(Cow::Owned(v.to_owned())))
    }
    fn visit_string<E>(self, v: String) -> Result<Content<'de>, E> {
        Ok(Content::Text(Cow::Owned(v)))
    }
    fn visit_unit<E>(self) -> Result<Content<'de>, E> {
        Ok(Content::Empty)
    }
    fn visit_bool<E>(self, v: bool) -> Result<Content<'de>, E> {
        Ok(Content::Text(Cow::Borrowed(if v { "true" } else { "false" })))
    }
    fn visit_i64<E>(self, v: i64) -> Result<Content<'de>, E> {
        Ok(Content::Text(Cow::Owned(v.to_string())))
    }
    fn visit_u64<E>(self, v: u64) -> Result<Content<'de>, E> {
        Ok(Content::Text(Cow::Owned(v.to_string())))
    }
    fn visit_f64<E>(self, v: f64) -> Result<Content<'de>, E> {
        Ok(Content::Text(Cow::Owned(v.to_string())))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Content<'de>, A::Error> {
        let mut blocks = Vec::new();
        while blocks.len() < MAX_ITEMS {
            match seq.next_element::<AnyBlock<'de>>()? {
                Some(block) => blocks.push(block.0),
                None => return Ok(Content::Blocks(blocks)),
            }
        }
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Content::Blocks(blocks))
    }
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Content<'de>, A::Error> {
        Ok(Content::Blocks(vec![Block::deserialize(MapAccessDeserializer::new(map))?]))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Content<'a> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_any(ContentVisitor)
    }
}

/// A block that may also be written as a bare string.
struct AnyBlock<'a>(Block<'a>);

impl<'de: 'a, 'a> Deserialize<'de> for AnyBlock<'a> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_any(BlockVisitor).map(Self)
    }
}

struct BlockVisitor;

impl<'de> Visitor<'de> for BlockVisitor {
    type Value = Block<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a block")
    }
    fn visit_borrowed_str<E>(self, v: &'de str) -> Result<Block<'de>, E> {
        Ok(Block::of_text(Str(Cow::Borrowed(v))))
    }
    fn visit_str<E>(self, v: &str) -> Result<Block<'de>, E> {
        Ok(Block::of_text(Str(Cow::Owned(v.to_owned()))))
    }
    fn visit_unit<E>(self) -> Result<Block<'de>, E> {
        Ok(Block::default())
    }
    fn visit_bool<E>(self, _: bool) -> Result<Block<'de>, E> {
        Ok(Block::default())
    }
    fn visit_i64<E>(self, _: i64) -> Result<Block<'de>, E> {
        Ok(Block::default())
    }
    fn visit_u64<E>(self, _: u64) -> Result<Block<'de>, E> {
        Ok(Block::default())
    }
    fn visit_f64<E>(self, _: f64) -> Result<Block<'de>, E> {
        Ok(Block::default())
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Block<'de>, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Block::default())
    }
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Block<'de>, A::Error> {
        Block::deserialize(MapAccessDeserializer::new(map))
    }
}
