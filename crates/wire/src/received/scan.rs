//! The one scan over a body.

use std::fmt;

use serde::Deserializer;
use serde::de::{DeserializeSeed, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::walk;
use crate::Format;

/// Most items of one request. A longer list is refused, because its spans alone would take more
/// memory than any conversation that was ever measured.
pub(super) const MAX_ITEMS: usize = 100_000;

/// The fields that are looked at, by what they mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Items,
    System,
    Model,
    Stream,
    Tools,
    ToolChoice,
    /// Chat's tools of old, and the choice among them.
    Functions,
    FunctionCall,
    /// Where the shape of the answer is asked for.
    Shape,
    /// Anthropic's older place of the same.
    OldShape,
    Limit,
    /// Chat's older name of the limit.
    OldLimit,
    Thinking,
    PromptCache,
    Metadata,
    ClientMetadata,
    Previous,
}

const KEYS: usize = Key::Previous as usize + 1;

/// Names of a format's fields. Where a format has two spellings, the first is the usual one.
pub(super) const fn names(format: Format) -> &'static [(&'static str, Key)] {
    match format {
        Format::OpenAiChat => &[
            ("messages", Key::Items),
            ("model", Key::Model),
            ("stream", Key::Stream),
            ("tools", Key::Tools),
            ("tool_choice", Key::ToolChoice),
            ("functions", Key::Functions),
            ("function_call", Key::FunctionCall),
            ("response_format", Key::Shape),
            ("max_completion_tokens", Key::Limit),
            ("max_tokens", Key::OldLimit),
            ("prompt_cache_key", Key::PromptCache),
            ("metadata", Key::Metadata),
        ],
        Format::OpenAiResponses => &[
            ("input", Key::Items),
            ("instructions", Key::System),
            ("model", Key::Model),
            ("stream", Key::Stream),
            ("tools", Key::Tools),
            ("tool_choice", Key::ToolChoice),
            ("text", Key::Shape),
            ("max_output_tokens", Key::Limit),
            ("prompt_cache_key", Key::PromptCache),
            ("metadata", Key::Metadata),
            ("client_metadata", Key::ClientMetadata),
            ("previous_response_id", Key::Previous),
        ],
        Format::Anthropic => &[
            ("messages", Key::Items),
            ("system", Key::System),
            ("model", Key::Model),
            ("stream", Key::Stream),
            ("tools", Key::Tools),
            ("tool_choice", Key::ToolChoice),
            ("output_config", Key::Shape),
            ("output_format", Key::OldShape),
            ("max_tokens", Key::Limit),
            ("thinking", Key::Thinking),
            ("metadata", Key::Metadata),
        ],
        Format::Gemini => &[
            ("contents", Key::Items),
            ("systemInstruction", Key::System),
            ("system_instruction", Key::System),
            ("tools", Key::Tools),
            ("toolConfig", Key::ToolChoice),
            ("tool_config", Key::ToolChoice),
            ("generationConfig", Key::Shape),
            ("generation_config", Key::Shape),
        ],
    }
}

/// What the scan found.
#[derive(Debug, Default)]
pub(super) struct Scanned<'a> {
    fields: [Option<&'a RawValue>; KEYS],
    pub(super) items: Vec<&'a RawValue>,
    /// The items as a whole, where the scan did not take them apart: they are empty or no list.
    pub(super) whole: Option<&'a RawValue>,
    /// Whether there are more items than are kept.
    pub(super) too_many: bool,
}

impl<'a> Scanned<'a> {
    /// The field, unless it is null.
    pub(super) fn field(&self, key: Key) -> Option<&'a RawValue> {
        self.written(key).filter(|value| value.get() != "null")
    }

    /// The field, if it is there at all.
    pub(super) fn written(&self, key: Key) -> Option<&'a RawValue> {
        self.fields[key as usize]
    }

    /// The value at the key of the items, in place of its items.
    fn take_whole(&mut self) {
        let whole = self.written(Key::Items);
        if let Some(whole) = whole.filter(|whole| whole.get().starts_with('[')) {
            let mut parser = serde_json::Deserializer::from_str(whole.get());
            // Cannot fail: the parser has been over this list.
            let _ = parser.deserialize_seq(Items(self));
        } else if whole.is_some_and(|whole| whole.get().starts_with('"')) {
            self.items.extend(whole);
        }
        self.whole = whole;
    }
}

/// Scans a body.
///
/// # Errors
/// If it is no JSON object.
pub(super) fn scan(format: Format, body: &[u8]) -> Result<Scanned<'_>, serde_json::Error> {
    let run = |apart| {
        let mut parser = serde_json::Deserializer::from_slice(body);
        let found = parser.deserialize_map(Body { format, apart })?;
        parser.end().map(|()| found)
    };
    if let Ok(found) = run(true) {
        return Ok(found);
    }
    let mut found = run(false)?;
    found.take_whole();
    Ok(found)
}

/// Reads the outermost object.
struct Body {
    format: Format,
    /// Take the items apart while scanning, and fail if they are empty or no list.
    apart: bool,
}

impl<'de> Visitor<'de> for Body {
    type Value = Scanned<'de>;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Scanned<'de>, A::Error> {
        let mut found = Scanned::default();
        while let Some(written) = map.next_key::<&'de RawValue>()? {
            let known = names(self.format).iter();
            let known = known.copied().find(|(name, _)| walk::is_key(written.get(), name));
            match known {
                None => {
                    map.next_value::<IgnoredAny>()?;
                }
                Some((_, Key::Items)) if self.apart => {
                    map.next_value_seed(Items(&mut found))?;
                    if found.items.is_empty() {
                        return Err(A::Error::custom("no items"));
                    }
                }
                Some((_, key)) => found.fields[key as usize] = Some(map.next_value()?),
            }
        }
        Ok(found)
    }
}

/// Reads the list of items into what was found.
struct Items<'s, 'de>(&'s mut Scanned<'de>);

impl<'de> DeserializeSeed<'de> for Items<'_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Items<'_, 'de> {
    type Value = ();

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("a list of items")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let Scanned { items, too_many, .. } = self.0;
        // The last of several lists counts, as with most parsers.
        items.clear();
        while items.len() < MAX_ITEMS {
            match list.next_element()? {
                Some(item) => items.push(item),
                None => return Ok(()),
            }
        }
        while list.next_element::<IgnoredAny>()?.is_some() {
            *too_many = true;
        }
        Ok(())
    }
}
