//! What is told of sessions, for the journal, figures and whoever watches.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use steersman_engine::classify::Outcome;
use steersman_engine::tool::ToolKind;
use steersman_engine::{Decision, StopReason, TestReport, Usage};
use steersman_timeline::Mark;

use crate::control::Control;
use crate::govern::Course;
use crate::session::Snapshot;

/// Something that happened in a session. The entries of its journal; their format stays readable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "entry", rename_all = "snake_case")]
pub enum Entry {
    /// The session was seen for the first time, or again after it was forgotten.
    Opened(Box<Opened>),
    /// A request of the main conversation came.
    Asked {
        /// Items in its conversation.
        items: usize,
        /// Whether the same request had come before.
        resent: bool,
    },
    /// The engine decided.
    Decided(Box<Decision>),
    /// What was done with the request; in shadow mode what would have been done.
    Steered {
        /// What.
        course: Course,
    },
    /// A text was put into the conversation.
    Said {
        /// The text, word for word.
        text: String,
        /// The template it was made from.
        template: String,
    },
    /// The model's answer came to its end.
    Replied(Box<Replied>),
    /// The results of the last answer's calls came with a request.
    Returned(Box<Returned>),
    /// The model was asked again before the client saw the end of its answer.
    Rescued {
        /// What it was told.
        text: String,
    },
    /// The call of the model failed.
    CallFailed {
        /// The status; `None` if there was no answer.
        status: Option<u16>,
        /// What the server said, without keys.
        message: String,
        /// Milliseconds until it is made again, 0 if another model is asked; `None` if it is not.
        retry_ms: Option<u64>,
    },
    /// Another model was asked in the place of the one that failed.
    FellBack {
        /// Its name.
        model: String,
    },
    /// The answer broke off, or the client went away.
    BrokeOff {
        /// `cut`, `timed_out`, `refused` or `client_left`.
        how: String,
    },
    /// A request waits, because the session is paused.
    Held,
    /// A person took the helm.
    Controlled {
        /// Who, as far as is known.
        who: String,
        /// What was wanted.
        control: Control,
    },
    /// A person said whether an intervention helped.
    Marked {
        /// Who, as far as is known.
        who: String,
        /// The journal's entry of the intervention.
        seq: u64,
        /// What is made of it.
        mark: Mark,
        /// Why, at most 1 KiB; `None` if nothing was said.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// We failed, and the request passed as it came.
    FailedOpen {
        /// Why.
        why: String,
    },
    /// Entries before this one are missing: the store was full, locked or too slow.
    Lost {
        /// How many.
        entries: u64,
    },
}

impl Entry {
    /// The name of its kind, as in the journal.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Opened(_) => "opened",
            Self::Asked { .. } => "asked",
            Self::Decided(_) => "decided",
            Self::Steered { .. } => "steered",
            Self::Said { .. } => "said",
            Self::Replied(_) => "replied",
            Self::Returned(_) => "returned",
            Self::Marked { .. } => "marked",
            Self::Rescued { .. } => "rescued",
            Self::CallFailed { .. } => "call_failed",
            Self::FellBack { .. } => "fell_back",
            Self::BrokeOff { .. } => "broke_off",
            Self::Held => "held",
            Self::Controlled { .. } => "controlled",
            Self::FailedOpen { .. } => "failed_open",
            Self::Lost { .. } => "lost",
        }
    }
}

/// What is known of a session when it is opened.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Opened {
    /// The client's name for it; empty if it has none.
    pub name: String,
    /// Where the name was found; `chain` if there is none.
    pub source: String,
    /// The session it works for; `None` for one that works for a person.
    pub parent: Option<String>,
    /// The program.
    pub client: String,
    /// The name of the virtual key; empty without one.
    pub key: String,
    /// The model that was asked for.
    pub model: String,
    /// The wire format.
    pub format: String,
    /// `govern`, `shadow`.
    pub mode: String,
    /// The beginning of the person's first words, at most 1 KiB.
    pub task: String,
    /// Whether it goes on from what was stored.
    pub taken_up: bool,
}

/// An answer of the model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Replied {
    /// The beginning of its text, at most 1 KiB.
    pub text: String,
    /// The names of the tools it calls.
    pub calls: Vec<String>,
    /// What the calls say, in order, at most 32; fewer than `calls` in entries of older versions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<Called>,
    /// The turn it is, as the engine counts; 0 in entries of older versions.
    #[serde(skip_serializing_if = "is_zero")]
    pub turn: u32,
    /// Why it ended; `None` if the server did not say.
    pub stop: Option<StopReason>,
    /// What it used.
    pub usage: Usage,
    /// What it cost, in nano-dollars. `None`: not known, because there is no price for the model,
    /// or the server did not say what was used.
    pub cost_nanodollars: Option<u64>,
    /// The model that answered; empty if the server did not say.
    pub model: String,
    /// From the request to the end of the answer, in milliseconds.
    pub took_ms: u64,
}

/// Whether a number is at its default, so that it need not be stored.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
const fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// Most calls of an answer that are kept with what they say.
pub const MAX_CALLS: usize = 32;

/// A call of a tool, as the journal keeps it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Called {
    /// Tool and target in one line, at most 96 bytes.
    pub label: String,
    /// The beginning of its arguments, at most 512 bytes.
    pub arguments: String,
    /// What it does.
    pub kind: ToolKind,
    /// Whether it changes something outside if it succeeds.
    pub changes: bool,
    /// The file that it reads or changes; `None` if it shows none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

/// Results of the calls of an answer, as the journal keeps them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Returned {
    /// In the order of the calls, at most 32.
    pub results: Vec<Back>,
}

/// A result.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Back {
    /// What it says; `None`: there is none.
    pub outcome: Option<Outcome>,
    /// In how many turns the same call has had this outcome while nothing was changed.
    pub times: u32,
    /// The exit code of a command; `None` if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The beginning of what came back, at most 256 bytes.
    pub excerpt: String,
    /// Test results; `None` if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tests: Option<TestReport>,
    /// Names of the failing tests by identity, as far as they are known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<(u64, String)>,
}

impl Replied {
    /// What it cost, in nano-dollars; `None` if that is not known.
    #[must_use]
    pub fn cost(&self) -> Option<u64> {
        // Entries of the first versions have what the server told, and nothing else.
        let told = self.usage.cost_nanodollars;
        self.cost_nanodollars.or_else(|| (told > 0).then_some(told))
    }
}

/// Who is told. It must not wait: what cannot be kept at once is dropped and counted.
pub trait Recorder: Send + Sync + 'static {
    /// Something happened in a session.
    fn record(&self, session: &str, at_ms: u64, entry: &Entry);

    /// The session as it is now, in the place of what was kept before. Only the latest counts.
    fn keep(&self, session: &str, scope: u64, snapshot: Box<dyn FnOnce() -> Snapshot + Send>);

    /// Where sessions that were kept stood, the latest first, at most `limit`.
    fn standing(&self, limit: usize) -> Vec<Standing>;

    /// What was kept of a session, with its scope; `None` if nothing was, or if it cannot be read.
    fn recall(&self, session: &str) -> Option<(Snapshot, u64)>;
}

/// Where a session stood when it was kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The session's id.
    pub id: String,
    /// What narrows where it is looked for; see [`scope_of`](crate::sessions::scope_of).
    pub scope: u64,
    /// The hash of its last request's items.
    pub end: u64,
}

/// Keeps nothing and tells nobody.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Recorder for Silent {
    fn record(&self, _: &str, _: u64, _: &Entry) {}

    fn keep(&self, _: &str, _: u64, _: Box<dyn FnOnce() -> Snapshot + Send>) {}

    fn standing(&self, _: usize) -> Vec<Standing> {
        Vec::new()
    }

    fn recall(&self, _: &str) -> Option<(Snapshot, u64)> {
        None
    }
}

/// The recorder that everybody shares.
pub type SharedRecorder = Arc<dyn Recorder>;
