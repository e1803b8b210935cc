//! What a virtual key looks like, and what is kept of it.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};

/// How every virtual key begins.
pub const PREFIX: &str = "sk-steersman-";
/// Random bytes of a key.
const RANDOM_BYTES: usize = 32;
/// Characters of a key behind its beginning: two for each byte.
const DIGITS: usize = 2 * RANDOM_BYTES;

/// What is kept of a key.
///
/// SHA-256 is enough: a key is 256 random bits, so there is nothing to guess that a slow hash for
/// passwords would make slower. And a key is looked for by its hash, so that the time of a look-up
/// tells nothing about keys: what could be compared byte by byte is not what a client chooses.
pub type KeyHash = [u8; 32];

/// A virtual key. It is shown once, when it is made; there is no `Debug`, so that no log has it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

/// The system gives no random bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the system gives no random bytes: {0}")]
pub struct NoRandomness(getrandom::Error);

impl Secret {
    /// A new key of 256 bits of the system's randomness.
    ///
    /// # Errors
    /// The system has none to give.
    pub fn make() -> Result<Self, NoRandomness> {
        let mut bytes = [0; RANDOM_BYTES];
        getrandom::fill(&mut bytes).map_err(NoRandomness)?;
        let mut text = String::with_capacity(PREFIX.len() + DIGITS);
        text.push_str(PREFIX);
        for byte in bytes {
            // Writing to a text cannot fail.
            let _ = write!(text, "{byte:02x}");
        }
        Ok(Self(text))
    }

    /// The first key in a text; `None` if there is none.
    #[must_use]
    pub fn find(text: &str) -> Option<Self> {
        let at = text.find(PREFIX)?;
        let rest = &text[at..];
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '-');
        // What has another length is no key, and is looked for all the same: it is not known.
        Some(Self(rest[..end.unwrap_or(rest.len())].to_owned()))
    }

    /// The key itself, for the one who asked for it.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// What is kept of it.
    #[must_use]
    pub fn hash(&self) -> KeyHash {
        Sha256::digest(self.0.as_bytes()).into()
    }
}

#[cfg(test)]
mod tests {
    use super::{DIGITS, PREFIX, Secret};

    fn check(text: &str, expected: Option<&str>) {
        assert_eq!(Secret::find(text).as_ref().map(Secret::reveal), expected, "{text}");
    }

    #[test]
    fn keys_are_found_where_they_stand() {
        check("Bearer sk-steersman-ab12", Some("sk-steersman-ab12"));
        check("sk-steersman-", Some("sk-steersman-"));
        check("sk-steersman-ab, more", Some("sk-steersman-ab"));
        check("sk-ant-api03", None);
        check("", None);
    }

    #[test]
    fn keys_differ_and_only_their_hash_is_kept() {
        let (one, two) = (Secret::make().unwrap(), Secret::make().unwrap());
        assert!(one != two && one.hash() != two.hash());
        let digits = one.reveal().strip_prefix(PREFIX).unwrap();
        assert_eq!(digits.len(), DIGITS);
        assert!(digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
        assert!(Secret::find(one.reveal()).unwrap() == one);
        let known = Secret("abc".to_owned()).hash();
        assert_eq!(known[..4], [0xba, 0x78, 0x16, 0xbf]);
    }
}
