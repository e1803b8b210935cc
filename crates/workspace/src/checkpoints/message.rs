//! What a checkpoint's commit says beside its tree.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use git2::Oid;
use serde::{Deserialize, Serialize};

use super::rules::Outer;
use super::{Checkpoint, Skipped, Uncovered};

/// What the line starts with that holds the rest.
const MARK: &str = "steersman-checkpoint: ";
/// The version of the format. A newer one is refused.
const VERSION: u32 = 1;
/// Most entries of [`Checkpoint::skipped`].
const MAX_SKIPPED: usize = 1_000;

/// The message of a checkpoint's commit. It is stored: fields are only ever added.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Message {
    pub(super) version: u32,
    pub(super) label: String,
    pub(super) files: u64,
    pub(super) bytes: u64,
    /// The permissions that most files, executable files and folders have.
    pub(super) usual: Usual,
    /// The permissions of all others. Paths are [`encoded`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) modes: Vec<(String, u32)>,
    /// What is not covered, all of it, for restoring must not touch it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) skipped: Vec<(String, Uncovered)>,
    #[serde(default)]
    pub(super) outer: Outer,
}

/// Permissions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Usual {
    pub(super) file: u32,
    pub(super) executable: u32,
    pub(super) folder: u32,
}

impl Message {
    pub(super) fn new(label: &str) -> Self {
        Self { version: VERSION, label: label.to_owned(), ..Self::default() }
    }

    /// The message as it is stored: for people first.
    pub(super) fn to_text(&self) -> Result<String, serde_json::Error> {
        let label: String =
            self.label.chars().map(|c| if c.is_control() { ' ' } else { c }).take(200).collect();
        let (files, bytes) = (self.files, self.bytes);
        let rest = serde_json::to_string(self)?;
        Ok(format!("{label}\n\n{files} files, {bytes} bytes\n\n{MARK}{rest}\n"))
    }

    /// # Errors
    /// Says why the text is not the message of a checkpoint.
    pub(super) fn from_text(text: &[u8]) -> Result<Self, String> {
        let text = std::str::from_utf8(text).map_err(|_| "its message is not UTF-8")?;
        let line = text.lines().rev().find_map(|line| line.strip_prefix(MARK));
        let line = line.ok_or("its message is not that of a checkpoint")?;
        let message: Self = serde_json::from_str(line).map_err(|error| error.to_string())?;
        if message.version != VERSION {
            return Err(format!(
                "its version is {}, this program knows {VERSION}",
                message.version
            ));
        }
        Ok(message)
    }

    pub(super) fn checkpoint(&self, id: Oid, number: u32) -> Checkpoint {
        let skipped = self.skipped.iter().take(MAX_SKIPPED);
        let skipped = skipped.map(|(path, why)| Skipped { path: decoded(path), why: *why });
        Checkpoint {
            id: id.to_string(),
            number,
            label: self.label.clone(),
            files: self.files,
            bytes: self.bytes,
            skipped: skipped.collect(),
            more_skipped: self.skipped.len().saturating_sub(MAX_SKIPPED) as u64,
        }
    }
}

/// A path as text: bytes that are not UTF-8, and `%`, as `%` and two digits.
pub(super) fn encoded(path: &Path) -> String {
    let mut text = String::new();
    for chunk in path.as_os_str().as_bytes().utf8_chunks() {
        text.push_str(&chunk.valid().replace('%', "%25"));
        for byte in chunk.invalid() {
            text.push_str(&format!("%{byte:02x}"));
        }
    }
    text
}

/// The path that [`encoded`] to this.
pub(super) fn decoded(text: &str) -> PathBuf {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let digits = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let code = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match (byte, code) {
            (b'%', Some(code)) => {
                bytes.push(code);
                rest = &after[2..];
            }
            _ => {
                bytes.push(byte);
                rest = after;
            }
        }
    }
    PathBuf::from(OsString::from_vec(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_path_survives(bytes in prop::collection::vec(1_u8.., 0..40)) {
            let path = PathBuf::from(OsString::from_vec(bytes));
            prop_assert_eq!(decoded(&encoded(&path)), path);
        }

        #[test]
        fn any_text_is_read_or_refused(text in prop::collection::vec(any::<u8>(), 0..80)) {
            let _ = Message::from_text(&text);
        }

        #[test]
        fn a_message_survives(label in ".{0,40}") {
            let message = Message::new(&label);
            let text = message.to_text().unwrap();
            prop_assert_eq!(Message::from_text(text.as_bytes()), Ok(message));
        }
    }
}
