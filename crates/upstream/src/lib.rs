//! The HTTP client to model servers.
//!
//! A [`Client`] sends a [`Request`] to an [`Endpoint`] and gives the [`Answer`] or the [`Failure`]:
//! streamed or whole, within [`Deadlines`], bounded in size. A call is cancelled by dropping its
//! future. What the bytes mean is the business of `steersman-wire`; trying again is the engine's.
//!
//! A gateway sends requests that others wrote with [`Client::pass`].
//!
//! Connections are pooled and shared between clones. A key never stands in an error or in `Debug`.

mod client;
mod deadlines;
mod endpoint;
mod exchange;
mod listing;
mod pass;
mod secret;

pub use client::{Client, ClientError, Options};
pub use deadlines::Deadlines;
pub use endpoint::{Endpoint, EndpointError};
pub use pass::{Outgoing, PassError};
pub use secret::Secret;
pub use steersman_wire::{Answer, Delta, Failure, FailureKind, Format, Request};
