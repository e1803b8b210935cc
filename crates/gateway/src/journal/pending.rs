//! What waits for the store beside the queue: snapshots, and numbers of lost entries.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use steersman_store::SessionId;

use crate::session::Snapshot;

/// Most sessions whose snapshots wait; those of further ones are not kept.
const MAX_PENDING: usize = 20_000;
/// Most sessions whose lost entries are told of; beyond, they are only counted.
const MAX_LOSSES: usize = 20_000;

type Make = Box<dyn FnOnce() -> Snapshot + Send>;

/// A snapshot that waits.
enum Wait {
    /// It is made when it is needed: the session may change until then.
    ToMake(Make),
    Made(Box<Snapshot>),
}

impl Wait {
    fn make(self) -> Snapshot {
        match self {
            Self::ToMake(make) => make(),
            Self::Made(snapshot) => *snapshot,
        }
    }
}

/// The latest snapshot of each session that was not written yet.
#[derive(Default)]
pub(super) struct Pending(Mutex<HashMap<SessionId, (u64, Wait)>>);

impl Pending {
    fn lock(&self) -> MutexGuard<'_, HashMap<SessionId, (u64, Wait)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a snapshot in the place of the one before; false if there is no room.
    pub(super) fn put(&self, id: SessionId, scope: u64, make: Make) -> bool {
        let mut waiting = self.lock();
        let fits = waiting.len() < MAX_PENDING || waiting.contains_key(&id);
        if fits {
            waiting.insert(id, (scope, Wait::ToMake(make)));
        }
        fits
    }

    /// The snapshot that waits for a session, with its scope; it goes on waiting.
    pub(super) fn peek(&self, id: &SessionId) -> Option<(Snapshot, u64)> {
        // Making one takes the session's lock, which must not be taken under this one.
        let (scope, wait) = self.lock().remove(id)?;
        let snapshot = wait.make();
        let again = Wait::Made(Box::new(snapshot.clone()));
        self.lock().entry(id.clone()).or_insert((scope, again));
        Some((snapshot, scope))
    }

    /// How many wait.
    pub(super) fn len(&self) -> usize {
        self.lock().len()
    }

    /// At most so many of those that wait, made now.
    pub(super) fn take(&self, limit: usize) -> Vec<(SessionId, u64, Snapshot)> {
        let taken: Vec<(SessionId, (u64, Wait))> = {
            let mut waiting = self.lock();
            let ids: Vec<SessionId> = waiting.keys().take(limit).cloned().collect();
            ids.into_iter().filter_map(|id| waiting.remove_entry(&id)).collect()
        };
        taken.into_iter().map(|(id, (scope, wait))| (id, scope, wait.make())).collect()
    }

    /// A snapshot could not be written: it waits again, unless there is a later one.
    pub(super) fn put_back(&self, id: SessionId, scope: u64, snapshot: Snapshot) {
        let again = Wait::Made(Box::new(snapshot));
        self.lock().entry(id).or_insert((scope, again));
    }
}

/// How many entries of each session were lost and are not told of yet.
#[derive(Default)]
pub(super) struct Losses(Mutex<HashMap<SessionId, u64>>);

impl Losses {
    fn lock(&self) -> MutexGuard<'_, HashMap<SessionId, u64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn add(&self, id: SessionId, entries: u64) {
        let mut lost = self.lock();
        if lost.len() < MAX_LOSSES || lost.contains_key(&id) {
            *lost.entry(id).or_default() += entries;
        }
    }

    /// Takes what is to be told of a session; 0 is nothing.
    pub(super) fn take(&self, id: &SessionId) -> u64 {
        self.lock().remove(id).unwrap_or_default()
    }

    /// The sessions that lack entries, at most `limit`.
    pub(super) fn sessions(&self, limit: usize) -> Vec<SessionId> {
        self.lock().keys().take(limit).cloned().collect()
    }
}
