//! Chat files of Qwen Code.

use std::borrow::Cow;

use serde::Deserialize;
use steersman_engine::{Reply, ToolCall, ToolResult};

use crate::content::append;
use crate::formats::gemini::{FunctionResponse, ResponsePart};
use crate::lenient::{Flag, List, Obj, Raw, Str, parse, raw_text};
use crate::run::RunEnd;
use crate::session::{Opening, Session};
use crate::steps::push_user;
use crate::time;
use crate::usage::GeminiUsage;
use crate::writer::{RunWriter, Spot};

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Line<'a> {
    #[serde(rename = "type", borrow)]
    kind: Str<'a>,
    #[serde(borrow)]
    subtype: Str<'a>,
    #[serde(borrow)]
    session_id: Str<'a>,
    #[serde(borrow)]
    timestamp: Str<'a>,
    #[serde(borrow)]
    model: Str<'a>,
    #[serde(borrow)]
    message: Obj<MessageFields<'a>>,
    #[serde(borrow)]
    tool_call_result: Obj<CallResult<'a>>,
    usage_metadata: Obj<GeminiUsage>,
    context_window_size: crate::lenient::Count,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct MessageFields<'a> {
    #[serde(borrow)]
    parts: List<Part<'a>>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Part<'a> {
    #[serde(borrow)]
    text: Str<'a>,
    thought: Flag,
    #[serde(borrow)]
    function_call: Obj<FunctionCall<'a>>,
    #[serde(borrow)]
    function_response: Obj<FunctionResponse<'a>>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct FunctionCall<'a> {
    #[serde(borrow)]
    id: Str<'a>,
    #[serde(borrow)]
    name: Str<'a>,
    #[serde(borrow)]
    args: Raw<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct CallResult<'a> {
    #[serde(borrow)]
    call_id: Str<'a>,
    #[serde(borrow)]
    status: Str<'a>,
    #[serde(borrow)]
    result_display: Str<'a>,
}

/// A chat of Qwen Code.
pub(crate) struct QwenSession {
    opening: Opening,
}

impl QwenSession {
    pub(crate) fn new(id: &str) -> Self {
        Self { opening: Opening::of(id, "Qwen Code") }
    }

    fn note(&mut self, line: &Line<'_>) {
        let meta = &mut self.opening.meta;
        if !line.session_id.is_empty() {
            meta.id = Cow::Owned(line.session_id.text().into_owned());
        }
        if !line.model.is_empty() && meta.model.is_empty() {
            meta.model = Cow::Owned(line.model.text().into_owned());
        }
        meta.context_window = meta.context_window.or(line.context_window_size.positive());
    }
}

impl Session for QwenSession {
    fn element(
        &mut self,
        json: &str,
        number: u64,
        out: &mut RunWriter<'_>,
    ) -> serde_json::Result<()> {
        let line = parse::<Line<'_>>(json)?;
        if !matches!(line.kind.word(), "user" | "assistant" | "tool_result") {
            return Ok(());
        }
        if !self.opening.is_open() {
            self.note(&line);
        }
        self.opening.ensure(number, out);
        let spot = Spot { at: time::iso(line.timestamp.word()), line: number };
        let parts = line.message.0.parts.0;
        match line.kind.word() {
            "assistant" => {
                let usage = line.usage_metadata.0.usage();
                out.reply(spot, reply(parts, usage));
            }
            "tool_result" => push_results(parts, line.tool_call_result.0, spot, out),
            // Other kinds of user line are the client's own notices.
            _ if line.subtype.is_empty() => {
                push_user(
                    spot,
                    crate::content::join(parts.into_iter().map(|p| p.text.text())),
                    out,
                );
            }
            _ => {}
        }
        Ok(())
    }

    fn preview(&mut self, _list: &str, json: &str) {
        if let Ok(line) = parse::<Line<'_>>(json) {
            self.note(&line);
        }
    }

    fn finish(&mut self, end: RunEnd, out: &mut RunWriter<'_>) {
        self.opening.close(end, out);
    }
}

fn reply(parts: Vec<Part<'_>>, usage: steersman_engine::Usage) -> Reply<'_> {
    let mut reply = Reply { usage, ..Reply::default() };
    for part in parts {
        let Obj(call) = part.function_call;
        if !call.name.is_empty() {
            reply.tool_calls.push(ToolCall {
                id: call.id.text(),
                name: call.name.text(),
                arguments: call.args.map_or(Cow::Borrowed(""), raw_text),
                ..ToolCall::default()
            });
        } else if part.thought.is_set() {
            append(&mut reply.reasoning, part.text.text());
        } else {
            append(&mut reply.text, part.text.text());
        }
    }
    reply
}

fn push_results(
    parts: Vec<Part<'_>>,
    summary: CallResult<'_>,
    spot: Spot,
    out: &mut RunWriter<'_>,
) {
    let stated = match summary.status.word() {
        "error" | "cancelled" => Some(true),
        "success" => Some(false),
        _ => None,
    };
    let mut pushed = false;
    for part in parts {
        let response = ResponsePart { text: part.text, function_response: part.function_response };
        let Obj(function) = response.function_response;
        let (mut content, flag) = function.response.0.into_text();
        append(&mut content, response.text.text());
        let call_id =
            if function.id.is_empty() { summary.call_id.text() } else { function.id.text() };
        let is_error = stated.or(flag);
        out.push_result(spot, ToolResult { call_id, content, is_error, ..ToolResult::default() });
        pushed = true;
    }
    if !pushed {
        let content = summary.result_display.text();
        let call_id = summary.call_id.text();
        let result = ToolResult { call_id, content, is_error: stated, ..ToolResult::default() };
        out.push_result(spot, result);
    }
}
