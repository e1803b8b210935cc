//! The turn under way: a reply, its calls and what they returned.

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::classify::{Intent, Outcome};
use crate::digest::Sketch;
use crate::stop_reason::StopReason;
use crate::test_report::TestReport;
use crate::tool::CallFacts;

/// The turn under way.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct OpenTurn {
    /// The calls of the reply, at most [`OpenTurn::MAX_CALLS`] of them.
    pub(crate) calls: Vec<OpenCall>,
    /// The reply has a text.
    pub(crate) has_text: bool,
    /// What the reply intends, if it calls no tool.
    pub(crate) intent: Option<Intent>,
    /// The reply claims success.
    pub(crate) claims_success: bool,
    /// Why the model stopped.
    pub(crate) stop: Option<StopReason>,
    /// A call's arguments are no whole JSON.
    pub(crate) broken_call: bool,
    /// Times the same text stands in the reply, if it is chanted.
    pub(crate) chants: u32,
    /// Characters of text.
    pub(crate) text_len: u32,
    /// The reply was seen and the turn has not ended.
    pub(crate) open: bool,
}

impl OpenTurn {
    /// Calls of one reply that are looked at; further ones are only counted.
    pub(crate) const MAX_CALLS: usize = 64;
}

/// A call of the turn under way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct OpenCall {
    /// Hash of the wire id.
    pub(crate) id: u64,
    /// Hash of the tool's name.
    pub(crate) tool: u64,
    /// What the call says.
    pub(crate) facts: CallFacts,
    /// The trace does not hold its arguments.
    pub(crate) unrecorded: bool,
    /// What it returned; `None` so far.
    pub(crate) returned: Option<Returned>,
}

/// What a call returned.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Returned {
    /// Hash of the normalised output.
    pub(crate) hash: u64,
    /// Sketch of the output.
    pub(crate) sketch: Sketch,
    /// Length of the output in bytes.
    pub(crate) len: u32,
    /// What it says.
    pub(crate) outcome: Outcome,
    /// It says that something is still under way.
    pub(crate) pending: bool,
    /// Test results.
    pub(crate) tests: Option<TestReport>,
}
