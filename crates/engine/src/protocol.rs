//! The continuation protocol: the model's own word on whether it goes on (C2, C3).
//!
//! Only the assistant's own words signal: what it quotes (code blocks that are not the last one,
//! lines that begin with `>`) is left out, and tool results are never handed to this module.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::classify::phrases::Phrases;
use crate::classify::sentences;
use crate::tool::bare_name;

mod loose;

/// How much of a reply is looked at for a signal, from its end, in bytes.
const LOOK: usize = 32 * 1024;

/// How much of a reply is looked at for patterns, from its end, in bytes.
const PATTERN_LOOK: usize = 2048;

/// How long a text of a signal may be, in bytes; longer ones are cut.
const TEXT_MAX: usize = 500;

/// How many steps a signal may list; further ones are left out.
const STEPS_MAX: usize = 16;

/// Whether the model goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Status {
    /// More is to be done.
    Continue,
    /// The task is over.
    Terminate,
}

/// The `continuation` object of a reply.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ContinuationSignal {
    /// Whether the model goes on.
    pub status: Status,
    /// Why, at most 500 bytes; `None` if not given.
    #[serde(default)]
    pub reason: Option<String>,
    /// What it will do next; `None` if not given.
    #[serde(default)]
    pub next_action: Option<NextAction>,
    /// How far it has come; `None` if not given.
    #[serde(default)]
    pub progress: Option<StepProgress>,
}

/// What the model will do next. Texts are at most 500 bytes; `None` if not given.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct NextAction {
    /// Kind of action, such as `tool_call`.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// Name of the tool.
    pub tool: Option<String>,
    /// In words.
    pub description: Option<String>,
}

/// How far the model says it has come. A claim, not a measurement.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StepProgress {
    /// The step it is at, from 1; `None` if not given.
    pub current_step: Option<u32>,
    /// How many steps there are; `None` if not given.
    pub total_steps: Option<u32>,
    /// 0–100; `None` if not given.
    pub completion_percentage: Option<f32>,
    /// What is done, at most 16 entries.
    pub steps_completed: Vec<String>,
    /// What is left, at most 16 entries.
    pub steps_remaining: Vec<String>,
}

/// JSON schema of a structured answer that carries the signal.
pub const SCHEMA: &str = r#"{
  "type": "object",
  "required": ["response", "continuation"],
  "properties": {
    "response": { "type": "string", "description": "The answer to show" },
    "continuation": {
      "type": "object",
      "required": ["status", "reason"],
      "properties": {
        "status": { "type": "string", "enum": ["CONTINUE", "TERMINATE"] },
        "reason": { "type": "string", "maxLength": 500 },
        "next_action": {
          "type": "object",
          "properties": {
            "type": { "type": "string" },
            "tool": { "type": "string" },
            "description": { "type": "string" }
          }
        },
        "progress": {
          "type": "object",
          "properties": {
            "current_step": { "type": "integer", "minimum": 0 },
            "total_steps": { "type": "integer", "minimum": 0 },
            "completion_percentage": { "type": "number", "minimum": 0, "maximum": 100 },
            "steps_completed": { "type": "array", "items": { "type": "string" }, "maxItems": 16 },
            "steps_remaining": { "type": "array", "items": { "type": "string" }, "maxItems": 16 }
          }
        }
      }
    }
  }
}"#;

/// Reads the signal from a reply (C2): the whole text as JSON, the last code block if it is JSON,
/// or an object `"continuation": {…}` in the text. Unknown fields and fields of the wrong type are
/// left out; `None` without a valid `status`. The last 32 KiB are looked at.
#[must_use]
pub fn read(text: &str) -> Option<ContinuationSignal> {
    // Most replies hold no signal, and need not be cut into words and blocks to know it.
    memchr::memchr(b'"', text.as_bytes())?;
    memchr::memmem::find(text.as_bytes(), b"\"status\"")?;
    let text = text.trim();
    if text.len() <= LOOK
        && text.starts_with('{')
        && text.ends_with('}')
        && let Some(signal) = loose::object(text)
    {
        return Some(signal);
    }
    let text = &text[text.ceil_char_boundary(text.len().saturating_sub(LOOK))..];
    let mut own = OwnWords::of(text);
    let mut found = None;
    let mut block = None;
    while let Some(piece) = own.next() {
        match piece {
            Piece::Words(words) => found = bare(words).or(found),
            Piece::Block(code) => block = Some(code),
        }
    }
    block.and_then(loose::object).or(found)
}

/// Reads the signal from a call of a tool such as `report_progress` or `continue_or_terminate`;
/// `None` for every other tool.
#[must_use]
pub fn read_call(name: &str, arguments: &str) -> Option<ContinuationSignal> {
    const TOOLS: &[&str] = &[
        "continuation",
        "continuation_signal",
        "continue_or_terminate",
        "report_progress",
        "signal_continuation",
    ];
    let bare = bare_name(name);
    let same = |tool: &&str| -> bool { letters(bare).eq(letters(tool)) };
    if arguments.len() > LOOK || !TOOLS.iter().any(same) {
        return None;
    }
    loose::object(arguments)
}

/// The letters and digits of a name, in lower case.
fn letters(name: &str) -> impl Iterator<Item = u8> + '_ {
    let kept = name.bytes().filter(u8::is_ascii_alphanumeric);
    kept.map(|byte| byte.to_ascii_lowercase()).take(40)
}

/// The last `"continuation": {…}` in the words of the assistant.
fn bare(words: &str) -> Option<ContinuationSignal> {
    const KEY: &str = "\"continuation\"";
    words.rmatch_indices(KEY).take(8).find_map(|(at, _)| {
        let line = words[..at].rsplit('\n').next().unwrap_or_default();
        if line.trim_start().starts_with('>') {
            return None;
        }
        let value = words[at + KEY.len()..].trim_start().strip_prefix(':')?;
        loose::inner(value)
    })
}

/// A part of a reply.
enum Piece<'a> {
    /// Outside of code blocks.
    Words(&'a str),
    /// The inside of a code block.
    Block(&'a str),
}

/// Cuts a reply at the fences of its code blocks. A block that is not closed reaches to the end.
struct OwnWords<'a> {
    rest: &'a str,
    inside: bool,
}

impl<'a> OwnWords<'a> {
    const fn of(text: &'a str) -> Self {
        Self { rest: text, inside: false }
    }

    fn next(&mut self) -> Option<Piece<'a>> {
        if self.rest.is_empty() {
            return None;
        }
        let mut at = 0;
        let mut fence = None;
        for line in self.rest.split_inclusive('\n') {
            if line.trim_start().starts_with("```") {
                fence = Some((at, at + line.len()));
                break;
            }
            at += line.len();
        }
        let (end, next) = fence.unwrap_or((self.rest.len(), self.rest.len()));
        let piece = &self.rest[..end];
        self.rest = &self.rest[next..];
        let inside = self.inside;
        self.inside ^= fence.is_some();
        Some(if inside { Piece::Block(piece) } else { Piece::Words(piece) })
    }
}

/// What a phrase says in the patterns of C3.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    Task,
    Done,
    Success,
    Not,
    Need,
    More,
    Steps,
    /// Makes the sentence depend on something.
    If,
}

static MARKS: Phrases<Mark, 256> = Phrases::of(&[
    ("additional", Mark::More),
    ("aren't", Mark::Not),
    ("complete", Mark::Done),
    ("completed", Mark::Done),
    ("done", Mark::Done),
    ("finished", Mark::Done),
    ("further", Mark::More),
    ("hasn't", Mark::Not),
    ("haven't", Mark::Not),
    ("if", Mark::If),
    ("isn't", Mark::Not),
    ("more", Mark::More),
    ("need", Mark::Need),
    ("needed", Mark::Need),
    ("needs", Mark::Need),
    ("never", Mark::Not),
    ("not", Mark::Not),
    ("once", Mark::If),
    ("requires", Mark::Need),
    ("step", Mark::Steps),
    ("steps", Mark::Steps),
    ("successfully", Mark::Success),
    ("task", Mark::Task),
    ("tasks", Mark::Task),
    ("unless", Mark::If),
    ("until", Mark::If),
    ("wasn't", Mark::Not),
    ("when", Mark::If),
    ("yet to be", Mark::Not),
]);

/// The fallback of C3: patterns in the assistant's own words, where no explicit signal is required.
///
/// The markers `TERMINATE` and `CONTINUE` (in capitals, standing alone) and the document's phrases
/// count, those for termination first; "not completed" speaks for going on. `None` if there is
/// neither. The last 2 KiB are looked at.
#[must_use]
pub fn patterns(text: &str) -> Option<Status> {
    let text = &text[text.ceil_char_boundary(text.len().saturating_sub(PATTERN_LOOK))..];
    let mut goes_on = false;
    let mut own = OwnWords::of(text);
    while let Some(piece) = own.next() {
        let Piece::Words(words) = piece else { continue };
        for sentence in words.lines().filter(|line| !line.trim_start().starts_with('>')) {
            for sentence in sentences(sentence) {
                match pattern(sentence) {
                    Some(Status::Terminate) => return Some(Status::Terminate),
                    Some(Status::Continue) => goes_on = true,
                    None => {}
                }
            }
        }
    }
    goes_on.then_some(Status::Continue)
}

fn pattern(sentence: &str) -> Option<Status> {
    let marker = |word: &str| sentence.split(|c: char| !c.is_alphanumeric()).any(|w| w == word);
    if marker("TERMINATE") {
        return Some(Status::Terminate);
    }
    let (mut task, mut done, mut success) = (false, false, false);
    let (mut denied, mut depends) = (false, false);
    let (mut need, mut more, mut steps) = (false, false, false);
    MARKS.scan(sentence, |mark, _| match mark {
        Mark::Task => task = true,
        Mark::Done => done = true,
        Mark::Success => success = true,
        Mark::Not => denied |= !done,
        Mark::Need => need = true,
        Mark::More => more |= need,
        Mark::Steps => steps |= more,
        Mark::If => depends = true,
    });
    if done && !denied && !depends && (task || success) {
        return Some(Status::Terminate);
    }
    let on = marker("CONTINUE") || steps || (done && denied && !depends);
    on.then_some(Status::Continue)
}

#[cfg(test)]
mod tests;
