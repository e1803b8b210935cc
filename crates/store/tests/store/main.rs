//! What any store has to do, and what the one on disk bears.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

mod accounts;
mod conformance;
mod faults;
mod properties;
mod reads;
mod stage;
mod transfer;
