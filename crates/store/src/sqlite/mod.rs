//! A store in one SQLite file.

mod accounts;
mod change;
mod fault;
mod layout;
mod readers;
mod rows;
mod watcher;
mod writer;

use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::sync::{Semaphore, broadcast, oneshot};

use crate::store::cap_time;
use crate::{
    Append, AskLease, Control, Entry, FileFault, Filter, Head, Hint, Kept, Lease, NewControl,
    Pending, SessionId, Standing, Store, StoreError, Subscription, Summary, Timer, control, lease,
};
use change::Change;
use fault::fault;
use readers::Readers;
use rows::Answer;
use watcher::Watcher;
use writer::{Job, Need, Task, Writer};

/// The queue counts in these units, so that many small changes are bounded as well.
const ROOM_BYTES: usize = 1024;

/// How a store behaves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Bytes of changes that may wait for the writer, each counted as a KiB at least; further
    /// callers wait for room. A larger append waits until it is alone. Default: 64 MiB.
    pub queue_bytes: usize,
    /// Threads that read, at least 1. Default: 2.
    pub readers: usize,
    /// How long to wait for another process that writes, in milliseconds. Default: 5,000.
    pub busy_timeout_ms: u64,
    /// How often to look for changes of other processes, in milliseconds; at least 1.
    /// Default: 250.
    pub poll_ms: u64,
    /// Hints a slow subscriber may be behind before it misses some; at least 1. Default: 1,024.
    pub hints: usize,
    /// The most bytes the database may have, besides its write-ahead log of some 4 MiB; beyond,
    /// appends fail with [`FileFault::Full`]. `None`: as many as the disk has. Default: `None`.
    pub max_bytes: Option<u64>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            queue_bytes: 64 << 20,
            readers: 2,
            busy_timeout_ms: 5_000,
            poll_ms: 250,
            hints: 1024,
            max_bytes: None,
        }
    }
}

/// Keeps sessions in one SQLite file, which several processes may use at once.
///
/// One thread writes: it takes all changes that wait into one transaction and syncs it to the disk
/// once. Dropping the store waits until everything in the queue is written.
pub struct SqliteStore {
    path: PathBuf,
    readers: Readers,
    hints: broadcast::Sender<Hint>,
    room: Arc<Semaphore>,
    room_units: usize,
    /// `None` only while the store is being dropped, as the next.
    queue: Option<mpsc::Sender<Box<dyn Job>>>,
    /// Ends the watcher when it is dropped.
    watching: Option<mpsc::Sender<()>>,
    /// The writer and the watcher.
    threads: Vec<JoinHandle<()>>,
}

impl std::fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SqliteStore").field("path", &self.path).finish_non_exhaustive()
    }
}

/// A name no other writer of any process has.
fn writer_name() -> String {
    static OPENED: AtomicU64 = AtomicU64::new(0);
    let started = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    format!("{}-{started}-{}", process::id(), OPENED.fetch_add(1, Ordering::Relaxed))
}

impl SqliteStore {
    /// Opens a store, creating the file (mode 0600) and its folder (mode 0700) if need be.
    ///
    /// Blocks for as long as the disk takes, and up to [`Options::busy_timeout_ms`] if another
    /// process writes.
    ///
    /// # Errors
    /// [`StoreError::File`] with what is wrong with the file and what helps.
    pub fn open(path: impl AsRef<Path>, options: &Options) -> Result<Self, StoreError> {
        let path = path.as_ref().to_owned();
        let connection = layout::open(&path, options)?;
        let readers = Readers::start(path.clone(), options)?;
        let watching = layout::open_reader(&path, options)?;
        let seen = watcher::last_change(&watching)
            .map_err(|error| StoreError::file(&path, fault(&error, options.busy_timeout_ms)))?;
        let (hints, _) = broadcast::channel(options.hints.clamp(1, 1 << 20));
        let room_units = (options.queue_bytes / ROOM_BYTES).clamp(1, Semaphore::MAX_PERMITS);
        let (queue, jobs) = mpsc::channel();
        let (stop, stopped) = mpsc::channel();
        let name = writer_name();
        let watcher = Watcher {
            connection: watching,
            hints: hints.clone(),
            writer: name.clone(),
            interval: Duration::from_millis(options.poll_ms.max(1)),
            seen,
            stop: stopped,
        };
        let writer = Writer {
            path: path.clone(),
            connection,
            queue: jobs,
            hints: hints.clone(),
            name,
            busy_timeout_ms: options.busy_timeout_ms,
            full_at: None,
        };
        let threads = vec![
            start(&path, "journal-watcher", move || watcher.run())?,
            start(&path, "journal-writer", move || writer.run())?,
        ];
        let room = Arc::new(Semaphore::new(room_units));
        let (queue, watching) = (Some(queue), Some(stop));
        Ok(Self { path, readers, hints, room, room_units, queue, watching, threads })
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Waits for room in the queue, hands the change over and waits until it is durable.
    async fn write<T: Send + 'static>(
        &self,
        bytes: usize,
        need: Need,
        change: impl FnMut(&mut Change<'_>) -> Answer<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let units = (bytes / ROOM_BYTES + 1).min(self.room_units);
        let units = u32::try_from(units).unwrap_or(u32::MAX);
        let room = Arc::clone(&self.room).acquire_many_owned(units).await;
        let room = room.map_err(|_| StoreError::Closed)?;
        let (reply, answer) = oneshot::channel();
        let task = Task { need, change, made: None, reply, room };
        let queue = self.queue.as_ref().ok_or(StoreError::Closed)?;
        queue.send(Box::new(task)).map_err(|_| StoreError::Closed)?;
        answer.await.map_err(|_| StoreError::Closed)?
    }
}

fn start(
    path: &Path,
    name: &str,
    run: impl FnOnce() + Send + 'static,
) -> Result<JoinHandle<()>, StoreError> {
    thread::Builder::new()
        .name(name.to_owned())
        .spawn(run)
        .map_err(|error| StoreError::file(path, FileFault::Io { detail: error.to_string() }))
}

impl Drop for SqliteStore {
    fn drop(&mut self) {
        // Without senders the writer ends after the last change in the queue.
        drop(self.queue.take());
        drop(self.watching.take());
        for thread in self.threads.drain(..) {
            // One that panicked has said so; there is nothing left to wait for.
            let _ = thread.join();
        }
    }
}

impl Store for SqliteStore {
    fn create(&self, id: &SessionId, head: Head, at_ms: u64) -> Pending<'_, ()> {
        let id = id.clone();
        Box::pin(async move {
            head.check()?;
            let bytes = head.bytes();
            self.write(bytes, Need::Space, move |change| change.create(&id, &head, at_ms)).await
        })
    }

    fn append(&self, id: &SessionId, append: Append) -> Pending<'_, u64> {
        let id = id.clone();
        Box::pin(async move {
            append.check()?;
            let bytes = append.bytes();
            self.write(bytes, Need::Space, move |change| change.append(&id, &append)).await
        })
    }

    fn read(&self, id: &SessionId, after_seq: u64, limit: usize) -> Pending<'_, Vec<Entry>> {
        let id = id.clone();
        Box::pin(self.readers.read(move |db| rows::entries(db, &id, after_seq, limit)))
    }

    fn session(&self, id: &SessionId) -> Pending<'_, Option<Summary>> {
        let id = id.clone();
        Box::pin(self.readers.read(move |db| rows::session(db, &id).map(Ok)))
    }

    fn sessions(&self, filter: &Filter) -> Pending<'_, Vec<Summary>> {
        let filter = filter.clone();
        Box::pin(self.readers.read(move |db| rows::sessions(db, &filter).map(Ok)))
    }

    fn lease(&self, id: &SessionId, ask: AskLease) -> Pending<'_, Lease> {
        let id = id.clone();
        Box::pin(async move {
            lease::check_owner(&ask.owner)?;
            self.write(0, Need::Nothing, move |change| change.lease(&id, &ask)).await
        })
    }

    fn renew(&self, lease: &Lease, ttl_ms: u64, now_ms: u64) -> Pending<'_, Lease> {
        let (lease, until_ms) = (lease.clone(), cap_time(now_ms.saturating_add(ttl_ms)));
        Box::pin(self.write(0, Need::Nothing, move |change| change.renew(&lease, until_ms)))
    }

    fn release(&self, lease: &Lease) -> Pending<'_, ()> {
        let lease = lease.clone();
        Box::pin(self.write(0, Need::Nothing, move |change| change.release(&lease)))
    }

    fn control(&self, id: &SessionId, control: NewControl) -> Pending<'_, u64> {
        let id = id.clone();
        Box::pin(async move {
            control.check()?;
            let bytes = control.body.len();
            self.write(bytes, Need::Space, move |change| change.control(&id, &control)).await
        })
    }

    fn controls(&self, id: &SessionId, after: u64) -> Pending<'_, Vec<Control>> {
        let id = id.clone();
        Box::pin(self.readers.read(move |db| rows::controls(db, &id, after)))
    }

    fn set_timer(&self, id: &SessionId, name: &str, due_ms: u64) -> Pending<'_, ()> {
        let (id, name) = (id.clone(), name.to_owned());
        Box::pin(async move {
            control::check_name("the name of a timer", &name)?;
            self.write(0, Need::Space, move |change| change.set_timer(&id, &name, due_ms)).await
        })
    }

    fn clear_timer(&self, id: &SessionId, name: &str) -> Pending<'_, ()> {
        let (id, name) = (id.clone(), name.to_owned());
        Box::pin(self.write(0, Need::Nothing, move |change| change.clear_timer(&id, &name)))
    }

    fn due(&self, now_ms: u64, limit: usize) -> Pending<'_, Vec<Timer>> {
        Box::pin(self.readers.read(move |db| rows::due(db, now_ms, limit).map(Ok)))
    }

    fn keep(&self, id: &SessionId, state: Kept) -> Pending<'_, ()> {
        let id = id.clone();
        Box::pin(async move {
            state.check()?;
            let bytes = state.body.len();
            self.write(bytes, Need::Space, move |change| change.keep(&id, &state)).await
        })
    }

    fn kept(&self, id: &SessionId) -> Pending<'_, Option<Kept>> {
        let id = id.clone();
        Box::pin(self.readers.read(move |db| rows::kept(db, &id).map(Ok)))
    }

    fn standing(&self, limit: usize) -> Pending<'_, Vec<Standing>> {
        Box::pin(self.readers.read(move |db| rows::standing(db, limit).map(Ok)))
    }

    fn subscribe(&self) -> Subscription {
        Subscription::new(self.hints.subscribe())
    }

    fn delete(&self, id: &SessionId) -> Pending<'_, bool> {
        let id = id.clone();
        Box::pin(self.write(0, Need::Nothing, move |change| change.delete(&id)))
    }
}
