//! What happened: the engine's only input.
//!
//! Events borrow from whatever they were read from, so an adapter hands over a request body or a
//! trace line without copying it. All of them can be stored and read back (`serde`).

use alloc::borrow::Cow;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::stop_reason::StopReason;
use crate::test_report::TestReport;

/// A moment, in milliseconds since the Unix epoch.
///
/// The engine reads no clock: time is a field of the event. A source that knows no time passes
/// [`Timestamp::UNKNOWN`] throughout, and no rule about time ever fires.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(pub u64);

impl Timestamp {
    /// The time is not known.
    pub const UNKNOWN: Self = Self(0);

    /// Milliseconds from `earlier` to `self`; zero if either is unknown or time ran backwards.
    #[must_use]
    pub const fn since_ms(self, earlier: Self) -> u64 {
        if self.0 == 0 || earlier.0 == 0 { 0 } else { self.0.saturating_sub(earlier.0) }
    }
}

/// Something that happened in a run, told in the past tense.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event<'a> {
    /// A person (or the program that plays the user) wrote to the agent.
    ///
    /// The first one states the task unless [`RunInfo::task`](crate::RunInfo::task) did; each one
    /// starts the repeat counters anew.
    #[serde(borrow)]
    UserSpoke(UserMessage<'a>),
    /// A model reply arrived. It begins a turn.
    Replied(Reply<'a>),
    /// A tool call of the current reply returned.
    ToolReturned(ToolResult<'a>),
    /// Every result that follows the reply is in. Most decisions are made here.
    TurnEnded,
    /// The model call itself failed: no reply arrived.
    CallFailed(CallFailure<'a>),
    /// A check (the command that proves the goal) was run by the driver.
    CheckReported(CheckReport<'a>),
    /// The workspace was restored and a new attempt began.
    StartedOver,
    /// The client shortened the conversation. Evidence and counters are kept.
    ContextCompacted {
        /// Tokens in the conversation afterwards; `None` if unknown.
        tokens_after: Option<u64>,
    },
    /// A person asked for the run to stop.
    StopRequested,
    /// Time passed without anything else happening; see
    /// [`Engine::deadline`](crate::Engine::deadline).
    TimePassed,
}

/// A message from the user.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserMessage<'a> {
    /// The text.
    #[serde(borrow)]
    pub text: Cow<'a, str>,
}

/// One model reply.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reply<'a> {
    /// The visible text; empty if there was none.
    #[serde(borrow, default)]
    pub text: Cow<'a, str>,
    /// The model's reasoning, where the provider shows it; empty otherwise.
    #[serde(borrow, default)]
    pub reasoning: Cow<'a, str>,
    /// The calls the reply asks for; several are one batch.
    #[serde(borrow, default)]
    pub tool_calls: Vec<ToolCall<'a>>,
    /// Why the model stopped; `None` if the server did not say (E7).
    #[serde(default)]
    pub stop: Option<StopReason>,
    /// What the call used; zero fields where unknown.
    #[serde(default)]
    pub usage: Usage,
    /// Messages of a trace that make up the reply: turn numbers count them, so that they match the
    /// trace. 0 and 1 both mean one.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub messages: u32,
}

/// Whether a number is at its default, so that it need not be stored.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
const fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// A tool call as the model wrote it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall<'a> {
    /// The wire id that joins call and result; may be empty where a source has none.
    #[serde(borrow, default)]
    pub id: Cow<'a, str>,
    /// The tool's name.
    #[serde(borrow)]
    pub name: Cow<'a, str>,
    /// The arguments: JSON text, or free text for free-form tools.
    #[serde(borrow, default)]
    pub arguments: Cow<'a, str>,
    /// The trace does not hold the arguments: the call is never taken for a repeat.
    #[serde(default, skip_serializing_if = "is_false")]
    pub unrecorded: bool,
}

/// Whether a flag is at its default, so that it need not be stored.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
const fn is_false(flag: &bool) -> bool {
    !*flag
}

/// What a tool call returned.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolResult<'a> {
    /// The id of the call; empty means the next call of the turn still without a result.
    #[serde(borrow, default)]
    pub call_id: Cow<'a, str>,
    /// The output as the model saw it.
    #[serde(borrow, default)]
    pub content: Cow<'a, str>,
    /// Whether the tool failed; `None` if the source does not say (the text is looked at then).
    #[serde(default)]
    pub is_error: Option<bool>,
    /// Exit code of a command; `None` if unknown.
    #[serde(default)]
    pub exit_code: Option<i32>,
    /// Length of the full output in bytes where `content` was cut; `None` if it is whole.
    #[serde(default)]
    pub full_len: Option<u64>,
    /// Test results read from the output; `None` if it holds none.
    #[serde(default)]
    pub tests: Option<TestReport>,
}

/// A model call that failed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallFailure<'a> {
    /// HTTP status; `None` if no answer arrived.
    #[serde(default)]
    pub status: Option<u16>,
    /// The error message; empty if there was none.
    #[serde(borrow, default)]
    pub message: Cow<'a, str>,
    /// The server's `Retry-After`, in milliseconds; `None` if not sent.
    #[serde(default)]
    pub retry_after_ms: Option<u64>,
    /// The stop reason a partial answer carried; `None` if there was none.
    #[serde(default)]
    pub stop: Option<StopReason>,
}

/// The result of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckReport<'a> {
    /// The check's name.
    #[serde(borrow, default)]
    pub name: Cow<'a, str>,
    /// Whether the goal is proved.
    pub passed: bool,
    /// Test results behind it; `None` if the check is no test run.
    #[serde(default)]
    pub tests: Option<TestReport>,
    /// The last lines of its output, for the message to the model; may be empty.
    #[serde(borrow, default)]
    pub excerpt: Cow<'a, str>,
}

/// Tokens and money of one model call. Zero means unknown or none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// Tokens sent, cached ones included: the size of the conversation.
    pub input_tokens: u64,
    /// Tokens generated, reasoning included.
    pub output_tokens: u64,
    /// Price in nano-dollars (10⁻⁹ USD).
    pub cost_nanodollars: u64,
}
