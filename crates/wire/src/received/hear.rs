//! Items of a conversation, decoded.

use serde_json::Value;

use super::{Received, walk};
use crate::json::{MAX_DEPTH, is_shallow};
use crate::{Format, Message, Part, Role, WireError, formats};

/// How many items before the first one asked for are looked at, to find the reply whose results
/// follow it. A reply with more calls at once was never seen.
const MAX_BEFORE: usize = 128;

/// Who speaks in an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Speaker {
    /// The user, or what a client says in the user's place.
    User,
    /// The model.
    Assistant,
    /// Results of tools.
    Tool,
    /// System and developer texts inside the list: no words of the user.
    Instructions,
}

/// A decoded item, or several that are one turn.
#[derive(Clone, Debug, PartialEq)]
pub struct Heard {
    /// Who speaks.
    pub speaker: Speaker,
    /// What is said. Its role is [`Role::User`] for instructions, which have no role of their own.
    pub message: Message,
}

impl Heard {
    fn new(speaker: Speaker, parts: Vec<Part>) -> Self {
        let role = match speaker {
            Speaker::User | Speaker::Instructions => Role::User,
            Speaker::Assistant => Role::Assistant,
            Speaker::Tool => Role::Tool,
        };
        Self { speaker, message: Message { role, parts } }
    }
}

/// Who speaks in an item, without decoding it. Results inside a user message are not seen.
pub(super) fn speaker(format: Format, item: &str) -> Speaker {
    let role = walk::text_at(item, "role");
    match role.as_deref() {
        _ if item.starts_with('"') => Speaker::User,
        Some("user") => Speaker::User,
        Some("assistant" | "model") => Speaker::Assistant,
        Some("tool" | "function") if format != Format::Gemini => Speaker::Tool,
        Some("function") => Speaker::User,
        Some(_) => Speaker::Instructions,
        None if format == Format::OpenAiResponses => match walk::text_at(item, "type").as_deref() {
            None | Some("message") => Speaker::User,
            Some(kind) if kind.ends_with("_output") && walk::member(item, "output").is_some() => {
                Speaker::Tool
            }
            Some("additional_tools") => Speaker::Instructions,
            // Calls, reasoning, and what the provider's own tools did.
            Some(_) => Speaker::Assistant,
        },
        None => Speaker::User,
    }
}

/// A call that a result may belong to.
struct Open {
    /// Its id in this request.
    written: String,
    /// The id that results are told under.
    id: String,
    name: String,
    answered: bool,
}

/// Turns as they are put together.
#[derive(Default)]
struct Turns {
    heard: Vec<Heard>,
    open: Vec<Open>,
}

impl Received<'_> {
    /// Decodes the item at `at` by itself.
    ///
    /// A user message of Anthropic or Gemini that holds results is heard as [`Speaker::Tool`], even
    /// if it holds texts as well. Results are joined to their calls by [`turns`](Self::turns) only:
    /// here a result has the id and the name that are written in it, or none.
    ///
    /// # Errors
    /// If there is no such item, if it is no object, or if it nests deeper than 64 levels.
    pub fn item(&self, at: usize) -> Result<Heard, WireError> {
        let problem = |problem| WireError::NotARequest { format: self.format, problem };
        let item = self.item_text(at).ok_or_else(|| problem("it has no such item"))?;
        let speaker = speaker(self.format, item);
        let object = match decode(item) {
            Some(value) if !is_shallow(&value, MAX_DEPTH) => {
                return Err(problem("an item is nested deeper than 64 levels"));
            }
            Some(Value::String(text)) => return Ok(Heard::new(speaker, vec![Part::Text(text)])),
            Some(Value::Object(object)) => object,
            Some(_) => return Err(problem("an item is no object")),
            None => return Err(problem("an item cannot be decoded")),
        };
        let parts = formats::hear(self.format, object, &format!("item {at}"));
        let results = parts.iter().any(|part| matches!(part, Part::ToolResult { .. }));
        Ok(Heard::new(if results { Speaker::Tool } else { speaker }, parts))
    }

    /// Decodes the items from `from` on, as turns.
    ///
    /// Neighbouring items of the model are one reply in Responses, and neighbouring results are one
    /// message in all formats. A user message that holds results and texts is two turns. Every
    /// result has the id of its call, and its name where the call is not far before `from`; a
    /// format without ids (Gemini) joins them by name and order.
    ///
    /// # Errors
    /// As [`item`](Self::item), for any of them.
    pub fn turns(&self, from: usize) -> Result<Vec<Heard>, WireError> {
        self.turns_after(from, None)
    }

    /// The same, for who has read the reply before `from` as an answer: results of its calls come
    /// under the ids that were `answered`. They differ from those in the request where the server
    /// sends no ids, because clients then make up their own.
    ///
    /// # Errors
    /// As [`turns`](Self::turns).
    pub fn turns_after(
        &self,
        from: usize,
        answered: Option<&Message>,
    ) -> Result<Vec<Heard>, WireError> {
        let from = from.min(self.item_count());
        let mut turns = Turns::default();
        for at in self.reply_before(from)..from {
            // What was read before is not asked for: here it only names calls.
            if let Ok(heard) = self.item(at) {
                turns.take(self.format, heard);
            }
        }
        turns.heard.clear();
        if let Some(answered) = answered {
            turns.rename(answered);
        }
        for at in from..self.item_count() {
            turns.take(self.format, self.item(at)?);
        }
        Ok(turns.heard)
    }

    /// Where the last reply before `at` begins; `at` if there is none nearby, or if a reply begins
    /// there, behind which nothing belongs to the one before.
    fn reply_before(&self, at: usize) -> usize {
        let is_reply = |place: &usize| {
            let item = self.item_text(*place);
            item.is_some_and(|item| speaker(self.format, item) == Speaker::Assistant)
        };
        if is_reply(&at) {
            return at;
        }
        let near = at.saturating_sub(MAX_BEFORE)..at;
        let Some(mut first) = near.rev().find(is_reply) else { return at };
        while self.format == Format::OpenAiResponses && first > 0 && is_reply(&(first - 1)) {
            first -= 1;
        }
        first
    }
}

/// Decodes an item. Halves of surrogate pairs, which clients write where they cut a text inside
/// an emoji, become U+FFFD.
fn decode(item: &str) -> Option<Value> {
    let decoded = serde_json::from_str(item).ok();
    decoded.or_else(|| serde_json::from_str(&whole_pairs(item)).ok())
}

/// JSON text in which every half of a surrogate pair that stands alone is U+FFFD.
fn whole_pairs(text: &str) -> String {
    let unit = |at: usize| {
        let digits = text.get(at..)?.strip_prefix("\\u")?.get(..4)?;
        u16::from_str_radix(digits, 16).ok()
    };
    let mut whole = String::with_capacity(text.len());
    let mut rest = 0;
    while let Some(ahead) = text.get(rest..).and_then(|rest| rest.find('\\')) {
        let at = rest + ahead;
        whole.push_str(&text[rest..at]);
        let len = match (unit(at), unit(at + 6)) {
            (Some(0xD800..0xDC00), Some(0xDC00..0xE000)) => 12,
            (Some(0xD800..0xE000), _) => {
                whole.push('\u{FFFD}');
                rest = at + 6;
                continue;
            }
            (Some(_), _) => 6,
            (None, _) => 1 + text[at + 1..].chars().next().map_or(0, char::len_utf8),
        };
        whole.push_str(&text[at..at + len]);
        rest = at + len;
    }
    whole.push_str(text.get(rest..).unwrap_or_default());
    whole
}

impl Turns {
    fn take(&mut self, format: Format, heard: Heard) {
        match heard.speaker {
            Speaker::Assistant => self.reply(format, heard),
            Speaker::Tool => {
                let is_result = |part: &Part| matches!(part, Part::ToolResult { .. });
                let (mut results, said): (Vec<_>, Vec<_>) =
                    heard.message.parts.into_iter().partition(is_result);
                results.iter_mut().for_each(|result| self.join(result));
                self.results(results);
                if !said.is_empty() {
                    self.heard.push(Heard::new(Speaker::User, said));
                }
            }
            Speaker::User | Speaker::Instructions => self.heard.push(heard),
        }
    }

    fn reply(&mut self, format: Format, heard: Heard) {
        let calls = heard.message.tool_calls().map(|call| Open {
            written: call.id.to_string(),
            id: call.id.into_owned(),
            name: call.name.into_owned(),
            answered: false,
        });
        let calls: Vec<_> = calls.collect();
        match self.heard.last_mut() {
            Some(last) if format == Format::OpenAiResponses && last.speaker == heard.speaker => {
                self.open.extend(calls);
                last.message.parts.extend(heard.message.parts);
            }
            _ => {
                self.open = calls;
                self.heard.push(heard);
            }
        }
    }

    fn results(&mut self, results: Vec<Part>) {
        match self.heard.last_mut() {
            Some(last) if last.speaker == Speaker::Tool => last.message.parts.extend(results),
            _ => self.heard.push(Heard::new(Speaker::Tool, results)),
        }
    }

    /// Gives a result the id and the name of its call.
    fn join(&mut self, result: &mut Part) {
        let Part::ToolResult { call_id, name, .. } = result else { return };
        let mut waiting = self.open.iter_mut().filter(|call| !call.answered);
        let call = if call_id.is_empty() {
            let same = |call: &&mut Open| name.is_empty() || call.name == *name;
            waiting.find(same)
        } else {
            waiting.find(|call| call.written == *call_id)
        };
        let Some(call) = call else { return };
        call.answered = true;
        call_id.clone_from(&call.id);
        if name.is_empty() {
            name.clone_from(&call.name);
        }
    }

    /// Results come under the ids of `answered` from here on, as far as its calls are these.
    fn rename(&mut self, answered: &Message) {
        let calls = answered.tool_calls();
        if self.open.is_empty() {
            let open = |call: steersman_engine::ToolCall<'_>| Open {
                written: call.id.to_string(),
                id: call.id.into_owned(),
                name: call.name.into_owned(),
                answered: false,
            };
            self.open = calls.map(open).collect();
            return;
        }
        for (open, call) in self.open.iter_mut().zip(calls) {
            if open.name == call.name {
                open.id = call.id.into_owned();
            }
        }
    }
}
