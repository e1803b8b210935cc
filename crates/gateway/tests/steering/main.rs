//! The governor with simulated clients: what reaches the model's server, and what the client.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot set up its case must fail"
)]

mod elsewhere;
mod failures;
mod helm;
mod identity;
mod looping;
mod prices;
mod rescue;
mod restart;
mod sim;
mod told;
mod traces;
