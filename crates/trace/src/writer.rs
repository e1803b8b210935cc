//! Turns what a reader found into the events of runs, in order and complete.

use std::path::{Path, PathBuf};

use steersman_engine::{CallFailure, Event, Reply, Timestamp, ToolResult, UserMessage};

use crate::exit_code::exit_code;
use crate::reports;
use crate::run::{RunEnd, RunMeta};
use crate::sink::{Flow, Problem, RunSink};

/// Problems reported per unit; after that they are counted only.
const MAX_PROBLEMS: u64 = 1000;

/// Where something was found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Spot {
    /// When it happened.
    pub(crate) at: Timestamp,
    /// Its line in the input, 0 if unknown.
    pub(crate) line: u64,
}

/// Pushes events into a sink and sees to it that each run is started and ended once, and that
/// each reply is followed by exactly one `TurnEnded`.
pub(crate) struct RunWriter<'s> {
    sink: &'s mut dyn RunSink,
    path: PathBuf,
    flow: Flow,
    in_run: bool,
    in_turn: bool,
    /// The last event was a compaction.
    was_compacted: bool,
    last: Spot,
    runs: u64,
    problems: u64,
}

impl<'s> RunWriter<'s> {
    pub(crate) fn new(path: &Path, sink: &'s mut dyn RunSink) -> Self {
        Self {
            sink,
            path: path.to_owned(),
            flow: Flow::Continue,
            in_run: false,
            in_turn: false,
            was_compacted: false,
            last: Spot::default(),
            runs: 0,
            problems: 0,
        }
    }

    /// Whether the sink wants no more.
    pub(crate) fn is_done(&self) -> bool {
        self.flow == Flow::Break
    }

    pub(crate) fn flow(&self) -> Flow {
        self.flow
    }

    /// Runs begun so far.
    pub(crate) fn runs(&self) -> u64 {
        self.runs
    }

    /// Reports problems under another file's name from now on.
    pub(crate) fn rename(&mut self, path: &Path) {
        path.clone_into(&mut self.path);
    }

    /// Begins a run; ends the one before it if that is still open.
    pub(crate) fn start(&mut self, meta: &RunMeta<'_>) {
        self.end(RunEnd::default());
        if self.is_done() {
            return;
        }
        self.in_run = true;
        self.was_compacted = false;
        self.runs += 1;
        self.last = Spot { at: Timestamp::UNKNOWN, line: meta.line };
        self.flow = self.sink.run_started(meta);
    }

    /// Ends the run, if one is open.
    pub(crate) fn end(&mut self, end: RunEnd) {
        self.end_turn();
        if self.in_run {
            self.in_run = false;
            // A sink that broke off inside a run is told no more about it.
            if !self.is_done() {
                self.flow = self.sink.run_ended(end);
            }
        }
    }

    /// A user message; an empty one is none.
    pub(crate) fn user(&mut self, spot: Spot, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        self.end_turn();
        let text = std::borrow::Cow::Borrowed(text);
        self.push(spot, &Event::UserSpoke(UserMessage { text }));
    }

    /// A model reply: ends the turn before it and begins the next.
    pub(crate) fn reply(&mut self, spot: Spot, reply: Reply<'_>) {
        self.end_turn();
        self.in_turn = true;
        self.push(spot, &Event::Replied(reply));
    }

    /// A tool result. Every `ToolReturned` passes here, whatever the format.
    pub(crate) fn push_result(&mut self, spot: Spot, mut result: ToolResult<'_>) {
        if result.exit_code.is_none() {
            result.exit_code = exit_code(&result.content);
        }
        if result.tests.is_none() {
            result.tests = reports::parse(&result.content);
        }
        self.push(spot, &Event::ToolReturned(result));
    }

    /// A model call that failed.
    pub(crate) fn failure(&mut self, spot: Spot, failure: CallFailure<'_>) {
        self.end_turn();
        self.push(spot, &Event::CallFailed(failure));
    }

    /// The client shortened the conversation. Some clients say so twice in a row.
    pub(crate) fn compacted(&mut self, spot: Spot, tokens_after: Option<u64>) {
        self.end_turn();
        if !self.was_compacted {
            self.push(spot, &Event::ContextCompacted { tokens_after });
            self.was_compacted = true;
        }
    }

    /// Something could not be read.
    pub(crate) fn problem(&mut self, line: u64, what: impl Into<String>) {
        self.problems += 1;
        if self.problems <= MAX_PROBLEMS {
            self.sink.problem(Problem { path: self.path.clone(), line, what: what.into() });
        }
    }

    /// Says how many problems were held back. To be called once, when a unit is through.
    pub(crate) fn finish(&mut self) {
        if self.problems > MAX_PROBLEMS {
            let what = format!("{} more problems not listed", self.problems - MAX_PROBLEMS);
            self.sink.problem(Problem { path: self.path.clone(), line: 0, what });
        }
    }

    fn end_turn(&mut self) {
        if self.in_turn {
            self.in_turn = false;
            let last = self.last;
            self.push(last, &Event::TurnEnded);
        }
    }

    fn push(&mut self, spot: Spot, event: &Event<'_>) {
        self.last = spot;
        self.was_compacted = false;
        if self.in_run && !self.is_done() {
            self.flow = self.sink.event(spot.at, event, spot.line);
        }
    }
}
