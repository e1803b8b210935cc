//! Trajectories of SWE-agent.

use std::borrow::Cow;

use serde::Deserialize;
use steersman_engine::{Reply, ToolCall, ToolResult};

use crate::content::Content;
use crate::lenient::{List, Obj, Str, parse};
use crate::message::Message;
use crate::run::RunEnd;
use crate::session::{Opening, Session, set};
use crate::steps::{push_parts, push_user};
use crate::writer::{RunWriter, Spot};

/// Commands of SWE-agent's own interface; they count as tools, anything else as shell.
const COMMANDS: [&str; 17] = [
    "open",
    "goto",
    "scroll_up",
    "scroll_down",
    "create",
    "edit",
    "insert",
    "append",
    "search_dir",
    "search_file",
    "find_file",
    "submit",
    "str_replace_editor",
    "view_image",
    "filemap",
    "exit_forfeit",
    "undo_edit",
];

/// One turn as written: what the model answered, and what came of it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Turn<'a> {
    #[serde(borrow)]
    action: Str<'a>,
    #[serde(borrow)]
    observation: Content<'a>,
    #[serde(borrow)]
    response: Str<'a>,
    #[serde(borrow)]
    thought: Str<'a>,
    /// The messages sent to the model, in newer versions.
    #[serde(borrow)]
    query: List<Message<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ReplayConfig<'a> {
    #[serde(borrow)]
    agent: Obj<AgentConfig<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct AgentConfig<'a> {
    #[serde(borrow)]
    model: Obj<ModelConfig<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ModelConfig<'a> {
    #[serde(borrow)]
    name: Str<'a>,
    #[serde(borrow)]
    model_name: Str<'a>,
}

/// A trajectory: its `trajectory` list, or its `history` if it has nothing else.
pub(crate) struct SweAgentSession {
    opening: Opening,
    /// The task, from the first user message that is no demonstration.
    task: String,
    reads_history: bool,
    reads_turns: bool,
    is_first: bool,
}

impl SweAgentSession {
    pub(crate) fn new(id: &str) -> Self {
        Self {
            opening: Opening::of(id, "SWE-agent"),
            task: String::new(),
            reads_history: false,
            reads_turns: false,
            is_first: true,
        }
    }

    fn note_task(&mut self, message: Message<'_>) {
        if self.task.is_empty() && message.role.word() == "user" && !message.is_demo.is_set() {
            self.task = message.content.into_text().into_owned();
        }
    }

    fn turn(&mut self, mut turn: Turn<'_>, line: u64, out: &mut RunWriter<'_>) {
        let spot = Spot { line, ..Spot::default() };
        if std::mem::take(&mut self.is_first) {
            for message in std::mem::take(&mut turn.query).0 {
                self.note_task(message);
            }
            push_user(spot, Cow::Borrowed(&self.task), out);
        }
        let text =
            if turn.response.is_empty() { turn.thought.text() } else { turn.response.text() };
        let action = turn.action.text();
        let action = action.trim();
        let mut reply = Reply { text, ..Reply::default() };
        if !action.is_empty() {
            reply.tool_calls.push(call(action));
        }
        let acted = !action.is_empty();
        out.reply(spot, reply);
        let content = turn.observation.into_text();
        if acted || !content.is_empty() {
            out.push_result(spot, ToolResult { content, ..ToolResult::default() });
        }
    }
}

/// The command line as a call: of SWE-agent's own commands by their name, else of `bash`.
fn call(action: &str) -> ToolCall<'_> {
    let word = action.split_whitespace().next().unwrap_or("");
    let name = if COMMANDS.contains(&word) { word } else { "bash" };
    ToolCall {
        id: Cow::Borrowed(""),
        name: Cow::Borrowed(name),
        arguments: Cow::Owned(serde_json::json!({ "command": action }).to_string()),
        ..ToolCall::default()
    }
}

impl Session for SweAgentSession {
    fn element(
        &mut self,
        json: &str,
        line: u64,
        out: &mut RunWriter<'_>,
    ) -> serde_json::Result<()> {
        if self.reads_history {
            let mut message = parse::<Message<'_>>(json)?;
            self.opening.ensure(line, out);
            if !message.is_demo.is_set() {
                push_parts(message.take_parts(line), out);
            }
        } else {
            let turn = parse::<Turn<'_>>(json)?;
            self.opening.ensure(line, out);
            self.turn(turn, line, out);
        }
        Ok(())
    }

    fn member(&mut self, key: &str, json: &str) {
        match key {
            "instance_id" => set(&mut self.opening.meta.instance, json),
            "replay_config" => {
                // Written as JSON inside a string.
                let Ok(text) = serde_json::from_str::<Str<'_>>(json) else { return };
                let text = if text.is_empty() { Cow::Borrowed(json) } else { text.text() };
                if let Ok(config) = serde_json::from_str::<Obj<ReplayConfig<'_>>>(&text) {
                    let model = config.0.agent.0.model.0;
                    let name = crate::message::or_else(model.name, model.model_name);
                    self.opening.meta.model = Cow::Owned(name.text().into_owned());
                }
            }
            _ => {}
        }
    }

    fn wants_list(&mut self, key: &str) -> bool {
        match key {
            "trajectory" => {
                self.reads_turns = !self.reads_history;
                self.reads_turns
            }
            "history" => {
                self.reads_history = !self.reads_turns;
                self.reads_history
            }
            _ => false,
        }
    }

    fn preview(&mut self, list: &str, json: &str) {
        if list == "history"
            && let Ok(message) = parse::<Message<'_>>(json)
        {
            self.note_task(message);
        }
    }

    fn finish(&mut self, end: RunEnd, out: &mut RunWriter<'_>) {
        self.opening.close(end, out);
    }
}
