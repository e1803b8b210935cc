//! The gateway over real sockets of this machine, in front of scripted model servers.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot set up its case must fail"
)]

mod fallback;
mod faults;
mod governed;
mod life;
mod limits;
mod passing;
mod paused;
mod support;
