//! What was decided, what was said to the agent, and what people make of it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A decision, with everything that explains it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Decided {
    /// The journal's entry, which marks name; null in recordings.
    pub seq: Option<u64>,
    /// When, in milliseconds since 1970; null if that is not known.
    pub at_ms: Option<u64>,
    /// The turn it was made in; 0 before any reply.
    pub turn: u32,
    /// What is to be done: `continue`, `nudge`, `nudge_synthesis`, `re_evaluate`, `retry`,
    /// `force_synthesis`, `start_over`, `stop`.
    pub action: String,
    /// Why, as a word: the rule's key.
    pub reason: String,
    /// Why, as a sentence.
    pub why: String,
    /// The numbers of the reason by name, for example `count` and `threshold`.
    pub numbers: BTreeMap<String, f64>,
    /// What it rests on.
    pub evidence: Evidence,
    /// The score, 0 to 1.
    pub score: f32,
    /// Whether it was only told, and not acted on.
    pub shadow: bool,
    /// The words for the agent; null if it needs none.
    pub put: Option<Put>,
    /// What a person made of it.
    pub mark: Mark,
    /// What the person noted with the mark, at most 1 KiB; null if nothing.
    pub mark_note: Option<String>,
}

/// What a decision rests on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Evidence {
    /// Turns, ascending, at most 8.
    pub turns: Vec<u32>,
    /// The call or text in question, at most 160 bytes; empty if there is none.
    pub excerpt: String,
}

/// Words for the agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Put {
    /// The words.
    pub text: String,
    /// The template they were made from.
    pub template: String,
    /// Which of the template's texts it is, from 0.
    pub variant: u32,
}

/// A text that was put into the conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Said {
    /// The journal's entry; null in recordings.
    pub seq: Option<u64>,
    /// When, in milliseconds since 1970; null if that is not known.
    pub at_ms: Option<u64>,
    /// The words, at most 8 KiB.
    pub text: String,
    /// The template; `note` for words of a person, `rescue` where the model was asked once more.
    pub template: String,
}

/// What a person made of an intervention.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Mark {
    /// Nothing, or nothing any more.
    #[default]
    None,
    /// It helped.
    Helpful,
    /// It did harm.
    Harmful,
}

/// Something besides calls and decisions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Note {
    /// The journal's entry; null in recordings.
    pub seq: Option<u64>,
    /// When, in milliseconds since 1970; null if that is not known.
    pub at_ms: Option<u64>,
    /// What it is: `user`, `control`, `call_failed`, `rescued`, `fell_back`, `broke_off`, `held`,
    /// `failed_open`, `lost`, `compacted`, `check`, `started_over`, `start_over_refused`,
    /// `checkpoint`, `handed_over`, `mail`, `waiting`, `taken_up`, `steered`, `capped`, `ended`,
    /// `marked`; others may come.
    pub kind: String,
    /// It, as a sentence or in the words of whoever spoke, at most 4 KiB.
    pub text: String,
    /// Who did it; null if nobody did or it is not known.
    pub who: Option<String>,
}

impl std::fmt::Display for Mark {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::None => "no mark",
            Self::Helpful => "helpful",
            Self::Harmful => "harmful",
        })
    }
}
