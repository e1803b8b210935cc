//! The output of a command, of which the start and the end are kept.

use std::collections::VecDeque;

use crate::files::whole_characters;

/// The start and the end of a stream, in bounded memory.
#[derive(Debug)]
pub(super) struct Kept {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    half: usize,
    len: u64,
}

impl Kept {
    /// Keeps at most `max` bytes.
    pub(super) fn new(max: usize) -> Self {
        Self { head: Vec::new(), tail: VecDeque::new(), half: max / 2, len: 0 }
    }

    /// Bytes seen in all.
    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// Takes in what comes next.
    pub(super) fn add(&mut self, bytes: &[u8]) {
        self.len += bytes.len() as u64;
        let room = self.half - self.head.len();
        let (head, rest) = bytes.split_at(room.min(bytes.len()));
        self.head.extend_from_slice(head);
        // Only the last bytes of a long piece can stay.
        let rest = &rest[rest.len().saturating_sub(self.half)..];
        let over = (self.tail.len() + rest.len()).saturating_sub(self.half);
        self.tail.drain(..over);
        self.tail.extend(rest);
    }

    /// What was kept, as valid UTF-8, with a line in the place of what was left out.
    pub(super) fn finish(mut self) -> String {
        let kept = (self.head.len() + self.tail.len()) as u64;
        if kept == self.len {
            self.head.extend(self.tail);
            return String::from_utf8_lossy(&self.head).into_owned();
        }
        // A character that is cut goes to what is left out.
        self.head.truncate(whole_characters(&self.head));
        let continued = self.tail.iter().take(3).take_while(|byte| **byte & 0xc0 == 0x80).count();
        self.tail.drain(..continued);
        let tail = self.tail.make_contiguous();
        let left_out = self.len - (self.head.len() + tail.len()) as u64;
        let head = String::from_utf8_lossy(&self.head);
        let tail = String::from_utf8_lossy(tail);
        let newline = if head.is_empty() || head.ends_with('\n') { "" } else { "\n" };
        format!("{head}{newline}[{left_out} bytes left out here]\n{tail}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(max: usize, pieces: &[&[u8]], expected: &str) {
        let mut kept = Kept::new(max);
        pieces.iter().for_each(|piece| kept.add(piece));
        assert_eq!(kept.len(), pieces.iter().map(|piece| piece.len() as u64).sum::<u64>());
        assert!(kept.head.len() + kept.tail.len() <= max);
        assert_eq!(kept.finish(), expected);
    }

    #[test]
    fn start_and_end_are_kept() {
        check(8, &[], "");
        check(8, &[b"abc"], "abc");
        check(8, &[b"abcd", b"efgh"], "abcdefgh");
        check(8, &[b"abcd", b"efgh", b"i"], "abcd\n[1 bytes left out here]\nfghi");
        check(8, &[b"abcdefghijklmnop"], "abcd\n[8 bytes left out here]\nmnop");
        check(8, &[b"abc\n", b"e", b"fg", b"hij", b"lm"], "abc\n[4 bytes left out here]\nijlm");
        check(0, &[b"abc"], "[3 bytes left out here]\n");
    }

    #[test]
    fn output_is_valid_utf8() {
        check(8, &[b"a\xffb"], "a\u{fffd}b");
        // The cuts fall into characters of two bytes.
        check(6, &["ääääää".as_bytes()], "ä\n[8 bytes left out here]\nä");
    }
}
