//! Gemini generateContent.

mod assemble;
mod read;
mod schema;
mod write;

pub(super) use assemble::Assembly;
pub(super) use read::read;
pub(super) use write::write;
