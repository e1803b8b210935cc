//! Asking before something is done.

use std::fmt;

use steersman_prompt::{Approval, ApprovalMode};

use super::SHELL;
use crate::seam::Work;
use crate::session::ToolRun;

/// Says whether a call that may change something may be made.
pub trait Approver: Send + Sync {
    /// Whether it may be made.
    fn approve<'a>(&'a self, run: &'a ToolRun) -> Work<'a, Verdict>;
}

/// Whether a call may be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It may.
    Approved,
    /// It may not.
    Refused(Refused),
}

/// Why a call may not be made, for the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// It is not on the list of what is allowed.
    NotAllowed,
    /// The user said no; with their words, if there are any.
    ByUser(String),
    /// Nobody is there to be asked.
    NobodyToAsk,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAllowed => f.write_str(
                "Not allowed: this call is not on the list of what may be done in this run. Find \
                 another way, or say what you would need.",
            ),
            Self::ByUser(words) if words.is_empty() => f.write_str("The user refused this call."),
            Self::ByUser(words) => write!(f, "The user refused this call and says: {words}"),
            Self::NobodyToAsk => f.write_str(
                "This call needs the user's approval, and nobody is there to give it. Find \
                 another way, or say what you would need.",
            ),
        }
    }
}

/// Approval by a list, without anybody to ask.
impl Approver for Approval {
    fn approve<'a>(&'a self, run: &'a ToolRun) -> Work<'a, Verdict> {
        let verdict = match judge(self, run) {
            Some(verdict) => verdict,
            None => Verdict::Refused(Refused::NobodyToAsk),
        };
        Box::pin(std::future::ready(verdict))
    }
}

/// What the list says; `None` if a person is to be asked.
#[must_use]
pub fn judge(approval: &Approval, run: &ToolRun) -> Option<Verdict> {
    let command = (run.name == SHELL).then(|| command_of(&run.arguments));
    if approval.allows(&run.name, command.as_deref()) {
        return Some(Verdict::Approved);
    }
    match approval.mode {
        ApprovalMode::Ask | ApprovalMode::Confined => None,
        ApprovalMode::AllowList | ApprovalMode::Auto => Some(Verdict::Refused(Refused::NotAllowed)),
    }
}

/// The command line of a shell call; empty if it has none.
fn command_of(arguments: &str) -> String {
    // Read as the tool reads it: what is judged is what runs.
    let object = steersman_wire::parse_arguments(arguments).unwrap_or_default();
    let command = object.get("command").and_then(serde_json::Value::as_str);
    command.unwrap_or_default().to_owned()
}
