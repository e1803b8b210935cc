//! How long a model call may take.

use std::time::Duration;

use tokio::time::Instant;

/// How long a model call may take, and be silent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadlines {
    /// Until the first byte of the answer's body. Default 5 minutes: a small machine reads a long
    /// conversation slowly. Does not apply without streaming, where all bytes come at the end.
    pub first_byte: Duration,
    /// Between two pieces of a streamed answer; keep-alives count. Default 2 minutes.
    pub between_bytes: Duration,
    /// For the whole call. Default 30 minutes.
    pub total: Duration,
}

impl Default for Deadlines {
    fn default() -> Self {
        Self {
            first_byte: Duration::from_secs(300),
            between_bytes: Duration::from_secs(120),
            total: Duration::from_secs(1800),
        }
    }
}

/// A moment to be done by, and what to say if it is missed.
#[derive(Clone, Debug)]
pub(crate) struct Due {
    pub(crate) at: Instant,
    pub(crate) missed: String,
}

/// The deadlines of one call that has begun.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timer {
    deadlines: Deadlines,
    began: Instant,
    streamed: bool,
}

impl Timer {
    pub(crate) fn start(deadlines: Deadlines, streamed: bool) -> Self {
        Self { deadlines, began: Instant::now(), streamed }
    }

    /// When the first byte must be there.
    pub(crate) fn first_byte(&self) -> Due {
        let total = self.total();
        let limit = self.deadlines.first_byte;
        match self.began.checked_add(limit) {
            Some(at) if self.streamed && at < total.at => {
                Due { at, missed: format!("no answer began within {limit:?}") }
            }
            _ => total,
        }
    }

    /// When the next byte must be there.
    pub(crate) fn next_byte(&self) -> Due {
        let total = self.total();
        let limit = self.deadlines.between_bytes;
        match Instant::now().checked_add(limit) {
            Some(at) if self.streamed && at < total.at => Due {
                at,
                missed: format!("nothing came for {limit:?} in the middle of the answer"),
            },
            _ => total,
        }
    }

    fn total(&self) -> Due {
        // A limit beyond what a clock can tell is a year.
        const YEAR: Duration = Duration::from_secs(365 * 24 * 3600);
        let limit = self.deadlines.total.min(YEAR);
        Due { at: self.began + limit, missed: format!("the answer was not whole within {limit:?}") }
    }
}
