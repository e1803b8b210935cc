//! Sessions of `steersman run`: the seam to whoever knows how to read and steer them.

use std::pin::Pin;
use std::sync::Arc;

use steersman_store::{Entry, Store, Summary};
use steersman_timeline::{Timeline, Wanted};

use super::analytics::Fact;
use super::mark::NewMark;
use crate::control::{Control, ControlError};

/// An answer that is on its way.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Whoever knows how to read and steer sessions of `steersman run`.
pub trait Runs: Send + Sync {
    /// A session turn by turn; fails with a sentence if its journal cannot be read.
    fn timeline<'a>(
        &'a self,
        store: &'a Arc<dyn Store>,
        summary: &'a Summary,
        wanted: Wanted,
    ) -> Answer<'a, Result<Timeline, String>>;

    /// Hands a control to whoever drives the session, who journals it.
    fn control<'a>(
        &'a self,
        store: &'a Arc<dyn Store>,
        summary: &'a Summary,
        wish: Wish<'a, Control>,
    ) -> Answer<'a, Result<(), ControlError>>;

    /// Has a mark journalled.
    fn mark<'a>(
        &'a self,
        store: &'a Arc<dyn Store>,
        summary: &'a Summary,
        wish: Wish<'a, NewMark>,
    ) -> Answer<'a, Result<(), ControlError>>;

    /// Whether a process drives the session at this moment, in milliseconds since 1970.
    fn is_driven(&self, summary: &Summary, now_ms: u64) -> bool;

    /// What an entry of its journal says to analytics; empty if nothing.
    fn facts(&self, entry: &Entry) -> Vec<Fact>;
}

/// What a person wants, and when.
#[derive(Clone, Copy, Debug)]
pub struct Wish<'a, T> {
    /// Who, as far as is known.
    pub who: &'a str,
    /// What.
    pub what: &'a T,
    /// When, in milliseconds since 1970.
    pub at_ms: u64,
}
