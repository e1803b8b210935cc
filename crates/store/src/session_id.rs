//! Names of sessions.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// The most bytes a name has.
const MAX_BYTES: usize = 64;

/// The name of a session: 1 to 64 of `a-z`, `0-9` and `-`, and no `-` in front.
///
/// It is safe as a file name, in a URL and on a command line. Cloning it is cheap.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SessionId(Arc<str>);

/// Why a text does not name a session.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{shown}` does not name a session: {why}; \
     a name is 1 to 64 of a-z, 0-9 and `-`, and does not start with `-`"
)]
pub struct SessionIdError {
    /// The text, cut to 80 characters.
    shown: String,
    why: String,
}

impl SessionId {
    /// Reads a name.
    ///
    /// # Errors
    /// The text is empty, longer than 64 bytes, or has a character a name cannot have.
    pub fn new(text: &str) -> Result<Self, SessionIdError> {
        let fault = |why: String| SessionIdError { shown: text.chars().take(80).collect(), why };
        if text.is_empty() {
            return Err(fault("it is empty".to_owned()));
        }
        if text.len() > MAX_BYTES {
            return Err(fault(format!("it has {} bytes", text.len())));
        }
        if text.starts_with('-') {
            return Err(fault("it starts with `-`".to_owned()));
        }
        let odd = |c: &char| !matches!(c, 'a'..='z' | '0'..='9' | '-');
        match text.chars().find(odd) {
            Some(c) => Err(fault(format!("it contains {c:?}"))),
            None => Ok(Self(text.into())),
        }
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl FromStr for SessionId {
    type Err = SessionIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::new(text)
    }
}

impl TryFrom<String> for SessionId {
    type Error = SessionIdError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::new(&text)
    }
}

impl From<SessionId> for String {
    fn from(id: SessionId) -> Self {
        id.0.as_ref().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Result<(), &str>) {
        let found = SessionId::new(text).map(|_| ()).map_err(|error| error.why);
        assert_eq!(found, expected.map_err(str::to_owned), "{text:?}");
    }

    #[test]
    fn names_are_small_plain_words() {
        check("a", Ok(()));
        check("0-9-z", Ok(()));
        check(&"a".repeat(64), Ok(()));
        check("", Err("it is empty"));
        check(&"a".repeat(65), Err("it has 65 bytes"));
        check("-a", Err("it starts with `-`"));
        check("Ab", Err("it contains 'A'"));
        check("../x", Err("it contains '.'"));
        check("a\0", Err("it contains '\\0'"));
    }
}
