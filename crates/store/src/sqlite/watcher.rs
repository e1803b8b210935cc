//! Notices what other processes have stored.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use rusqlite::{Connection, params};
use tokio::sync::broadcast;

use super::rows::{bound, session_id, unsigned};
use crate::{Hint, MAX_LIMIT};

pub(super) struct Watcher {
    pub(super) connection: Connection,
    pub(super) hints: broadcast::Sender<Hint>,
    /// Our own writer, whose changes are told already.
    pub(super) writer: String,
    pub(super) interval: Duration,
    /// The last change that needs no telling.
    pub(super) seen: i64,
    /// Ends with its sender.
    pub(super) stop: Receiver<()>,
}

impl Watcher {
    /// Looks again and again until the store is dropped.
    pub(super) fn run(self) {
        let (mut seen, mut version) = (self.seen, None);
        while self.stop.recv_timeout(self.interval) == Err(RecvTimeoutError::Timeout) {
            // A failure here loses hints for a while, which readers must bear anyway; whoever
            // reads or writes meets the same error and reports it.
            let Ok(now) = self.data_version() else { continue };
            if version == Some(now) {
                continue;
            }
            if let Ok(last) = self.tell_after(seen) {
                (seen, version) = (last, Some(now));
            }
        }
    }

    /// Changes with every commit of another connection; costs one read of shared memory.
    fn data_version(&self) -> rusqlite::Result<i64> {
        self.connection.pragma_query_value(None, "data_version", |row| row.get(0))
    }

    /// Tells of the sessions that others have changed, and gives the last change looked at.
    fn tell_after(&self, seen: i64) -> rusqlite::Result<i64> {
        let snapshot = self.connection.unchecked_transaction()?;
        let last = last_change(&snapshot)?;
        let mut statement = snapshot.prepare_cached(
            "SELECT id, last_seq, last_control FROM sessions
             WHERE change > ?1 AND changed_by <> ?2 ORDER BY change LIMIT ?3",
        )?;
        let mut rows = statement.query(params![seen, self.writer, bound(MAX_LIMIT)])?;
        while let Some(row) = rows.next()? {
            let (last_seq, last_control) = (unsigned(row, 1)?, unsigned(row, 2)?);
            // Without subscribers there is nobody to tell.
            let _ = self.hints.send(Hint { id: session_id(row, 0)?, last_seq, last_control });
        }
        Ok(last)
    }
}

/// The number of the last change of any process.
pub(super) fn last_change(connection: &Connection) -> rusqlite::Result<i64> {
    connection.prepare_cached("SELECT last FROM changes")?.query_row([], |row| row.get(0))
}
