//! Whole runs against servers over loopback and tools in a real folder.

mod conversation;
mod failures;
mod hostile;
mod json_calls;
mod place;
mod rescue;
