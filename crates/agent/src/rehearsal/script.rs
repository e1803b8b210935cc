//! The script of a rehearsal.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use steersman_config::document::{Document, Text, parse, refuse};
use steersman_config::{Finding, LoadError};

/// Largest script, in bytes.
const MAX_BYTES: usize = 1024 * 1024;

/// The script of a rehearsal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// What the rehearsal shows, in a line.
    #[serde(default)]
    pub title: String,
    /// The task that the user is taken to have given.
    pub task: String,
    /// The command that proves the goal. Default: none.
    #[serde(default)]
    pub check: Option<String>,
    /// The files of the project the agent works in, by path. Default: an empty folder.
    #[serde(default)]
    pub project: BTreeMap<String, String>,
    /// Keys of the policy that differ from the default one, as with `--set`. Default: none.
    #[serde(default)]
    pub policy: BTreeMap<String, Value>,
    /// Milliseconds that each reply takes, so that a person can follow. Default 0.
    #[serde(default)]
    pub reply_ms: u64,
    /// What the agent says in each attempt, the first one first; the last part holds for all
    /// further attempts.
    pub attempts: Vec<Part>,
    /// What the agent says to a message of Steersman, by the name of its text. Default: it goes on
    /// as if nothing had been said.
    #[serde(default)]
    pub on: Vec<Reaction>,
    /// What differs in each of several attempts side by side, the first one first. Default: none.
    #[serde(default)]
    pub sides: Vec<SidePart>,
}

/// What differs in one of several attempts side by side.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SidePart {
    /// What the agent says, as in the script. Default: what the script says.
    pub attempts: Vec<Part>,
    /// Milliseconds that each reply takes. Default: what the script says.
    pub reply_ms: Option<u64>,
}

/// What the agent says in one attempt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// Its replies, in order.
    pub replies: Vec<Line>,
    /// After the last reply it goes on with this one, counted from 1: it is stuck. Default: it says
    /// that it is done.
    #[serde(default)]
    pub again_from: Option<usize>,
}

/// One reply.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Line {
    /// Its text. Default: none.
    pub text: String,
    /// The calls it makes, all in one reply. Default: none.
    pub calls: Vec<Call>,
    /// The server's word for why the model stopped. Default: `tool_calls` or `stop`.
    pub stop: Option<String>,
    /// How the call fails before the reply comes. Default: it does not.
    pub fails: Option<Fault>,
}

/// A call of a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// The tool.
    pub name: String,
    /// Its arguments. Default: none.
    #[serde(default)]
    pub arguments: BTreeMap<String, Value>,
    /// The arguments as a text that need not be JSON, in place of `arguments`. Default: none.
    #[serde(default)]
    pub raw: Option<String>,
}

/// A model call that fails.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Fault {
    /// How often it fails in a row before the reply comes. Default 1.
    pub times: u32,
    /// HTTP status. Default: no answer arrives.
    pub status: Option<u16>,
    /// The server's message. Default: none.
    pub message: String,
    /// The server's `Retry-After` in milliseconds. Default: none.
    pub retry_after_ms: Option<u64>,
}

/// What the agent says to a message of Steersman.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reaction {
    /// The name of the text, such as `re_evaluate`.
    pub to: String,
    /// Only in this attempt, counted from 1. Default: in any.
    #[serde(default)]
    pub attempt: Option<u32>,
    /// The reply.
    pub reply: Line,
}

impl Script {
    /// Reads a script; `name` is shown before every finding.
    ///
    /// # Errors
    /// Everything that is wrong with it, with line, key, value and what is allowed.
    pub fn parse(name: &str, text: &str) -> Result<Self, LoadError> {
        Self::from_bytes(name, text.as_bytes())
    }

    /// As [`Script::parse`], from a file's bytes.
    ///
    /// # Errors
    /// The same, and a text that is no UTF-8 or too large.
    pub fn from_bytes(name: &str, bytes: &[u8]) -> Result<Self, LoadError> {
        let text = Text::from_bytes(name, bytes, MAX_BYTES, "a rehearsal")
            .map_err(|finding| LoadError::from(*finding))?;
        let (script, document) = parse::<Self>(text, None)?;
        let mut findings = Vec::new();
        if script.attempts.is_empty() {
            findings.push(document.error(&["attempts"], "at least one attempt is needed"));
        }
        check_parts(&script.attempts, &[], &document, &mut findings);
        for (at, side) in script.sides.iter().enumerate() {
            check_parts(&side.attempts, &["sides", &at.to_string()], &document, &mut findings);
        }
        for path in script.project.keys() {
            let plain = std::path::Path::new(path)
                .components()
                .all(|part| matches!(part, std::path::Component::Normal(_)));
            if !plain || path.is_empty() {
                let what = "a relative path without `..` is needed";
                findings.push(document.key_error(&["project", path], what));
            }
        }
        refuse(findings)?;
        Ok(script)
    }

    /// The script as one of several attempts side by side plays it, counted from 1; 0 is a run on
    /// its own.
    #[must_use]
    pub fn of_side(mut self, number: u32) -> Self {
        let at = number.checked_sub(1).and_then(|at| usize::try_from(at).ok());
        if let Some(side) = at.and_then(|at| self.sides.get(at).cloned()) {
            self.reply_ms = side.reply_ms.unwrap_or(self.reply_ms);
            if !side.attempts.is_empty() {
                self.attempts = side.attempts;
            }
        }
        self
    }
}

/// Finds what is wrong with the attempts under a path of the script.
fn check_parts(
    parts: &[Part],
    path: &[&str],
    document: &Document<Script>,
    findings: &mut Vec<Finding>,
) {
    for (at, part) in parts.iter().enumerate() {
        let at = at.to_string();
        let key = |last| [path, &["attempts", &at, last]].concat();
        if part.replies.is_empty() {
            findings.push(document.error(&key("replies"), "at least one reply is needed"));
        }
        let most = part.replies.len();
        if part.again_from.is_some_and(|from| from == 0 || from > most) {
            let what = format!("a whole number from 1 to {most}: the replies of the attempt");
            findings.push(document.error(&key("again_from"), what));
        }
    }
}
