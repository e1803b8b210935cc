//! Hashes of items that stay the same while clients write the same content differently.

use twox_hash::XxHash3_64;

use super::walk::{skip_blank, string_end, value_end};
use crate::Format;
use crate::json::MAX_DEPTH;

/// Where the hash of a list begins, and what tells an object from one.
const LIST: u64 = 0x2127_599B_F432_5C37;
const OBJECT: u64 = 0x8803_55F2_1E6D_1965;

/// What kind of value is hashed: fields that clients change are left out at the first two only.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// A message or an item.
    Item,
    /// A block of a content.
    Block,
    /// Anything else, such as the arguments of a call.
    Value,
}

/// The hash of one item of a conversation.
pub(super) fn item(format: Format, item: &str) -> u64 {
    if item.starts_with('"') {
        // The whole input of Responses as a text.
        let role = pair(bytes(b"\"role\""), bytes(b"\"user\""));
        let content = pair(bytes(b"\"content\""), text_as_blocks(string(item, 0).0));
        return object(role.wrapping_add(content));
    }
    Walk { text: item, at: 0, format }.value(Place::Item, 0)
}

/// The hash of a system prompt: a text, or blocks of text.
pub(super) fn system(format: Format, system: &str) -> u64 {
    let mut walk = Walk { text: system, at: 0, format };
    match system.as_bytes().first() {
        Some(b'"' | b'[') => walk.content(0),
        _ => walk.value(Place::Item, 0),
    }
}

/// A hash of hashes in order.
pub(super) fn chain(hashes: impl IntoIterator<Item = u64>) -> u64 {
    hashes.into_iter().fold(LIST, pair)
}

/// A hash of bytes.
pub(super) fn bytes(bytes: &[u8]) -> u64 {
    XxHash3_64::oneshot(bytes)
}

/// A hash of two hashes, in this order: both halves of a product. There are thousands of pairs in
/// a request, and what is hashed is hashed well already.
fn pair(first: u64, second: u64) -> u64 {
    let first = u128::from(first ^ 0x9E37_79B9_7F4A_7C15);
    let product = first * u128::from(second.rotate_left(32) ^ 0xD1B5_4A32_D192_ED03);
    (product as u64) ^ ((product >> 64) as u64)
}

/// The hash of an object by the sum of its members, which has no order.
fn object(sum: u64) -> u64 {
    pair(OBJECT, sum)
}

/// A text as the list of blocks that means the same.
fn text_as_blocks(text: u64) -> u64 {
    let kind = pair(bytes(b"\"type\""), bytes(b"\"text\""));
    chain([object(kind.wrapping_add(pair(bytes(b"\"text\""), text)))])
}

/// The hash of the text at `at` with its quotes, and where it ends. However its characters are
/// escaped, the hash is the same.
fn string(json: &str, at: usize) -> (u64, usize) {
    let (end, plain) = string_end(json.as_bytes(), at);
    let written = json.get(at..end).unwrap_or_default();
    let again = || {
        let decoded: String = serde_json::from_str(written).ok()?;
        serde_json::to_string(&decoded).ok()
    };
    match if plain { None } else { again() } {
        None => (bytes(written.as_bytes()), end),
        Some(again) => (bytes(again.as_bytes()), end),
    }
}

/// A place in the JSON text of one item.
struct Walk<'a> {
    text: &'a str,
    at: usize,
    format: Format,
}

impl Walk<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Hashes the value that begins here and goes behind it. Deeper than 64 levels a value is
    /// hashed as it is written.
    fn value(&mut self, place: Place, depth: usize) -> u64 {
        match self.peek() {
            Some(b'"') => {
                let (hash, end) = string(self.text, self.at);
                self.at = end;
                hash
            }
            Some(b'{') if depth < MAX_DEPTH => self.members(place, depth + 1),
            Some(b'[') if depth < MAX_DEPTH => self.list(Place::Value, depth + 1),
            _ => bytes(self.skip().as_bytes()),
        }
    }

    /// The text of the value that begins here.
    fn skip(&mut self) -> &str {
        let end = value_end(self.text, self.at).max(self.at);
        let written = self.text.get(self.at..end).unwrap_or_default();
        self.at = end;
        written
    }

    /// Whether another value follows in the list or object that `close` ends; goes to it.
    fn goes_on(&mut self, close: u8) -> bool {
        self.at = skip_blank(self.text, self.at);
        if self.peek() == Some(b',') {
            self.at = skip_blank(self.text, self.at + 1);
        }
        match self.peek() {
            None => false,
            Some(byte) if byte == close => {
                self.at += 1;
                false
            }
            Some(_) => true,
        }
    }

    fn list(&mut self, place: Place, depth: usize) -> u64 {
        self.at += 1;
        let mut hash = LIST;
        while self.goes_on(b']') {
            let before = self.at;
            hash = pair(hash, self.value(place, depth));
            if self.at == before {
                break;
            }
        }
        hash
    }

    fn members(&mut self, place: Place, depth: usize) -> u64 {
        self.at += 1;
        let mut sum = 0_u64;
        while self.goes_on(b'}') {
            let start = self.at;
            let (key_hash, end) = string(self.text, start);
            let key = self.text.get(start..end).unwrap_or_default().trim_matches('"');
            let colon = skip_blank(self.text, end);
            self.at = skip_blank(self.text, colon + 1);
            if let Some(value_hash) = self.member(key, place, depth) {
                sum = sum.wrapping_add(pair(key_hash, value_hash));
            }
        }
        object(sum)
    }

    /// Hashes the value of a member; `None` if it does not count.
    fn member(&mut self, key: &str, place: Place, depth: usize) -> Option<u64> {
        if place == Place::Value {
            return Some(self.value(Place::Value, depth));
        }
        let responses = self.format == Format::OpenAiResponses;
        let gemini = self.format == Format::Gemini;
        let changing = match key {
            "cache_control" => true,
            "id" | "status" => responses && place == Place::Item,
            // Gemini CLI drops them all when it takes an answer back.
            "thoughtSignature" => gemini && place == Place::Block,
            _ => false,
        };
        if changing || self.rest().starts_with("null") {
            self.skip();
            return None;
        }
        match key {
            "content" => Some(self.content(depth)),
            "output" if responses => Some(self.content(depth)),
            "parts" if gemini => Some(self.content(depth)),
            "type" if responses => match (place, self.skip()) {
                // A message may leave its type out.
                (Place::Item, "\"message\"") => None,
                (Place::Block, "\"input_text\"" | "\"output_text\"") => Some(bytes(b"\"text\"")),
                (_, other) => Some(bytes(other.as_bytes())),
            },
            _ => Some(self.value(Place::Value, depth)),
        }
    }

    /// A content: a text is the list of the one block that says it.
    fn content(&mut self, depth: usize) -> u64 {
        match self.peek() {
            Some(b'"') => text_as_blocks(self.value(Place::Block, depth)),
            Some(b'[') if depth < MAX_DEPTH => self.list(Place::Block, depth + 1),
            _ => self.value(Place::Value, depth),
        }
    }
}
