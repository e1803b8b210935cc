//! Gemini generateContent.

mod assemble;
mod hear;
mod read;
mod schema;
mod write;

pub(super) use assemble::Assembly;
pub(super) use hear::hear;
pub(super) use read::read;
pub(super) use write::{items, write};
