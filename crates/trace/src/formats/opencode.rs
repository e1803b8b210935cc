//! The output of `opencode export`.

use std::borrow::Cow;

use serde::Deserialize;
use steersman_engine::{CallFailure, Reply, Timestamp, ToolCall, ToolResult};

use crate::content::append;
use crate::lenient::{Count, Dollars, Flag, List, Obj, Raw, Str, parse, raw_text};
use crate::run::RunEnd;
use crate::session::{Opening, Session};
use crate::steps::push_user;
use crate::stop::stop_reason;
use crate::usage::TokenFields;
use crate::writer::{RunWriter, Spot};

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Message<'a> {
    #[serde(borrow)]
    info: Obj<Info<'a>>,
    #[serde(borrow)]
    parts: List<Part<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Info<'a> {
    #[serde(borrow)]
    role: Str<'a>,
    #[serde(rename = "modelID", borrow)]
    model: Str<'a>,
    time: Obj<Times>,
    #[serde(borrow)]
    error: Obj<Failure<'a>>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
struct Times {
    created: Count,
    end: Count,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Failure<'a> {
    #[serde(borrow)]
    name: Str<'a>,
    #[serde(borrow)]
    data: Obj<FailureData<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct FailureData<'a> {
    #[serde(borrow)]
    message: Str<'a>,
    #[serde(rename = "statusCode")]
    status_code: Count,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Part<'a> {
    #[serde(rename = "type", borrow)]
    kind: Str<'a>,
    #[serde(borrow)]
    text: Str<'a>,
    synthetic: Flag,
    #[serde(borrow)]
    tool: Str<'a>,
    #[serde(rename = "callID", borrow)]
    call_id: Str<'a>,
    #[serde(borrow)]
    state: Obj<State<'a>>,
    #[serde(borrow)]
    reason: Str<'a>,
    tokens: Obj<TokenFields>,
    cost: Dollars,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct State<'a> {
    #[serde(borrow)]
    status: Str<'a>,
    #[serde(borrow)]
    input: Raw<'a>,
    #[serde(borrow)]
    output: Str<'a>,
    #[serde(borrow)]
    error: Str<'a>,
    metadata: Obj<Metadata>,
    time: Obj<Times>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
struct Metadata {
    exit: Count,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct SessionInfo<'a> {
    #[serde(borrow)]
    id: Str<'a>,
}

/// An exported session.
pub(crate) struct OpencodeSession {
    opening: Opening,
}

impl OpencodeSession {
    pub(crate) fn new(id: &str) -> Self {
        Self { opening: Opening::of(id, "opencode") }
    }
}

impl Session for OpencodeSession {
    fn element(
        &mut self,
        json: &str,
        line: u64,
        out: &mut RunWriter<'_>,
    ) -> serde_json::Result<()> {
        let message = parse::<Message<'_>>(json)?;
        let Obj(info) = message.info;
        self.opening.ensure(line, out);
        let spot = Spot { at: millis(info.time.0.created), line };
        match info.role.word() {
            "user" => {
                let said = message.parts.0.into_iter().filter(|part| !part.synthetic.is_set());
                push_user(spot, crate::content::join(said.map(|part| part.text.text())), out);
            }
            "assistant" => {
                push_steps(message.parts.0, spot, out);
                let Obj(failure) = info.error;
                if !failure.name.is_empty() && failure.name.word() != "MessageAbortedError" {
                    let Obj(data) = failure.data;
                    let status =
                        data.status_code.positive().and_then(|code| u16::try_from(code).ok());
                    let message = data.message.text();
                    out.failure(spot, CallFailure { status, message, ..CallFailure::default() });
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn member(&mut self, key: &str, json: &str) {
        if key == "info"
            && let Ok(Obj(info)) = serde_json::from_str::<Obj<SessionInfo<'_>>>(json)
            && !info.id.is_empty()
        {
            self.opening.meta.id = Cow::Owned(info.id.text().into_owned());
        }
    }

    fn wants_list(&mut self, key: &str) -> bool {
        key == "messages"
    }

    fn preview(&mut self, _list: &str, json: &str) {
        if let Ok(message) = parse::<Message<'_>>(json)
            && self.opening.meta.model.is_empty()
        {
            self.opening.meta.model = Cow::Owned(message.info.0.model.text().into_owned());
        }
    }

    fn finish(&mut self, end: RunEnd, out: &mut RunWriter<'_>) {
        self.opening.close(end, out);
    }
}

fn millis(count: Count) -> Timestamp {
    Timestamp(count.amount())
}

/// Pushes the replies of one message: every step is a model call with its results.
fn push_steps(parts: Vec<Part<'_>>, spot: Spot, out: &mut RunWriter<'_>) {
    let mut reply = Reply::default();
    let mut results = Vec::new();
    let mut is_empty = true;
    for part in parts {
        match part.kind.word() {
            "text" => append(&mut reply.text, part.text.text()),
            "reasoning" => append(&mut reply.reasoning, part.text.text()),
            "tool" => take_tool(part, spot, &mut reply, &mut results),
            "step-finish" => {
                reply.stop = stop_reason(part.reason.word());
                reply.usage = part.tokens.0.usage(part.cost);
                push_step(std::mem::take(&mut reply), &mut results, spot, out);
                is_empty = true;
                continue;
            }
            _ => continue,
        }
        is_empty = false;
    }
    if !is_empty {
        push_step(reply, &mut results, spot, out);
    }
}

fn take_tool<'a>(
    part: Part<'a>,
    spot: Spot,
    reply: &mut Reply<'a>,
    results: &mut Vec<(Spot, ToolResult<'a>)>,
) {
    let Obj(state) = part.state;
    reply.tool_calls.push(ToolCall {
        id: part.call_id.text(),
        name: part.tool.text(),
        arguments: state.input.map_or(Cow::Borrowed(""), raw_text),
        ..ToolCall::default()
    });
    let failed = state.status.word() == "error";
    if !failed && state.status.word() != "completed" {
        return;
    }
    let end = millis(state.time.0.end);
    let at = if end == Timestamp::UNKNOWN { spot.at } else { end };
    let result = ToolResult {
        call_id: part.call_id.text(),
        content: if failed { state.error.text() } else { state.output.text() },
        is_error: Some(failed),
        exit_code: state.metadata.0.exit.code(),
        ..ToolResult::default()
    };
    results.push((Spot { at, ..spot }, result));
}

fn push_step<'a>(
    reply: Reply<'a>,
    results: &mut Vec<(Spot, ToolResult<'a>)>,
    spot: Spot,
    out: &mut RunWriter<'_>,
) {
    out.reply(spot, reply);
    for (spot, result) in results.drain(..) {
        out.push_result(spot, result);
    }
}
