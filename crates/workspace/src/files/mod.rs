//! The file operations of a workspace: what a model asks for, and what it gets.

mod edit;
mod list;
mod read;
mod search;
pub(crate) mod write;

pub use edit::{EditFile, Edited};
pub use list::{EntryKind, ListFiles, Listed, Listing};
pub(crate) use read::whole_characters;
pub use read::{ReadFile, Reading};
pub use search::{Found, SearchFiles};
pub use write::{WriteFile, Written};
