//! Trajectories of mini-swe-agent.

use std::borrow::Cow;

use serde::Deserialize;
use steersman_engine::{Reply, ToolCall, ToolResult};

use crate::lenient::{Count, Dollars, List, Obj, Str, parse};
use crate::message::{Message, Parts};
use crate::run::RunEnd;
use crate::session::{Opening, Session, set};
use crate::steps::push_parts;
use crate::stop::stop_reason;
use crate::time;
use crate::usage::UsageFields;
use crate::writer::{RunWriter, Spot};

/// What is kept beside a message.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Extra<'a> {
    returncode: Count,
    #[serde(borrow)]
    timestamp: Str<'a>,
    cost: Dollars,
    #[serde(borrow)]
    actions: List<Action<'a>>,
    #[serde(borrow)]
    response: Obj<Response<'a>>,
    /// Set on messages by which the agent interrupts itself (format errors, time-outs).
    #[serde(borrow)]
    interrupt_type: Str<'a>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Action<'a> {
    #[serde(borrow)]
    command: Str<'a>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Response<'a> {
    usage: Obj<UsageFields>,
    #[serde(borrow)]
    choices: List<Choice<'a>>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Choice<'a> {
    #[serde(borrow)]
    finish_reason: Str<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Info<'a> {
    #[serde(borrow)]
    config: Obj<Config<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Config<'a> {
    #[serde(borrow)]
    model: Obj<Model<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Model<'a> {
    #[serde(borrow)]
    model_name: Str<'a>,
}

/// A trajectory.
pub(crate) struct MiniSession {
    opening: Opening,
    has_task: bool,
}

impl MiniSession {
    pub(crate) fn new(id: &str) -> Self {
        Self { opening: Opening::of(id, "mini-swe-agent"), has_task: false }
    }

    /// A later user message: the output of a command, a notice of the agent, or a person's word.
    fn later_user(parts: &mut Parts<'_>, extra: &Extra<'_>) {
        let text = parts.user.trim_start();
        let is_output = extra.returncode.0.is_some() || text.starts_with("<returncode>");
        let timed_out = text.starts_with("The last command") && text.contains("timed out");
        let is_notice = !extra.interrupt_type.is_empty()
            || text.starts_with("Tool call error")
            || text.starts_with("Please always provide EXACTLY ONE action");
        if is_output || timed_out {
            let content = Cow::Owned(std::mem::take(&mut parts.user).into_owned());
            let is_error = timed_out.then_some(true);
            parts.results.push(ToolResult { content, is_error, ..ToolResult::default() });
        } else if is_notice {
            parts.user = Cow::Borrowed("");
        }
    }
}

impl Session for MiniSession {
    fn element(
        &mut self,
        json: &str,
        line: u64,
        out: &mut RunWriter<'_>,
    ) -> serde_json::Result<()> {
        let mut message = parse::<Message<'_>>(json)?;
        let Obj(extra) = message
            .extra
            .map(|raw| serde_json::from_str::<Obj<Extra<'_>>>(raw.get()).unwrap_or_default())
            .unwrap_or_default();
        self.opening.ensure(line, out);
        let mut parts = message.take_parts(line);
        if !extra.timestamp.is_empty() {
            parts.spot = Spot { at: time::any(extra.timestamp.word()), line };
        }
        if !parts.user.is_empty() {
            if self.has_task {
                Self::later_user(&mut parts, &extra);
            }
            self.has_task = true;
        }
        for result in &mut parts.results {
            result.exit_code = extra.returncode.code().or(result.exit_code);
        }
        if let Some(reply) = &mut parts.reply {
            complete(reply, &extra);
        }
        push_parts(parts, out);
        Ok(())
    }

    fn member(&mut self, key: &str, json: &str) {
        match key {
            "info" => {
                if let Ok(Obj(info)) = serde_json::from_str::<Obj<Info<'_>>>(json) {
                    let name = info.config.0.model.0.model_name.text();
                    self.opening.meta.model = Cow::Owned(name.into_owned());
                }
            }
            "instance_id" => {
                set(&mut self.opening.meta.instance, json);
                set(&mut self.opening.meta.id, json);
            }
            _ => {}
        }
    }

    fn wants_list(&mut self, key: &str) -> bool {
        key == "messages"
    }

    fn finish(&mut self, end: RunEnd, out: &mut RunWriter<'_>) {
        self.opening.close(end, out);
    }
}

/// Adds what stands beside the message: usage, cost, stop reason, and the commands of agents that
/// write them into their text.
fn complete(reply: &mut Reply<'_>, extra: &Extra<'_>) {
    let response = &extra.response.0;
    reply.usage = response.usage.0.usage();
    reply.usage.cost_nanodollars = extra.cost.0;
    if let Some(choice) = response.choices.0.first() {
        reply.stop = stop_reason(choice.finish_reason.word()).or(reply.stop);
    }
    if !reply.tool_calls.is_empty() {
        return;
    }
    let mut commands: Vec<String> =
        extra.actions.0.iter().map(|action| action.command.text().into_owned()).collect();
    if commands.is_empty() {
        commands.extend(fenced(&reply.text).map(str::to_owned));
    }
    for command in commands {
        let arguments = serde_json::json!({ "command": command }).to_string();
        reply.tool_calls.push(ToolCall {
            id: Cow::Borrowed(""),
            name: Cow::Borrowed("bash"),
            arguments: Cow::Owned(arguments),
            ..ToolCall::default()
        });
    }
}

/// The command in the first fenced block that is marked as one.
fn fenced(text: &str) -> Option<&str> {
    const MARKS: [&str; 3] = ["```mswea_bash_command\n", "```bash\n", "```sh\n"];
    let (_, rest) = MARKS.iter().find_map(|mark| text.split_once(mark))?;
    rest.split_once("\n```").map(|(command, _)| command)
}
