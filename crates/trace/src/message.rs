//! A chat message in any of the shapes recorders write, and what it amounts to.

use std::borrow::Cow;

use serde::Deserialize;
use steersman_engine::{Reply, ToolCall, ToolResult};

use crate::content::{Block, Content, append};
use crate::lenient::{Count, Flag, List, Obj, Raw, Str, raw_text};
use crate::stop::stop_reason;
use crate::time;
use crate::usage::UsageFields;
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
    usage: Obj<UsageFields>,
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
    arguments: Raw<'a>,
    #[serde(borrow)]
    args: Raw<'a>,
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
    pub(crate) fn into_call(self) -> ToolCall<'a> {
        let Obj(function) = self.function;
        let Obj(custom) = self.custom;
        let raw = self
            .arguments
            .or(self.args)
            .or(function.arguments)
            .or(custom.input)
            .or(custom.arguments);
        ToolCall {
            id: or_else(self.id, self.call_id).text(),
            name: or_else(self.name, or_else(function.name, custom.name)).text(),
            unrecorded: raw.is_some_and(|raw| raw.get().contains(ARGUMENTS_MISSING)),
            arguments: raw.map_or(Cow::Borrowed(""), raw_text),
        }
    }
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

impl<'a> Message<'a> {
    /// Takes the message apart. `line` is where it stands.
    pub(crate) fn into_parts(mut self, line: u64) -> Parts<'a> {
        let when = or_else(std::mem::take(&mut self.ts), std::mem::take(&mut self.timestamp));
        let spot = Spot { at: time::any(when.word()), line };
        let mut parts = Parts { spot, ..Parts::default() };
        match self.role.word() {
            "assistant" | "model" | "ai" => self.reply_into(&mut parts),
            "user" | "human" => self.user_into(&mut parts),
            // A tool the simulated user runs is no part of the agent's turn.
            "tool" | "function" | "observation" if self.requestor.word() != "user" => {
                parts.results.push(self.into_result());
            }
            _ => {}
        }
        parts
    }

    fn reply_into(self, parts: &mut Parts<'a>) {
        let mut reply = Reply {
            reasoning: or_else(self.reasoning, self.reasoning_content).text(),
            stop: stop_reason(or_else(self.finish_reason, self.stop_reason).word()),
            usage: self.usage.0.usage(),
            ..Reply::default()
        };
        match self.content {
            Content::Empty => reply.text = self.refusal.text(),
            Content::Text(text) => reply.text = text.text(),
            Content::Blocks(blocks) => {
                for block in blocks {
                    reply_block(block, &mut reply);
                }
            }
        }
        reply.tool_calls.extend(
            self.tool_calls.0.into_iter().map(CallFields::into_call).filter(|call| !is_blank(call)),
        );
        let Obj(legacy) = self.function_call;
        if !legacy.name.is_empty() {
            reply.tool_calls.push(ToolCall {
                id: Cow::Borrowed(""),
                name: legacy.name.text(),
                arguments: legacy.arguments.map_or(Cow::Borrowed(""), raw_text),
                ..ToolCall::default()
            });
        }
        if self.kind.word() == "reasoning" {
            append(&mut reply.reasoning, std::mem::take(&mut reply.text));
        }
        let result = !matches!(self.result, Content::Empty);
        if result {
            let content = self.result.into_text();
            parts.own_results.push(ToolResult { content, ..ToolResult::default() });
        }
        parts.reply = Some(reply);
    }

    fn user_into(self, parts: &mut Parts<'a>) {
        match self.content {
            Content::Empty => {}
            Content::Text(text) => parts.user = text.text(),
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

    fn into_result(self) -> ToolResult<'a> {
        let failed = match self.status.word() {
            "failed" | "error" => Some(true),
            _ => None,
        };
        let id = or_else(self.tool_call_id, self.call_id).text();
        ToolResult {
            call_id: if id.is_empty() { self.tool_call_ids.into_text() } else { id },
            content: self.content.into_text(),
            is_error: self.error.0.or(self.is_error.0).or(failed),
            exit_code: self.exit_code.code(),
            full_len: self.orig_len.positive(),
            tests: None,
        }
    }
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
