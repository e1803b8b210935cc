//! Reading rows.

use rusqlite::types::{FromSqlError, Type};
use rusqlite::{Connection, OptionalExtension, Row, named_params, params};

use crate::entry::MAX_BODY_BYTES;
use crate::{
    Body, Control, Entry, Filter, Head, Kept, Lease, MAX_LIMIT, SessionId, Standing, StoreError,
    Summary, Timer,
};

/// Outside: the database failed. Inside: it did its part, and this is the answer.
pub(super) type Answer<T> = rusqlite::Result<Result<T, StoreError>>;

/// For SQLite, whose integers are signed; whatever is counted or timed stays far below.
pub(super) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// How many rows a call gives at most.
pub(super) fn bound(limit: usize) -> i64 {
    i64::try_from(limit.min(MAX_LIMIT)).unwrap_or(i64::MAX)
}

pub(super) fn unsigned(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    let number: i64 = row.get(column)?;
    u64::try_from(number).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(column, number))
}

pub(super) fn maybe_unsigned(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<u64>> {
    let number: Option<i64> = row.get(column)?;
    number.map(|_| unsigned(row, column)).transpose()
}

pub(super) fn session_id(row: &Row<'_>, column: usize) -> rusqlite::Result<SessionId> {
    let text: String = row.get(column)?;
    SessionId::new(&text).map_err(|error| {
        let cause = FromSqlError::Other(Box::new(error));
        rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(cause))
    })
}

/// The session's number in this database.
pub(super) fn find(connection: &Connection, id: &SessionId) -> Answer<i64> {
    let number = connection
        .prepare_cached("SELECT num FROM sessions WHERE id = ?1")?
        .query_row([id.as_str()], |row| row.get(0))
        .optional()?;
    Ok(number.ok_or_else(|| StoreError::Unknown { id: id.clone() }))
}

const SUMMARY: &str = "SELECT id, created_ms, updated_ms, last_seq, last_control, lease_epoch, \
    lease_owner, lease_until_ms, state, title, agent, model, workspace, turns, tool_calls, tokens, \
    cost_nanos, extra FROM sessions";

fn summary(row: &Row<'_>) -> rusqlite::Result<Summary> {
    let id = session_id(row, 0)?;
    let (epoch, until_ms) = (unsigned(row, 5)?, unsigned(row, 7)?);
    let owner: Option<String> = row.get(6)?;
    Ok(Summary {
        lease: owner.map(|owner| Lease { id: id.clone(), owner, epoch, until_ms }),
        id,
        created_ms: unsigned(row, 1)?,
        updated_ms: unsigned(row, 2)?,
        last_seq: unsigned(row, 3)?,
        last_control: unsigned(row, 4)?,
        head: Head {
            state: row.get(8)?,
            title: row.get(9)?,
            agent: row.get(10)?,
            model: row.get(11)?,
            workspace: row.get(12)?,
            turns: unsigned(row, 13)?,
            tool_calls: unsigned(row, 14)?,
            tokens: maybe_unsigned(row, 15)?,
            cost_nanos: maybe_unsigned(row, 16)?,
            extra: row.get(17)?,
        },
    })
}

pub(super) fn session(
    connection: &Connection,
    id: &SessionId,
) -> rusqlite::Result<Option<Summary>> {
    let mut statement = connection.prepare_cached(&format!("{SUMMARY} WHERE id = ?1"))?;
    statement.query_row([id.as_str()], summary).optional()
}

pub(super) fn sessions(connection: &Connection, filter: &Filter) -> rusqlite::Result<Vec<Summary>> {
    // `lower` knows ASCII only, as `Head::mentions` does.
    let mut statement = connection.prepare_cached(&format!(
        "{SUMMARY} WHERE (:state IS NULL OR state = :state)
           AND (:text IS NULL OR instr(id, :text) OR instr(lower(title), :text)
             OR instr(lower(agent), :text) OR instr(lower(model), :text)
             OR instr(lower(workspace), :text))
           AND (:before IS NULL OR (created_ms, id) < (:before, :id))
         ORDER BY created_ms DESC, id DESC LIMIT :limit"
    ))?;
    let before = filter.before.as_ref();
    let rows = statement.query_map(
        named_params! {
            ":state": filter.state,
            ":text": filter.text.as_ref().map(|text| text.to_ascii_lowercase()),
            ":before": before.map(|place| signed(place.created_ms)),
            ":id": before.map(|place| place.id.as_str()),
            ":limit": bound(filter.limit),
        },
        summary,
    )?;
    rows.collect()
}

pub(super) fn entries(
    connection: &Connection,
    id: &SessionId,
    after_seq: u64,
    limit: usize,
) -> Answer<Vec<Entry>> {
    let session = match find(connection, id)? {
        Ok(session) => session,
        Err(error) => return Ok(Err(error)),
    };
    let mut statement = connection.prepare_cached(
        "SELECT seq, at_ms, kind, body FROM entries
         WHERE session = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3",
    )?;
    let mut rows = statement.query(params![session, signed(after_seq), bound(limit)])?;
    let (mut entries, mut bytes) = (Vec::new(), 0);
    while let Some(row) = rows.next()? {
        let body: String = row.get(3)?;
        bytes += body.len();
        if bytes > MAX_BODY_BYTES && !entries.is_empty() {
            break;
        }
        let (seq, at_ms) = (unsigned(row, 0)?, unsigned(row, 1)?);
        entries.push(Entry { seq, at_ms, kind: row.get(2)?, body });
    }
    Ok(Ok(entries))
}

pub(super) fn controls(
    connection: &Connection,
    id: &SessionId,
    after: u64,
) -> Answer<Vec<Control>> {
    let session = match find(connection, id)? {
        Ok(session) => session,
        Err(error) => return Ok(Err(error)),
    };
    let mut statement = connection.prepare_cached(
        "SELECT number, at_ms, kind, body, who FROM controls
         WHERE session = ?1 AND number > ?2 ORDER BY number LIMIT ?3",
    )?;
    let rows = statement.query_map(params![session, signed(after), bound(MAX_LIMIT)], |row| {
        Ok(Control {
            number: unsigned(row, 0)?,
            at_ms: unsigned(row, 1)?,
            kind: row.get(2)?,
            body: row.get(3)?,
            who: row.get(4)?,
        })
    })?;
    rows.collect::<rusqlite::Result<_>>().map(Ok)
}

pub(super) fn due(
    connection: &Connection,
    now_ms: u64,
    limit: usize,
) -> rusqlite::Result<Vec<Timer>> {
    let mut statement = connection.prepare_cached(
        "SELECT id, name, due_ms FROM timers JOIN sessions ON num = session
         WHERE due_ms <= ?1 ORDER BY due_ms, id, name LIMIT ?2",
    )?;
    let rows = statement.query_map(params![signed(now_ms), bound(limit)], |row| {
        Ok(Timer { id: session_id(row, 0)?, name: row.get(1)?, due_ms: unsigned(row, 2)? })
    })?;
    rows.collect()
}

/// A number without a sign that was kept as the one with the same bits.
fn bits(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    row.get(column).map(i64::cast_unsigned)
}

pub(super) fn kept(connection: &Connection, id: &SessionId) -> rusqlite::Result<Option<Kept>> {
    let mut statement = connection.prepare_cached(
        "SELECT scope, ending, kept.at_ms, body FROM kept JOIN sessions ON num = session
         WHERE id = ?1",
    )?;
    let state = statement.query_row([id.as_str()], |row| {
        let (scope, end) = (bits(row, 0)?, bits(row, 1)?);
        Ok(Kept { scope, end, at_ms: unsigned(row, 2)?, body: Body::json(row.get(3)?) })
    });
    state.optional()
}

pub(super) fn standing(connection: &Connection, limit: usize) -> rusqlite::Result<Vec<Standing>> {
    let mut statement = connection.prepare_cached(
        "SELECT id, scope, ending, at_ms FROM kept JOIN sessions ON num = session
         ORDER BY at_ms DESC, id DESC LIMIT ?1",
    )?;
    let rows = statement.query_map(params![bound(limit)], |row| {
        let (id, scope, end) = (session_id(row, 0)?, bits(row, 1)?, bits(row, 2)?);
        Ok(Standing { id, scope, end, at_ms: unsigned(row, 3)? })
    })?;
    rows.collect()
}
