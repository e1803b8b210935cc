//! Hashes of what is compared.

/// A 64-bit hash of bytes: FNV-1a with a final mix. Stable for ever, because states are stored.
#[must_use]
pub fn hash_bytes(bytes: &[u8]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for &byte in bytes {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    mix(hash)
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
    mix(a.rotate_left(23) ^ b.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}
