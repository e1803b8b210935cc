//! A session as it is shown.

use schemars::JsonSchema;
use serde::Serialize;

use crate::decided::Note;
use crate::turn::Turn;
use crate::whole::Whole;

/// A session turn by turn.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Timeline {
    /// Where it was read from.
    pub source: Source,
    /// The session's id; of a recording the run's own.
    pub session: String,
    /// The task in the user's words, at most 4 KiB.
    pub task: String,
    /// The agent; empty if it is not known.
    pub agent: String,
    /// The model; empty if it is not known.
    pub model: String,
    /// The name of the policy that decided; empty if it is not known.
    pub policy: String,
    /// The last entry of the journal that it tells of; 0 for recordings.
    pub seq: u64,
    /// Turns of the session, told here or not.
    pub turn_count: u32,
    /// What happened before the first turn, at most 40; only with the first turns.
    pub before: Vec<Note>,
    /// The turns in order. The last one of a session that goes on may still grow: ask again for
    /// what follows the turn before it.
    pub turns: Vec<Turn>,
    /// What `after_turn` goes on with; null if there are no more for now.
    pub next: Option<u32>,
    /// How it ended; null while it goes on, or where that is not known.
    pub ending: Option<Concluded>,
    /// What is known of the session as a whole.
    pub whole: Whole,
    /// What could not be read, at most 20 sentences.
    pub problems: Vec<String>,
}

/// Where a timeline was read from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The journal of a session of a gateway's client.
    #[default]
    Gateway,
    /// The journal of a session of `steersman run`.
    Run,
    /// A recorded run.
    Recorded,
}

/// How a session ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Concluded {
    /// How: `complete`, `claimed`, `refuted`, `capped`, `stopped`, `failed`, `waiting`; of a
    /// gateway's session `answered`, `capped`, `broke_off`; of a recording `solved`, `unsolved`.
    pub ending: String,
    /// Why, as a sentence; may be empty.
    pub why: String,
    /// The answer, at most 8 KiB; may be empty.
    pub answer: String,
}
