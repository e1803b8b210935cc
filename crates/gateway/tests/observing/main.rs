//! What is known of sessions afterwards: the journal in the store, and the API that reads it.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot set up its case must fail"
)]

mod api;
mod events;
mod journal;
mod stage;
