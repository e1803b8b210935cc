//! Stub.
use serde::{Deserialize, Serialize};
/// s
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Status {
    /// c
    Continue,
    /// t
    Terminate,
}
/// s
#[derive(Clone, Debug)]
pub struct ContinuationSignal {
    /// s
    pub status: Status,
}
/// r
#[must_use]
pub fn read(_t: &str) -> Option<ContinuationSignal> {
    None
}
/// r
#[must_use]
pub fn read_call(_t: &str, _a: &str) -> Option<ContinuationSignal> {
    None
}
/// p
#[must_use]
pub fn patterns(_t: &str) -> Option<Status> {
    None
}
