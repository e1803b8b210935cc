//! What the API answers. Fields are added, never changed.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use steersman_store::{Entry as Stored, Summary};
use steersman_timeline::{Glance, LastDecision};

use super::runs::Runs;
use crate::control::{Control, Limits};
use crate::session::Snapshot;

/// Sessions, the latest first.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SessionList {
    /// The sessions.
    pub sessions: Vec<SessionLine>,
    /// What `cursor` goes on with; null if there are no more.
    pub next: Option<String>,
}

/// A session in a list.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SessionLine {
    /// Its id.
    pub session: String,
    /// `gateway` for one of a client of the gateway, `run` for one that Steersman drives.
    pub kind: String,
    /// `open`, `paused`, `forced` while the final answer is asked for, `capped` after an answer of
    /// the gateway's own; of a run how it ended.
    pub state: String,
    /// The first line of the task.
    pub task: String,
    /// The name of the virtual key; null without one.
    pub key: Option<String>,
    /// The client program; null if it is not known.
    pub agent: Option<String>,
    /// The model; null if it is not known.
    pub model: Option<String>,
    /// When it was first seen, in milliseconds since 1970.
    pub created_ms: u64,
    /// When something happened last, in milliseconds since 1970.
    pub updated_ms: u64,
    /// Answers of the model.
    pub turns: u64,
    /// Calls of tools in them.
    pub calls: u64,
    /// Tokens in and out; null if they are not known.
    pub tokens: Option<u64>,
    /// The price in nano-dollars of the answers whose price is known; null if that is none.
    pub cost_nanodollars: Option<u64>,
    /// Entries of its journal.
    pub entries: u64,
    /// The score of the last decision, 0 to 1; null before the first.
    pub score: Option<f32>,
    /// The scores of the last decisions, the latest last, at most 24.
    pub scores: Vec<f32>,
    /// The last decision other than to go on; null if there was none.
    pub last: Option<LastDecision>,
    /// Why a person should look at it: `waiting` for its user, `paused`, `capped`, `stopped`,
    /// `failed`, `refuted`, `interrupted` (its process is gone), `left` (nobody drives it),
    /// `warned` (the last decision was an intervention); null if nothing speaks for it.
    pub attention: Option<String>,
    /// Whether a process drives it; null for sessions of the gateway.
    pub driven: Option<bool>,
}

/// A session.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SessionDetail {
    /// As in lists.
    #[serde(flatten)]
    pub line: SessionLine,
    /// What was known when it was opened, as in its journal; null if its journal lacks it.
    pub opened: Option<Value>,
    /// How it stands; null if nothing of it was kept.
    pub standing: Option<Standing>,
}

/// How a session stands.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Standing {
    /// When that was, in milliseconds since 1970.
    pub at_ms: u64,
    /// Items of the conversation so far.
    pub items: usize,
    /// Texts that were put into the conversation.
    pub said: usize,
    /// Why the final answer is being forced; null if it is not.
    pub forced: Option<String>,
    /// Why it was ended; null if it was not.
    pub stopped: Option<String>,
    /// Who wants its requests to wait; null: they do not.
    pub paused: Option<String>,
    /// The preset that a person wants in the place of the policy; null: the policy holds.
    pub preset: Option<String>,
    /// What a person wants in the place of the policy's limits.
    pub limits: Limits,
    /// Whether a person wants it watched and not governed.
    pub is_left_alone: bool,
    /// Whether the client shortened the conversation and no answer has come since.
    pub compacted: bool,
    /// The last words of the model.
    pub last_text: String,
    /// The last decision on a request; null before the first.
    pub last: Option<Decided>,
}

/// A decision in short.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Decided {
    /// What was decided.
    pub action: String,
    /// Why, as a word.
    pub reason: String,
    /// Why, as a sentence.
    pub why: String,
    /// The score, 0 to 1.
    pub score: f32,
    /// The turn.
    pub turn: u32,
    /// Whether it was not to be acted on.
    pub shadow: bool,
}

/// What happened in a session, in order.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Entries {
    /// The session.
    pub session: String,
    /// The entries.
    pub entries: Vec<Line>,
    /// What `after` goes on with; null if there are no more for now.
    pub next: Option<u64>,
}

/// An entry of a journal.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Line {
    /// Its number, from 1 without gaps.
    pub seq: u64,
    /// When it happened, in milliseconds since 1970.
    pub at_ms: u64,
    /// What it is: `opened`, `asked`, `decided`, `steered`, `said`, `replied`, `returned`,
    /// `rescued`, `call_failed`, `fell_back`, `broke_off`, `held`, `controlled`, `marked`,
    /// `failed_open`, `lost`; of runs others; further kinds may come.
    pub kind: String,
    /// What is told of it.
    pub entry: Value,
}

/// A control was handed to its session.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Taken {
    /// The session.
    pub session: String,
    /// Who wanted it.
    pub who: String,
    /// What takes effect with the session's next request.
    pub control: Control,
}

/// A message over WebSocket.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event {
    /// The first one.
    Hello {
        /// Version of the messages: 1.
        version: u32,
        /// The session that is followed; null: all are.
        session: Option<String>,
    },
    /// Something happened.
    Entry {
        /// The session.
        session: String,
        /// What.
        #[serde(flatten)]
        line: Line,
    },
    /// A session is as it says, where `tell` is `sessions`.
    Session(Box<SessionLine>),
    /// The client was so far behind that entries were left out; they are in the journal.
    Missed {
        /// The session.
        session: String,
        /// How many.
        entries: u64,
    },
}

/// What went wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Problem {
    /// It.
    pub error: ProblemBody,
}

/// What went wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ProblemBody {
    /// A word for programs.
    pub code: String,
    /// A sentence for people.
    pub message: String,
}

impl SessionLine {
    /// A session as lists show it at this moment, in milliseconds since 1970.
    pub(super) fn of_now(summary: Summary, runs: Option<&dyn Runs>, now_ms: u64) -> Self {
        let runs = runs.filter(|_| !is_gateway(&summary));
        let driven = runs.map(|runs| runs.is_driven(&summary, now_ms));
        Self::of(summary, driven)
    }

    /// A session as lists show it; whether a process drives it, `None` of the gateway's.
    fn of(summary: Summary, driven: Option<bool>) -> Self {
        let kind = if is_gateway(&summary) { "gateway" } else { "run" };
        let is_held = summary.lease.is_some();
        let head = summary.head;
        let Glance { scores, last } = Glance::of_extra(head.extra.as_deref());
        let attention = attention(&head.state, driven.map(|driven| (driven, is_held)));
        let is_warned = last.as_ref().is_some_and(|last| !last.is_over && !last.shadow);
        let goes_on = matches!(head.state.as_str(), "open" | "running" | "forced");
        let gone = attention.filter(|word| matches!(*word, "interrupted" | "left"));
        let warned = (is_warned && goes_on).then_some("warned");
        Self {
            session: summary.id.to_string(),
            kind: kind.to_owned(),
            state: gone.map_or(head.state, str::to_owned),
            task: head.title,
            key: head.extra.as_deref().and_then(key_of),
            agent: head.agent,
            model: head.model,
            created_ms: summary.created_ms,
            updated_ms: summary.updated_ms,
            turns: head.turns,
            calls: head.tool_calls,
            tokens: head.tokens,
            cost_nanodollars: head.cost_nanos,
            entries: summary.last_seq,
            score: scores.last().copied(),
            scores,
            last,
            attention: attention.or(warned).map(str::to_owned),
            driven,
        }
    }
}

/// Why a person should look at a session in this state; of a run also whether it is driven and
/// held.
fn attention(state: &str, run: Option<(bool, bool)>) -> Option<&'static str> {
    const STATES: [&str; 6] = ["waiting", "paused", "capped", "stopped", "failed", "refuted"];
    match run {
        Some((false, true)) if state == "running" => Some("interrupted"),
        Some((false, false)) if state == "running" => Some("left"),
        _ => STATES.into_iter().find(|known| *known == state),
    }
}

/// Whether a session is one of a client of the gateway's.
pub(super) fn is_gateway(summary: &Summary) -> bool {
    summary.id.as_str().starts_with("gw-")
}

/// The key's name in what a head has beside its fields.
fn key_of(extra: &str) -> Option<String> {
    let extra: Value = serde_json::from_str(extra).ok()?;
    let key = extra.get("key")?.as_str()?;
    (!key.is_empty()).then(|| key.to_owned())
}

impl From<Stored> for Line {
    fn from(stored: Stored) -> Self {
        // The store keeps only JSON.
        let entry = serde_json::from_str(&stored.body).unwrap_or_default();
        Self { seq: stored.seq, at_ms: stored.at_ms, kind: stored.kind, entry }
    }
}

impl Standing {
    pub(super) fn of(at_ms: u64, snapshot: Snapshot) -> Self {
        let memory = snapshot.memory;
        let last = memory.last.map(|decision| Decided {
            action: decision.action.name().to_owned(),
            reason: decision.reason.name().to_owned(),
            why: decision.reason.to_string(),
            score: decision.score,
            turn: decision.turn,
            shadow: decision.shadow,
        });
        Self {
            at_ms,
            items: memory.items,
            said: memory.said.len(),
            forced: memory.forced,
            stopped: memory.stopped,
            paused: memory.paused,
            preset: memory.preset,
            limits: memory.limits,
            is_left_alone: memory.is_left_alone,
            compacted: memory.compacted,
            last_text: memory.last_text,
            last,
        }
    }
}
