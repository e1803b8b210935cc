//! The database file: who owns it, its tables, and how older layouts become the present one.

use std::fs::{DirBuilder, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};

use super::Options;
use super::fault::fault;
use crate::{FileFault, StoreError};

/// "Strs": marks a file as ours.
const APPLICATION_ID: i32 = 0x5374_7273;

/// Each step makes the layout of the next version; their number is the present version.
/// A step that was ever released is never edited.
const STEPS: [&str; 3] =
    [include_str!("layout_1.sql"), include_str!("layout_2.sql"), include_str!("layout_3.sql")];

const PRESENT: i32 = STEPS.len() as i32;

/// How long to wait between two attempts at what SQLite does not wait for by itself.
const RETRY: Duration = Duration::from_millis(20);

/// Opens the file for writing, creating or migrating it.
///
/// # Errors
/// [`StoreError::File`] with what is wrong with the file.
pub(super) fn open(path: &Path, options: &Options) -> Result<Connection, StoreError> {
    prepare_file(path)?;
    let failed = |error| StoreError::file(path, fault(&error, options.busy_timeout_ms));
    let mut connection = connect(path, options).map_err(failed)?;
    check_owner(&connection).map_err(failed)?.map_err(|fault| StoreError::file(path, fault))?;
    use_wal(&connection, options).map_err(failed)?;
    if let Some(bytes) = options.max_bytes {
        limit_size(&connection, bytes).map_err(failed)?;
    }
    migrate(&mut connection).map_err(failed)?.map_err(|fault| StoreError::file(path, fault))?;
    Ok(connection)
}

/// Opens a file that [`open`] has made ready, for reading.
///
/// # Errors
/// [`StoreError::File`] with what is wrong with the file.
pub(super) fn open_reader(path: &Path, options: &Options) -> Result<Connection, StoreError> {
    let failed = |error| StoreError::file(path, fault(&error, options.busy_timeout_ms));
    let connection = connect(path, options).map_err(failed)?;
    connection.pragma_update(None, "query_only", true).map_err(failed)?;
    Ok(connection)
}

/// Makes folder and file, if they are missing, for the user alone: SQLite gives its side files
/// the mode of the file.
fn prepare_file(path: &Path) -> Result<(), StoreError> {
    let failed = |error: io::Error| {
        let fault = match error.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                FileFault::ReadOnly
            }
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => FileFault::Full,
            _ => FileFault::Io { detail: error.to_string() },
        };
        StoreError::file(path, fault)
    };
    match path.metadata() {
        // SQLite would open it for reading and fail at the first append; the administrator may
        // write to it all the same, but whoever protects a file wants it left alone.
        Ok(found) if found.permissions().readonly() => {
            return Err(StoreError::file(path, FileFault::ReadOnly));
        }
        Ok(_) => return Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(failed(error)),
    }
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed)?;
    }
    // Without `create_new`: another process may just have made it.
    let file = OpenOptions::new().create(true).append(true).mode(0o600).open(path);
    file.map(drop).map_err(failed)
}

fn connect(path: &Path, options: &Options) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(Duration::from_millis(options.busy_timeout_ms))?;
    connection.set_prepared_statement_cache_capacity(64);
    // An acknowledged entry survives the loss of power.
    connection.pragma_update(None, "synchronous", "FULL")?;
    Ok(connection)
}

fn version(connection: &Connection) -> rusqlite::Result<i32> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Whether the file is ours or empty. Only reads it.
fn check_owner(connection: &Connection) -> rusqlite::Result<Result<(), FileFault>> {
    let owner = || -> rusqlite::Result<i32> {
        connection.pragma_query_value(None, "application_id", |row| row.get(0))
    };
    let before = owner()?;
    let tables: i64 =
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if before == 0 && tables == 0 {
        return Ok(Ok(()));
    }
    // Asked once more: another process may have made the tables between the two questions.
    let application_id = owner()?;
    if application_id != APPLICATION_ID {
        return Ok(Err(FileFault::Foreign { application_id }));
    }
    let found = version(connection)?;
    let newer = FileFault::Newer { found, known: PRESENT };
    Ok(if found > PRESENT { Err(newer) } else { Ok(()) })
}

/// SQLite does not wait when two processes change the journal mode at once, so we do.
fn use_wal(connection: &Connection, options: &Options) -> rusqlite::Result<()> {
    let deadline = Instant::now() + Duration::from_millis(options.busy_timeout_ms);
    loop {
        match connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(())) {
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
                    && Instant::now() < deadline =>
            {
                std::thread::sleep(RETRY);
            }
            done => return done,
        }
    }
}

fn limit_size(connection: &Connection, bytes: u64) -> rusqlite::Result<()> {
    let page: i64 = connection.pragma_query_value(None, "page_size", |row| row.get(0))?;
    let pages = i64::try_from(bytes).unwrap_or(i64::MAX) / page.max(1);
    connection.pragma_update_and_check(None, "max_page_count", pages.max(1), |_| Ok(()))
}

/// Takes the steps that are missing, all or none.
fn migrate(connection: &mut Connection) -> rusqlite::Result<Result<(), FileFault>> {
    if version(connection)? == PRESENT {
        return Ok(Ok(()));
    }
    let change = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have been faster while we waited.
    if let Err(fault) = check_owner(&change)? {
        return Ok(Err(fault));
    }
    let taken = usize::try_from(version(&change)?).unwrap_or_default();
    for step in STEPS.iter().skip(taken) {
        change.execute_batch(step)?;
    }
    change.pragma_update(None, "user_version", PRESENT)?;
    change.pragma_update(None, "application_id", APPLICATION_ID)?;
    change.commit()?;
    Ok(Ok(()))
}
