//! Looking for single bytes, eight at a time.

/// The lowest bit of each of eight bytes.
const LOW: u64 = 0x0101_0101_0101_0101;

/// Where the first of some bytes stands in a text, from a position on; `None` if none does.
///
/// For bytes that are frequent: where most of a text is passed over, `memchr` is faster.
#[inline]
pub(crate) fn find_any<const N: usize>(text: &[u8], from: usize, wanted: [u8; N]) -> Option<usize> {
    let mut at = from;
    while let Some(chunk) = text.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        let word = u64::from_le_bytes(*chunk);
        let mut found = 0;
        for byte in wanted {
            let other = word ^ (LOW * u64::from(byte));
            // Of the high bits set, the lowest is that of the first byte that is zero.
            found |= other.wrapping_sub(LOW) & !other & (LOW << 7);
        }
        if found != 0 {
            return Some(at + (found.trailing_zeros() / 8) as usize);
        }
        at += 8;
    }
    let rest = text.get(at..)?;
    rest.iter().position(|byte| wanted.contains(byte)).map(|found| at + found)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_first_of_the_bytes_is_found(
            text in proptest::collection::vec(
                prop_oneof![Just(b'\n'), Just(b'.'), any::<u8>()], 0..64,
            ),
            from in 0_usize..70,
        ) {
            let wanted = [b'\n', b'.', b'\\', 0x80, 0xff];
            let slow = (from..text.len()).find(|at| wanted.contains(&text[*at]));
            prop_assert_eq!(find_any(&text, from, wanted), slow);
        }
    }
}
