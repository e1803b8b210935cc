//! Canonical forms: hashes that do not see differences without meaning.

use crate::digest::mix;

const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// A streaming hash, eight bytes at a time. The pieces are part of what is hashed: the same bytes
/// in other pieces give another hash.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fold(u64);

impl Fold {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed ^ STEP)
    }

    pub(crate) const fn word(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(23) ^ word).wrapping_mul(STEP);
    }

    pub(crate) fn piece(&mut self, bytes: &[u8]) {
        let (words, tail) = bytes.as_chunks::<8>();
        for word in words {
            self.word(u64::from_le_bytes(*word));
        }
        let mut last = [0_u8; 8];
        last[..tail.len()].copy_from_slice(tail);
        self.word(u64::from_le_bytes(last));
        self.word(bytes.len() as u64);
    }

    pub(crate) const fn end(self) -> u64 {
        mix(self.0)
    }
}

/// Hash of a whole text.
pub(crate) fn hash_text(text: &str) -> u64 {
    let mut fold = Fold::new(1);
    fold.piece(text.as_bytes());
    fold.end()
}

/// Hash of a text without regard to case, amount of white space, and quotes around it.
pub(crate) fn hash_loose(text: &str) -> u64 {
    let mut fold = Fold::new(2);
    for word in text.split_ascii_whitespace() {
        let mut buffer = [0_u8; 64];
        for chunk in word.as_bytes().chunks(buffer.len()) {
            let lower = &mut buffer[..chunk.len()];
            lower.copy_from_slice(chunk);
            lower.make_ascii_lowercase();
            fold.piece(lower);
        }
    }
    fold.end()
}

/// Hash of a path, seen from `cwd` if it is relative: `./a//b/` equals `a/b`. `..` is left alone,
/// because what it means depends on links.
pub(crate) fn hash_path(cwd: &str, path: &str) -> u64 {
    let mut fold = Fold::new(3);
    let path = path.trim();
    let rooted = path.starts_with(['/', '~']) || path.as_bytes().get(1) == Some(&b':');
    let base = if rooted { "" } else { cwd.trim() };
    for part in base.split(['/', '\\']).chain(path.split(['/', '\\'])) {
        if !part.is_empty() && part != "." {
            fold.piece(part.as_bytes());
        }
    }
    fold.end()
}

/// Hash of a URL without its fragment and trailing slash.
pub(crate) fn hash_url(url: &str) -> u64 {
    let url = url.trim();
    let url = url.split_once('#').map_or(url, |(before, _)| before);
    hash_text(url.trim_end_matches('/'))
}

/// Hash of a command without regard to the amount of white space outside quotes.
pub(crate) fn hash_command(command: &str) -> u64 {
    // The layout of a here-document is content.
    if memchr::memmem::find(command.as_bytes(), b"<<").is_some() {
        return hash_text(command.trim());
    }
    let bytes = command.trim().as_bytes();
    let mut fold = Fold::new(4);
    let (mut start, mut quote) = (0, 0_u8);
    for (at, &byte) in bytes.iter().enumerate() {
        if quote != 0 {
            if byte == quote {
                quote = 0;
            }
        } else if matches!(byte, b'\'' | b'"') {
            quote = byte;
        } else if byte.is_ascii_whitespace() {
            if start < at {
                fold.piece(&bytes[start..at]);
            }
            if byte == b'\n' && start < at {
                fold.word(1);
            }
            start = at + 1;
        }
    }
    if start < bytes.len() {
        fold.piece(&bytes[start..]);
    }
    fold.end()
}

/// Words that say nothing about what is looked for.
const STOP_WORDS: &[&str] = &[
    "a", "an", "and", "are", "at", "by", "for", "from", "how", "in", "is", "it", "of", "on", "or",
    "that", "the", "this", "to", "was", "what", "where", "which", "who", "with",
];

/// A sketch of the words of a text: each word sets two of 64 bits. At most 64 words are looked at.
/// Compare with [`similarity`]. `None` if there is no word.
pub(crate) fn sketch(text: &str) -> Option<u64> {
    let mut bits = 0_u64;
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    for word in words.take(64) {
        let mut buffer = [0_u8; 32];
        let len = word.len().min(buffer.len());
        let lower = &mut buffer[..len];
        lower.copy_from_slice(&word.as_bytes()[..len]);
        lower.make_ascii_lowercase();
        if STOP_WORDS.binary_search_by(|stop| stop.as_bytes().cmp(lower)).is_ok() {
            continue;
        }
        let mut fold = Fold::new(5);
        fold.piece(lower);
        let hash = fold.end();
        bits |= (1 << (hash & 63)) | (1 << ((hash >> 6) & 63));
    }
    (bits != 0).then_some(bits)
}

/// How alike the words behind two sketches are, 0–1 (share of common bits).
#[must_use]
pub fn similarity(a: u64, b: u64) -> f32 {
    let all = (a | b).count_ones();
    if all == 0 { 1.0 } else { (a & b).count_ones() as f32 / all as f32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_without_meaning_are_not_seen() {
        let paths = [
            ("", "./a//b/", "", "a/b", true),
            ("/r", "a", "", "/r/a", true),
            ("/r", "/a", "", "/a", true),
            ("", "a/b", "", "ab", false),
            ("/r", "a", "/q", "a", false),
        ];
        for (cwd, a, other, b, equal) in paths {
            assert_eq!(hash_path(cwd, a) == hash_path(other, b), equal, "{a} {b}");
        }
        let commands = [
            ("ls  -la", " ls -la\n", true),
            ("echo 'a  b'", "echo 'a b'", false),
            ("a\nb", "a b", false),
            ("a\n\n  b", "a\nb", true),
            ("cat <<E\n a\nE", "cat <<E\n  a\nE", false),
            ("lsla", "ls la", false),
        ];
        for (a, b, equal) in commands {
            assert_eq!(hash_command(a) == hash_command(b), equal, "{a:?} {b:?}");
        }
        assert_eq!(hash_url("http://x/y/#top"), hash_url("http://x/y"));
        assert_eq!(hash_loose("  What is  X"), hash_loose("what IS x"));
    }

    #[test]
    fn sketches_compare_words() {
        let of = |text| sketch(text).unwrap_or_default();
        assert!(similarity(of("the price of tea"), of("Tea price")) > 0.99);
        assert!(similarity(of("graph neural networks fraud"), of("weather in Oslo")) < 0.3);
        assert_eq!(sketch(" the of ... "), None);
        assert!(STOP_WORDS.is_sorted());
    }
}
