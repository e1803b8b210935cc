//! What the loop needs from outside: a model, tools, a workspace, other agents, somebody to watch.
//!
//! Dropping a future ends what it does: a model call is given up, a command's process group killed.

use std::pin::Pin;

use steersman_engine::TestReport;
use steersman_wire::{Answer, Delta, Failure, Request};

use crate::entry::{AgentSetup, Checkpointed, Entry};
use crate::session::{Session, ToolRun};

/// Something under way.
pub type Work<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A model.
pub trait Model: Send + Sync {
    /// Asks for one reply; pieces are told as they come.
    fn reply<'a>(
        &'a self,
        call: ModelCall<'a>,
        on_delta: &'a mut (dyn FnMut(&Delta) + Send),
    ) -> Work<'a, Result<Answer, Failure>>;
}

/// One call of a model, and where in the run it is made.
#[derive(Clone, Copy, Debug)]
pub struct ModelCall<'a> {
    /// What is sent.
    pub request: Request<'a>,
    /// The agent that asks.
    pub agent: &'a str,
    /// The attempt under way, from 1.
    pub attempt: u32,
    /// Calls in a row that failed before this one.
    pub failures: u32,
    /// The name of what Steersman said to the agent since its last reply; `None` if nothing.
    pub heard: Option<&'a str>,
    /// Whether the model cannot call tools: calls are asked for as structured output.
    pub json_calls: bool,
}

/// The tools of an agent, apart from those that the runtime answers itself.
pub trait Toolbox: Send + Sync {
    /// Runs a call to its end.
    fn call<'a>(&'a self, run: &'a ToolRun) -> Work<'a, ToolOutcome>;
}

/// What a tool call came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolOutcome {
    /// What the model is shown, bounded.
    pub content: String,
    /// Whether it failed; `None` if it is for the text to say.
    pub is_error: Option<bool>,
    /// Exit code of a command; `None` for other tools.
    pub exit_code: Option<i32>,
    /// Length of the whole output in bytes where `content` was cut.
    pub full_len: Option<u64>,
    /// Test results read from the output.
    pub tests: Option<TestReport>,
}

impl ToolOutcome {
    /// A call that did not work, and why.
    #[must_use]
    pub fn error(content: impl Into<String>) -> Self {
        Self { content: content.into(), is_error: Some(true), ..Self::default() }
    }

    /// A call that worked.
    #[must_use]
    pub fn ok(content: impl Into<String>) -> Self {
        Self { content: content.into(), is_error: Some(false), ..Self::default() }
    }
}

/// The folder that a run changes: checks, checkpoints, restoring.
pub trait Site: Send + Sync {
    /// Runs the check.
    fn check<'a>(&'a self, command: &'a str) -> Work<'a, CheckOutcome>;

    /// Keeps a restorable state.
    fn keep<'a>(&'a self, label: &'a str) -> Work<'a, Result<Checkpointed, String>>;

    /// Goes back from one kept state to another and tells what differs. What was there stays kept
    /// under the number of the attempt. Doing it again does no harm.
    fn go_back<'a>(
        &'a self,
        from: &'a Checkpointed,
        to: &'a Checkpointed,
        attempt: u32,
    ) -> Work<'a, Result<GivenUp, String>>;
}

/// What a check came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CheckOutcome {
    /// Whether the goal is proved.
    pub passed: bool,
    /// Exit code; `None` if it was ended by a signal or a timeout.
    pub exit_code: Option<i32>,
    /// Test results read from its output; `None` if it holds none.
    pub tests: Option<TestReport>,
    /// Its output, bounded.
    pub output: String,
}

/// What an attempt had changed when it was given up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GivenUp {
    /// Where its state is kept: a git commit.
    pub kept: String,
    /// Files it changed, bounded.
    pub files: Vec<String>,
    /// Lines it added.
    pub insertions: u32,
    /// Lines it removed.
    pub deletions: u32,
}

/// The agents that may take over.
pub trait Agents: Send + Sync {
    /// The set-up of an agent as of now.
    ///
    /// # Errors
    /// There is no such agent, or it may not take over; a sentence for the model.
    fn setup(&self, from: &str, to: &str) -> Result<AgentSetup, String>;
}

/// Whoever watches a session.
pub trait Face: Send {
    /// Something was written to the journal; the session has it folded in.
    fn entry(&mut self, session: &Session, at_ms: u64, entry: &Entry);

    /// A piece of a reply arrived.
    fn delta(&mut self, _delta: &Delta) {}
}

/// Nobody watches.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl Face for Unwatched {
    fn entry(&mut self, _: &Session, _: u64, _: &Entry) {}
}
