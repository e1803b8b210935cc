//! What one tool call means for progress.

use serde::{Deserialize, Serialize};

use alloc::string::String;

use super::ToolKind;

/// What one tool call means for progress, read from its name and arguments alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallFacts {
    /// What the call does. A command line is as much as its most consequential part.
    pub kind: ToolKind,
    /// Identity of the call: equal for the same tool with the same arguments, whatever the order
    /// of keys, white space around words of a command, `1` or `1.0`, and chatter for the reader.
    pub signature: u64,
    /// What is read, searched or changed (file, address, query), as a hash; `None` if not known.
    pub resource: Option<u64>,
    /// First and last line that are read, from 1, `u32::MAX` for the end; `None` if all is.
    /// `(u32::MAX - n, u32::MAX)` are the last `n` lines.
    pub range: Option<(u32, u32)>,
    /// Sketch of the words searched for; compare with [`similarity`](super::similarity). `None`
    /// if nothing is searched for.
    pub query: Option<u64>,
    /// What an edit takes out and puts in; `None` if it is no edit or does not show.
    pub edit: Option<EditDigest>,
    /// Whether the call changes something outside if it succeeds.
    pub changes: bool,
    /// Whether the call waits for something or asks for its state.
    pub polls: bool,
    /// Whether the call runs tests, whatever else it does.
    pub is_test: bool,
    /// Whether the call hands in the final answer.
    pub finishes: bool,
    /// Tool and target in the user's eyes, at most [`CallFacts::LABEL_MAX`] bytes, one line.
    pub label: String,
}

impl CallFacts {
    /// Length of a label in bytes.
    pub const LABEL_MAX: usize = 96;
}

/// What an edit does to a resource.
///
/// Two edits undo each other if `resource` is the same and `old` and `new` are swapped; a whole
/// new content (`old == 0`) returns to an earlier one if its `new` was seen before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EditDigest {
    /// The file, as in [`CallFacts::resource`].
    pub resource: u64,
    /// Hash of the text that is taken out; 0 if the edit writes the whole file or only adds.
    pub old: u64,
    /// Hash of the text that is put in.
    pub new: u64,
}

/// What is gathered while a command is looked into.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Facts {
    pub(super) kind: ToolKind,
    pub(super) resource: Option<u64>,
    pub(super) range: Option<(u32, u32)>,
    pub(super) query: Option<u64>,
    pub(super) edit: Option<EditDigest>,
    pub(super) changes: bool,
    pub(super) polls: bool,
    pub(super) is_test: bool,
    pub(super) finishes: bool,
}

impl Facts {
    /// Adds a part of a command. The most consequential one names kind and resource.
    pub(super) fn merge(
        &mut self,
        kind: ToolKind,
        resource: Option<u64>,
        range: Option<(u32, u32)>,
    ) {
        if weight(kind) > weight(self.kind) {
            (self.kind, self.resource, self.range) = (kind, resource, range);
        } else if kind == self.kind && self.resource.is_none() {
            (self.resource, self.range) = (resource, range);
        }
    }
}

const fn weight(kind: ToolKind) -> u8 {
    match kind {
        ToolKind::Other => 0,
        ToolKind::Plan => 1,
        ToolKind::Paginate => 2,
        ToolKind::Search => 3,
        ToolKind::Read => 4,
        ToolKind::Poll => 5,
        ToolKind::Execute => 6,
        ToolKind::Edit => 7,
        ToolKind::Test => 8,
    }
}
