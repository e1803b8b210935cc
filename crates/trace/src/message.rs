//! A chat message in any of the shapes recorders write, and what it amounts to.

use std::borrow::Cow;
use std::mem::take;
use std::sync::LazyLock;

use memchr::memmem::Finder;
use serde::Deserialize;
use serde_json::value::RawValue;
use steersman_engine::{Reply, ToolCall, ToolResult};

use crate::content::{Block, Content, append};
use crate::cursor::Cursor;
use crate::lenient::{Count, Flag, List, MAX_ITEMS, Obj, Raw, Str, Unread, raw_text, text_of};
use crate::stop::stop_reason;
use crate::time;
use crate::usage::Spent;
use crate::writer::Spot;

/// The key by which a trace says that it does not hold a call's arguments.
const ARGUMENTS_MISSING: &str = "\"_args_not_recorded\"";

/// A message as written: the union of the runs format, OpenAI's and Anthropic's chat messages, and
/// those of agents that keep the like (mini-swe-agent, SWE-agent, Cline).
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Message<'a> {
    #[serde(borrow)]
    pub(crate) role: Str<'a>,
    #[serde(borrow)]
    pub(crate) content: Content<'a>,
    #[serde(borrow)]
    pub(crate) reasoning: Str<'a>,
    #[serde(borrow)]
    reasoning_content: Str<'a>,
    #[serde(borrow)]
    refusal: Str<'a>,
    #[serde(borrow)]
    pub(crate) tool_calls: List<CallFields<'a>>,
    #[serde(borrow)]
    function_call: Obj<FunctionFields<'a>>,
    #[serde(borrow)]
    tool_call_id: Str<'a>,
    #[serde(borrow)]
    call_id: Str<'a>,
    #[serde(borrow)]
    tool_call_ids: Content<'a>,
    pub(crate) error: Flag,
    is_error: Flag,
    pub(crate) exit_code: Count,
    #[serde(borrow)]
    status: Str<'a>,
    orig_len: Count,
    #[serde(borrow)]
    finish_reason: Str<'a>,
    #[serde(borrow)]
    stop_reason: Str<'a>,
    usage: Spent,
    #[serde(borrow)]
    pub(crate) kind: Str<'a>,
    #[serde(borrow)]
    pub(crate) agent: Str<'a>,
    /// The result of the step's call, written on the calling step itself.
    #[serde(borrow)]
    result: Content<'a>,
    #[serde(borrow)]
    requestor: Str<'a>,
    #[serde(borrow)]
    ts: Str<'a>,
    #[serde(borrow)]
    timestamp: Str<'a>,
    /// What mini-swe-agent keeps beside a message.
    #[serde(borrow)]
    pub(crate) extra: Raw<'a>,
    pub(crate) is_demo: Flag,
}

/// A call as OpenAI and the runs format write it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct CallFields<'a> {
    #[serde(borrow)]
    id: Str<'a>,
    #[serde(borrow)]
    call_id: Str<'a>,
    #[serde(borrow)]
    name: Str<'a>,
    #[serde(borrow)]
    arguments: Unread<'a>,
    #[serde(borrow)]
    args: Unread<'a>,
    #[serde(borrow)]
    function: Obj<FunctionFields<'a>>,
    #[serde(borrow)]
    custom: Obj<FunctionFields<'a>>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct FunctionFields<'a> {
    #[serde(borrow)]
    name: Str<'a>,
    #[serde(borrow)]
    arguments: Raw<'a>,
    #[serde(borrow)]
    input: Raw<'a>,
}

impl<'a> CallFields<'a> {
    /// Takes a call the short way; see [`Cursor`].
    fn take(cursor: &mut Cursor<'a>) -> Option<Self> {
        let mut call = Self::default();
        let mut seen = 0_u32;
        cursor.object(|cursor, key| {
            let raw = cursor.value()?;
            let field = match key {
                "id" => (call.id = Str::of_raw(raw), 0),
                "call_id" => (call.call_id = Str::of_raw(raw), 1),
                "name" => (call.name = Str::of_raw(raw), 2),
                "arguments" => (call.arguments = Unread::of_raw(raw), 3),
                "args" => (call.args = Unread::of_raw(raw), 4),
                "function" => (call.function = parsed(raw)?, 5),
                "custom" => (call.custom = parsed(raw)?, 6),
                _ => return Some(()),
            };
            once(&mut seen, field.1)
        })?;
        Some(call)
    }

    pub(crate) fn into_call(self) -> ToolCall<'a> {
        let Obj(function) = self.function;
        let Obj(custom) = self.custom;
        let further = function.arguments.or(custom.input).or(custom.arguments);
        let raw = self.arguments.0.or(self.args.0).or(further.map(RawValue::get));
        ToolCall {
            id: or_else(self.id, self.call_id).text(),
            name: or_else(self.name, or_else(function.name, custom.name)).text(),
            unrecorded: raw.is_some_and(is_missing),
            arguments: raw.map_or(Cow::Borrowed(""), text_of),
        }
    }
}

/// Whether a trace says that it does not hold these arguments.
fn is_missing(arguments: &str) -> bool {
    static FINDER: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new(ARGUMENTS_MISSING));
    FINDER.find(arguments.as_bytes()).is_some()
}

/// The first of two texts that is not empty.
pub(crate) fn or_else<'a>(first: Str<'a>, second: Str<'a>) -> Str<'a> {
    if first.is_empty() { second } else { first }
}

/// What one message amounts to, in this order: results, user text, reply, results of that reply.
#[derive(Debug, Default)]
pub(crate) struct Parts<'a> {
    pub(crate) spot: Spot,
    pub(crate) results: Vec<ToolResult<'a>>,
    pub(crate) user: Cow<'a, str>,
    pub(crate) reply: Option<Reply<'a>>,
    pub(crate) own_results: Vec<ToolResult<'a>>,
}

/// Parses a small value.
pub(crate) fn parsed<'a, T: Deserialize<'a>>(raw: &'a str) -> Option<T> {
    serde_json::from_str(raw).ok()
}

/// Notes that a field was there; `None` if it was before, which is left to the parser.
pub(crate) fn once(seen: &mut u32, field: u32) -> Option<()> {
    let before = *seen & (1 << field) != 0;
    *seen |= 1 << field;
    (!before).then_some(())
}

impl<'a> Message<'a> {
    /// Takes a message the short way; see [`Cursor`]. It is filled where it lies: messages are
    /// large, and moving them is what most of them would cost.
    pub(crate) fn fill(&mut self, cursor: &mut Cursor<'a>) -> Option<()> {
        let mut seen = 0;
        cursor.object(|cursor, key| match key {
            "content" => {
                self.content = match cursor.peek()? {
                    b'"' => Content::Resolved(cursor.text()?),
                    _ => parsed(cursor.value()?)?,
                };
                once(&mut seen, 31)
            }
            "tool_calls" => {
                self.tool_calls = match cursor.peek()? {
                    b'[' => calls(cursor)?,
                    _ => parsed(cursor.value()?)?,
                };
                once(&mut seen, 30)
            }
            _ => {
                let raw = cursor.value()?;
                self.set(key, raw)?.map_or(Some(()), |field| once(&mut seen, field))
            }
        })
    }

    /// Sets a field from its JSON text, and gives its number; `None` inside if there is no such
    /// field.
    fn set(&mut self, key: &str, raw: &'a str) -> Option<Option<u32>> {
        let text = Str::of_raw(raw);
        let ((), field) = match key {
            "role" => (self.role = text, 0),
            "reasoning" => (self.reasoning = text, 1),
            "reasoning_content" => (self.reasoning_content = text, 2),
            "refusal" => (self.refusal = text, 3),
            "function_call" => (self.function_call = parsed(raw)?, 4),
            "tool_call_id" => (self.tool_call_id = text, 5),
            "call_id" => (self.call_id = text, 6),
            "tool_call_ids" => (self.tool_call_ids = parsed(raw)?, 7),
            "error" => (self.error = parsed(raw)?, 8),
            "is_error" => (self.is_error = parsed(raw)?, 9),
            "exit_code" => (self.exit_code = parsed(raw)?, 10),
            "status" => (self.status = text, 11),
            "orig_len" => (self.orig_len = parsed(raw)?, 12),
            "finish_reason" => (self.finish_reason = text, 13),
            "stop_reason" => (self.stop_reason = text, 14),
            "usage" => (self.usage = parsed(raw)?, 15),
            "kind" => (self.kind = text, 16),
            "agent" => (self.agent = text, 17),
            "result" => (self.result = parsed(raw)?, 18),
            "requestor" => (self.requestor = text, 19),
            "ts" => (self.ts = text, 20),
            "timestamp" => (self.timestamp = text, 21),
            "extra" => (self.extra = parsed(raw)?, 22),
            "is_demo" => (self.is_demo = parsed(raw)?, 23),
            _ => return Some(None),
        };
        Some(Some(field))
    }

    /// Takes the message apart, and leaves it without what it said. `line` is where it stands.
    pub(crate) fn take_parts(&mut self, line: u64) -> Parts<'a> {
        let when = or_else(take(&mut self.ts), take(&mut self.timestamp));
        let spot = Spot { at: time::any(when.word()), line };
        let mut parts = Parts { spot, ..Parts::default() };
        match self.role.word() {
            "assistant" | "model" | "ai" => self.take_reply(&mut parts),
            "user" | "human" => self.take_user(&mut parts),
            // A tool the simulated user runs is no part of the agent's turn.
            "tool" | "function" | "observation" if self.requestor.word() != "user" => {
                parts.results.push(self.take_result());
            }
            _ => {}
        }
        parts
    }

    fn take_reply(&mut self, parts: &mut Parts<'a>) {
        let mut reply = Reply {
            reasoning: or_else(take(&mut self.reasoning), take(&mut self.reasoning_content)).text(),
            stop: stop_reason(
                or_else(take(&mut self.finish_reason), take(&mut self.stop_reason)).word(),
            ),
            usage: self.usage.0,
            ..Reply::default()
        };
        match take(&mut self.content) {
            Content::Empty => reply.text = take(&mut self.refusal).text(),
            Content::Text(text) => reply.text = text.text(),
            Content::Resolved(text) => reply.text = text,
            Content::Blocks(blocks) => {
                for block in blocks {
                    reply_block(block, &mut reply);
                }
            }
        }
        let List(calls) = take(&mut self.tool_calls);
        reply
            .tool_calls
            .extend(calls.into_iter().map(CallFields::into_call).filter(|call| !is_blank(call)));
        let Obj(legacy) = take(&mut self.function_call);
        if !legacy.name.is_empty() {
            reply.tool_calls.push(ToolCall {
                id: Cow::Borrowed(""),
                name: legacy.name.text(),
                arguments: legacy.arguments.map_or(Cow::Borrowed(""), raw_text),
                ..ToolCall::default()
            });
        }
        if self.kind.word() == "reasoning" {
            append(&mut reply.reasoning, take(&mut reply.text));
        }
        let result = take(&mut self.result);
        if !matches!(result, Content::Empty) {
            let content = result.into_text();
            parts.own_results.push(ToolResult { content, ..ToolResult::default() });
        }
        parts.reply = Some(reply);
    }

    fn take_user(&mut self, parts: &mut Parts<'a>) {
        match take(&mut self.content) {
            Content::Empty => {}
            Content::Text(text) => parts.user = text.text(),
            Content::Resolved(text) => parts.user = text,
            Content::Blocks(blocks) => {
                for block in blocks {
                    if block.kind.word() == "tool_result" {
                        parts.results.push(result_block(block));
                    } else {
                        append(&mut parts.user, block.into_text());
                    }
                }
            }
        }
    }

    fn take_result(&mut self) -> ToolResult<'a> {
        let failed = match self.status.word() {
            "failed" | "error" => Some(true),
            _ => None,
        };
        let id = or_else(take(&mut self.tool_call_id), take(&mut self.call_id)).text();
        ToolResult {
            call_id: if id.is_empty() { take(&mut self.tool_call_ids).into_text() } else { id },
            content: take(&mut self.content).into_text(),
            is_error: self.error.0.or(self.is_error.0).or(failed),
            exit_code: self.exit_code.code(),
            full_len: self.orig_len.positive(),
            tests: None,
        }
    }
}

/// Takes a list of calls the short way; see [`Cursor`].
fn calls<'a>(cursor: &mut Cursor<'a>) -> Option<List<CallFields<'a>>> {
    // Most replies have one call.
    let mut calls = Vec::with_capacity(1);
    cursor.list(|cursor| {
        calls.push(CallFields::take(cursor)?);
        (calls.len() <= MAX_ITEMS).then_some(())
    })?;
    Some(List(calls))
}

/// Whether a call holds nothing at all.
fn is_blank(call: &ToolCall<'_>) -> bool {
    call.id.is_empty() && call.name.is_empty() && call.arguments.is_empty()
}

/// Adds one block of a reply's content.
pub(crate) fn reply_block<'a>(block: Block<'a>, reply: &mut Reply<'a>) {
    match block.kind.word() {
        "tool_use" | "server_tool_use" | "mcp_tool_use" => reply.tool_calls.push(ToolCall {
            id: block.id.text(),
            name: block.name.text(),
            arguments: block.input.map_or(Cow::Borrowed(""), raw_text),
            ..ToolCall::default()
        }),
        "thinking" | "reasoning" => {
            append(&mut reply.reasoning, or_else(block.thinking, block.text).text());
        }
        _ => append(&mut reply.text, block.into_text()),
    }
}

/// An Anthropic `tool_result` block.
pub(crate) fn result_block(block: Block<'_>) -> ToolResult<'_> {
    ToolResult {
        call_id: block.tool_use_id.text(),
        content: block.content.into_text(),
        is_error: block.is_error.0,
        ..ToolResult::default()
    }
}
