//! Keys.

use std::fmt;

/// A key. It is shown as `[key]` wherever it is printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Takes a key; white space around it (a line end from a file) does not belong to it.
    #[must_use]
    pub fn new(key: &str) -> Self {
        Self(key.trim().to_owned())
    }

    /// The key itself, for the request's header alone.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }

    /// The text with the key replaced. Very short keys are placeholders (`x`) and no secret.
    pub(crate) fn hide(&self, text: &str) -> String {
        if self.0.len() < 6 { text.to_owned() } else { text.replace(&self.0, "[key]") }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("[key]")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("[key]")
    }
}
