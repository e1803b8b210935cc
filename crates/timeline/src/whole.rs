//! What is known of a session as a whole.

use schemars::JsonSchema;
use serde::Serialize;

use crate::thresholds::Thresholds;
use crate::turn::{Claimed, Spent};

/// What is known of a session as a whole, whichever turns are told.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Whole {
    /// Files read and modified in the order of their first call, at most 500.
    pub files: Vec<FileSeen>,
    /// Results of tests over the turns, at most 1,000; of more the latest.
    pub results: Vec<TestPoint>,
    /// Tests that failed at some time, at most 500.
    pub tests: Vec<TestSeen>,
    /// Attempts that were given up: the ledger.
    pub attempts: Vec<Attempt>,
    /// The letters of its agents, at most 500; of more the latest.
    pub mail: Vec<Letter>,
    /// Its budgets, with what is used of them.
    pub budgets: Vec<Budget>,
    /// The thresholds of the policy that decides and of each preset, the former first.
    pub thresholds: Vec<Thresholds>,
    /// What its calls of models used.
    pub spent: Spent,
    /// How the engine sees it; null if nothing is known of that.
    pub standing: Option<Standing>,
    /// The controls that it takes now, by the names of `POST /api/sessions/{id}/control`.
    pub controls: Vec<String>,
    /// Why it takes none; null if it takes some, or has ended.
    pub no_controls: Option<String>,
}

/// A file that calls have read or modified.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FileSeen {
    /// Its name as the first call had it, at most 200 bytes.
    pub name: String,
    /// Calls that read it.
    pub reads: u32,
    /// Calls that modified it.
    pub changes: u32,
    /// The turn of the first call.
    pub first_turn: u32,
    /// The turn of the last call.
    pub last_turn: u32,
}

/// Results of tests at a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TestPoint {
    /// The turn.
    pub turn: u32,
    /// Tests that passed.
    pub passed: u32,
    /// Tests that failed.
    pub failed: u32,
    /// Whether something could not be built or loaded.
    pub broken: bool,
}

/// A test over time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TestSeen {
    /// Its identity, in hexadecimal.
    pub id: String,
    /// Its name, at most 200 bytes; null if only the identity was kept.
    pub name: Option<String>,
    /// The turns whose results name it as failing, at most 200; of more the latest.
    pub failed_in: Vec<u32>,
}

/// An attempt that was given up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Attempt {
    /// Its number, from 1.
    pub number: u32,
    /// The journal's entry; null in recordings.
    pub seq: Option<u64>,
    /// Turns it took.
    pub turns: u32,
    /// Why it was given up.
    pub reason: String,
    /// What was tried, in the agent's words; may be empty.
    pub tried: String,
    /// What is to be tried next, in the agent's words; may be empty.
    pub next: String,
    /// Tests that failed at its end; null if none were seen.
    pub failed: Option<u32>,
    /// Tests that passed at its end; null if none were seen.
    pub passed: Option<u32>,
    /// Files it changed.
    pub files: Vec<String>,
    /// Lines it added.
    pub insertions: u32,
    /// Lines it removed.
    pub deletions: u32,
    /// Where its work is kept: a git commit; may be empty.
    pub kept: String,
    /// Its changes as a unified diff, at most 256 KiB; null if they cannot be had, beyond 16
    /// attempts, and where only turns are asked for that came after it.
    pub diff: Option<String>,
}

/// A letter between agents.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Letter {
    /// Its number, from 1.
    pub id: u64,
    /// When it was written, in milliseconds since 1970.
    pub at_ms: u64,
    /// Who wrote it.
    pub from: String,
    /// Whom it is for.
    pub to: String,
    /// What it is about; may be empty.
    pub subject: String,
    /// What it says, at most 4 KiB.
    pub text: String,
    /// The letter that it answers; null if it begins a thread.
    pub in_reply_to: Option<u64>,
    /// Whether it was read.
    pub read: bool,
}

/// A budget and what is used of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Budget {
    /// Its name as in the policy and in the control `limits`, for example `max_turns`.
    pub name: String,
    /// What was used.
    pub used: u64,
    /// What is allowed; null is no limit.
    pub allowed: Option<u64>,
}

/// How the engine sees a session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Standing {
    /// The attempt under way, from 1.
    pub attempt: u32,
    /// `initial`, `reading`, `executing`, `verifying`.
    pub stage: String,
    /// The kind of task.
    pub task_type: String,
    /// The complexity of the task.
    pub complexity: String,
    /// Approaches tried, at most 8, the latest last.
    pub approaches: Vec<String>,
    /// Different files read.
    pub files_read: u32,
    /// Different files modified.
    pub files_modified: u32,
    /// Reads of what had been read before.
    pub revisits: u32,
    /// Tokens in the conversation.
    pub context_tokens: u64,
    /// The model's context window in tokens.
    pub context_window: u64,
    /// What the agent said last of its progress; null if it says nothing.
    pub claimed: Option<Claimed>,
    /// Who wants it to wait; null: nobody.
    pub paused: Option<String>,
    /// Whether a person wants it watched and not governed.
    pub is_left_alone: bool,
    /// The preset that a person wants in the place of the policy; null: the policy holds.
    pub preset: Option<String>,
}
