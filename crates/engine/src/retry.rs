//! Stub.
use crate::{StopReason, policy};
/// s
#[must_use]
pub fn should_retry(_s: Option<StopReason>, _f: bool, _st: Option<u16>, _m: &str) -> bool {
    true
}
/// d
#[must_use]
pub fn delay_ms(p: &policy::Retry, a: u32, _r: Option<u64>, _i: &str) -> Option<u64> {
    p.delays_ms.get(a as usize - 1).copied()
}
