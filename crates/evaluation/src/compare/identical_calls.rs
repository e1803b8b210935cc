//! The same call so many times in a row.

use super::{Moment, Rule};

/// Counts calls in a row with the same tool and the same arguments, the order of keys aside.
/// Results are not looked at, and nothing but another call begins a new count.
#[derive(Debug)]
pub(super) struct IdenticalCalls {
    limit: u32,
    last: Option<u64>,
    count: u32,
}

impl IdenticalCalls {
    pub(super) const fn new(limit: u32) -> Self {
        Self { limit, last: None, count: 0 }
    }
}

impl Rule for IdenticalCalls {
    fn see(&mut self, moment: Moment<'_>) -> bool {
        let Moment::Called(call) = moment else { return false };
        self.count = if self.last == Some(call.signature) { self.count + 1 } else { 1 };
        self.last = Some(call.signature);
        self.count >= self.limit
    }
}
