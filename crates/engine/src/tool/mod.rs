//! What tools mean: kinds, and what a call reads or changes.

mod call;
mod canon;
mod code;
mod facts;
mod folded;
mod keys;
mod lexer;
mod lines;
mod name_table;
mod names;
mod patch;
mod programs;
mod scan;
mod shell;
mod suites;
mod wrappers;

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub use canon::similarity;
pub(crate) use canon::{Fold, hash_text};
pub use facts::{CallFacts, EditDigest};
pub(crate) use folded::{Folded, Index};
pub(crate) use names::bare as bare_name;

/// What a tool does, as far as progress is concerned (beyond 12).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ToolKind {
    /// Reads one resource.
    Read,
    /// Looks for something; finding nothing is an outcome.
    Search,
    /// Changes something on purpose.
    Edit,
    /// Runs a command that may change anything.
    Execute,
    /// Runs tests or another check.
    Test,
    /// Waits for something outside; an unchanged result is no news.
    Poll,
    /// Fetches the next part of something; the same arguments are no repeat.
    Paginate,
    /// Thinks or plans; touches nothing outside.
    Plan,
    /// Not known.
    #[default]
    Other,
}
