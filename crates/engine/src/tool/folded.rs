//! Look-ups of names whatever their case and separators.

/// A name in lower case without separators, at most `N` bytes; longer names are cut.
pub(crate) struct Folded<const N: usize> {
    bytes: [u8; N],
    len: usize,
    hash: u32,
}

impl<const N: usize> Folded<N> {
    pub(crate) fn of(name: &str) -> Self {
        let mut folded = Self { bytes: [0; N], len: 0, hash: SEED };
        for byte in name.bytes() {
            if !byte.is_ascii_alphanumeric() {
                continue;
            }
            if folded.len == N {
                break;
            }
            let lower = byte.to_ascii_lowercase();
            folded.bytes[folded.len] = lower;
            folded.hash = step(folded.hash, lower);
            folded.len += 1;
        }
        folded
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// What a table says about the name.
    pub(crate) fn find<T: Copy, const SLOTS: usize>(
        &self,
        table: &[(&str, T)],
        index: &Index<SLOTS>,
    ) -> Option<T> {
        let mut slot = self.hash as usize % SLOTS;
        loop {
            // Slots hold positions from 1; an empty one ends the search.
            let at = usize::from(index.slots[slot]).checked_sub(1)?;
            if table[at].0.as_bytes() == self.as_bytes() {
                return Some(table[at].1);
            }
            slot = (slot + 1) % SLOTS;
        }
    }
}

const SEED: u32 = 0x811c_9dc5;

const fn step(hash: u32, byte: u8) -> u32 {
    let hash = (hash ^ byte as u32).wrapping_mul(0x0100_0193);
    hash ^ (hash >> 15)
}

/// Where the names of a table are; made when the crate is compiled.
pub(crate) struct Index<const SLOTS: usize> {
    slots: [u16; SLOTS],
}

impl<const SLOTS: usize> Index<SLOTS> {
    /// The index of a table that has fewer entries than there are slots.
    pub(crate) const fn of<T>(table: &[(&str, T)]) -> Self {
        assert!(table.len() < SLOTS, "too few slots");
        let mut slots = [0; SLOTS];
        let mut at = 0;
        while at < table.len() {
            let name = table[at].0.as_bytes();
            let (mut hash, mut byte) = (SEED, 0);
            while byte < name.len() {
                hash = step(hash, name[byte]);
                byte += 1;
            }
            let mut slot = hash as usize % SLOTS;
            while slots[slot] != 0 {
                slot = (slot + 1) % SLOTS;
            }
            at += 1;
            slots[slot] = at as u16;
        }
        Self { slots }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_whatever_their_spelling() {
        const TABLE: &[(&str, u8)] = &[("a", 1), ("ab", 2), ("readfile", 3), ("x9", 4)];
        static INDEX: Index<8> = Index::of(TABLE);
        let cases = [
            ("A", Some(1)),
            ("a_b", Some(2)),
            ("readFile", Some(3)),
            ("READ-FILE", Some(3)),
            ("x9", Some(4)),
            ("x8", None),
            ("", None),
            ("read_files_and_more_of_them", None),
        ];
        for (name, value) in cases {
            assert_eq!(Folded::<16>::of(name).find(TABLE, &INDEX), value, "{name}");
        }
    }
}
