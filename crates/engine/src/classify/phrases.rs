//! Looking for many phrases in one pass over a text.

use core::ops::Range;

/// A phrase and what it means. Words are in lower case with one blank between them; a `*` at the
/// end of a later word stands for any ending.
pub(crate) type Phrase<T> = (&'static str, T);

/// Phrases sorted by their text, and where those with the same first word are.
pub(crate) struct Phrases<T: 'static, const SLOTS: usize> {
    table: &'static [Phrase<T>],
    slots: [Slot; SLOTS],
    /// The third letters that follow each pair of first ones, as bits; most words of a text end
    /// here.
    beginnings: [u32; PAIRS],
}

/// The phrases with one first word.
#[derive(Clone, Copy)]
struct Slot {
    /// Position of the first of them.
    from: u16,
    /// Position behind the last of them; 0 in an empty slot.
    to: u16,
    /// More bits of the first word's hash, so that other words need not be compared.
    tag: u16,
}

/// Places for pairs of letters.
const PAIRS: usize = 1024;

/// The place of a pair of letters; others may share it.
#[inline]
const fn pair(first: u8, second: u8) -> usize {
    (first as usize % 32) * 32 + second as usize % 32
}

const SEED: u32 = 0x811c_9dc5;

const fn step(hash: u32, byte: u8) -> u32 {
    let hash = (hash ^ byte as u32).wrapping_mul(0x0100_0193);
    hash ^ (hash >> 15)
}

/// Length of the first word of a phrase.
const fn first_len(phrase: &str) -> usize {
    let bytes = phrase.as_bytes();
    let mut len = 0;
    while len < bytes.len() && bytes[len] != b' ' {
        len += 1;
    }
    len
}

const fn same_first(a: &str, b: &str) -> bool {
    let len = first_len(a);
    if len != first_len(b) {
        return false;
    }
    let mut at = 0;
    while at < len {
        if a.as_bytes()[at] != b.as_bytes()[at] {
            return false;
        }
        at += 1;
    }
    true
}

impl<T: Copy, const SLOTS: usize> Phrases<T, SLOTS> {
    /// Makes the index; meant for statics. The table must be sorted and have fewer different first
    /// words than there are slots.
    pub(crate) const fn of(table: &'static [Phrase<T>]) -> Self {
        let mut slots = [Slot { from: 0, to: 0, tag: 0 }; SLOTS];
        let mut beginnings = [0; PAIRS];
        let (mut from, mut used) = (0, 0);
        while from < table.len() {
            let mut to = from + 1;
            while to < table.len() && same_first(table[from].0, table[to].0) {
                to += 1;
            }
            let (mut hash, mut byte) = (SEED, 0);
            while byte < first_len(table[from].0) {
                hash = step(hash, table[from].0.as_bytes()[byte]);
                byte += 1;
            }
            let mut slot = hash as usize % SLOTS;
            while slots[slot].to != 0 {
                slot = (slot + 1) % SLOTS;
            }
            let (first, len) = (table[from].0.as_bytes(), first_len(table[from].0));
            let second = if len > 1 { first[1] } else { BETWEEN };
            beginnings[pair(first[0], second)] |= match len {
                1 => u32::MAX,
                2 => 1 << BETWEEN,
                _ => 1 << (first[2] % 32),
            };
            slots[slot] = Slot { from: from as u16, to: to as u16, tag: (hash >> 16) as u16 };
            used += 1;
            assert!(used < SLOTS, "too few slots");
            from = to;
        }
        Self { table, slots, beginnings }
    }

    /// Calls `found` for every phrase in the text, with the bytes it stands at, in order. Where
    /// several begin at the same word, the longest counts.
    pub(crate) fn scan(&self, text: &str, found: impl FnMut(T, Range<usize>)) {
        self.scan_up_to(text, text.len(), found);
    }

    /// As [`Phrases::scan`] for phrases that begin up to a position of the text.
    pub(crate) fn scan_up_to(
        &self,
        text: &str,
        last: usize,
        mut found: impl FnMut(T, Range<usize>),
    ) {
        let bytes = text.as_bytes();
        let last = last.min(bytes.len().saturating_sub(1));
        let (mut at, mut inside) = (0, false);
        while at < bytes.len() && at <= last {
            let Some(words) = Words::of(&bytes[at..]) else {
                let end = at + BLOCK;
                at = self.scan_slowly(bytes, at, inside, end.min(last + 1), &mut found);
                inside = false;
                continue;
            };
            let mut starts = words.starts(inside);
            while starts != 0 {
                let start = at + starts.trailing_zeros() as usize;
                starts &= starts - 1;
                if start > last {
                    return;
                }
                if self.may_begin(FOLDED[usize::from(bytes[start])], &bytes[start + 1..]) {
                    self.look(bytes, start, &mut found);
                }
            }
            inside = words.go_on();
            at += BLOCK;
        }
    }

    /// As [`Phrases::scan_up_to`] for phrases that begin from `at` and before `end`, byte by byte;
    /// gives where to go on, which is between words. `inside`: `at` is inside a word.
    fn scan_slowly(
        &self,
        bytes: &[u8],
        mut at: usize,
        inside: bool,
        end: usize,
        found: &mut impl FnMut(T, Range<usize>),
    ) -> usize {
        if inside {
            at = word_end(bytes, at);
        }
        while let Some(&first) = bytes.get(at).filter(|_| at < end) {
            let folded = FOLDED[usize::from(first)];
            at = if folded == BETWEEN {
                at + 1
            } else if folded != LEAD && !self.may_begin(folded, &bytes[at + 1..]) {
                word_end(bytes, at + 1)
            } else {
                match self.look(bytes, at, found) {
                    // A punctuation mark beyond ASCII.
                    end if end == at => at + 3,
                    end => end,
                }
            };
        }
        at
    }

    /// Looks whether a phrase begins with the word at `start`; gives where that word ends.
    fn look(&self, bytes: &[u8], start: usize, found: &mut impl FnMut(T, Range<usize>)) -> usize {
        let (mut hash, mut at) = (SEED, start);
        while let Some((byte, width)) = word_byte(bytes, at) {
            hash = step(hash, byte);
            at += width;
        }
        if at > start
            && let Some((mark, end)) = self.at(bytes, start..at, hash)
        {
            found(mark, start..end);
        }
        at
    }

    /// Whether a phrase may begin with a word that begins with this letter and goes on so.
    #[inline]
    fn may_begin(&self, first: u8, rest: &[u8]) -> bool {
        let folded = |at: usize| rest.get(at).map_or(BETWEEN, |byte| FOLDED[usize::from(*byte)]);
        let (second, third) = (folded(0), folded(1));
        // An apostrophe that is no ASCII is looked at where words are read.
        second == LEAD
            || third == LEAD
            || self.beginnings[pair(first, second)] & (1 << (third % 32)) != 0
    }

    fn at(&self, text: &[u8], word: Range<usize>, hash: u32) -> Option<(T, usize)> {
        let mut slot = hash as usize % SLOTS;
        let (group, len) = loop {
            let found = self.slots[slot];
            if found.to == 0 {
                return None;
            }
            if found.tag == (hash >> 16) as u16 {
                let group = &self.table[usize::from(found.from)..usize::from(found.to)];
                let len = first_len(group[0].0);
                if matched(&group[0].0.as_bytes()[..len], text, word.start) == Some(word.end) {
                    break (group, len);
                }
            }
            slot = (slot + 1) % SLOTS;
        };
        // Where the next word begins, if only blanks stand between.
        let mut next = word.end;
        while next < text.len() && is_blank(text[next]) {
            next += 1;
        }
        let mut best: Option<(T, usize)> = None;
        for (phrase, mark) in group {
            let rest = phrase.as_bytes().get(len + 1..).unwrap_or_default();
            let end = if rest.is_empty() {
                Some(word.end)
            } else if next > word.end {
                matched(rest, text, next)
            } else {
                None
            };
            if let Some(end) = end
                && best.is_none_or(|(_, longest)| end > longest)
            {
                best = Some((*mark, end));
            }
        }
        best
    }

    #[cfg(test)]
    pub(crate) fn assert_sorted(&self) {
        for pair in self.table.windows(2) {
            let (a, b) = (pair[0].0, pair[1].0);
            assert!(a < b, "{a} before {b}");
            let split = |text: &str| text[..first_len(text)].len();
            assert!(split(a) > 0 && split(b) > 0);
        }
    }
}

/// First byte of the dashes, dots and quotes of U+2000 to U+206F, which are three bytes long.
const PUNCTUATION_LEAD: u8 = 0xe2;

/// What [`FOLDED`] holds for bytes between words.
const BETWEEN: u8 = 0;

/// What [`FOLDED`] holds for [`PUNCTUATION_LEAD`].
const LEAD: u8 = 1;

/// The bytes of words in lower case: letters, digits, apostrophes and everything beyond ASCII.
static FOLDED: [u8; 256] = {
    let mut folded = [BETWEEN; 256];
    let mut at = 0;
    while at < 256 {
        let byte = at as u8;
        if byte.is_ascii_alphanumeric() || byte == b'\'' || byte >= 0x80 {
            folded[at] = byte.to_ascii_lowercase();
        }
        at += 1;
    }
    folded[PUNCTUATION_LEAD as usize] = LEAD;
    folded
};

/// How many bytes are looked at at once.
const BLOCK: usize = 64;

/// Which of up to 64 bytes belong to words, a bit for each.
#[derive(Clone, Copy)]
struct Words(u64);

impl Words {
    /// Those at the beginning of a text; `None` if there is a [`PUNCTUATION_LEAD`] among them,
    /// which takes a look at what follows it.
    #[inline]
    fn of(text: &[u8]) -> Option<Self> {
        let mut padded = [0; BLOCK];
        let block = match text.first_chunk::<BLOCK>() {
            Some(block) => block,
            None => {
                padded[..text.len()].copy_from_slice(text);
                &padded
            }
        };
        let (mut words, mut leads) = (0, 0);
        for (place, chunk) in block.as_chunks::<8>().0.iter().enumerate() {
            let (word, lead) = in_word(u64::from_le_bytes(*chunk));
            words |= (word >> 7).wrapping_mul(GATHER) >> 56 << (8 * place);
            leads |= lead;
        }
        (leads == 0).then_some(Self(words))
    }

    /// The bytes with which words begin; `inside`: a word goes on with the first byte.
    #[inline]
    const fn starts(self, inside: bool) -> u64 {
        self.0 & !(self.0 << 1 | inside as u64)
    }

    /// Whether the last byte belongs to a word, so that it may go on.
    #[inline]
    const fn go_on(self) -> bool {
        self.0 >> (BLOCK - 1) != 0
    }
}

/// Times eight lowest bits of bytes, has these eight next to each other in the highest byte.
const GATHER: u64 = 0x0102_0408_1020_4080;

/// The high bit of each of eight bytes that belongs to a word, and of those that are a
/// [`PUNCTUATION_LEAD`], exactly (Warren, "Hacker's Delight", chapter 6).
#[inline]
const fn in_word(bytes: u64) -> (u64, u64) {
    const HIGH: u64 = each(0x80);
    const fn each(byte: u8) -> u64 {
        byte as u64 * 0x0101_0101_0101_0101
    }
    /// Bytes below 0x80 from one letter to another: adding what is missing sets the high bit.
    const fn between(low: u64, first: u8, last: u8) -> u64 {
        low.wrapping_add(each(0x80 - first)) & !low.wrapping_add(each(0x7f - last))
    }
    let low = bytes & !HIGH;
    let letters = between(low | each(0x20), b'a', b'z');
    let others = between(low, b'0', b'9') | !(low ^ each(b'\'')).wrapping_add(each(0x7f));
    let is_lead = !((bytes ^ each(PUNCTUATION_LEAD)) & !HIGH).wrapping_add(each(0x7f)) & bytes;
    (((letters | others) & !bytes | bytes) & HIGH, is_lead & HIGH)
}

/// Where the word ends that goes on at `at`.
#[inline]
fn word_end(text: &[u8], mut at: usize) -> usize {
    loop {
        while text.get(at).is_some_and(|byte| FOLDED[usize::from(*byte)] > LEAD) {
            at += 1;
        }
        match word_byte(text, at) {
            Some((_, width)) => at += width,
            None => return at,
        }
    }
}

/// The byte of a word at a position, in lower case, and how many bytes it takes: letters, digits,
/// apostrophes of both kinds, and everything beyond ASCII. `None` between words and at the end.
#[inline]
fn word_byte(text: &[u8], at: usize) -> Option<(u8, usize)> {
    match FOLDED[usize::from(*text.get(at)?)] {
        BETWEEN => None,
        LEAD if matches!(text.get(at + 1), Some(0x80 | 0x81)) => {
            let apostrophe = text[at..].starts_with("\u{2019}".as_bytes());
            apostrophe.then_some((b'\'', 3))
        }
        LEAD => Some((PUNCTUATION_LEAD, 1)),
        byte => Some((byte, 1)),
    }
}

/// Whether a byte may stand between the words of a phrase: white space and emphasis.
const fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b'*' | b'_' | b'`' | b'-')
}

/// Where a phrase ends that begins at a position of the text; `None` if it is not there.
fn matched(phrase: &[u8], text: &[u8], start: usize) -> Option<usize> {
    let mut at = start;
    for &wanted in phrase {
        match wanted {
            b' ' => {
                let from = at;
                while at < text.len() && is_blank(text[at]) {
                    at += 1;
                }
                if at == from {
                    return None;
                }
            }
            b'*' => {
                return Some(word_end(text, at));
            }
            _ => {
                let (byte, width) = word_byte(text, at)?;
                if byte != wanted {
                    return None;
                }
                at += width;
            }
        }
    }
    word_byte(text, at).is_none().then_some(at)
}

#[cfg(test)]
mod tests {
    use alloc::vec;
    use alloc::vec::Vec;
    use std::string::String;

    use proptest::prelude::*;

    use super::*;

    static PHRASES: Phrases<u8, 16> = Phrases::of(&[
        ("done", 1),
        ("i'll now", 2),
        ("i'll now updat*", 3),
        ("not", 4),
        ("not done", 5),
    ]);

    #[test]
    fn words_are_told_exactly() {
        for byte in 0..=u8::MAX {
            let folded = FOLDED[usize::from(byte)];
            let (word, lead) = in_word(u64::from_le_bytes([b' ', byte, 0xff, b'`', byte, 0, 1, 2]));
            let there = 0x80_0000_8000 * u64::from(folded != BETWEEN);
            assert_eq!(word, there | 0x80_0000, "{byte}");
            assert_eq!(lead, if folded == LEAD { there } else { 0 }, "{byte}");
        }
    }

    proptest! {
        #[test]
        fn blocks_of_bytes_are_looked_at_as_single_ones_are(
            pieces in proptest::collection::vec(prop_oneof![
                4 => Just("i'll"), 4 => Just("now"), 4 => Just("not"), 4 => Just("done"),
                2 => Just("i\u{2019}ll"), 2 => Just("updating"), 1 => Just("\u{2014}"),
                1 => Just("\u{2019}"), 1 => Just("é"), 1 => Just("\u{20ac}"),
                9 => Just(" "), 2 => Just("-"), 2 => Just("\n"), 1 => Just("."), 1 => Just("x"),
            ], 0..90),
            last in 0..400_usize,
        ) {
            let text: String = pieces.concat();
            let bytes = text.as_bytes();
            let (mut fast, mut slow) = (Vec::new(), Vec::new());
            PHRASES.scan_up_to(&text, last, |mark, at| fast.push((mark, at)));
            let end = bytes.len().min(last + 1);
            let mut found = |mark, at| slow.push((mark, at));
            PHRASES.scan_slowly(bytes, 0, false, end, &mut found);
            prop_assert_eq!(fast, slow);
        }
    }

    #[test]
    fn phrases_are_found_in_one_pass() {
        PHRASES.assert_sorted();
        let cases: [(&str, &[u8]); 9] = [
            ("Done.", &[1]),
            ("undone", &[]),
            ("I\u{2019}ll now see", &[2]),
            ("I'll  now\nupdating it, done", &[3, 1]),
            ("It is **not done**", &[5, 1]),
            ("not-done", &[5, 1]),
            ("not. done", &[4, 1]),
            ("élan done\u{2014}not", &[1, 4]),
            ("", &[]),
        ];
        for (text, expected) in cases {
            let mut found = Vec::new();
            PHRASES.scan(text, |mark, at| {
                assert!(text.get(at).is_some());
                found.push(mark);
            });
            assert_eq!(found, expected, "{text:?}");
        }
    }
}
