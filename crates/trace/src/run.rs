//! What a trace says about a run besides its events.

use std::borrow::Cow;

/// What is known when a run begins in a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunMeta<'a> {
    /// The run's id: the trace's own, or made from file name and position.
    pub id: Cow<'a, str>,
    /// The agent's name; empty if unknown.
    pub agent: Cow<'a, str>,
    /// The model's name; empty if unknown.
    pub model: Cow<'a, str>,
    /// The task in the user's words; empty if the first user message states it.
    pub task: Cow<'a, str>,
    /// The task instance that runs can share; empty if unknown.
    pub instance: Cow<'a, str>,
    /// The graded outcome, where the trace knows it at the start.
    pub outcome: Option<Outcome>,
    /// The model's context window in tokens; `None` if unknown.
    pub context_window: Option<u64>,
    /// Line of the input on which the run begins, from 1; 0 where lines mean nothing.
    pub line: u64,
}

/// The graded outcome of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The task was solved.
    Solved,
    /// The task was not solved.
    Unsolved,
}

/// What is known when a run ends in a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunEnd {
    /// The graded outcome, where the trace tells it only at the end.
    pub outcome: Option<Outcome>,
    /// The run was cut off: the input ended or broke inside it.
    pub truncated: bool,
    /// What the makers of the recording noted about the run, at most 4,096 notes; empty where the
    /// format knows none.
    pub labels: Vec<Label>,
}

/// A note on a run by whoever made the recording: where it went wrong, say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Label {
    /// What is noted, in the recording's own words, at most 200 bytes.
    pub kind: String,
    /// The turn it is about, from 1, counted as [`Reply::messages`](steersman_engine::Reply) does;
    /// a step between two replies belongs to the one before. 0 before any reply; `None` if it is
    /// about the run as a whole.
    pub turn: Option<u32>,
    /// Who or what noted it, at most 200 bytes; empty if unknown.
    pub by: String,
}
