//! What lists of sessions show, and how they are asked for.

use serde::{Deserialize, Serialize};

use crate::body::check_json;
use crate::{Lease, SessionId, StoreError};

/// The most bytes of a text in a head.
pub const MAX_HEAD_TEXT_BYTES: usize = 4096;
/// The most bytes of [`Head::extra`]: 64 KiB.
pub const MAX_EXTRA_BYTES: usize = 64 << 10;
/// The most sessions, entries, controls or timers that one call gives.
pub const MAX_LIMIT: usize = 10_000;

/// The small summary of a session that lists show. Stored together with an append.
///
/// Texts have at most [`MAX_HEAD_TEXT_BYTES`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Head {
    /// Where the session stands, in the caller's words, for example `running`.
    pub state: String,
    /// One line that says what it is about.
    pub title: String,
    /// The agent that works. `None`: not known.
    pub agent: Option<String>,
    /// The model it speaks to. `None`: not known.
    pub model: Option<String>,
    /// The folder it works in. `None`: none, or not known.
    pub workspace: Option<String>,
    /// Assistant turns so far.
    pub turns: u64,
    /// Tool calls so far.
    pub tool_calls: u64,
    /// Tokens in and out so far. `None`: not known.
    pub tokens: Option<u64>,
    /// What it cost so far, in nano-dollars. `None`: not known.
    pub cost_nanos: Option<u64>,
    /// One JSON value in one line for whatever else a list shows, at most [`MAX_EXTRA_BYTES`].
    /// `None`: nothing.
    pub extra: Option<String>,
}

impl Head {
    fn texts(&self) -> [(&'static str, Option<&str>); 5] {
        [
            ("state", Some(&self.state)),
            ("title", Some(&self.title)),
            ("agent", self.agent.as_deref()),
            ("model", self.model.as_deref()),
            ("workspace", self.workspace.as_deref()),
        ]
    }

    pub(crate) fn bytes(&self) -> usize {
        let texts: usize = self.texts().iter().filter_map(|(_, text)| *text).map(str::len).sum();
        texts + self.extra.as_ref().map_or(0, String::len)
    }

    /// # Errors
    /// A text is too long, or `extra` is not one line of JSON.
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        for (name, text) in self.texts() {
            let bytes = text.map_or(0, str::len);
            if bytes > MAX_HEAD_TEXT_BYTES {
                return Err(StoreError::refused(format!(
                    "a head whose `{name}` has {bytes} bytes; \
                     at most {MAX_HEAD_TEXT_BYTES} are allowed"
                )));
            }
        }
        let Some(extra) = &self.extra else { return Ok(()) };
        if extra.len() > MAX_EXTRA_BYTES {
            return Err(StoreError::refused(format!(
                "a head whose `extra` has {} bytes; at most {MAX_EXTRA_BYTES} are allowed",
                extra.len()
            )));
        }
        check_json(extra).map_err(|why| {
            StoreError::refused(format!("a head whose `extra` is not one line of JSON: {why}"))
        })
    }

    /// Whether a text is part of the title, agent, model or workspace; ASCII case does not matter.
    pub(crate) fn mentions(&self, text: &str) -> bool {
        let text = text.to_ascii_lowercase();
        self.texts()[1..]
            .iter()
            .filter_map(|(_, field)| *field)
            .any(|field| field.to_ascii_lowercase().contains(&text))
    }
}

/// What the store knows of a session besides its entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// Its name.
    pub id: SessionId,
    /// The head that came with the last append that had one.
    pub head: Head,
    /// When it was created, in milliseconds since 1970.
    pub created_ms: u64,
    /// `at_ms` of its last entry; [`created_ms`](Self::created_ms) if it has none.
    pub updated_ms: u64,
    /// `seq` of its last entry; 0 if it has none.
    pub last_seq: u64,
    /// `number` of its last control; 0 if it has none.
    pub last_control: u64,
    /// Who drives it, maybe until a time that has passed. `None`: nobody.
    pub lease: Option<Lease>,
}

impl Summary {
    /// Its place in lists, to go on after it.
    #[must_use]
    pub fn position(&self) -> Position {
        Position { created_ms: self.created_ms, id: self.id.clone() }
    }
}

/// A place in a list of sessions. Lists are ordered by it, latest first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// When the session was created, in milliseconds since 1970.
    pub created_ms: u64,
    /// Its name, among sessions of the same moment.
    pub id: SessionId,
}

/// Which sessions a list has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filter {
    /// Only sessions in this state. `None`: in any.
    pub state: Option<String>,
    /// Only sessions whose name, title, agent, model or workspace has this text in it; ASCII case
    /// does not matter. `None`: all.
    pub text: Option<String>,
    /// At most that many, and at most [`MAX_LIMIT`]. Default: 100.
    pub limit: usize,
    /// Only sessions after this place in the list. `None`: from the latest on.
    pub before: Option<Position>,
}

impl Default for Filter {
    fn default() -> Self {
        Self { state: None, text: None, limit: 100, before: None }
    }
}
