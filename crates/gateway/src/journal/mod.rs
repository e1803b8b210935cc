//! The journal of sessions: what is told of them goes to the store in the background.
//!
//! A request never waits for the store. What does not fit into the queue, or what the store does
//! not take, is lost and counted, and the session's journal says later how much it lacks.

mod head;
mod pending;
mod writer;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use futures::executor::block_on;
use steersman_store::{Pending as Answer, SessionId, Store};
use tokio::sync::{mpsc, watch};
use tokio::task::{JoinHandle, unconstrained};

use crate::record::{Entry, Recorder, Standing};
use crate::session::Snapshot;
use crate::steering::Clock;

pub use head::STATE_OPEN;
use pending::{Losses, Pending};
use writer::Writer;

/// Entries that wait for the store; further ones are lost.
pub const QUEUE: usize = 4096;

/// An entry on its way to the store.
struct Told {
    session: SessionId,
    at_ms: u64,
    entry: Entry,
}

/// Keeps sessions in a store.
pub struct Journal {
    store: Arc<dyn Store>,
    queue: mpsc::Sender<Told>,
    pending: Arc<Pending>,
    losses: Arc<Losses>,
    health: Arc<Health>,
    stop: watch::Sender<bool>,
    writer: Mutex<Option<JoinHandle<()>>>,
}

/// How the journal fares.
#[derive(Debug, Default)]
pub struct Health {
    written: AtomicU64,
    kept: AtomicU64,
    lost: AtomicU64,
    not_kept: AtomicU64,
    fault: Mutex<Option<String>>,
}

impl Health {
    /// Entries that were written.
    #[must_use]
    pub fn written(&self) -> u64 {
        self.written.load(Ordering::Relaxed)
    }

    /// Snapshots that were written.
    #[must_use]
    pub fn kept(&self) -> u64 {
        self.kept.load(Ordering::Relaxed)
    }

    /// Entries that were lost: the queue was full, or the store did not take them.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    /// Snapshots that the store did not take. The one before them holds.
    #[must_use]
    pub fn not_kept(&self) -> u64 {
        self.not_kept.load(Ordering::Relaxed)
    }

    /// What the store said when it did not take what was written last; `None` if it did.
    #[must_use]
    pub fn fault(&self) -> Option<String> {
        self.fault.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn works(&self) {
        *self.fault.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn fails(&self, fault: String) {
        *self.fault.lock().unwrap_or_else(PoisonError::into_inner) = Some(fault);
    }
}

impl Journal {
    /// Begins to write what is told. Needs a tokio runtime.
    ///
    /// Its task ends with [`close`](Self::close), or when the journal is dropped.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, clock: Clock) -> Self {
        let (queue, told) = mpsc::channel(QUEUE);
        let (stop, stopped) = watch::channel(false);
        let (pending, losses) = (Arc::new(Pending::default()), Arc::new(Losses::default()));
        let health = Arc::new(Health::default());
        let writer = Writer::new(writer::Parts {
            store: Arc::clone(&store),
            clock,
            pending: Arc::clone(&pending),
            losses: Arc::clone(&losses),
            health: Arc::clone(&health),
        });
        let writer = Mutex::new(Some(tokio::spawn(writer.run(told, stopped))));
        Self { store, queue, pending, losses, health, stop, writer }
    }

    /// How it fares.
    #[must_use]
    pub fn health(&self) -> Arc<Health> {
        Arc::clone(&self.health)
    }

    /// Writes all that was told up to now. What is told later is lost.
    pub async fn close(&self) {
        self.stop.send_replace(true);
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(writer) = writer {
            // One that panicked has nothing left to write.
            let _ = writer.await;
        }
    }
}

impl Recorder for Journal {
    fn record(&self, session: &str, at_ms: u64, entry: &Entry) {
        let Ok(session) = SessionId::new(session) else {
            self.health.lost.fetch_add(1, Ordering::Relaxed);
            return;
        };
        let Ok(place) = self.queue.try_reserve() else {
            self.health.lost.fetch_add(1, Ordering::Relaxed);
            self.losses.add(session, 1);
            return;
        };
        place.send(Told { session, at_ms, entry: entry.clone() });
    }

    fn keep(&self, session: &str, scope: u64, snapshot: Box<dyn FnOnce() -> Snapshot + Send>) {
        let kept = SessionId::new(session).is_ok_and(|id| self.pending.put(id, scope, snapshot));
        if !kept {
            self.health.not_kept.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn standing(&self, limit: usize) -> Vec<Standing> {
        let found = wait(self.store.standing(limit)).unwrap_or_default();
        let standing = |steersman_store::Standing { id, scope, end, .. }| Standing {
            id: id.to_string(),
            scope,
            end,
        };
        found.into_iter().map(standing).collect()
    }

    fn recall(&self, session: &str) -> Option<(Snapshot, u64)> {
        let id = SessionId::new(session).ok()?;
        if let Some(waiting) = self.pending.peek(&id) {
            return Some(waiting);
        }
        let kept = wait(self.store.kept(&id))??;
        Some((serde_json::from_str(&kept.body).ok()?, kept.scope))
    }
}

/// Waits for a small reading on any thread, those of a runtime included; `None` if it failed.
///
/// The store answers from threads of its own. Within a task of tokio the reading must not count
/// against the task's budget: nobody would refill it while this thread waits.
fn wait<T>(answer: Answer<'_, T>) -> Option<T> {
    block_on(unconstrained(answer)).ok()
}
