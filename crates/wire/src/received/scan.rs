//! The one scan over a body.

use std::fmt;
use std::ops::Range;

use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::walk;
use crate::Format;

/// Most items of one request. A longer list is refused, because its spans alone would take more
/// memory than any conversation that was ever measured.
pub(super) const MAX_ITEMS: usize = 100_000;
/// Longest body that is read, in bytes: places in it are kept as 32 bits.
const MAX_BODY: usize = u32::MAX as usize;

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
    Conversation,
}

const KEYS: usize = Key::Conversation as usize + 1;

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
            ("conversation", Key::Conversation),
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

/// A part of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    start: u32,
    end: u32,
}

impl Span {
    /// The part between two places of a body of at most [`MAX_BODY`] bytes.
    const fn new(start: usize, end: usize) -> Self {
        Self { start: start as u32, end: end as u32 }
    }

    pub(super) const fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// The same part of a body in which it begins `from` bytes later, and not `to`.
    pub(super) const fn moved(self, from: usize, to: usize) -> Self {
        let Range { start, end } = self.range();
        Self::new(start - from + to, end - from + to)
    }

    /// The text of it; empty if it is none, which a scan has ruled out.
    pub(super) fn of(self, body: &[u8]) -> &str {
        let bytes = body.get(self.range()).unwrap_or_default();
        std::str::from_utf8(bytes).unwrap_or_default()
    }
}

/// The fields of a request, where they stand.
pub(super) type Fields = [Option<Span>; KEYS];

/// What the scan found.
#[derive(Clone, Debug, Default)]
pub(super) struct Scanned {
    pub(super) fields: Fields,
    pub(super) items: Vec<Span>,
    /// The items as a whole, where they were not taken apart: they are empty or no list.
    pub(super) whole: Option<Span>,
    /// The place behind the list of items; `None` if there is none.
    pub(super) behind: Option<usize>,
    /// Whether a field that is looked at stands there more than once.
    pub(super) is_twice: bool,
    /// Whether there are more items than are kept.
    pub(super) too_many: bool,
}

/// Scans a body.
///
/// # Errors
/// If it is no JSON object.
pub(super) fn scan(format: Format, body: &[u8]) -> Result<Scanned, serde_json::Error> {
    let scan = Scan::new(format, body, 0, Scanned::default());
    scan.whole().ok_or_else(|| problem(body))
}

/// Goes on with a scan behind an item that ends at `at`; `found` is what stands before.
///
/// When the list has ended, `tail` is asked what is known of the rest of the body from there on,
/// and nothing of that is scanned if it is something.
///
/// # Errors
/// If the body is no JSON object, supposed that the part before is the beginning of one.
pub(super) fn scan_on(
    format: Format,
    body: &[u8],
    at: usize,
    found: Scanned,
    tail: impl FnOnce(usize) -> Option<Fields>,
) -> Result<Scanned, serde_json::Error> {
    let scan = Scan::new(format, body, at, found);
    scan.rest(tail).ok_or_else(|| problem(body))
}

/// What is wrong with a body that no scan could read.
fn problem(body: &[u8]) -> serde_json::Error {
    if body.len() > MAX_BODY {
        return serde_json::Error::custom("it is longer than 4 GiB");
    }
    let mut parser = serde_json::Deserializer::from_slice(body);
    let read = parser.deserialize_map(AnyObject).and_then(|()| parser.end());
    read.err().unwrap_or_else(|| serde_json::Error::custom("it holds bytes that are no text"))
}

/// Takes any object, and says what is wrong if it is none.
struct AnyObject;

impl<'de> Visitor<'de> for AnyObject {
    type Value = ();

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(())
    }
}

/// A scan at a place of a body. Values are read by the JSON parser, so that nothing is taken that
/// is not JSON; what holds them together is read here, because a parser cannot begin in the middle.
/// Every step is `None` where something is wrong.
struct Scan<'a> {
    format: Format,
    body: &'a [u8],
    at: usize,
    found: Scanned,
}

impl<'a> Scan<'a> {
    const fn new(format: Format, body: &'a [u8], at: usize, found: Scanned) -> Self {
        Self { format, body, at, found }
    }

    /// A whole body.
    fn whole(mut self) -> Option<Scanned> {
        if self.body.len() > MAX_BODY {
            return None;
        }
        self.take(b'{')?;
        if self.peek()? == b'}' {
            self.at += 1;
        } else {
            self.member()?;
            self.members()?;
        }
        self.end()
    }

    /// What follows an item.
    fn rest(mut self, tail: impl FnOnce(usize) -> Option<Fields>) -> Option<Scanned> {
        if self.body.len() > MAX_BODY {
            return None;
        }
        self.items()?;
        if let Some(known) = tail(self.at) {
            for (field, known) in self.found.fields.iter_mut().zip(known) {
                *field = known.or(*field);
            }
            return Some(self.found);
        }
        self.members()?;
        self.end()
    }

    /// The members that follow one, and the end of the object.
    fn members(&mut self) -> Option<()> {
        while self.goes_on(b'}')? {
            self.member()?;
        }
        Some(())
    }

    fn member(&mut self) -> Option<()> {
        let key = self.value()?;
        if self.body.get(key.range().start) != Some(&b'"') {
            return None;
        }
        self.take(b':')?;
        let known = names(self.format).iter().copied();
        let written = key.of(self.body);
        match known.clone().find(|(name, _)| walk::is_key(written, name)) {
            Some((_, Key::Items)) => self.list(),
            Some((_, key)) => {
                let value = self.value()?;
                self.found.is_twice |= self.found.fields[key as usize].is_some();
                self.found.fields[key as usize] = Some(value);
                Some(())
            }
            None => self.value().map(|_| ()),
        }
    }

    /// The value at the key of the items. The last of several lists counts, as with most parsers.
    fn list(&mut self) -> Option<()> {
        self.found.is_twice |= self.found.behind.is_some() || self.found.whole.is_some();
        self.found.behind = None;
        self.found.items.clear();
        self.found.whole = None;
        let start = self.blank();
        let is_list = self.body.get(start) == Some(&b'[');
        let is_empty = is_list && {
            self.at += 1;
            self.peek()? == b']'
        };
        if is_list && !is_empty {
            self.item()?;
            return self.items();
        }
        self.at = start;
        let whole = self.value()?;
        if self.body.get(start) == Some(&b'"') {
            self.found.items.push(whole);
        }
        self.found.whole = Some(whole);
        Some(())
    }

    /// The items that follow one, and the end of the list.
    fn items(&mut self) -> Option<()> {
        while self.goes_on(b']')? {
            self.item()?;
        }
        self.found.behind = Some(self.at);
        Some(())
    }

    fn item(&mut self) -> Option<()> {
        let item = self.value()?;
        if self.found.items.len() < MAX_ITEMS {
            self.found.items.push(item);
        } else {
            self.found.too_many = true;
        }
        Some(())
    }

    /// Behind a value: whether another one follows in what `close` ends; goes there.
    fn goes_on(&mut self, close: u8) -> Option<bool> {
        let byte = self.peek()?;
        self.at += 1;
        match byte {
            b',' => Some(true),
            byte if byte == close => Some(false),
            _ => None,
        }
    }

    /// The value that comes next.
    fn value(&mut self) -> Option<Span> {
        let start = self.blank();
        let mut parser = serde_json::Deserializer::from_slice(self.body.get(start..)?);
        let value = <&RawValue>::deserialize(&mut parser).ok()?;
        self.at = start + value.get().len();
        Some(Span::new(start, self.at))
    }

    /// Goes to the next place that is no white space.
    fn blank(&mut self) -> usize {
        let rest = self.body.get(self.at..).unwrap_or_default();
        let is_blank = |byte: &u8| matches!(byte, b' ' | b'\n' | b'\t' | b'\r');
        self.at += rest.iter().position(|byte| !is_blank(byte)).unwrap_or(rest.len());
        self.at
    }

    fn peek(&mut self) -> Option<u8> {
        let at = self.blank();
        self.body.get(at).copied()
    }

    fn take(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    fn end(mut self) -> Option<Scanned> {
        self.peek().is_none().then_some(self.found)
    }
}
