//! Pure decision engine of Steersman: events in, decisions out.
//!
//! The engine answers one question after every turn of an agent: what should happen next? It does
//! no IO, reads no clock and draws no random numbers; the same events give the same decisions.

#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod classify;
mod decision;
pub mod digest;
mod engine;
mod event;
mod ladder;
pub mod policy;
pub mod protocol;
mod reason;
pub mod retry;
mod rules;
mod run_info;
mod signals;
pub mod state;
mod stop_reason;
mod test_report;
mod texts;
pub mod tool;

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
pub use texts::built_in_texts;
