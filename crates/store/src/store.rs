//! The boundary between sessions and what keeps them.

use std::pin::Pin;

use crate::{
    Append, Control, Entry, Filter, Head, Kept, Lease, NewControl, SessionId, Standing, StoreError,
    Subscription, Summary, Timer,
};

/// An answer that is on its way.
pub type Pending<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// A place that keeps sessions: journals, states, leases, controls and timers.
///
/// When a method that changes something resolves with success, the change is durable. If the
/// future is dropped before, the change is made completely or not at all. The store has no clock:
/// times come from the caller, in milliseconds since 1970, and are kept as `i64::MAX` if they are
/// later. Limits above
/// [`MAX_LIMIT`](crate::MAX_LIMIT) mean that bound. Besides what is named, each method fails with
/// [`StoreError::File`] and [`StoreError::Closed`].
pub trait Store: Send + Sync + 'static {
    /// Creates a session without entries.
    ///
    /// # Errors
    /// [`StoreError::Exists`], or [`StoreError::Refused`] for the head.
    fn create(&self, id: &SessionId, head: Head, at_ms: u64) -> Pending<'_, ()>;

    /// Appends entries and resolves to the last `seq`.
    ///
    /// # Errors
    /// [`StoreError::Conflict`] if there are other entries than expected,
    /// [`StoreError::LeaseLost`] if the lease of [`Append::epoch`] is not held any more,
    /// [`StoreError::Unknown`], [`StoreError::Refused`].
    fn append(&self, id: &SessionId, append: Append) -> Pending<'_, u64>;

    /// Entries after `after_seq` in order: at most `limit`, and at most 64 MiB of bodies besides
    /// the first. Empty at the end.
    ///
    /// # Errors
    /// [`StoreError::Unknown`].
    fn read(&self, id: &SessionId, after_seq: u64, limit: usize) -> Pending<'_, Vec<Entry>>;

    /// The summary of one session. `None`: there is no such session.
    ///
    /// # Errors
    /// Only those of every method.
    fn session(&self, id: &SessionId) -> Pending<'_, Option<Summary>>;

    /// The sessions a filter lets through, latest created first.
    ///
    /// # Errors
    /// Only those of every method.
    fn sessions(&self, filter: &Filter) -> Pending<'_, Vec<Summary>>;

    /// Takes the right to drive a session for `ttl_ms`. Whoever holds it, the same owner included,
    /// must [`renew`](Self::renew) or let it end first.
    ///
    /// # Errors
    /// [`StoreError::Held`], [`StoreError::Unknown`], [`StoreError::Refused`].
    fn lease(&self, id: &SessionId, ask: AskLease) -> Pending<'_, Lease>;

    /// Keeps a lease until `now_ms + ttl_ms`, even one whose time is over if nobody has taken it.
    ///
    /// # Errors
    /// [`StoreError::LeaseLost`], [`StoreError::Unknown`].
    fn renew(&self, lease: &Lease, ttl_ms: u64, now_ms: u64) -> Pending<'_, Lease>;

    /// Gives a lease back. Does nothing if it is lost already.
    ///
    /// # Errors
    /// Only those of every method.
    fn release(&self, lease: &Lease) -> Pending<'_, ()>;

    /// Tells the driver of a session something and resolves to the control's number.
    ///
    /// # Errors
    /// [`StoreError::Unknown`], [`StoreError::Refused`].
    fn control(&self, id: &SessionId, control: NewControl) -> Pending<'_, u64>;

    /// Controls after number `after` in order, at most [`MAX_LIMIT`](crate::MAX_LIMIT).
    ///
    /// # Errors
    /// [`StoreError::Unknown`].
    fn controls(&self, id: &SessionId, after: u64) -> Pending<'_, Vec<Control>>;

    /// Sets a session's timer, in place of the one of that name.
    ///
    /// # Errors
    /// [`StoreError::Unknown`], [`StoreError::Refused`] for a long name.
    fn set_timer(&self, id: &SessionId, name: &str, due_ms: u64) -> Pending<'_, ()>;

    /// Removes a session's timer, if there is one of that name.
    ///
    /// # Errors
    /// Only those of every method.
    fn clear_timer(&self, id: &SessionId, name: &str) -> Pending<'_, ()>;

    /// Timers due at `now_ms` or before, earliest first. They stay until cleared. With
    /// `u64::MAX` and a limit of 1: the one to wait for.
    ///
    /// # Errors
    /// Only those of every method.
    fn due(&self, now_ms: u64, limit: usize) -> Pending<'_, Vec<Timer>>;

    /// Keeps the state of a session, in the place of what was kept before. It needs no lease, is no
    /// entry, and nobody is told.
    ///
    /// # Errors
    /// [`StoreError::Unknown`], [`StoreError::Refused`].
    fn keep(&self, id: &SessionId, state: Kept) -> Pending<'_, ()>;

    /// The state that was kept last. `None`: none was, or there is no such session.
    ///
    /// # Errors
    /// Only those of every method.
    fn kept(&self, id: &SessionId) -> Pending<'_, Option<Kept>>;

    /// Where the sessions stand whose state is kept, the latest first.
    ///
    /// # Errors
    /// Only those of every method.
    fn standing(&self, limit: usize) -> Pending<'_, Vec<Standing>>;

    /// Hints of what is stored from now on, by this process and by others.
    fn subscribe(&self) -> Subscription;

    /// Deletes a session with all that belongs to it. Resolves to whether there was one.
    ///
    /// # Errors
    /// Only those of every method.
    fn delete(&self, id: &SessionId) -> Pending<'_, bool>;
}

/// Who wants to drive a session, for how long, and what time it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskLease {
    /// A text that no other driver uses; see [`Lease::owner`].
    pub owner: String,
    /// For how long, in milliseconds.
    pub ttl_ms: u64,
    /// The time, in milliseconds since 1970.
    pub now_ms: u64,
}

impl AskLease {
    /// Asks for a lease.
    #[must_use]
    pub fn new(owner: &str, ttl_ms: u64, now_ms: u64) -> Self {
        Self { owner: owner.to_owned(), ttl_ms, now_ms }
    }

    pub(crate) fn until_ms(&self) -> u64 {
        cap_time(self.now_ms.saturating_add(self.ttl_ms))
    }
}

/// The latest time that is kept, in milliseconds: later ones are kept as this one.
pub(crate) fn cap_time(ms: u64) -> u64 {
    ms.min(i64::MAX.cast_unsigned())
}
