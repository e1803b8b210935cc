//! Anthropic Messages.

mod assemble;
mod read;

mod write;

pub(super) use assemble::Assembly;
pub(super) use read::read;
pub(super) use write::write;
