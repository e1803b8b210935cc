//! Where sessions are kept, and what they are called.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use steersman_store::{Options, SessionId, SqliteStore, Store};

use super::args::StoreArgs;

/// The folder of sessions and what lies in it.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    folder: PathBuf,
    /// Whether it was named, and has to be named again in hints.
    named: bool,
}

impl Place {
    /// The folder that is meant.
    pub(crate) fn of(args: &StoreArgs) -> Result<Self, String> {
        if let Some(folder) = &args.folder {
            return Ok(Self { folder: folder.clone(), named: true });
        }
        let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let state = set("XDG_STATE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
        let home = || set("HOME").map(|home| PathBuf::from(home).join(".local/state"));
        let state = state.or_else(home).ok_or(
            "there is no folder for sessions: neither XDG_STATE_HOME nor HOME is set; name one \
             with --state DIR",
        )?;
        Ok(Self { folder: state.join("steersman"), named: false })
    }

    /// A command on a session, for people to type.
    pub(crate) fn hint(&self, verb: &str, id: &SessionId) -> String {
        let state = self.folder.display().to_string();
        let state = if self.named { format!(" --state {}", quoted(&state)) } else { String::new() };
        format!("steersman sessions {verb} {id}{state}")
    }

    /// The folder of all that.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The file of journals.
    pub(crate) fn file(&self) -> PathBuf {
        self.folder.join("sessions.db")
    }

    /// Opens the journals; the file is made if it is not there.
    pub(crate) fn open(&self) -> Result<Arc<dyn Store>, String> {
        Ok(Arc::new(self.open_sqlite()?))
    }

    /// As [`Place::open`], as what it is.
    pub(crate) fn open_sqlite(&self) -> Result<SqliteStore, String> {
        SqliteStore::open(self.file(), &Options::default()).map_err(|error| error.to_string())
    }

    /// Where the project of a rehearsal is laid out.
    pub(crate) fn rehearsal(&self, id: &SessionId) -> PathBuf {
        self.folder.join("rehearsals").join(id.as_str())
    }

    /// Where states of workspaces are kept that are in no git repository.
    pub(crate) fn checkpoints(&self, id: &SessionId) -> PathBuf {
        self.folder.join("checkpoints").join(id.as_str())
    }

    /// Where copies of a workspace are worked in side by side.
    pub(crate) fn attempts(&self, id: &SessionId) -> PathBuf {
        self.folder.join("attempts").join(id.as_str())
    }
}

/// A word as a shell reads it back.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-+:@%,=".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// A name for a new session: the moment, and a few digits that no other has.
pub(crate) fn new_id(now_ms: u64) -> Result<SessionId, String> {
    let (year, month, day) = date_of(now_ms / 86_400_000);
    let seconds = now_ms / 1000 % 86_400;
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let tail = steersman_agent::random() & 0xffff;
    let name = format!("{year:04}{month:02}{day:02}-{hour:02}{minute:02}{second:02}-{tail:04x}");
    name.parse().map_err(|error: steersman_store::SessionIdError| error.to_string())
}

/// A moment as people read it, in UTC: `2026-11-22 01:02:03`.
pub(crate) fn date_and_time(at_ms: u64) -> String {
    let (year, month, day) = date_of(at_ms / 86_400_000);
    let seconds = at_ms / 1000 % 86_400;
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}")
}

/// The date of a day since 1970, in the Gregorian calendar.
fn date_of(days: u64) -> (u64, u64, u64) {
    // Years begin in March here, so that the leap day is the last; 400 years are an era.
    let shifted = days + 719_468;
    let (era, day) = (shifted / 146_097, shifted % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day_of_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + u64::from(month <= 2), month, day)
}

/// A path as it is shown: relative to here, if it lies below.
pub(crate) fn shown(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let path = path.strip_prefix(&here).unwrap_or(path);
    if path.as_os_str().is_empty() { ".".to_owned() } else { path.display().to_string() }
}

#[cfg(test)]
mod tests {
    use super::{date_of, new_id, quoted};

    #[test]
    fn words_survive_a_shell() {
        let cases =
            [("/tmp/a-b", "/tmp/a-b"), ("a b", "'a b'"), ("it's", "'it'\\''s'"), ("", "''")];
        for (word, expected) in cases {
            assert_eq!(quoted(word), expected);
        }
    }

    #[test]
    fn sessions_are_called_by_the_moment_they_began() {
        let cases = [
            (0, (1970, 1, 1)),
            (59, (1970, 3, 1)),
            (11_016, (2000, 2, 29)),
            (20_779, (2026, 11, 22)),
        ];
        for (days, date) in cases {
            assert_eq!(date_of(days), date, "{days}");
        }
        let id = new_id(20_779 * 86_400_000 + 3_723_000).unwrap().to_string();
        assert!(id.starts_with("20261122-010203-"), "{id}");
    }
}
