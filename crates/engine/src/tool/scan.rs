//! One pass over the arguments of a call: canonical hash, and what the known ones say.

use alloc::borrow::{Cow, ToOwned};
use alloc::string::String;
use core::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::canon::{Fold, hash_command, hash_text};
use super::keys::{Role, role_of};
use crate::bytes::find_any;
use crate::digest::{combine, mix};

/// How much of the arguments is read, in bytes. What lies beyond is only hashed.
pub(super) const READ_LIMIT: usize = 64 * 1024;

/// How much of a command, code or patch is looked at, in bytes.
pub(super) const LOOK_LIMIT: usize = 16 * 1024;

/// How much of a path, address or query is looked at, in bytes.
const NAME_LIMIT: usize = 1024;

/// How deep known argument names are looked for; deeper ones are only hashed.
const DEPTH_LIMIT: u8 = 4;

/// What the arguments of one call say.
#[derive(Debug, Default)]
pub(super) struct Args<'a> {
    /// Hash of everything but noise and `Soft` arguments, whatever the order of keys.
    pub(super) hash: u64,
    /// Hash of the `Soft` arguments.
    pub(super) soft: u64,
    pub(super) action: Option<Cow<'a, str>>,
    pub(super) command: Option<Cow<'a, str>>,
    pub(super) code: Option<Cow<'a, str>>,
    pub(super) path: Option<Cow<'a, str>>,
    pub(super) workdir: Option<Cow<'a, str>>,
    pub(super) url: Option<Cow<'a, str>>,
    pub(super) query: Option<Cow<'a, str>>,
    pub(super) text: Option<Cow<'a, str>>,
    pub(super) name: Option<Cow<'a, str>>,
    pub(super) inner: Option<Cow<'a, str>>,
    /// The first text of any kind, for people.
    pub(super) first: Option<Cow<'a, str>>,
    pub(super) chars: Option<bool>,
    pub(super) old: Option<u64>,
    pub(super) new: Option<u64>,
    pub(super) start: Option<u32>,
    pub(super) end: Option<u32>,
    pub(super) limit: Option<u32>,
    /// Whether there was an argument that the call is about.
    pub(super) targeted: bool,
}

impl<'a> Args<'a> {
    /// Reads arguments: JSON, or any other text.
    pub(super) fn read(arguments: &'a str) -> Self {
        let mut args = Self::default();
        let trimmed = arguments.trim_ascii();
        if trimmed.is_empty() {
            args.hash = mix(EMPTY_MAP);
            return args;
        }
        let json = trimmed.starts_with(['{', '[']);
        let head = cut(trimmed, READ_LIMIT);
        let whole = head.len() == trimmed.len();
        let parsed = json.then(|| {
            let mut from = serde_json::Deserializer::from_str(head);
            let node = Node { args: &mut args, role: Role::Plain, depth: 0 };
            node.deserialize(&mut from).and_then(|hash| from.end().map(|()| hash))
        });
        match parsed {
            Some(Ok(hash)) if whole => args.hash = hash,
            // Cut off or broken: what was understood so far holds, the text is the identity.
            Some(_) => (args.hash, args.soft) = (hash_text(trimmed), 0),
            None => {
                args.hash = hash_command(cut(trimmed, READ_LIMIT));
                args.take_text(cut(trimmed, LOOK_LIMIT));
            }
        }
        args
    }

    /// The identity of the arguments, without the chatter.
    pub(super) const fn identity(&self) -> u64 {
        if self.targeted || self.soft == 0 { self.hash } else { combine(self.hash, self.soft) }
    }

    /// First and last line of what is read; `None` if all of it is.
    pub(super) fn range(&self) -> Option<(u32, u32)> {
        if self.start.is_none() && self.end.is_none() && self.limit.is_none() {
            return None;
        }
        let first = self.start.unwrap_or(1);
        let last = match (self.end, self.limit) {
            (Some(end), _) => end,
            (None, Some(limit)) => first.saturating_add(limit.saturating_sub(1)),
            (None, None) => u32::MAX,
        };
        Some((first, last.max(first)))
    }

    /// Text in place of JSON: `key: value` lines if the first key is known, else free text.
    fn take_text(&mut self, text: &'a str) {
        let mut rest = text;
        for _ in 0..16 {
            let Some((role, value, after)) = split_line(rest) else { break };
            self.take(role, scalar(value));
            rest = after;
        }
        if rest.len() == text.len() {
            self.text.get_or_insert(Cow::Borrowed(text));
        }
    }

    /// Keeps a text under its role; the first one wins.
    fn take(&mut self, role: Role, text: Cow<'a, str>) {
        let name_like = |text: Cow<'a, str>| cut_cow(text, NAME_LIMIT);
        match role {
            Role::Action => keep(&mut self.action, name_like(text)),
            Role::Command | Role::Argv | Role::Commands => {
                self.targeted = true;
                add_command(&mut self.command, role, cut_cow(text, LOOK_LIMIT));
            }
            Role::Code => keep(&mut self.code, cut_cow(text, LOOK_LIMIT)),
            Role::Text => keep(&mut self.text, cut_cow(text, LOOK_LIMIT)),
            Role::Path | Role::Url | Role::Query | Role::Find => {
                if role == Role::Find {
                    add_hash(&mut self.old, hash_text(&text));
                }
                self.targeted = true;
                let to = match role {
                    Role::Path => &mut self.path,
                    Role::Url => &mut self.url,
                    _ => &mut self.query,
                };
                keep(to, name_like(text));
            }
            Role::Workdir => keep(&mut self.workdir, name_like(text)),
            Role::Old => add_hash(&mut self.old, hash_text(&text)),
            Role::New => add_hash(&mut self.new, hash_text(&text)),
            Role::Name => keep(&mut self.name, name_like(text)),
            Role::Inner => keep(&mut self.inner, cut_cow(text, LOOK_LIMIT)),
            Role::Chars => self.chars = Some(text.is_empty()),
            Role::Start | Role::End | Role::Limit | Role::Range => {
                if let Ok(number) = text.trim().parse::<i64>() {
                    self.number(role, number);
                }
            }
            Role::Plain | Role::Soft | Role::Noise | Role::Raw => {
                keep(&mut self.first, name_like(text));
            }
        }
    }

    fn number(&mut self, role: Role, number: i64) {
        // Minus one stands for the end of the file.
        let value = if number < 0 { u32::MAX } else { u32::try_from(number).unwrap_or(u32::MAX) };
        let to = match role {
            Role::Start => &mut self.start,
            Role::End => &mut self.end,
            Role::Limit => &mut self.limit,
            Role::Range if self.start.is_none() => &mut self.start,
            Role::Range => &mut self.end,
            _ => return,
        };
        to.get_or_insert(value);
    }
}

fn keep<'a>(to: &mut Option<Cow<'a, str>>, text: Cow<'a, str>) {
    if to.is_none() && !text.is_empty() {
        *to = Some(text);
    }
}

fn add_hash(to: &mut Option<u64>, hash: u64) {
    *to = Some(to.map_or(hash, |before| combine(before, hash)));
}

fn add_command<'a>(to: &mut Option<Cow<'a, str>>, role: Role, text: Cow<'a, str>) {
    let Some(before) = to else {
        *to = Some(text);
        return;
    };
    if role == Role::Command || before.len() + text.len() > LOOK_LIMIT {
        return;
    }
    if role == Role::Argv && is_shell_flag(before) {
        *to = Some(text);
        return;
    }
    let joined = before.to_mut();
    joined.push(if role == Role::Argv { ' ' } else { '\n' });
    let plain = role == Role::Commands || !text.contains([' ', '\t', '\n', ';', '&', '|', '>']);
    if plain {
        joined.push_str(&text);
    } else {
        joined.push('\'');
        joined.push_str(&text.replace('\'', "'\\''"));
        joined.push('\'');
    }
}

/// Whether an argument vector so far is `bash -lc`: what follows is a script.
fn is_shell_flag(argv: &str) -> bool {
    let Some((program, flag)) = argv.split_once(' ') else { return false };
    program.ends_with("sh") && flag.starts_with('-') && flag.ends_with('c')
}

/// The first `key: value` of a text, and what follows it.
fn split_line(text: &str) -> Option<(Role, &str, &str)> {
    let (key, value) = text.split_once(':')?;
    let role = role_of(key);
    if role == Role::Plain || key.len() > 32 || key.contains(char::is_whitespace) {
        return None;
    }
    let mut end = value.len();
    for at in memchr::memchr_iter(b'\n', value.as_bytes()) {
        let line = &value.as_bytes()[at + 1..];
        let word = line.iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
        if word > 0 && line.get(word) == Some(&b':') {
            end = at;
            break;
        }
    }
    let value_text = value[..end].trim_ascii();
    let value_text = value_text.strip_prefix("- ").unwrap_or(value_text);
    Some((role, value_text, value[end..].trim_ascii_start()))
}

/// A YAML scalar: quotes resolved, folded lines joined.
fn scalar(value: &str) -> Cow<'_, str> {
    let Some(quoted) = value.strip_prefix('"') else {
        let folded = value.contains("\n  ") && !value.starts_with(['|', '-']);
        return if folded { Cow::Owned(value.replace("\n  ", " ")) } else { value.into() };
    };
    let mut text = String::with_capacity(quoted.len());
    let mut rest = quoted;
    while let Some(at) = find_any(rest.as_bytes(), 0, *b"\"\n\\") {
        text.push_str(&rest[..at]);
        let mark = rest.as_bytes()[at];
        rest = &rest[at + 1..];
        match mark {
            b'"' => return Cow::Owned(text),
            b'\n' => {
                rest = rest.trim_start_matches(' ');
                text.push(' ');
            }
            _ => {
                let mut chars = rest.chars();
                match chars.next() {
                    Some('n') => text.push('\n'),
                    Some('t') => text.push('\t'),
                    // An escaped line end joins; the blanks that follow are layout.
                    Some('\n') => chars = chars.as_str().trim_start_matches(' ').chars(),
                    Some(other) => text.push(other),
                    None => {}
                }
                rest = chars.as_str();
            }
        }
    }
    text.push_str(rest);
    Cow::Owned(text)
}

/// The beginning of a text, at most `limit` bytes.
pub(super) fn cut(text: &str, limit: usize) -> &str {
    &text[..text.floor_char_boundary(limit)]
}

fn cut_cow(text: Cow<'_, str>, limit: usize) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(cut(text, limit)),
        Cow::Owned(mut text) => {
            text.truncate(text.floor_char_boundary(limit));
            Cow::Owned(text)
        }
    }
}

/// Where the hash of an object begins; its entries are added in any order.
const EMPTY_MAP: u64 = 0x6d61_7000;

/// Hash of `null`: an argument that is not there.
const ABSENT: u64 = 0;

/// A value on its way through the reader; it becomes its hash.
struct Node<'s, 'a> {
    args: &'s mut Args<'a>,
    role: Role,
    depth: u8,
}

impl<'de> DeserializeSeed<'de> for Node<'_, 'de> {
    type Value = u64;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<u64, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Node<'_, 'de> {
    fn text(self, text: &str, owned: impl FnOnce(&str) -> Cow<'de, str>) -> u64 {
        let hash = match self.role {
            Role::Command | Role::Commands => hash_command(text),
            _ => hash_text(text),
        };
        if self.depth > DEPTH_LIMIT {
            return hash;
        }
        match self.role {
            // Only their hash is kept: no copy.
            Role::Old => add_hash(&mut self.args.old, hash),
            Role::New => add_hash(&mut self.args.new, hash),
            Role::Raw => match owned(text) {
                Cow::Borrowed(text) => self.args.take_text(cut(text, LOOK_LIMIT)),
                Cow::Owned(text) => take_owned_text(self.args, &text),
            },
            role => self.args.take(role, owned(text)),
        }
        hash
    }

    fn whole(self, number: i64) -> u64 {
        if self.depth <= DEPTH_LIMIT {
            self.args.number(self.role, number);
        }
        let mut fold = Fold::new(6);
        fold.word(number.cast_unsigned());
        fold.end()
    }
}

/// As [`Args::take_text`] for a text that does not live as long as the arguments.
fn take_owned_text(args: &mut Args<'_>, text: &str) {
    let mut inner = Args::default();
    inner.take_text(cut(text, LOOK_LIMIT));
    fn own<'a>(from: Option<Cow<'_, str>>) -> Option<Cow<'a, str>> {
        from.map(|text| Cow::Owned(text.into_owned()))
    }
    args.command = args.command.take().or(own(inner.command));
    args.path = args.path.take().or(own(inner.path));
    args.url = args.url.take().or(own(inner.url));
    args.query = args.query.take().or(own(inner.query));
    args.code = args.code.take().or(own(inner.code));
    args.text = args.text.take().or(own(inner.text));
    args.old = args.old.or(inner.old);
    args.new = args.new.or(inner.new);
    args.start = args.start.or(inner.start);
    args.end = args.end.or(inner.end);
    args.limit = args.limit.or(inner.limit);
    args.targeted |= inner.targeted;
}

/// The beginning of a text as a copy that outlives the reader's buffer.
fn copy<'de>(text: &str) -> Cow<'de, str> {
    let copied: String = cut(text, LOOK_LIMIT).to_owned();
    Cow::Owned(copied)
}

impl<'de> Visitor<'de> for Node<'_, 'de> {
    type Value = u64;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("any value")
    }

    fn visit_unit<E: Error>(self) -> Result<u64, E> {
        Ok(ABSENT)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<u64, E> {
        Ok(if value { 0x7275_7265 } else { 0x6661_6c73 })
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<u64, E> {
        Ok(self.whole(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<u64, E> {
        Ok(match i64::try_from(value) {
            Ok(value) => self.whole(value),
            Err(_) => combine(value, 7),
        })
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<u64, E> {
        // The cast saturates; only a number it left alone is whole.
        let whole = value as i64;
        if whole as f64 == value {
            return Ok(self.whole(whole));
        }
        Ok(combine(value.to_bits(), 8))
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<u64, E> {
        Ok(self.text(text, |_| Cow::Borrowed(text)))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<u64, E> {
        Ok(self.text(text, copy))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<u64, A::Error> {
        let mut fold = Fold::new(9);
        let role = if self.role == Role::Command { Role::Argv } else { self.role };
        let depth = self.depth.saturating_add(1);
        while let Some(hash) =
            items.next_element_seed(Node { args: &mut *self.args, role, depth })?
        {
            fold.word(hash);
        }
        Ok(fold.end())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<u64, A::Error> {
        let mut sum = EMPTY_MAP;
        let depth = self.depth.saturating_add(1);
        while let Some((key, role)) = entries.next_key_seed(Key)? {
            let value = entries.next_value_seed(Node { args: &mut *self.args, role, depth })?;
            if value == ABSENT || role == Role::Noise {
                continue;
            }
            let entry = combine(key, value);
            if role == Role::Soft && self.depth == 0 {
                self.args.soft = self.args.soft.wrapping_add(entry);
            } else {
                sum = sum.wrapping_add(entry);
            }
        }
        Ok(mix(sum))
    }
}

/// A key: its hash and its role, without a copy.
struct Key;

impl<'de> DeserializeSeed<'de> for Key {
    type Value = (u64, Role);

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Key {
    type Value = (u64, Role);

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("a key")
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<Self::Value, E> {
        Ok((hash_text(key), role_of(key)))
    }
}
