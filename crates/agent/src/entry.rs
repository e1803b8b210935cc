//! What stands in the journal of a session.
//!
//! Entries are written for ever: a variant or field is added, never changed. Golden files hold
//! them.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use steersman_config::control::Control;
use steersman_engine::{CallFailure, Decision, Policy, StopReason, TestReport, Usage};
use steersman_prompt::MailEntry;
use steersman_timeline::Mark;
use steersman_wire::{Message, ToolSpec};

use crate::ending::Ending;
use crate::sides::{SideEnded, SidesBegun};

/// Version of the entries that this program writes; older ones are read.
pub const VERSION: u32 = 1;

/// Something that happened in a session, or is about to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "entry", rename_all = "snake_case")]
pub enum Entry {
    /// The session began.
    Opened(Box<Opened>),
    /// A process took the session up.
    TakenUp(TakenUp),
    /// The user wrote.
    Spoke {
        /// What.
        text: String,
    },
    /// A model call is about to be made.
    CallStarted,
    /// A model reply arrived.
    Replied(Box<Replied>),
    /// A model call failed.
    CallFailed(Failed),
    /// A tool is about to run.
    ToolStarted {
        /// The id of the call.
        call_id: String,
    },
    /// A tool returned, or was found interrupted.
    ToolFinished(Box<ToolFinished>),
    /// Every result that follows a reply is in.
    TurnEnded,
    /// The check is about to run.
    CheckStarted {
        /// Why.
        cause: CheckCause,
    },
    /// The check ran.
    CheckFinished(Box<CheckFinished>),
    /// The engine decided something.
    Decided {
        /// What, and why.
        decision: Box<Decision>,
    },
    /// Steersman put a message into the conversation.
    Said {
        /// The text, word for word.
        text: String,
        /// The template it was made from.
        template: String,
        /// Which of the template's texts, from 0.
        variant: u32,
    },
    /// A restorable state of the workspace was kept.
    Checkpointed(Checkpointed),
    /// A state of the workspace could not be kept.
    CheckpointFailed {
        /// Why, as a sentence.
        why: String,
    },
    /// The workspace is about to be restored and a new attempt to begin.
    RestoreStarted {
        /// The number of the checkpoint to restore.
        to: u32,
    },
    /// The workspace was restored and a new attempt began.
    StartedOver(Box<Attempt>),
    /// The workspace could not be restored: nothing was changed.
    StartOverRefused {
        /// Why, as a sentence.
        why: String,
    },
    /// Old tool results were cut to a line each, so that the conversation fits.
    Pruned {
        /// Messages from here on stay whole.
        keep_from: u32,
        /// Tokens in the conversation afterwards, as far as known.
        tokens_after: u64,
    },
    /// A retry is waited for.
    WaitStarted {
        /// Until when, in milliseconds since the Unix epoch.
        until_ms: u64,
    },
    /// The wait is over.
    WaitEnded,
    /// A person asked for the stop.
    StopRequested {
        /// Who.
        who: String,
    },
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
        /// Why; `None` if nothing was said.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// A deadline of the engine was reached while nothing else happened.
    TimePassed,
    /// An agent wrote to another, or read its mail.
    Mailed {
        /// What happened.
        mail: MailEntry,
    },
    /// Another agent took over.
    HandedOver(Box<HandedOver>),
    /// The workspace was put back to the best state of the run.
    BestRestored {
        /// The number of the checkpoint.
        number: u32,
    },
    /// The workspace could not be put back to the best state of the run: it is as it was.
    BestLost {
        /// The number of the checkpoint.
        number: u32,
        /// Why, as a sentence.
        why: String,
    },
    /// The run ended. The session can be taken up again with a word of the user.
    Ended(Box<Ended>),
    /// Several attempts at the task begin side by side; this session is their group's.
    SidesBegun(SidesBegun),
    /// One of them came to its end and was judged.
    SideEnded(Box<SideEnded>),
    /// One of them was chosen.
    SideChosen {
        /// Its number.
        number: u32,
        /// Why, in words.
        why: String,
    },
    /// The workspace was brought to the state of the chosen one.
    SideApplied {
        /// Its number.
        number: u32,
    },
    /// The workspace could not be brought to the state of the chosen one.
    SideNotApplied {
        /// Its number.
        number: u32,
        /// Why, as a sentence.
        why: String,
    },
}

impl Entry {
    /// The name of the entry in the journal.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Opened(_) => "opened",
            Self::TakenUp(_) => "taken_up",
            Self::Spoke { .. } => "spoke",
            Self::CallStarted => "call_started",
            Self::Replied(_) => "replied",
            Self::CallFailed(_) => "call_failed",
            Self::ToolStarted { .. } => "tool_started",
            Self::ToolFinished(_) => "tool_finished",
            Self::TurnEnded => "turn_ended",
            Self::CheckStarted { .. } => "check_started",
            Self::CheckFinished(_) => "check_finished",
            Self::Decided { .. } => "decided",
            Self::Said { .. } => "said",
            Self::Checkpointed(_) => "checkpointed",
            Self::RestoreStarted { .. } => "restore_started",
            Self::StartedOver(_) => "started_over",
            Self::StartOverRefused { .. } => "start_over_refused",
            Self::Pruned { .. } => "pruned",
            Self::WaitStarted { .. } => "wait_started",
            Self::WaitEnded => "wait_ended",
            Self::StopRequested { .. } => "stop_requested",
            Self::Controlled { .. } => "controlled",
            Self::Marked { .. } => "marked",
            Self::TimePassed => "time_passed",
            Self::Mailed { .. } => "mailed",
            Self::HandedOver(_) => "handed_over",
            Self::BestRestored { .. } => "best_restored",
            Self::BestLost { .. } => "best_lost",
            Self::CheckpointFailed { .. } => "checkpoint_failed",
            Self::Ended(_) => "ended",
            Self::SidesBegun(_) => "sides_begun",
            Self::SideEnded(_) => "side_ended",
            Self::SideChosen { .. } => "side_chosen",
            Self::SideApplied { .. } => "side_applied",
            Self::SideNotApplied { .. } => "side_not_applied",
        }
    }
}

/// How a session began.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Opened {
    /// Version of the entries.
    pub version: u32,
    /// The program's version, for people.
    pub program: String,
    /// The agent and its model.
    pub agent: AgentSetup,
    /// The folder the agent works in; `None` for a run without one.
    pub workspace: Option<String>,
    /// The command that proves the goal; `None` if there is none.
    pub check: Option<String>,
    /// Every number that decisions depend on.
    pub policy: Box<Policy>,
    /// Whether a person can answer questions.
    pub interactive: bool,
    /// The agents that can be written to, the first one included.
    #[serde(default)]
    pub others: Vec<String>,
    /// What the caller needs to take the session up again, such as the model's address. Never
    /// holds keys. What stands under `side` is shown in lists of sessions.
    #[serde(default)]
    pub extra: Value,
}

/// An agent as the model sees it, and its model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AgentSetup {
    /// Its name.
    pub name: String,
    /// Its model's name.
    pub model: String,
    /// The system prompt, composed.
    pub system: String,
    /// The tools it may call.
    pub tools: Vec<ToolSpec>,
    /// The model's context window in tokens; `None` takes the policy's.
    pub context_window: Option<u64>,
    /// Most tokens of one reply; `None` leaves it to the server.
    pub max_output_tokens: Option<u32>,
    /// Sampling temperature; `None` leaves it to the server.
    pub temperature: Option<f32>,
    /// Prices of the model; zero where unknown.
    #[serde(default)]
    pub prices: Prices,
    /// Whether the model may call several tools in one reply; `None` leaves it to the server.
    #[serde(default)]
    pub parallel_tool_calls: Option<bool>,
    /// Whether calls are asked for as structured output: the model cannot call tools.
    #[serde(default)]
    pub json_calls: bool,
}

/// What a token costs, in nano-dollars (10⁻⁹ USD). Zero where unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Prices {
    /// A token sent.
    pub input: u64,
    /// A token sent that the server had in its cache.
    pub cached_input: u64,
    /// A token generated.
    pub output: u64,
}

/// A process took the session up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TakenUp {
    /// The program's version.
    pub program: String,
    /// Decisions that came out differently when the journal was read again; 0 is as it should be.
    pub differing: u32,
}

/// A model reply.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Replied {
    /// The assistant's message, with everything the provider sent.
    pub message: Message,
    /// Why the model stopped; `None` if the server did not say.
    pub stop: Option<StopReason>,
    /// What the call used.
    pub usage: Usage,
    /// Tokens of the input that came from the server's cache.
    #[serde(default)]
    pub cached_tokens: u64,
    /// The model that answered, as the server names it; `None` if it does not.
    #[serde(default)]
    pub model: Option<String>,
}

/// How a model call failed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Failed {
    /// HTTP status; `None` if no answer arrived.
    pub status: Option<u16>,
    /// What happened, without keys, bounded.
    pub message: String,
    /// How long the server asks to wait, in milliseconds; `None` if it does not say.
    pub retry_after_ms: Option<u64>,
    /// The stop reason it amounts to; `None` if there is none.
    pub stop: Option<StopReason>,
}

impl Failed {
    /// The engine's event of it.
    #[must_use]
    pub fn event(&self) -> CallFailure<'_> {
        CallFailure {
            status: self.status,
            message: self.message.as_str().into(),
            retry_after_ms: self.retry_after_ms,
            stop: self.stop,
        }
    }
}

/// What a tool call came to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolFinished {
    /// The id of the call.
    pub call_id: String,
    /// What the model is shown.
    pub content: String,
    /// Whether it failed; `None` if it is for the text to say.
    pub is_error: Option<bool>,
    /// Exit code of a command.
    pub exit_code: Option<i32>,
    /// Length of the whole output in bytes where `content` was cut.
    pub full_len: Option<u64>,
    /// Test results read from the output.
    pub tests: Option<TestReport>,
    /// It was started and its end is not known: it may have happened or not.
    pub interrupted: bool,
    /// How long it took, in milliseconds.
    pub took_ms: u64,
}

/// Why a check runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckCause {
    /// The policy asks for one every so many turns.
    Due,
    /// The agent says that it is done.
    Claim,
    /// The agent called the tool `run_check`.
    Asked,
    /// The run ends, and it is to be known in which state.
    Closing,
}

/// What a check came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckFinished {
    /// Why it ran.
    pub cause: CheckCause,
    /// Whether the goal is proved.
    pub passed: bool,
    /// Exit code; `None` if it was ended by a signal or a timeout.
    pub exit_code: Option<i32>,
    /// Test results read from its output; `None` if it holds none.
    pub tests: Option<TestReport>,
    /// The last lines of its output, bounded.
    pub excerpt: String,
    /// How long it took, in milliseconds.
    pub took_ms: u64,
}

/// A restorable state of the workspace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checkpointed {
    /// Its number in the session; the first is the state before the run.
    pub number: u32,
    /// The identity of the git commit that holds it.
    pub id: String,
    /// Why it was kept.
    pub label: String,
    /// Paths that could not be kept and that a restore leaves alone, bounded.
    #[serde(default)]
    pub skipped: Vec<String>,
}

/// An attempt that was given up: a line of the ledger.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Attempt {
    /// Its number, from 1.
    pub number: u32,
    /// Turns it took.
    pub turns: u32,
    /// Why it was given up.
    pub reason: String,
    /// What was tried, in the agent's words; may be empty.
    pub tried: String,
    /// What is to be tried next, in the agent's words; may be empty.
    pub next: String,
    /// Tests that failed at its end; `None` if none were seen.
    pub failed: Option<u32>,
    /// Tests that passed at its end; `None` if none were seen.
    pub passed: Option<u32>,
    /// Files it changed, bounded.
    pub files: Vec<String>,
    /// Lines it added.
    pub insertions: u32,
    /// Lines it removed.
    pub deletions: u32,
    /// Where its work is kept: a git commit.
    pub kept: String,
    /// The number of the checkpoint that was restored.
    pub restored: u32,
}

/// Another agent took over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HandedOver {
    /// The agent that hands over.
    pub from: String,
    /// The one that takes over.
    pub to: AgentSetup,
    /// What it is told.
    pub note: String,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ended {
    /// How.
    pub ending: Ending,
    /// Why, as a sentence.
    pub why: String,
    /// The answer; empty if there is none.
    pub answer: String,
}
