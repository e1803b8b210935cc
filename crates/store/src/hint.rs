//! News of sessions.

use tokio::sync::broadcast::{self, error::RecvError};

use crate::SessionId;

/// Something was stored for a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hint {
    /// The session.
    pub id: SessionId,
    /// Its last entry; 0 if it has none, or was deleted.
    pub last_seq: u64,
    /// Its last control; 0 if it has none, or was deleted.
    pub last_control: u64,
}

/// What a subscriber hears.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum News {
    /// A session has changed.
    Changed(Hint),
    /// That many hints were dropped because the subscriber was slow: look at all sessions.
    Missed(u64),
}

/// A stream of hints. It loses hints when it is not read; entries are found by their `seq`.
#[derive(Debug)]
pub struct Subscription {
    receiver: broadcast::Receiver<Hint>,
}

impl Subscription {
    pub(crate) fn new(receiver: broadcast::Receiver<Hint>) -> Self {
        Self { receiver }
    }

    /// Waits for news. `None`: the store is closed. Nothing is lost if the future is dropped.
    pub async fn next(&mut self) -> Option<News> {
        match self.receiver.recv().await {
            Ok(hint) => Some(News::Changed(hint)),
            Err(RecvError::Lagged(hints)) => Some(News::Missed(hints)),
            Err(RecvError::Closed) => None,
        }
    }
}
