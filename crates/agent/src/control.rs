//! Calls that ask something of the runtime itself: finish, ask, start over, hand over, write.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use steersman_engine::classify::{self, Intent};
use steersman_engine::protocol::{self, Status};
use steersman_engine::{Reply, ToolCall};
use steersman_wire::{ToolSpec, parse_arguments};

use crate::entry::Replied;
use crate::session::OpenCall;

/// Says that the task is done.
pub const FINISH: &str = "finish";
/// Asks the user.
pub const ASK_USER: &str = "ask_user";
/// Restores the workspace for another attempt.
pub const START_OVER: &str = "start_over";
/// Runs the check.
pub const RUN_CHECK: &str = "run_check";
/// Lets another agent take over.
pub const HAND_OVER: &str = "hand_over";
/// Writes to another agent.
pub const SEND_MAIL: &str = "send_mail";
/// Reads the agent's unread mail.
pub const READ_MAIL: &str = "read_mail";
/// Answers a mail.
pub const REPLY_MAIL: &str = "reply_mail";
/// Says whether the agent goes on, and how far it has come.
pub const REPORT_PROGRESS: &str = "report_progress";

/// What a call asks of the runtime.
#[derive(Clone, Debug, PartialEq)]
pub enum Control {
    /// The task is done.
    Finish(Finish),
    /// A question to the user.
    AskUser(AskUser),
    /// Another attempt.
    StartOver(StartOver),
    /// The check.
    RunCheck,
    /// Another agent.
    HandOver(HandOver),
    /// A mail to another agent.
    SendMail(SendMail),
    /// The agent's unread mail.
    ReadMail,
    /// An answer to a mail.
    ReplyMail(ReplyMail),
    /// Whether the agent goes on, and how far it says it has come (C2).
    Report(Status),
    /// The arguments are not what the tool takes; what is wrong with them.
    Malformed(String),
}

/// Arguments of `finish`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Finish {
    /// What was done.
    #[serde(default)]
    pub summary: String,
}

/// Arguments of `ask_user`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct AskUser {
    /// The question.
    pub question: String,
}

/// Arguments of `start_over`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct StartOver {
    /// Why the attempt is given up.
    #[serde(default)]
    pub reason: String,
    /// What was tried.
    #[serde(default)]
    pub tried: String,
    /// What is to be tried next.
    #[serde(default)]
    pub next: String,
}

/// Arguments of `hand_over`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct HandOver {
    /// The agent that is to take over.
    pub to: String,
    /// What it is told.
    #[serde(default)]
    pub note: String,
}

/// Arguments of `send_mail`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct SendMail {
    /// The agent it goes to.
    pub to: String,
    /// The subject.
    #[serde(default)]
    pub subject: String,
    /// The text.
    pub text: String,
}

/// Arguments of `reply_mail`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct ReplyMail {
    /// The number of the mail that is answered.
    pub id: u64,
    /// The text.
    pub text: String,
}

impl Control {
    /// What a call asks; `None` if it is the call of a tool.
    #[must_use]
    pub fn read(name: &str, arguments: &str) -> Option<Self> {
        Some(match name {
            FINISH => parsed(arguments, Self::Finish),
            ASK_USER => parsed(arguments, Self::AskUser),
            START_OVER => parsed(arguments, Self::StartOver),
            RUN_CHECK => Self::RunCheck,
            HAND_OVER => parsed(arguments, Self::HandOver),
            SEND_MAIL => parsed(arguments, Self::SendMail),
            READ_MAIL => Self::ReadMail,
            REPLY_MAIL => parsed(arguments, Self::ReplyMail),
            REPORT_PROGRESS => match protocol::read_call(name, arguments) {
                Some(signal) => Self::Report(signal.status),
                None => Self::Malformed("`status` must be CONTINUE or TERMINATE".to_owned()),
            },
            _ => return None,
        })
    }

    /// Whether the turn goes to somebody else with it: such a call is no work.
    #[must_use]
    pub const fn yields(&self) -> bool {
        matches!(self, Self::Finish(_) | Self::AskUser(_) | Self::Report(Status::Terminate))
    }
}

fn parsed<T: DeserializeOwned>(arguments: &str, make: fn(T) -> Control) -> Control {
    let object = match parse_arguments(arguments) {
        Ok(object) => object,
        Err(error) => return Control::Malformed(error.to_string()),
    };
    let read = serde_json::from_value(Value::Object(object));
    read.map_or_else(|error| Control::Malformed(error.to_string()), make)
}

/// The reply as the engine sees it: what the agent says when it finishes or asks is its text, and
/// no call.
pub(crate) fn event<'a>(replied: &'a Replied, calls: &'a [OpenCall]) -> Reply<'a> {
    let yielding = yields(calls);
    let mut text = replied.message.text().into_owned();
    for call in calls.iter().filter(|_| yielding) {
        match &call.control {
            Some(Control::Finish(finish)) => {
                push(&mut text, &finish.summary);
                if classify::intent(&text) == Intent::AsksUser {
                    // Who asks calls `ask_user`: this is a claim, however it is put.
                    push(&mut text, "The task is done.");
                }
            }
            Some(Control::AskUser(ask)) => push(&mut text, &ask.question),
            _ => {}
        }
    }
    if yielding && text.is_empty() {
        text.push_str("Done.");
    }
    let work = calls.iter().filter(|_| !yielding);
    let tool_calls = work.map(|call| ToolCall {
        id: call.id.as_str().into(),
        name: call.name.as_str().into(),
        arguments: call.arguments.as_str().into(),
        unrecorded: false,
    });
    Reply {
        text: text.into(),
        reasoning: replied.message.reasoning(),
        tool_calls: tool_calls.collect(),
        stop: replied.stop,
        usage: replied.usage,
        messages: 0,
    }
}

/// Whether a reply does nothing but finish or ask.
pub(crate) fn yields(calls: &[OpenCall]) -> bool {
    let yields = |call: &OpenCall| call.control.as_ref().is_some_and(Control::yields);
    !calls.is_empty() && calls.iter().all(yields)
}

fn push(text: &mut String, more: &str) {
    if !text.is_empty() && !more.is_empty() {
        text.push('\n');
    }
    text.push_str(more);
}

/// The tools that the runtime itself answers, for the model.
#[must_use]
pub fn specs() -> Vec<ToolSpec> {
    let text = |what: &str| json!({"type": "string", "description": what});
    vec![
        spec(
            FINISH,
            "Say that the task is done. Call it alone, when nothing is left to do. A check may \
             follow; if it fails you are told.",
            json!({"summary": text("What was done and what was verified")}),
            &["summary"],
        ),
        spec(
            ASK_USER,
            "Ask the user. Only for what cannot be found out and would change the work.",
            json!({"question": text("The question, with what you would do by default")}),
            &["question"],
        ),
        spec(
            START_OVER,
            "Give this attempt up: the workspace is restored to its state before the task, the \
             work is kept in a ledger, and you begin again with a different approach. Use it when \
             the same tests keep failing after several different fixes, or the design is wrong. Do \
             not use it after one or two tries, or while failing tests get fewer.",
            json!({
                "reason": text("Why this approach cannot work"),
                "tried": text("What was tried, in a sentence"),
                "next": text("The approach to take instead, different in kind"),
            }),
            &["reason", "next"],
        ),
        spec(
            RUN_CHECK,
            "Run the check that proves the task done, and see its output.",
            json!({}),
            &[],
        ),
        spec(
            HAND_OVER,
            "Let another agent take over the task.",
            json!({
                "to": text("The agent's name"),
                "note": text("What it must know and do"),
            }),
            &["to", "note"],
        ),
        spec(
            SEND_MAIL,
            "Write to another agent.",
            json!({
                "to": text("The agent's name"),
                "subject": text("The subject"),
                "text": text("The mail"),
            }),
            &["to", "text"],
        ),
        spec(READ_MAIL, "Read your unread mail.", json!({}), &[]),
        spec(
            REPLY_MAIL,
            "Answer a mail.",
            json!({
                "id": {"type": "integer", "description": "The number of the mail"},
                "text": text("The answer"),
            }),
            &["id", "text"],
        ),
        report(),
    ]
}

/// The continuation protocol as a tool.
fn report() -> ToolSpec {
    let schema: Value = serde_json::from_str(protocol::SCHEMA).unwrap_or_default();
    ToolSpec {
        name: REPORT_PROGRESS.to_owned(),
        description: "Say whether you go on (CONTINUE) or are done (TERMINATE), and how far you \
                      have come. It may stand beside other calls."
            .to_owned(),
        parameters: schema["properties"]["continuation"].clone(),
    }
}

/// A tool whose arguments are these properties and no others.
pub(crate) fn spec(
    name: &str,
    description: &str,
    properties: Value,
    required: &[&str],
) -> ToolSpec {
    let parameters = json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    });
    ToolSpec { name: name.to_owned(), description: description.to_owned(), parameters }
}
