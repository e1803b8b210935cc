//! Tells the progress of a session over WebSocket while it goes on.
//!
//! A `Feed` follows the journal of one session and makes a `Message` of what matters in it;
//! a `Door` lets clients in and sends them the messages. Nothing is told that is not in
//! the journal, so a client that comes back misses nothing, and one that is slow holds nothing up.
//!
//! [`gate`] and [`handshake`] are for any server of ours that pages of a browser can reach; with
//! the feature `runs` (default) off there is nothing else.
//!
//! The messages are described in `docs/progress.md`.

#[cfg(feature = "runs")]
mod client;
#[cfg(feature = "runs")]
mod door;
#[cfg(feature = "runs")]
mod feed;
pub mod gate;
pub mod handshake;
#[cfg(feature = "runs")]
mod message;

#[cfg(feature = "runs")]
pub use door::{Beside, Door, Later, ListenError, MAX_CLIENTS, Serving};
#[cfg(feature = "runs")]
pub use feed::{Feed, QUEUE};
#[cfg(feature = "runs")]
pub use message::{
    Claimed, Hello, MAX_TEXT_BYTES, Message, Progress, Tests, Tokens, Told, VERSION,
};
