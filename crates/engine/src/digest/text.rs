//! The digest of a text: one pass, bounded.

use super::noise::{self, Noise};
use super::{K, Sketch, hash_bytes, mix, word};

/// What is kept of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TextDigest {
    /// Hash of everything but noise, and white space around lines and noise.
    pub hash: u64,
    /// Sketch for near-duplicates.
    pub sketch: Sketch,
}

/// How many bytes at the start and at the end of a text are searched for noise. What lies between
/// takes part in the hash byte by byte: a difference there always counts.
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
    TextDigest { hash: mix(scan.hash), sketch: scan.sketch }
}

#[derive(Default)]
struct Scan {
    hash: u64,
    sketch: Sketch,
}

impl Scan {
    fn push(&mut self, piece: u64) {
        self.hash = (self.hash.rotate_left(5) ^ piece).wrapping_mul(K);
    }

    /// Takes a text in pieces: what stands between line ends, control characters and noise.
    fn take(&mut self, bytes: &[u8]) {
        let mut from = 0;
        if let Some(len) = noise::line(bytes) {
            from = len;
        }
        let mut at = from;
        loop {
            at = next_stop(bytes, at);
            let Some(&stop) = bytes.get(at) else { break };
            if stop < b' ' {
                self.piece(&bytes[from..at]);
                at += 1;
                if stop == b'\n'
                    && let Some(len) = noise::line(&bytes[at..])
                {
                    at += len;
                }
                from = at;
                continue;
            }
            if noise::is_plain(stop, bytes.get(at + 1)) {
                at += 1;
                continue;
            }
            match noise::at(bytes, from, at) {
                Ok(Noise { start, len, stands_for }) => {
                    self.piece(&bytes[from..start]);
                    self.push(u64::from(stands_for) << 32);
                    at = start + len;
                    from = at;
                }
                Err(next) => at = next,
            }
        }
        self.piece(&bytes[from..]);
    }

    /// Takes a piece without noise; blanks around it do not count.
    fn piece(&mut self, piece: &[u8]) {
        let piece = piece.trim_ascii();
        if piece.is_empty() {
            return;
        }
        let mut hash = (piece.len() as u64).wrapping_mul(K);
        let (chunks, rest) = piece.as_chunks::<8>();
        for chunk in chunks {
            let element = u64::from_le_bytes(*chunk);
            hash = (hash.rotate_left(29) ^ element).wrapping_mul(K);
            self.sketch.add(element.wrapping_mul(K));
        }
        let last = word(rest);
        self.sketch.add((last ^ K).wrapping_mul(K));
        self.push((hash.rotate_left(29) ^ last).wrapping_mul(K));
    }
}

/// The first byte from `at` on that ends a line or with which noise may begin; the length of the
/// text if there is none.
fn next_stop(bytes: &[u8], mut at: usize) -> usize {
    while let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        let stops = stops(u64::from_le_bytes(*chunk));
        if stops != 0 {
            return at + (stops.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    let stop = |byte: &u8| *byte < b' ' || matches!(byte, b'/'..=b'9' | b'<');
    let rest = bytes.get(at..).unwrap_or_default();
    rest.iter().position(stop).map_or(bytes.len(), |found| at + found)
}

/// The high bit of each of eight bytes that is a control character, a digit, `/` or `<`, exactly
/// (Lamport 1975; Warren, "Hacker's Delight", chapter 6).
const fn stops(word: u64) -> u64 {
    const HIGH: u64 = each(0x80);
    const fn each(byte: u8) -> u64 {
        byte as u64 * 0x0101_0101_0101_0101
    }
    let low = word & !HIGH;
    // Adding what is missing to 0x80 sets the high bit of bytes from a bound on.
    let printable = low.wrapping_add(each(0x80 - b' '));
    let digits = low.wrapping_add(each(0x80 - b'/')) & !low.wrapping_add(each(0x80 - b':'));
    let other = (low ^ each(b'<')).wrapping_add(each(0x7f));
    (!printable | digits | !other) & !word & HIGH
}

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
            ("  done in   3 seconds \n", "done in 4 seconds"),
            ("a\r\nb", "a\n\n  b"),
            ("ran 3a5f9c0de1b2, 4 left", "ran 77aa77aa77aa, 4 left"),
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
    fn stops_are_exact() {
        for byte in 0..=u8::MAX {
            let found = next_stop(&[b'~', byte, 0x80, 0xff, b'x', b'y', b'z', b'~', 0], 0);
            let stop = byte < b' ' || matches!(byte, b'/'..=b'9' | b'<');
            assert_eq!(found, if stop { 1 } else { 8 }, "{byte}");
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
