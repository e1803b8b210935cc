//! The Agent Trajectory Interchange Format, versions 1.0 to 1.7.

use std::borrow::Cow;

use serde::Deserialize;
use steersman_engine::{Reply, ToolCall, ToolResult};

use crate::content::Content;
use crate::lenient::{Flag, List, Obj, Raw, Str, parse, raw_text};
use crate::run::RunEnd;
use crate::session::{Opening, Session, set};
use crate::steps::push_user;
use crate::time;
use crate::usage::UsageFields;
use crate::writer::{RunWriter, Spot};

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Step<'a> {
    #[serde(borrow)]
    timestamp: Str<'a>,
    #[serde(borrow)]
    source: Str<'a>,
    #[serde(borrow)]
    message: Content<'a>,
    #[serde(borrow)]
    reasoning_content: Str<'a>,
    #[serde(borrow)]
    tool_calls: List<Call<'a>>,
    #[serde(borrow)]
    observation: Obj<Observation<'a>>,
    metrics: Obj<UsageFields>,
    /// A step repeated from the trajectory that this one continues.
    is_copied_context: Flag,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Call<'a> {
    #[serde(borrow)]
    tool_call_id: Str<'a>,
    #[serde(borrow)]
    function_name: Str<'a>,
    #[serde(borrow)]
    arguments: Raw<'a>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Observation<'a> {
    #[serde(borrow)]
    results: List<ResultFields<'a>>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct ResultFields<'a> {
    #[serde(borrow)]
    source_call_id: Str<'a>,
    #[serde(borrow)]
    content: Content<'a>,
    extra: Obj<ResultExtra>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
struct ResultExtra {
    is_error: Flag,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Agent<'a> {
    #[serde(borrow)]
    name: Str<'a>,
    #[serde(borrow)]
    model_name: Str<'a>,
}

/// A trajectory.
pub(crate) struct AtifSession {
    opening: Opening,
}

impl AtifSession {
    pub(crate) fn new(id: &str) -> Self {
        Self { opening: Opening::of(id, "") }
    }
}

impl Session for AtifSession {
    fn element(
        &mut self,
        json: &str,
        line: u64,
        out: &mut RunWriter<'_>,
    ) -> serde_json::Result<()> {
        let step = parse::<Step<'_>>(json)?;
        self.opening.ensure(line, out);
        let spot = Spot { at: time::iso(step.timestamp.word()), line };
        match step.source.word() {
            "user" => push_user(spot, step.message.into_text(), out),
            _ if step.is_copied_context.is_set() => return Ok(()),
            "agent" => {
                let reply = Reply {
                    text: step.message.into_text(),
                    reasoning: step.reasoning_content.text(),
                    tool_calls: step.tool_calls.0.into_iter().map(call).collect(),
                    stop: None,
                    usage: step.metrics.0.usage(),
                    ..Reply::default()
                };
                out.reply(spot, reply);
            }
            _ => {}
        }
        for result in step.observation.0.results.0 {
            let result = ToolResult {
                call_id: result.source_call_id.text(),
                content: result.content.into_text(),
                is_error: result.extra.0.is_error.0,
                ..ToolResult::default()
            };
            out.push_result(spot, result);
        }
        Ok(())
    }

    fn member(&mut self, key: &str, json: &str) {
        match key {
            "session_id" | "trajectory_id" => set(&mut self.opening.meta.id, json),
            "agent" => {
                if let Ok(Obj(agent)) = serde_json::from_str::<Obj<Agent<'_>>>(json) {
                    self.opening.meta.agent = Cow::Owned(agent.name.text().into_owned());
                    self.opening.meta.model = Cow::Owned(agent.model_name.text().into_owned());
                }
            }
            _ => {}
        }
    }

    fn wants_list(&mut self, key: &str) -> bool {
        key == "steps"
    }

    fn finish(&mut self, end: RunEnd, out: &mut RunWriter<'_>) {
        self.opening.close(end, out);
    }
}

fn call(call: Call<'_>) -> ToolCall<'_> {
    ToolCall {
        id: call.tool_call_id.text(),
        name: call.function_name.text(),
        arguments: call.arguments.map_or(Cow::Borrowed(""), raw_text),
        ..ToolCall::default()
    }
}
