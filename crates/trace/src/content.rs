//! Message content: plain text, or a list of typed blocks.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::{Deserializer, Error};
use serde_json::value::RawValue;
use steersman_engine::digest::hash_bytes;

use crate::extent::elements;
use crate::lenient::{Flag, MAX_ITEMS, Raw, Str, parse};

/// Content of a message or of a tool result.
#[derive(Clone, Debug, Default)]
pub(crate) enum Content<'a> {
    /// Null, missing, or of a type nobody writes.
    #[default]
    Empty,
    /// Plain text.
    Text(Str<'a>),
    /// Plain text with its escapes resolved.
    Resolved(Cow<'a, str>),
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
    /// From raw JSON; a bare string is a block of text.
    fn of_raw(raw: &'a str) -> serde_json::Result<Self> {
        match raw.as_bytes().first() {
            Some(b'{') => parse(raw),
            Some(b'"') => Ok(Self::of_text(Str::of_raw(raw))),
            _ => Ok(Self::default()),
        }
    }

    fn of_text(text: Str<'a>) -> Self {
        Self { kind: Str::plain("text"), text, ..Self::default() }
    }

    /// Whether the block is visible text.
    fn is_text(&self) -> bool {
        matches!(
            self.kind.word(),
            "" | "text" | "input_text" | "output_text" | "summary_text" | "refusal"
        )
    }

    /// What stands for the block where only text can stand; empty for calls and reasoning.
    pub(crate) fn into_text(self) -> Cow<'a, str> {
        if self.is_text() {
            return if self.text.is_empty() { self.refusal.text() } else { self.text.text() };
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
            Self::Text(text) => text.text(),
            Self::Resolved(text) => text,
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

impl<'de: 'a, 'a> Deserialize<'de> for Content<'a> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let raw = <&RawValue>::deserialize(d)?.get();
        Ok(match raw.as_bytes().first() {
            Some(b'n') | None => Self::Empty,
            Some(b'[') => Self::Blocks(
                elements(raw)
                    .take(MAX_ITEMS)
                    .map(Block::of_raw)
                    .collect::<Result<_, _>>()
                    .map_err(D::Error::custom)?,
            ),
            Some(b'{') => Self::Blocks(vec![Block::of_raw(raw).map_err(D::Error::custom)?]),
            Some(_) => Self::Text(Str::of_raw(raw)),
        })
    }
}
