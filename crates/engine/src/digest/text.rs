//! The digest of a text: one pass, bounded.

use super::noise::{self, Noise};
use super::{K, Sketch, hash_bytes, mix};

/// What is kept of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TextDigest {
    /// Hash of everything but noise.
    pub hash: u64,
    /// Sketch for near-duplicates.
    pub sketch: Sketch,
    /// Words and punctuation marks looked at.
    pub tokens: u32,
}

/// How many bytes at the start and at the end of a text are looked at word by word. What lies
/// between takes part in the hash byte by byte: a difference there always counts.
const EDGE: usize = 4096;

/// The digest of a text.
#[must_use]
pub fn digest_text(text: &str) -> TextDigest {
    let bytes = text.as_bytes();
    let mut scan = Scan::default();
    if bytes.len() <= 2 * EDGE {
        scan.take(bytes);
    } else {
        let (head, tail) = (text.floor_char_boundary(EDGE), bytes.len() - EDGE);
        let tail = text.ceil_char_boundary(tail);
        scan.take(&bytes[..head]);
        scan.push(hash_bytes(&bytes[head..tail]));
        scan.take(&bytes[tail..]);
    }
    TextDigest { hash: mix(scan.hash), sketch: scan.sketch, tokens: scan.tokens }
}

#[derive(Default)]
struct Scan {
    hash: u64,
    sketch: Sketch,
    previous: u64,
    tokens: u32,
}

impl Scan {
    fn push(&mut self, token: u64) {
        self.hash = (self.hash.rotate_left(5) ^ token).wrapping_mul(K);
        self.sketch.add((self.previous.rotate_left(17) ^ token).wrapping_mul(K));
        self.previous = token;
        self.tokens += 1;
    }

    fn take(&mut self, bytes: &[u8]) {
        let mut at = 0;
        let mut line_start = true;
        while let Some(&byte) = bytes.get(at) {
            if CLASSES[usize::from(byte)] == SPACE {
                line_start |= byte == b'\n';
                at += 1;
                continue;
            }
            if line_start && let Some(skipped) = noise::line(&bytes[at..]) {
                at += skipped;
                continue;
            }
            line_start = false;
            if CLASSES[usize::from(byte)] != WORD {
                if byte == b'<'
                    && let Some(skipped) = noise::element(&bytes[at..])
                {
                    at += skipped;
                    continue;
                }
                self.push(u64::from(byte).wrapping_mul(K));
                at += 1;
                continue;
            }
            at = self.take_word(bytes, at);
        }
    }

    /// Takes the word at `at`, or the noise that begins there, and says where it ends.
    fn take_word(&mut self, bytes: &[u8], at: usize) -> usize {
        let rest = &bytes[at..];
        let ends = |&b: &u8| CLASSES[usize::from(b)] != WORD;
        let len = rest.iter().position(ends).unwrap_or(rest.len());
        let word = &bytes[at..at + len];
        let suspicious = bytes[at].is_ascii_digit() || len >= 12 || noise::announces(word);
        if suspicious && let Some(Noise { len, stands_for }) = noise::word(bytes, at, len) {
            self.push(u64::from(stands_for) << 32);
            return at + len;
        }
        self.push(hash_bytes(word));
        at + len
    }
}

/// Part of a word.
const WORD: u8 = 0;
/// Between words.
const SPACE: u8 = 1;
/// A mark of its own.
const MARK: u8 = 2;

/// What each byte is.
static CLASSES: [u8; 256] = {
    let mut classes = [WORD; 256];
    let mut byte = 0;
    while byte < 128 {
        let ascii = byte as u8;
        if ascii.is_ascii_whitespace() {
            classes[byte] = SPACE;
        } else if !ascii.is_ascii_alphanumeric() && ascii != b'_' {
            classes[byte] = MARK;
        }
        byte += 1;
    }
    classes
};

#[cfg(test)]
mod tests {
    use std::format;

    use super::*;

    fn check(a: &str, b: &str, same: bool) {
        assert_eq!(digest_text(a).hash == digest_text(b).hash, same, "{a:?} against {b:?}");
    }

    #[test]
    fn noise_does_not_count() {
        let cases = [
            ("3 passed in 0.03s", "3 passed in 12.41s"),
            ("took 5 ms", "took 17 ms"),
            ("done  in\n 3 seconds", "done in 4 seconds"),
            ("at 0x7f00aa10 crashed", "at 0x55d2c410 crashed"),
            ("2026-01-02 03:04:05 failed", "2026-11-12T13:14:15.123Z failed"),
            ("[12:01:02] error", "[12:01:09.5] error"),
            ("pid 1234 exited", "pid 99 exited"),
            ("PID: 1234", "PID: 77"),
            ("id 123e4567-e89b-12d3-a456-426614174000", "id 923e4567-e89b-12d3-a456-426614174abc"),
            ("wrote /tmp/tmpab12cd/x", "wrote /tmp/tmpzz99yy/x"),
            ("x\nChunk ID: 4f8250\ny", "x\nChunk ID: 99aaff\ny"),
            ("a<system-reminder>1</system-reminder>", "a<system-reminder>2</system-reminder>"),
            ("at 1763764000", "at 1763764999"),
        ];
        for (a, b) in cases {
            check(a, b, true);
        }
    }

    #[test]
    fn everything_else_counts() {
        let cases = [
            ("3 passed in 0.03s", "9 passed in 0.03s"),
            ("page 1 of 9", "page 2 of 9"),
            ("line 12:30", "line 12:31"),
            ("flight on 2024-05-20", "flight on 2024-05-21"),
            ("progress 10%", "progress 20%"),
            ("a b", "ab"),
            ("port 8080", "port 8081"),
            ("#W1234567", "#W1234568"),
            ("a[12]", "a[13]"),
            ("5 m", "6 m"),
            ("", "x"),
        ];
        for (a, b) in cases {
            check(a, b, false);
        }
    }

    #[test]
    fn a_difference_in_the_middle_of_a_long_text_counts() {
        let (a, b) = (".".repeat(20_000), ".".repeat(9_999));
        check(&format!("{a}x{a}"), &format!("{a}y{a}"), false);
        check(&format!("{a}é{b}"), &format!("{a}é{b}"), true);
    }

    #[test]
    fn sketches_tell_near_duplicates() {
        let text = |n: usize| {
            let words = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta"];
            (0..200)
                .map(|i| format!("{}{} ", words[i % 8], i % 23))
                .collect::<std::string::String>()
                + &format!("tail {n}")
        };
        let (a, b) = (digest_text(&text(1)), digest_text(&text(2)));
        assert!(a.hash != b.hash && a.sketch.similarity(&b.sketch) > 0.8);
        let other =
            digest_text(&"something else entirely, word after word, no overlap here ".repeat(9));
        assert!(a.sketch.similarity(&other.sketch) < 0.3);
        assert!(digest_text("hi").sketch.similarity(&digest_text("hi").sketch) == 0.0);
    }
}
