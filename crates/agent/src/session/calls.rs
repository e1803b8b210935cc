//! The calls of the reply under way.

use serde_json::Value;
use steersman_wire::{Message, Part, ToolSpec, parse_arguments};

use crate::control::Control;
use crate::entry::ToolFinished;

/// A call of the reply under way.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenCall {
    /// Its wire id.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments: a JSON object, or what the model wrote if that is none.
    pub arguments: String,
    /// How far it is.
    pub state: CallState,
    /// What it asks of the runtime itself; `None` for a call of a tool.
    pub control: Option<Control>,
    /// Whether the agent may call a tool of this name.
    pub offered: bool,
}

/// How far a call is.
#[derive(Clone, Debug, PartialEq)]
pub enum CallState {
    /// Nothing was done about it.
    Pending,
    /// It runs.
    Started,
    /// It was started by a process that is gone.
    Interrupted,
    /// It returned: what the model is shown, and whether it failed.
    Finished(String, bool),
}

impl OpenCall {
    /// Whether the workspace may differ after it.
    #[must_use]
    pub fn may_change(&self) -> bool {
        let ran = matches!(self.state, CallState::Finished(..) | CallState::Interrupted);
        ran && self.control.is_none() && !self.is_harmless()
    }

    /// Whether it can only look: such calls of one reply run side by side, and need no approval.
    ///
    /// Only tools of our own are known to. What a command or a stranger's tool does is guessed from
    /// its name and arguments, which is good enough for counting and not for letting it pass.
    #[must_use]
    pub fn is_harmless(&self) -> bool {
        matches!(self.name.as_str(), "list" | "read" | "search")
    }
}

/// The calls of a reply.
pub(super) fn read(message: &Message, tools: &[ToolSpec]) -> Vec<OpenCall> {
    let calls = message.parts.iter().filter_map(|part| match part {
        Part::ToolCall { id, name, arguments, .. } => Some((id, name, arguments)),
        _ => None,
    });
    let open = |(id, name, arguments): (&String, &String, &String)| {
        // Read once: what is judged is what runs, also where a key stands there twice.
        let read = parse_arguments(arguments);
        let arguments = read.map_or_else(|_| arguments.clone(), |it| Value::Object(it).to_string());
        let offered = tools.iter().any(|tool| tool.name == *name);
        OpenCall {
            id: id.clone(),
            name: name.clone(),
            state: CallState::Pending,
            control: if offered { Control::read(name, &arguments) } else { None },
            arguments,
            offered,
        }
    };
    calls.map(open).collect()
}

/// A call begins.
pub(super) fn start(calls: &mut [OpenCall], id: &str) {
    let pending = |call: &&mut OpenCall| call.id == id && call.state == CallState::Pending;
    if let Some(call) = calls.iter_mut().find(pending) {
        call.state = CallState::Started;
    }
}

/// A call returned; `None` if nobody waits for it.
pub(super) fn finish<'a>(calls: &'a mut [OpenCall], result: &ToolFinished) -> Option<&'a OpenCall> {
    let open = |call: &&mut OpenCall| {
        call.id == result.call_id && !matches!(call.state, CallState::Finished(..))
    };
    let call = calls.iter_mut().find(open)?;
    let failed = result.interrupted
        || result.is_error.unwrap_or_else(|| result.exit_code.is_some_and(|code| code != 0));
    call.state = CallState::Finished(result.content.clone(), failed);
    Some(call)
}

/// The process that ran the calls is gone.
pub(super) fn mark_interrupted(calls: &mut [OpenCall]) {
    for call in calls.iter_mut().filter(|call| call.state == CallState::Started) {
        call.state = CallState::Interrupted;
    }
}

/// Gives every call of a message an id of its own, so that results find their way.
pub fn make_ids_unique(message: &mut Message, turn: u32) {
    let mut seen: Vec<String> = Vec::new();
    for (at, part) in message.parts.iter_mut().enumerate() {
        let Part::ToolCall { id, raw, .. } = part else { continue };
        if id.is_empty() || seen.contains(id) {
            *id = format!("call_{turn}_{at}");
            // The provider's own block would go back with the id that is not unique.
            *raw = None;
        }
        seen.push(id.clone());
    }
}
