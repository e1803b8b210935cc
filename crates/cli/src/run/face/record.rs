//! A run as lines of JSON, for programs.

use serde_json::json;
use steersman_agent::{Entry, Session};
use steersman_store::SessionId;

/// A run as lines of JSON.
pub(super) struct Record {
    id: SessionId,
    seq: u64,
}

impl Record {
    pub(super) const fn new(id: SessionId) -> Self {
        Self { id, seq: 0 }
    }
}

impl steersman_agent::Face for Record {
    fn entry(&mut self, session: &Session, at_ms: u64, entry: &Entry) {
        // Entries of one append are told one by one; the session has all of them folded in.
        self.seq = match entry {
            Entry::Opened(_) => 1,
            _ if self.seq == 0 => session.seq(),
            _ => self.seq + 1,
        };
        super::write(&[line(&self.id, self.seq, at_ms, entry)]);
    }
}

/// An entry as a line (schema/run.schema.json).
pub(crate) fn line(id: &SessionId, seq: u64, at_ms: u64, entry: &Entry) -> String {
    json!({"session": id.as_str(), "seq": seq, "at_ms": at_ms, "entry": entry}).to_string()
}
