//! From SQLite's errors to ours.

use rusqlite::{Error, ErrorCode};

use crate::FileFault;

/// What an error of SQLite means for the file.
pub(super) fn fault(error: &Error, waited_ms: u64) -> FileFault {
    let Some(code) = error.sqlite_error_code() else {
        return FileFault::Io { detail: error.to_string() };
    };
    match code {
        ErrorCode::NotADatabase => FileFault::NotADatabase,
        ErrorCode::DatabaseCorrupt => FileFault::Damaged { detail: error.to_string() },
        ErrorCode::ReadOnly | ErrorCode::PermissionDenied => FileFault::ReadOnly,
        ErrorCode::DiskFull => FileFault::Full,
        ErrorCode::DatabaseBusy
        | ErrorCode::DatabaseLocked
        | ErrorCode::FileLockingProtocolFailed => FileFault::Locked { waited_ms },
        _ => FileFault::Io { detail: error.to_string() },
    }
}

/// Whether the error may be one change's own, so that others of its batch may still succeed.
pub(super) fn is_of_one_change(error: &Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        None | Some(
            ErrorCode::DiskFull
                | ErrorCode::TooBig
                | ErrorCode::OutOfMemory
                | ErrorCode::ConstraintViolation
        )
    )
}
