//! Event logs of OpenHands: of its SDK (`kind`), and of the versions before (`action`,
//! `observation`).

use std::borrow::Cow;

use serde::Deserialize;
use steersman_engine::{CallFailure, Reply, ToolCall, ToolResult};

use crate::content::{Content, append};
use crate::lenient::{Count, Flag, List, Obj, Raw, Str, parse, raw_text};
use crate::message::{CallFields, or_else};
use crate::run::RunEnd;
use crate::session::{HeldTurn, Opening, Session, add_reply};
use crate::steps::push_user;
use crate::time;
use crate::writer::{RunWriter, Spot};

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Event<'a> {
    #[serde(borrow)]
    kind: Str<'a>,
    #[serde(borrow)]
    source: Str<'a>,
    #[serde(borrow)]
    timestamp: Str<'a>,
    #[serde(borrow)]
    llm_response_id: Str<'a>,
    #[serde(borrow)]
    llm_message: Obj<LlmMessage<'a>>,
    #[serde(borrow)]
    thought: Content<'a>,
    #[serde(borrow)]
    reasoning_content: Str<'a>,
    #[serde(borrow)]
    tool_name: Str<'a>,
    #[serde(borrow)]
    tool_call_id: Str<'a>,
    #[serde(borrow)]
    tool_call: Obj<CallText<'a>>,
    #[serde(borrow)]
    action: Raw<'a>,
    #[serde(borrow)]
    observation: Raw<'a>,
    #[serde(borrow)]
    error: Str<'a>,
    #[serde(borrow)]
    detail: Str<'a>,
    #[serde(borrow)]
    rejection_reason: Str<'a>,
    // Before the SDK.
    #[serde(borrow)]
    args: Raw<'a>,
    #[serde(borrow)]
    content: Content<'a>,
    extras: Obj<Extras>,
    #[serde(borrow)]
    tool_call_metadata: Obj<CallMetadata<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct LlmMessage<'a> {
    #[serde(borrow)]
    role: Str<'a>,
    #[serde(borrow)]
    content: Content<'a>,
    #[serde(borrow)]
    reasoning_content: Str<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct CallText<'a> {
    #[serde(borrow)]
    arguments: Raw<'a>,
    #[serde(borrow)]
    function: Obj<FunctionText<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct FunctionText<'a> {
    #[serde(borrow)]
    arguments: Raw<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Observation<'a> {
    #[serde(borrow)]
    content: Content<'a>,
    #[serde(borrow)]
    output: Content<'a>,
    is_error: Flag,
    exit_code: Count,
    metadata: Obj<Metadata>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
struct Metadata {
    exit_code: Count,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
struct Extras {
    exit_code: Count,
    metadata: Obj<Metadata>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Args<'a> {
    #[serde(borrow)]
    content: Str<'a>,
    #[serde(borrow)]
    thought: Str<'a>,
    #[serde(borrow)]
    final_thought: Str<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct CallMetadata<'a> {
    #[serde(borrow)]
    function_name: Str<'a>,
    #[serde(borrow)]
    tool_call_id: Str<'a>,
    #[serde(borrow)]
    model_response: Obj<ModelResponse<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ModelResponse<'a> {
    #[serde(borrow)]
    id: Str<'a>,
    #[serde(borrow)]
    choices: List<Choice<'a>>,
    usage: Obj<crate::usage::UsageFields>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Choice<'a> {
    #[serde(borrow)]
    finish_reason: Str<'a>,
    #[serde(borrow)]
    message: Obj<ChoiceMessage<'a>>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct ChoiceMessage<'a> {
    #[serde(borrow)]
    tool_calls: List<CallFields<'a>>,
}

/// A conversation.
pub(crate) struct OpenHandsSession {
    opening: Opening,
    turn: HeldTurn,
}

impl OpenHandsSession {
    pub(crate) fn new(id: &str) -> Self {
        Self { opening: Opening::of(id, "OpenHands"), turn: HeldTurn::default() }
    }

    fn sdk_event(&mut self, event: Event<'_>, spot: Spot, out: &mut RunWriter<'_>) {
        match event.kind.word() {
            "MessageEvent" => {
                let Obj(message) = event.llm_message;
                let text = message.content.into_text();
                if event.source.word() == "agent" || message.role.word() == "assistant" {
                    let reasoning = message.reasoning_content.text();
                    let piece = Reply { text, reasoning, ..Reply::default() };
                    add_reply(self.turn.reply(event.llm_response_id.word(), spot, out), piece);
                } else if event.source.word() == "user" {
                    self.turn.flush(out);
                    push_user(spot, text, out);
                }
            }
            "ActionEvent" => self.action(event, spot, out),
            "ObservationEvent" => {
                let result = observation(event.tool_call_id, event.observation);
                self.turn.result(spot, result, out);
            }
            "AgentErrorEvent" | "UserRejectObservation" => {
                let result = ToolResult {
                    call_id: event.tool_call_id.text(),
                    content: or_else(event.error, event.rejection_reason).text(),
                    is_error: Some(true),
                    ..ToolResult::default()
                };
                self.turn.result(spot, result, out);
            }
            "ConversationErrorEvent" => {
                self.turn.flush(out);
                let message = event.detail.text();
                out.failure(spot, CallFailure { message, ..CallFailure::default() });
            }
            "Condensation" => {
                self.turn.flush(out);
                out.compacted(spot, None);
            }
            _ => {}
        }
    }

    fn action(&mut self, event: Event<'_>, spot: Spot, out: &mut RunWriter<'_>) {
        let Obj(call) = event.tool_call;
        let raw = call.arguments.or(call.function.0.arguments).or(event.action);
        let piece = Reply {
            text: event.thought.into_text(),
            reasoning: event.reasoning_content.text(),
            tool_calls: vec![ToolCall {
                id: event.tool_call_id.text(),
                name: event.tool_name.text(),
                arguments: raw.map_or(Cow::Borrowed(""), raw_text),
                ..ToolCall::default()
            }],
            ..Reply::default()
        };
        add_reply(self.turn.reply(event.llm_response_id.word(), spot, out), piece);
    }

    /// An event from before the SDK: `action` or `observation` is its name.
    fn old_event(&mut self, event: Event<'_>, spot: Spot, out: &mut RunWriter<'_>) {
        let Obj(args) = event
            .args
            .map(|raw| serde_json::from_str::<Obj<Args<'_>>>(raw.get()).unwrap_or_default())
            .unwrap_or_default();
        let Obj(meta) = event.tool_call_metadata;
        if let Some(raw) = event.observation {
            let result = ToolResult {
                call_id: meta.tool_call_id.text(),
                content: event.content.into_text(),
                is_error: (raw_text(raw) == "error").then_some(true),
                exit_code: event.extras.0.metadata.0.exit_code.code().or(event
                    .extras
                    .0
                    .exit_code
                    .code()),
                ..ToolResult::default()
            };
            // Answers to calls only: the log also holds notices about the agent's state.
            if !meta.function_name.is_empty() || is_answer(&raw_text(raw)) {
                self.turn.result(spot, result, out);
            }
            return;
        }
        let name = event.action.map_or(Cow::Borrowed(""), raw_text);
        match (event.source.word(), &*name) {
            ("user", "message") => {
                self.turn.flush(out);
                push_user(spot, args.content.text(), out);
            }
            (
                "agent",
                "system" | "recall" | "change_agent_state" | "condensation" | "null" | "",
            ) => {}
            ("agent", _) => {
                let Obj(response) = meta.model_response;
                let mut piece = Reply { usage: response.usage.0.usage(), ..Reply::default() };
                append(&mut piece.text, args.content.text());
                append(&mut piece.text, or_else(args.thought, args.final_thought).text());
                if let Some(choice) = response.choices.0.into_iter().next() {
                    piece.stop = crate::stop::stop_reason(choice.finish_reason.word());
                    piece.tool_calls = choice
                        .message
                        .0
                        .tool_calls
                        .0
                        .into_iter()
                        .map(CallFields::into_call)
                        .filter(|call| call.id == meta.tool_call_id.text())
                        .collect();
                }
                if piece.tool_calls.is_empty() && name != "message" {
                    piece.tool_calls.push(ToolCall {
                        id: meta.tool_call_id.text(),
                        name: if meta.function_name.is_empty() {
                            name
                        } else {
                            meta.function_name.text()
                        },
                        arguments: event.args.map_or(Cow::Borrowed(""), raw_text),
                        ..ToolCall::default()
                    });
                }
                add_reply(self.turn.reply(response.id.word(), spot, out), piece);
            }
            _ => {}
        }
    }
}

/// Whether an old observation answers an action of the agent.
fn is_answer(name: &str) -> bool {
    matches!(
        name,
        "run" | "run_ipython" | "read" | "write" | "edit" | "browse" | "error" | "mcp" | "think"
    )
}

fn observation<'a>(call_id: Str<'a>, raw: Raw<'a>) -> ToolResult<'a> {
    let Obj(fields) = raw
        .map(|raw| serde_json::from_str::<Obj<Observation<'a>>>(raw.get()).unwrap_or_default())
        .unwrap_or_default();
    let mut content = fields.content.into_text();
    append(&mut content, fields.output.into_text());
    ToolResult {
        call_id: call_id.text(),
        content,
        is_error: fields.is_error.0,
        exit_code: fields.exit_code.code().or(fields.metadata.0.exit_code.code()),
        ..ToolResult::default()
    }
}

impl Session for OpenHandsSession {
    fn element(
        &mut self,
        json: &str,
        line: u64,
        out: &mut RunWriter<'_>,
    ) -> serde_json::Result<()> {
        let event = parse::<Event<'_>>(json)?;
        self.opening.ensure(line, out);
        let spot = Spot { at: time::iso(event.timestamp.word()), line };
        if event.kind.is_empty() {
            self.old_event(event, spot, out);
        } else {
            self.sdk_event(event, spot, out);
        }
        Ok(())
    }

    fn finish(&mut self, end: RunEnd, out: &mut RunWriter<'_>) {
        self.turn.flush(out);
        self.opening.close(end, out);
    }
}
