//! Hashes and sketches of what is compared.
//!
//! Two outcomes count as the same when their digests are equal: clock times, durations, process ids
//! and addresses do not take part, nor does white space around them and around lines; everything
//! else does.

mod noise;
mod sketch;
mod text;

pub use sketch::Sketch;
pub use text::{TextDigest, digest_text};

const K: u64 = 0x9e37_79b9_7f4a_7c15;

/// A 64-bit hash of bytes. Stable for ever, because states are stored.
#[must_use]
pub fn hash_bytes(bytes: &[u8]) -> u64 {
    let mut hash = (bytes.len() as u64).wrapping_mul(K);
    let (chunks, rest) = bytes.as_chunks::<8>();
    for chunk in chunks {
        hash = (hash.rotate_left(29) ^ u64::from_le_bytes(*chunk)).wrapping_mul(K);
    }
    // The last eight bytes overlap what was taken already: no copy, whatever the length.
    let last =
        bytes.last_chunk::<8>().map_or_else(|| word(rest), |chunk| u64::from_le_bytes(*chunk));
    mix((hash.rotate_left(29) ^ last).wrapping_mul(K))
}

/// Up to seven bytes as one number. Texts of different length may collide; the length is hashed
/// beside it.
#[inline]
fn word(bytes: &[u8]) -> u64 {
    match (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        (Some(first), Some(last)) => {
            u64::from(u32::from_le_bytes(*first)) << 32 | u64::from(u32::from_le_bytes(*last))
        }
        _ => match *bytes {
            [] => 0,
            [a] => u64::from(a),
            [a, b] => u64::from(a) << 8 | u64::from(b),
            [a, b, c, ..] => u64::from(a) << 16 | u64::from(b) << 8 | u64::from(c),
        },
    }
}

/// Spreads the bits of a hash.
#[must_use]
pub const fn mix(mut hash: u64) -> u64 {
    hash = (hash ^ (hash >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    hash = (hash ^ (hash >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    hash ^ (hash >> 32)
}

/// Combines two hashes; the order matters.
#[must_use]
pub const fn combine(a: u64, b: u64) -> u64 {
    mix(a.rotate_left(23) ^ b.wrapping_mul(K))
}
