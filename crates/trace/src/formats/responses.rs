//! Items of OpenAI's Responses API, as request input, response output, or a list of both.

use std::borrow::Cow;

use serde::Deserialize;
use steersman_engine::{ToolCall, ToolResult};

use crate::content::{Content, append};
use crate::lenient::{Flag, Raw, Str, parse, raw_text};
use crate::run::RunEnd;
use crate::session::{HeldTurn, Opening, Session, owned_call, set};
use crate::steps::push_user;
use crate::writer::{RunWriter, Spot};

/// One item as written.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Item<'a> {
    #[serde(rename = "type", borrow)]
    pub(crate) kind: Str<'a>,
    #[serde(borrow)]
    role: Str<'a>,
    #[serde(borrow)]
    content: Content<'a>,
    #[serde(borrow)]
    summary: Content<'a>,
    #[serde(borrow)]
    call_id: Str<'a>,
    #[serde(borrow)]
    name: Str<'a>,
    #[serde(borrow)]
    arguments: Raw<'a>,
    #[serde(borrow)]
    input: Raw<'a>,
    #[serde(borrow)]
    action: Raw<'a>,
    #[serde(borrow)]
    output: Raw<'a>,
    #[serde(borrow)]
    status: Str<'a>,
    is_error: Flag,
}

/// Folds items into turns: model items up to the next output or user message are one reply.
#[derive(Debug, Default)]
pub(crate) struct Items {
    pub(crate) turn: HeldTurn,
}

impl Items {
    /// Takes the next item. False if it is of a kind that says nothing about the run.
    pub(crate) fn take(&mut self, item: Item<'_>, spot: Spot, out: &mut RunWriter<'_>) -> bool {
        match item.kind.word() {
            "message" | "" => self.message(item, spot, out),
            "reasoning" => {
                let mut text = item.summary.into_text();
                append(&mut text, item.content.into_text());
                let reply = self.turn.reply("", spot, out);
                append(&mut reply.reasoning, Cow::Owned(text.into_owned()));
            }
            "function_call" | "custom_tool_call" | "local_shell_call" | "mcp_call" => {
                let raw = item.arguments.or(item.input).or(item.action);
                let name = if item.name.is_empty() { item.kind } else { item.name };
                let call = ToolCall {
                    id: item.call_id.text(),
                    name: name.text(),
                    arguments: raw.map_or(Cow::Borrowed(""), raw_text),
                    ..ToolCall::default()
                };
                self.turn.reply("", spot, out).tool_calls.push(owned_call(call));
            }
            kind if kind.ends_with("_output") => {
                let failed = matches!(item.status.word(), "failed" | "incomplete").then_some(true);
                let result = ToolResult {
                    call_id: item.call_id.text(),
                    content: item.output.map_or(Cow::Borrowed(""), output_text),
                    is_error: item.is_error.0.or(failed),
                    ..ToolResult::default()
                };
                self.turn.result(spot, result, out);
            }
            _ => return false,
        }
        true
    }

    fn message(&mut self, item: Item<'_>, spot: Spot, out: &mut RunWriter<'_>) {
        match item.role.word() {
            "assistant" => {
                let text = item.content.into_text().into_owned();
                append(&mut self.turn.reply("", spot, out).text, Cow::Owned(text));
            }
            "user" => {
                self.turn.flush(out);
                push_user(spot, item.content.into_text(), out);
            }
            _ => {}
        }
    }
}

/// The text of an output: a string, content blocks, or an object with `content` or `output`.
fn output_text(raw: &serde_json::value::RawValue) -> Cow<'_, str> {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Body<'a> {
        #[serde(borrow)]
        content: Content<'a>,
    }
    match raw.get().as_bytes().first() {
        Some(b'[') => serde_json::from_str::<Content<'_>>(raw.get())
            .map_or(Cow::Borrowed(raw.get()), Content::into_text),
        Some(b'{') => match parse::<Body<'_>>(raw.get()) {
            Ok(body) if !matches!(body.content, Content::Empty) => body.content.into_text(),
            _ => Cow::Borrowed(raw.get()),
        },
        _ => raw_text(raw),
    }
}

/// A run of items: a list, one item per line, or `{"input": […]}` and `{"output": […]}`.
pub(crate) struct ResponsesSession {
    opening: Opening,
    items: Items,
}

impl ResponsesSession {
    pub(crate) fn new(id: &str) -> Self {
        Self { opening: Opening::of(id, ""), items: Items::default() }
    }
}

impl Session for ResponsesSession {
    fn element(
        &mut self,
        json: &str,
        line: u64,
        out: &mut RunWriter<'_>,
    ) -> serde_json::Result<()> {
        let item = parse::<Item<'_>>(json)?;
        self.opening.ensure(line, out);
        self.items.take(item, Spot { line, ..Spot::default() }, out);
        Ok(())
    }

    fn member(&mut self, key: &str, json: &str) {
        match key {
            "id" | "prompt_cache_key" => set(&mut self.opening.meta.id, json),
            "model" => set(&mut self.opening.meta.model, json),
            _ => {}
        }
    }

    fn wants_list(&mut self, key: &str) -> bool {
        matches!(key, "input" | "output" | "items")
    }

    fn finish(&mut self, end: RunEnd, out: &mut RunWriter<'_>) {
        self.items.turn.flush(out);
        self.opening.close(end, out);
    }
}
