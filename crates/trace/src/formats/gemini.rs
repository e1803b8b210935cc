//! Chat files of Gemini CLI: one message per line, or one JSON document.

use std::borrow::Cow;
use std::collections::{BTreeSet, VecDeque};

use serde::Deserialize;
use serde_json::value::RawValue;
use steersman_engine::digest::hash_bytes;
use steersman_engine::{Reply, ToolCall, ToolResult};

use crate::content::{Content, append};
use crate::extent::elements;
use crate::lenient::{List, Obj, Raw, Str, parse, raw_text};
use crate::run::RunEnd;
use crate::session::{Opening, Session, set};
use crate::steps::push_user;
use crate::time;
use crate::usage::TokenFields;
use crate::writer::{RunWriter, Spot};

/// Messages held back, because a later line may replace them.
const MAX_HELD: usize = 64;
/// Bytes of messages held back.
const MAX_HELD_BYTES: usize = 32 << 20;
/// Messages remembered as done; a file with more of them is read, but late copies count again.
const MAX_DONE: usize = 200_000;

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Line<'a> {
    #[serde(borrow)]
    id: Str<'a>,
    #[serde(rename = "type", borrow)]
    kind: Str<'a>,
    #[serde(borrow)]
    session_id: Str<'a>,
    #[serde(borrow)]
    model: Str<'a>,
    #[serde(borrow)]
    timestamp: Str<'a>,
    #[serde(borrow)]
    content: Content<'a>,
    #[serde(borrow)]
    thoughts: List<Thought<'a>>,
    #[serde(borrow)]
    tool_calls: List<Call<'a>>,
    tokens: Obj<TokenFields>,
    #[serde(rename = "$set", borrow)]
    patch: Obj<Patch<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Patch<'a> {
    #[serde(borrow)]
    messages: Raw<'a>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Thought<'a> {
    #[serde(borrow)]
    subject: Str<'a>,
    #[serde(borrow)]
    description: Str<'a>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Call<'a> {
    #[serde(borrow)]
    id: Str<'a>,
    #[serde(borrow)]
    name: Str<'a>,
    #[serde(borrow)]
    args: Raw<'a>,
    #[serde(borrow)]
    status: Str<'a>,
    #[serde(borrow)]
    result: Raw<'a>,
    #[serde(borrow)]
    timestamp: Str<'a>,
}

/// A part of a Gemini message that holds a function's response.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct ResponsePart<'a> {
    #[serde(borrow)]
    pub(crate) text: Str<'a>,
    #[serde(borrow)]
    pub(crate) function_response: Obj<FunctionResponse<'a>>,
}

/// The response of a function.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct FunctionResponse<'a> {
    #[serde(borrow)]
    pub(crate) id: Str<'a>,
    #[serde(borrow)]
    pub(crate) response: Obj<ResponseBody<'a>>,
}

/// What a function answered: output or error.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ResponseBody<'a> {
    #[serde(borrow)]
    output: Raw<'a>,
    #[serde(borrow)]
    error: Raw<'a>,
}

impl<'a> ResponseBody<'a> {
    /// The text, and whether it is an error.
    pub(crate) fn into_text(self) -> (Cow<'a, str>, Option<bool>) {
        match (self.error, self.output) {
            (Some(error), _) => (raw_text(error), Some(true)),
            (None, Some(output)) => (raw_text(output), Some(false)),
            (None, None) => (Cow::Borrowed(""), None),
        }
    }
}

/// A chat of Gemini CLI.
pub(crate) struct GeminiSession {
    opening: Opening,
    held: VecDeque<(u64, u64, String)>,
    held_bytes: usize,
    done: BTreeSet<u64>,
}

impl GeminiSession {
    pub(crate) fn new(id: &str) -> Self {
        Self {
            opening: Opening::of(id, "Gemini CLI"),
            held: VecDeque::new(),
            held_bytes: 0,
            done: BTreeSet::new(),
        }
    }

    /// Holds a message back, in the place of an earlier one with the same id.
    fn hold(&mut self, id: &str, json: &str, number: u64, out: &mut RunWriter<'_>) {
        let key =
            if id.is_empty() { hash_bytes(json.as_bytes()) } else { hash_bytes(id.as_bytes()) };
        if self.done.contains(&key) {
            return;
        }
        self.held_bytes += json.len();
        match self.held.iter_mut().find(|(held, _, _)| *held == key) {
            Some((_, _, old)) => {
                self.held_bytes = self.held_bytes.saturating_sub(old.len());
                json.clone_into(old);
            }
            None => self.held.push_back((key, number, json.to_owned())),
        }
        while self.held.len() > MAX_HELD || self.held_bytes > MAX_HELD_BYTES {
            self.release(out);
        }
    }

    /// Pushes the oldest message held back.
    fn release(&mut self, out: &mut RunWriter<'_>) {
        let Some((key, number, json)) = self.held.pop_front() else { return };
        self.held_bytes = self.held_bytes.saturating_sub(json.len());
        if self.done.len() < MAX_DONE {
            self.done.insert(key);
        }
        // It was parsed when it came: it cannot fail now.
        if let Ok(line) = parse::<Line<'_>>(&json) {
            self.opening.ensure(number, out);
            push_line(line, number, out);
        }
    }

    fn note(&mut self, line: &Line<'_>) {
        if !line.session_id.is_empty() {
            self.opening.meta.id = Cow::Owned(line.session_id.text().into_owned());
        }
        if !line.model.is_empty() && self.opening.meta.model.is_empty() {
            self.opening.meta.model = Cow::Owned(line.model.text().into_owned());
        }
    }
}

fn push_line(line: Line<'_>, number: u64, out: &mut RunWriter<'_>) {
    let spot = Spot { at: time::iso(line.timestamp.word()), line: number };
    match line.kind.word() {
        "user" => push_user(spot, line.content.into_text(), out),
        "gemini" | "model" | "assistant" => {
            let mut reply = Reply {
                text: line.content.into_text(),
                usage: line.tokens.0.usage(crate::lenient::Dollars(0)),
                ..Reply::default()
            };
            for thought in line.thoughts.0 {
                append(&mut reply.reasoning, thought.subject.text());
                append(&mut reply.reasoning, thought.description.text());
            }
            reply.tool_calls = line.tool_calls.0.iter().map(call).collect();
            out.reply(spot, reply);
            for call in line.tool_calls.0 {
                let at = time::iso(call.timestamp.word());
                let known = at != steersman_engine::Timestamp::UNKNOWN;
                push_call_result(call, if known { Spot { at, ..spot } } else { spot }, out);
            }
        }
        _ => {}
    }
}

fn call<'a>(call: &Call<'a>) -> ToolCall<'a> {
    ToolCall {
        id: call.id.text(),
        name: call.name.text(),
        arguments: call.args.map_or(Cow::Borrowed(""), raw_text),
        ..ToolCall::default()
    }
}

/// The result of a call is kept with it; a call without one has not returned.
fn push_call_result(call: Call<'_>, spot: Spot, out: &mut RunWriter<'_>) {
    let Some(raw) = call.result else { return };
    let (content, flag) = result_text(raw);
    let is_error = match call.status.word() {
        "error" | "cancelled" => Some(true),
        "success" => Some(false),
        _ => flag,
    };
    let result = ToolResult { call_id: call.id.text(), content, is_error, ..ToolResult::default() };
    out.push_result(spot, result);
}

/// The text of a result: parts with function responses, or plain text.
fn result_text(raw: &RawValue) -> (Cow<'_, str>, Option<bool>) {
    let mut text = Cow::Borrowed("");
    let mut flag = None;
    if !matches!(raw.get().as_bytes().first(), Some(b'[' | b'{')) {
        return (raw_text(raw), None);
    }
    let parts = serde_json::from_str::<List<ResponsePart<'_>>>(raw.get()).unwrap_or_default();
    for part in parts.0 {
        append(&mut text, part.text.text());
        let (body, is_error) = part.function_response.0.response.0.into_text();
        append(&mut text, body);
        flag = is_error.or(flag);
    }
    if text.is_empty() { (Cow::Borrowed(raw.get()), flag) } else { (text, flag) }
}

impl Session for GeminiSession {
    fn element(
        &mut self,
        json: &str,
        number: u64,
        out: &mut RunWriter<'_>,
    ) -> serde_json::Result<()> {
        let line = parse::<Line<'_>>(json)?;
        self.note(&line);
        if let Some(messages) = line.patch.0.messages {
            for message in elements(messages.get()) {
                let Ok(inner) = parse::<Line<'_>>(message) else { continue };
                self.note(&inner);
                self.hold(inner.id.word(), message, number, out);
            }
        } else if !line.kind.is_empty() {
            self.hold(line.id.word(), json, number, out);
        }
        Ok(())
    }

    fn member(&mut self, key: &str, json: &str) {
        if key == "sessionId" {
            set(&mut self.opening.meta.id, json);
        }
    }

    fn wants_list(&mut self, key: &str) -> bool {
        key == "messages"
    }

    fn preview(&mut self, _list: &str, json: &str) {
        if let Ok(line) = parse::<Line<'_>>(json) {
            self.note(&line);
        }
    }

    fn finish(&mut self, end: RunEnd, out: &mut RunWriter<'_>) {
        while !self.held.is_empty() {
            self.release(out);
        }
        self.opening.close(end, out);
    }
}
