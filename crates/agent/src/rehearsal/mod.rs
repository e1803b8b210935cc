//! Rehearsals: a scripted model in place of a real one.
//!
//! A rehearsal plays an agent that works, gets stuck, and reacts to what Steersman says; the tools,
//! the check, the workspace and every decision are real. Scripts are YAML files, so that anybody
//! can write one.

mod sample;
mod script;
mod scripted;

pub use sample::{Sample, SampleError};
pub use script::{Call, Fault, Line, Part as AttemptScript, Reaction, Script, SidePart};
pub use scripted::ScriptedModel;
