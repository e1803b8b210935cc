//! Tells the progress of a session over WebSocket while it goes on.
//!
//! A [`Feed`] follows the journal of one session and makes a [`Message`] of what matters in it;
//! a [`Door`] lets clients in and sends them the messages. Nothing is told that is not in
//! the journal, so a client that comes back misses nothing, and one that is slow holds nothing up.
//!
//! The messages are described in `docs/progress.md`.

mod client;
mod door;
mod feed;
mod gate;
mod message;

pub use door::{Door, ListenError, MAX_CLIENTS, Serving};
pub use feed::{Feed, QUEUE};
pub use message::{
    Claimed, Hello, MAX_TEXT_BYTES, Message, Progress, Tests, Tokens, Told, VERSION,
};
