//! Changing rows, within one transaction.

use rusqlite::{Connection, OptionalExtension, params};

use super::rows::{Answer, find, signed, unsigned};
use crate::{Append, AskLease, Head, Hint, Kept, Lease, NewControl, SessionId, StoreError};

/// After so many rows whoever waits for the processor is let by: a batch can take milliseconds, and
/// those who wait for an answer of this process would wait for all of it.
const ROWS_IN_A_ROW: u64 = 16;

fn give_way(row: u64) {
    if row.is_multiple_of(ROWS_IN_A_ROW) {
        std::thread::yield_now();
    }
}

/// A transaction that is being filled.
pub(super) struct Change<'a> {
    connection: &'a Connection,
    /// Who writes, for the watchers of other processes and our own.
    writer: &'a str,
    /// The transaction's number, once it has changed a session.
    number: Option<i64>,
    hints: Vec<Hint>,
}

/// A session as far as changes need it.
struct Row {
    num: i64,
    last_seq: u64,
    last_control: u64,
    epoch: u64,
    /// Who holds the lease, and until when.
    held: Option<(String, u64)>,
}

impl<'a> Change<'a> {
    pub(super) fn new(connection: &'a Connection, writer: &'a str) -> Self {
        Self { connection, writer, number: None, hints: Vec::new() }
    }

    pub(super) const fn connection(&self) -> &'a Connection {
        self.connection
    }

    /// What to tell subscribers once the transaction is durable.
    pub(super) fn into_hints(self) -> Vec<Hint> {
        self.hints
    }

    fn row(&self, id: &SessionId) -> Answer<Row> {
        let mut statement = self.connection.prepare_cached(
            "SELECT num, last_seq, last_control, lease_epoch, lease_owner, lease_until_ms
             FROM sessions WHERE id = ?1",
        )?;
        let found = statement.query_row([id.as_str()], |row| {
            let owner: Option<String> = row.get(4)?;
            let until_ms = unsigned(row, 5)?;
            Ok(Row {
                num: row.get(0)?,
                last_seq: unsigned(row, 1)?,
                last_control: unsigned(row, 2)?,
                epoch: unsigned(row, 3)?,
                held: owner.map(|owner| (owner, until_ms)),
            })
        });
        Ok(found.optional()?.ok_or_else(|| StoreError::Unknown { id: id.clone() }))
    }

    /// One number per transaction is enough to find what came after another.
    fn number(&mut self) -> rusqlite::Result<i64> {
        if let Some(number) = self.number {
            return Ok(number);
        }
        let number = self
            .connection
            .prepare_cached("UPDATE changes SET last = last + 1 RETURNING last")?
            .query_row([], |row| row.get(0))?;
        self.number = Some(number);
        Ok(number)
    }

    fn hint(&mut self, id: &SessionId, last_seq: u64, last_control: u64) {
        self.hints.push(Hint { id: id.clone(), last_seq, last_control });
    }

    pub(super) fn create(&mut self, id: &SessionId, head: &Head, at_ms: u64) -> Answer<()> {
        if find(self.connection, id)?.is_ok() {
            return Ok(Err(StoreError::Exists { id: id.clone() }));
        }
        let number = self.number()?;
        self.connection
            .prepare_cached(
                "INSERT INTO sessions (id, created_ms, updated_ms, last_seq, last_control, change,
                   changed_by, lease_epoch, lease_until_ms, state, title, turns, tool_calls)
                 VALUES (?1, ?2, ?2, 0, 0, ?3, ?4, 0, 0, '', '', 0, 0)",
            )?
            .execute(params![id.as_str(), signed(at_ms), number, self.writer])?;
        self.set_head(self.connection.last_insert_rowid(), head)?;
        self.hint(id, 0, 0);
        Ok(Ok(()))
    }

    fn set_head(&self, num: i64, head: &Head) -> rusqlite::Result<()> {
        let mut statement = self.connection.prepare_cached(
            "UPDATE sessions SET state = ?2, title = ?3, agent = ?4, model = ?5, workspace = ?6,
               turns = ?7, tool_calls = ?8, tokens = ?9, cost_nanos = ?10, extra = ?11
             WHERE num = ?1",
        )?;
        statement.execute(params![
            num,
            head.state,
            head.title,
            head.agent,
            head.model,
            head.workspace,
            signed(head.turns),
            signed(head.tool_calls),
            head.tokens.map(signed),
            head.cost_nanos.map(signed),
            head.extra,
        ])?;
        Ok(())
    }

    pub(super) fn append(&mut self, id: &SessionId, append: &Append) -> Answer<u64> {
        let row = match self.row(id)? {
            Ok(row) => row,
            Err(error) => return Ok(Err(error)),
        };
        if let Some(epoch) = append.epoch
            && (row.held.is_none() || row.epoch != epoch)
        {
            return Ok(Err(StoreError::LeaseLost { id: id.clone(), epoch }));
        }
        let (expected, actual) = (append.expected_seq, row.last_seq);
        if expected != actual {
            return Ok(Err(StoreError::Conflict { id: id.clone(), expected, actual }));
        }
        let mut seq = row.last_seq;
        let mut insert = self.connection.prepare_cached(
            "INSERT INTO entries (session, seq, at_ms, kind, body) VALUES (?1, ?2, ?3, ?4, ?5)",
        )?;
        for entry in &append.entries {
            seq += 1;
            give_way(seq);
            let at_ms = signed(entry.at_ms);
            insert.execute(params![row.num, signed(seq), at_ms, entry.kind, &*entry.body])?;
        }
        drop(insert);
        let number = self.number()?;
        self.connection
            .prepare_cached(
                "UPDATE sessions SET last_seq = ?2, updated_ms = coalesce(?3, updated_ms),
                   change = ?4, changed_by = ?5 WHERE num = ?1",
            )?
            .execute(params![
                row.num,
                signed(seq),
                append.entries.last().map(|entry| signed(entry.at_ms)),
                number,
                self.writer
            ])?;
        if let Some(head) = &append.head {
            self.set_head(row.num, head)?;
        }
        self.hint(id, seq, row.last_control);
        Ok(Ok(seq))
    }

    pub(super) fn lease(&mut self, id: &SessionId, ask: &AskLease) -> Answer<Lease> {
        let row = match self.row(id)? {
            Ok(row) => row,
            Err(error) => return Ok(Err(error)),
        };
        if let Some((owner, until_ms)) = row.held
            && until_ms > ask.now_ms
        {
            return Ok(Err(StoreError::Held { id: id.clone(), owner, until_ms }));
        }
        let (owner, epoch, until_ms) = (ask.owner.clone(), row.epoch + 1, ask.until_ms());
        self.connection
            .prepare_cached(
                "UPDATE sessions SET lease_epoch = ?2, lease_owner = ?3, lease_until_ms = ?4
                 WHERE num = ?1",
            )?
            .execute(params![row.num, signed(epoch), owner, signed(until_ms)])?;
        Ok(Ok(Lease { id: id.clone(), owner, epoch, until_ms }))
    }

    pub(super) fn renew(&mut self, lease: &Lease, until_ms: u64) -> Answer<Lease> {
        let row = match self.row(&lease.id)? {
            Ok(row) => row,
            Err(error) => return Ok(Err(error)),
        };
        match row.held {
            Some((owner, _)) if row.epoch == lease.epoch => {
                self.connection
                    .prepare_cached("UPDATE sessions SET lease_until_ms = ?2 WHERE num = ?1")?
                    .execute(params![row.num, signed(until_ms)])?;
                Ok(Ok(Lease { id: lease.id.clone(), owner, epoch: row.epoch, until_ms }))
            }
            _ => Ok(Err(StoreError::LeaseLost { id: lease.id.clone(), epoch: lease.epoch })),
        }
    }

    pub(super) fn release(&mut self, lease: &Lease) -> Answer<()> {
        self.connection
            .prepare_cached(
                "UPDATE sessions SET lease_owner = NULL WHERE id = ?1 AND lease_epoch = ?2",
            )?
            .execute(params![lease.id.as_str(), signed(lease.epoch)])?;
        Ok(Ok(()))
    }

    pub(super) fn control(&mut self, id: &SessionId, control: &NewControl) -> Answer<u64> {
        let row = match self.row(id)? {
            Ok(row) => row,
            Err(error) => return Ok(Err(error)),
        };
        let last_control = row.last_control + 1;
        let NewControl { at_ms, kind, body, who } = control;
        self.connection
            .prepare_cached(
                "INSERT INTO controls (session, number, at_ms, kind, body, who)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )?
            .execute(params![row.num, signed(last_control), signed(*at_ms), kind, &**body, who])?;
        let change = self.number()?;
        self.connection
            .prepare_cached(
                "UPDATE sessions SET last_control = ?2, change = ?3, changed_by = ?4
                 WHERE num = ?1",
            )?
            .execute(params![row.num, signed(last_control), change, self.writer])?;
        self.hint(id, row.last_seq, last_control);
        Ok(Ok(last_control))
    }

    pub(super) fn set_timer(&mut self, id: &SessionId, name: &str, due_ms: u64) -> Answer<()> {
        let num = match find(self.connection, id)? {
            Ok(num) => num,
            Err(error) => return Ok(Err(error)),
        };
        self.connection
            .prepare_cached(
                "INSERT OR REPLACE INTO timers (session, name, due_ms) VALUES (?1, ?2, ?3)",
            )?
            .execute(params![num, name, signed(due_ms)])?;
        Ok(Ok(()))
    }

    pub(super) fn clear_timer(&mut self, id: &SessionId, name: &str) -> Answer<()> {
        if let Ok(num) = find(self.connection, id)? {
            self.connection
                .prepare_cached("DELETE FROM timers WHERE session = ?1 AND name = ?2")?
                .execute(params![num, name])?;
        }
        Ok(Ok(()))
    }

    pub(super) fn keep(&mut self, id: &SessionId, state: &Kept) -> Answer<()> {
        let num = match find(self.connection, id)? {
            Ok(num) => num,
            Err(error) => return Ok(Err(error)),
        };
        let Kept { scope, end, at_ms, body } = state;
        self.connection
            .prepare_cached(
                "INSERT OR REPLACE INTO kept (session, scope, ending, at_ms, body)
                 VALUES (?1, ?2, ?3, ?4, ?5)",
            )?
            .execute(params![
                num,
                scope.cast_signed(),
                end.cast_signed(),
                signed(*at_ms),
                &**body
            ])?;
        Ok(Ok(()))
    }

    pub(super) fn delete(&mut self, id: &SessionId) -> Answer<bool> {
        let Ok(num) = find(self.connection, id)? else { return Ok(Ok(false)) };
        for sql in [
            "DELETE FROM entries WHERE session = ?1",
            "DELETE FROM controls WHERE session = ?1",
            "DELETE FROM timers WHERE session = ?1",
            "DELETE FROM kept WHERE session = ?1",
            "DELETE FROM sessions WHERE num = ?1",
        ] {
            self.connection.prepare_cached(sql)?.execute([num])?;
        }
        self.hint(id, 0, 0);
        Ok(Ok(true))
    }
}
