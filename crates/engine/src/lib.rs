//! Pure decision engine of Steersman: events in, decisions out.
//!
//! The engine answers one question after every turn of an agent: what should happen next? Go on,
//! nudge, nudge or force the final answer, re-evaluate the strategy, start over, retry the model
//! call, or stop; and it says why, with evidence. It does no IO, reads no clock and draws no random
//! numbers: the same events give the same decisions.
//!
//! # The run loop
//!
//! Whoever drives an agent owns the loop and reports what happens, in order:
//!
//! 1. [`Event::UserSpoke`] when the user writes.
//! 2. [`Event::Replied`] when a model reply arrived, or [`Event::CallFailed`] when none did.
//! 3. [`Event::ToolReturned`] for each tool result of the reply.
//! 4. [`Event::TurnEnded`] once all results are in. Most decisions are made here.
//! 5. [`Event::CheckReported`] after a decision whose [`Decision::run_check`] asked for it.
//! 6. [`Event::TimePassed`] when [`Engine::deadline`] is due and nothing else happened.
//!
//! Each [`Decision`] names an [`Action`]. [`Action::Continue`] leaves the agent's own course alone:
//! after tool calls the model is called again, after a reply without tool calls the turn goes back
//! to the user. Every other action comes with its [`Reason`], the turns it rests on, and where it
//! speaks to the model the [`Intervention`] to append to the conversation.
//!
//! ```
//! use steersman_engine::{Action, Engine, Event, Policy, Reply, RunInfo, Timestamp};
//! use steersman_engine::{ToolCall, ToolResult};
//!
//! let mut engine = Engine::new(Policy::default(), RunInfo::default());
//! let mut last = None;
//! for turn in 1..=3 {
//!     let now = Timestamp(turn * 1000);
//!     let call = ToolCall {
//!         id: "call-1".into(),
//!         name: "bash".into(),
//!         arguments: r#"{"command": "cat missing.txt"}"#.into(),
//!         ..ToolCall::default()
//!     };
//!     engine.handle(now, &Event::Replied(Reply { tool_calls: vec![call], ..Reply::default() }));
//!     let result = ToolResult {
//!         call_id: "call-1".into(),
//!         content: "cat: missing.txt: No such file or directory".into(),
//!         exit_code: Some(1),
//!         ..ToolResult::default()
//!     };
//!     engine.handle(now, &Event::ToolReturned(result));
//!     last = Some(engine.handle(now, &Event::TurnEnded));
//! }
//!
//! let decision = last.unwrap();
//! assert_eq!(decision.action, Action::Nudge);
//! assert_eq!(
//!     decision.reason.to_string(),
//!     "the same call had the same outcome 3 times, and nothing changed in between"
//! );
//! assert_eq!(decision.evidence.turns, [1, 2, 3]);
//! ```
//!
//! A run can be saved at any event and resumed with the same decisions:
//!
//! ```
//! use steersman_engine::{Engine, Policy, RunInfo, State};
//!
//! let engine = Engine::new(Policy::default(), RunInfo::default());
//! let saved = serde_json::to_string(engine.state())?;
//! let state: State = serde_json::from_str(&saved)?;
//! let resumed = Engine::resume(Policy::default(), state);
//! assert_eq!(resumed.state(), engine.state());
//! # Ok::<(), serde_json::Error>(())
//! ```
//!
//! # Bounds
//!
//! Work per event does not grow with the run: it is linear in the event's own text up to 8 KiB and
//! one fast pass over the rest. Memory per run is bounded, see [`State`].

#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod bytes;
pub mod classify;
mod decision;
pub mod digest;
mod draw;
mod engine;
mod event;
mod ladder;
pub mod policy;
pub mod protocol;
mod reason;
pub mod retry;
pub mod risk;
mod rules;
mod run_info;
mod signals;
pub mod state;
mod stop_reason;
mod test_report;
mod texts;
pub mod tool;
pub mod wording;

pub use decision::{Action, Decision, Evidence, Intervention};
pub use engine::Engine;
pub use event::{
    CallFailure, CheckReport, Event, Reply, Timestamp, ToolCall, ToolResult, Usage, UserMessage,
};
pub use policy::Policy;
pub use reason::Reason;
pub use run_info::RunInfo;
pub use signals::Signals;
pub use state::State;
pub use stop_reason::StopReason;
pub use test_report::{TestReport, test_id};
pub use texts::{alternative_texts, built_in_texts};
