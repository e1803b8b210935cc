//! The journal of one session, as its driver holds it.

use std::sync::Arc;

use steersman_store::{
    Append, AskLease, Body, Entry as Stored, Head, Lease, NewEntry, SessionId, Store, StoreError,
};

use crate::entry::Entry;
use crate::session::{FoldError, Session};

/// How long a driver may be silent before another process may take its session, in milliseconds.
pub const LEASE_MS: u64 = 30_000;

/// How many entries are read at a time.
const PAGE: usize = 1000;

/// Why a session cannot be driven or read.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// No session of this name.
    #[error("there is no session {0}")]
    NoSession(SessionId),
    /// The session has no entries.
    #[error("the journal of session {0} is empty")]
    Empty(SessionId),
    /// An entry cannot be read.
    #[error("entry {seq} of session {id} ({kind}) cannot be read: {why}")]
    Unreadable {
        /// The session.
        id: SessionId,
        /// Which entry.
        seq: u64,
        /// Its kind.
        kind: String,
        /// What is wrong with it.
        why: String,
    },
    /// The entries do not make a session.
    #[error("the journal of session {id} makes no session: {source}")]
    Fold {
        /// The session.
        id: SessionId,
        /// What is wrong with it.
        source: FoldError,
    },
}

/// The journal of one session, as its driver holds it: one process at a time.
pub struct Log {
    store: Arc<dyn Store>,
    id: SessionId,
    lease: Lease,
}

impl std::fmt::Debug for Log {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Log").field("id", &self.id).field("lease", &self.lease).finish()
    }
}

impl Log {
    /// Takes a session: nobody else drives it from now on.
    ///
    /// A lease of a process of this machine that is gone is ended first, and with it the commands
    /// that the process left running.
    ///
    /// # Errors
    /// Another process drives it, or the store fails.
    pub async fn take(store: Arc<dyn Store>, id: SessionId, now_ms: u64) -> Result<Self, LogError> {
        let owner = crate::owner::of_this_process();
        if let Some(held) = store.session(&id).await?.and_then(|summary| summary.lease)
            && crate::owner::is_gone(&held.owner)
        {
            // What it left running would change the folder beside the new driver.
            crate::owner::clear_away(&held.owner);
            store.release(&held).await?;
        }
        let lease = store.lease(&id, AskLease::new(&owner, LEASE_MS, now_ms)).await?;
        Ok(Self { store, id, lease })
    }

    /// The session's name.
    #[must_use]
    pub const fn id(&self) -> &SessionId {
        &self.id
    }

    /// The store behind it.
    #[must_use]
    pub const fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// Appends entries after the ones that were read. They are durable when this returns.
    ///
    /// # Errors
    /// The store fails, or another process took the session.
    pub async fn append(
        &self,
        after: u64,
        at_ms: u64,
        entries: &[Entry],
        head: Option<Head>,
    ) -> Result<u64, LogError> {
        let stored = entries.iter().map(|entry| to_stored(at_ms, entry));
        let stored =
            stored.collect::<Result<Vec<_>, _>>().map_err(|why| self.unreadable(after, why))?;
        let mut append = Append::new(after, stored).with_epoch(self.lease.epoch);
        append.head = head;
        Ok(self.store.append(&self.id, append).await?)
    }

    fn unreadable(&self, after: u64, why: serde_json::Error) -> LogError {
        LogError::Unreadable {
            id: self.id.clone(),
            seq: after + 1,
            kind: "to be written".to_owned(),
            why: why.to_string(),
        }
    }

    /// Keeps the session for another while. To be called more often than [`LEASE_MS`].
    ///
    /// # Errors
    /// Another process took it, or the store fails.
    pub async fn renew(&mut self, now_ms: u64) -> Result<(), LogError> {
        self.lease = self.store.renew(&self.lease, LEASE_MS, now_ms).await?;
        Ok(())
    }

    /// Whether the lease should be renewed.
    #[must_use]
    pub const fn renewal_due(&self, now_ms: u64) -> bool {
        self.lease.until_ms.saturating_sub(now_ms) < LEASE_MS * 2 / 3
    }

    /// Gives the session back.
    ///
    /// # Errors
    /// The store fails; the lease then ends by itself.
    pub async fn release(self) -> Result<(), LogError> {
        Ok(self.store.release(&self.lease).await?)
    }
}

/// Reads a session from its journal; `each` sees every entry on the way, with the session it was
/// folded into.
///
/// # Errors
/// There is no such session, an entry cannot be read, or the store fails.
pub async fn read(
    store: &dyn Store,
    id: &SessionId,
    mut each: impl FnMut(&Session, &Stored, &Entry),
) -> Result<Session, LogError> {
    if store.session(id).await?.is_none() {
        return Err(LogError::NoSession(id.clone()));
    }
    let mut session: Option<Session> = None;
    let mut after = 0;
    loop {
        let page = store.read(id, after, PAGE).await?;
        let Some(last) = page.last() else { break };
        after = last.seq;
        for stored in &page {
            let entry: Entry = parse(id, stored)?;
            let fold = |source| LogError::Fold { id: id.clone(), source };
            match &mut session {
                None => session = Some(Session::open(id.as_str(), entry.clone()).map_err(fold)?),
                Some(session) => session.fold(stored.at_ms, &entry).map_err(fold)?,
            }
            if let Some(session) = &session {
                each(session, stored, &entry);
            }
        }
    }
    session.ok_or_else(|| LogError::Empty(id.clone()))
}

fn parse(id: &SessionId, stored: &Stored) -> Result<Entry, LogError> {
    serde_json::from_str(&stored.body).map_err(|error| LogError::Unreadable {
        id: id.clone(),
        seq: stored.seq,
        kind: stored.kind.clone(),
        why: error.to_string(),
    })
}

/// An entry as the store keeps it.
///
/// # Errors
/// It cannot be written as JSON.
pub fn to_stored(at_ms: u64, entry: &Entry) -> Result<NewEntry, serde_json::Error> {
    Ok(NewEntry { at_ms, kind: entry.kind().to_owned(), body: Body::of(entry)? })
}
