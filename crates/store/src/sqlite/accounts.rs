//! Keys and what was used under them.

use rusqlite::{Connection, OptionalExtension, params};

use super::SqliteStore;
use super::change::Change;
use super::rows::{Answer, maybe_unsigned, signed, unsigned};
use super::writer::Need;
use crate::accounts::MAX_KEYS;
use crate::{Accounts, KeyRecord, Pending, Spending, StoreError};

impl Accounts for SqliteStore {
    fn add_key(&self, key: KeyRecord) -> Pending<'_, ()> {
        Box::pin(async move {
            key.check()?;
            self.write(key.body.len(), Need::Space, move |change| change.add_key(&key)).await
        })
    }

    fn revoke_key(&self, name: &str, at_ms: u64) -> Pending<'_, u64> {
        let name = name.to_owned();
        Box::pin(self.write(0, Need::Nothing, move |change| change.revoke_key(&name, at_ms)))
    }

    fn keys(&self) -> Pending<'_, Vec<KeyRecord>> {
        Box::pin(self.readers.read(|db| keys(db).map(Ok)))
    }

    fn keys_version(&self) -> Pending<'_, u64> {
        Box::pin(self.readers.read(|db| {
            let mut statement = db.prepare_cached("SELECT last FROM key_changes")?;
            statement.query_row([], |row| unsigned(row, 0)).map(Ok)
        }))
    }

    fn spend(&self, spendings: Vec<Spending>) -> Pending<'_, ()> {
        Box::pin(async move {
            spendings.iter().try_for_each(Spending::check)?;
            let bytes = spendings.len() * 128;
            self.write(bytes, Need::Space, move |change| change.spend(&spendings)).await
        })
    }

    fn spent(&self, from_day: u64) -> Pending<'_, Vec<Spending>> {
        Box::pin(self.readers.read(move |db| spent(db, from_day).map(Ok)))
    }
}

impl Change<'_> {
    fn add_key(&self, key: &KeyRecord) -> Answer<()> {
        let count: i64 = self.one("SELECT count(*) FROM keys", [])?.unwrap_or_default();
        if usize::try_from(count).is_ok_and(|count| count >= MAX_KEYS) {
            let what = format!("another key: there are {count} already, and {MAX_KEYS} at most");
            return Ok(Err(StoreError::refused(what)));
        }
        let KeyRecord { name, hash, created_ms, expires_ms, revoked_ms, body } = key;
        if self.one::<i64>("SELECT num FROM keys WHERE name = ?1", [name])?.is_some() {
            return Ok(Err(StoreError::NameTaken { name: name.clone() }));
        }
        if self.one::<i64>("SELECT num FROM keys WHERE hash = ?1", [hash])?.is_some() {
            return Ok(Err(StoreError::refused("a key that is there already".to_owned())));
        }
        self.connection()
            .prepare_cached(
                "INSERT INTO keys (name, hash, created_ms, expires_ms, revoked_ms, body)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )?
            .execute(params![
                name,
                hash,
                signed(*created_ms),
                expires_ms.map(signed),
                revoked_ms.map(signed),
                body
            ])?;
        self.keys_changed()?;
        Ok(Ok(()))
    }

    fn revoke_key(&self, name: &str, at_ms: u64) -> Answer<u64> {
        let revoked = self
            .connection()
            .prepare_cached(
                "UPDATE keys SET revoked_ms = coalesce(revoked_ms, ?2) WHERE name = ?1
                 RETURNING revoked_ms",
            )?
            .query_row(params![name, signed(at_ms)], |row| unsigned(row, 0))
            .optional()?;
        let Some(revoked_ms) = revoked else {
            return Ok(Err(StoreError::UnknownKey { name: name.to_owned() }));
        };
        self.keys_changed()?;
        Ok(Ok(revoked_ms))
    }

    fn keys_changed(&self) -> rusqlite::Result<()> {
        self.connection().prepare_cached("UPDATE key_changes SET last = last + 1")?.execute([])?;
        Ok(())
    }

    fn spend(&self, spendings: &[Spending]) -> Answer<()> {
        // SQLite makes a sum that is too large a number with a point, which the table refuses.
        let mut statement = self.connection().prepare_cached(
            "INSERT INTO spending VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
             ON CONFLICT (account, day) DO UPDATE SET
               calls = min(calls, 9223372036854775807 - excluded.calls) + excluded.calls,
               input_tokens = min(input_tokens, 9223372036854775807 - excluded.input_tokens)
                 + excluded.input_tokens,
               output_tokens = min(output_tokens, 9223372036854775807 - excluded.output_tokens)
                 + excluded.output_tokens,
               cost_nanos = min(cost_nanos, 9223372036854775807 - excluded.cost_nanos)
                 + excluded.cost_nanos,
               untold_calls = min(untold_calls, 9223372036854775807 - excluded.untold_calls)
                 + excluded.untold_calls,
               unpriced_calls = min(unpriced_calls, 9223372036854775807 - excluded.unpriced_calls)
                 + excluded.unpriced_calls",
        )?;
        for one in spendings {
            let mut one = one.clone();
            let day = signed(one.day);
            let [calls, input, output, cost, untold, unpriced] =
                one.counts().map(|count| signed(*count));
            let account = &one.account;
            statement
                .execute(params![account, day, calls, input, output, cost, untold, unpriced])?;
        }
        Ok(Ok(()))
    }

    fn one<T: rusqlite::types::FromSql>(
        &self,
        sql: &str,
        params: impl rusqlite::Params,
    ) -> rusqlite::Result<Option<T>> {
        let mut statement = self.connection().prepare_cached(sql)?;
        statement.query_row(params, |row| row.get(0)).optional()
    }
}

fn keys(connection: &Connection) -> rusqlite::Result<Vec<KeyRecord>> {
    let mut statement = connection.prepare_cached(
        "SELECT name, hash, created_ms, expires_ms, revoked_ms, body FROM keys ORDER BY num DESC",
    )?;
    let rows = statement.query_map([], |row| {
        Ok(KeyRecord {
            name: row.get(0)?,
            hash: row.get(1)?,
            created_ms: unsigned(row, 2)?,
            expires_ms: maybe_unsigned(row, 3)?,
            revoked_ms: maybe_unsigned(row, 4)?,
            body: row.get(5)?,
        })
    })?;
    rows.collect()
}

fn spent(connection: &Connection, from_day: u64) -> rusqlite::Result<Vec<Spending>> {
    let mut statement = connection.prepare_cached(
        "SELECT account, calls, input_tokens, output_tokens, cost_nanos, untold_calls,
         unpriced_calls FROM spending WHERE day >= ?1 ORDER BY account",
    )?;
    let mut rows = statement.query([signed(from_day)])?;
    let mut sums: Vec<Spending> = Vec::new();
    while let Some(row) = rows.next()? {
        let mut one = Spending { account: row.get(0)?, day: from_day, ..Spending::default() };
        for (column, count) in (1..).zip(one.counts()) {
            *count = unsigned(row, column)?;
        }
        match sums.last_mut().filter(|last| last.account == one.account) {
            Some(last) => last.add(&one),
            None => sums.push(one),
        }
    }
    Ok(sums)
}
