//! Whole runs against servers over loopback and tools in a real folder.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test that cannot set up its case must fail"
)]

mod conversation;
mod failures;
mod hostile;
mod json_calls;
mod place;
mod rescue;
