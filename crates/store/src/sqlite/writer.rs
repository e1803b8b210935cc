//! The one thread that writes: it takes what waits in the queue into one transaction.

use std::path::PathBuf;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, TransactionBehavior};
use tokio::sync::{OwnedSemaphorePermit, broadcast, oneshot};

use super::change::Change;
use super::fault::{fault, is_of_one_change};
use super::rows::Answer;
use crate::{FileFault, Hint, StoreError};

/// The most changes of one transaction.
const MAX_BATCH: usize = 256;
/// After the disk was found full, what needs space is refused unseen for that long.
const FULL_PAUSE: Duration = Duration::from_millis(250);

/// Whether a change is refused unseen while the disk is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Need {
    /// It adds rows.
    Space,
    /// It changes or removes rows.
    Nothing,
}

/// A change that waits for the writer, and those who wait for the change.
pub(super) trait Job: Send {
    fn need(&self) -> Need;
    /// May be called again after a transaction that failed.
    fn run(&mut self, change: &mut Change<'_>) -> rusqlite::Result<()>;
    /// Tells the result of the last run, or the error of the transaction.
    fn answer(self: Box<Self>, committed: Result<(), StoreError>);
}

pub(super) struct Task<T, F> {
    pub(super) need: Need,
    pub(super) change: F,
    pub(super) made: Option<Result<T, StoreError>>,
    pub(super) reply: oneshot::Sender<Result<T, StoreError>>,
    /// The task's place in the queue, given back when it is answered.
    pub(super) room: OwnedSemaphorePermit,
}

impl<T: Send, F: FnMut(&mut Change<'_>) -> Answer<T> + Send> Job for Task<T, F> {
    fn need(&self) -> Need {
        self.need
    }

    fn run(&mut self, change: &mut Change<'_>) -> rusqlite::Result<()> {
        self.made = Some((self.change)(change)?);
        Ok(())
    }

    fn answer(self: Box<Self>, committed: Result<(), StoreError>) {
        let made = self.made.unwrap_or(Err(StoreError::Closed));
        drop(self.room);
        // Whoever asked may have left.
        let _ = self.reply.send(committed.and(made));
    }
}

pub(super) struct Writer {
    pub(super) path: PathBuf,
    pub(super) connection: Connection,
    pub(super) queue: mpsc::Receiver<Box<dyn Job>>,
    pub(super) hints: broadcast::Sender<Hint>,
    pub(super) name: String,
    pub(super) busy_timeout_ms: u64,
    /// When the disk was last found full, unless a write has succeeded since.
    pub(super) full_at: Option<Instant>,
}

impl Writer {
    /// Writes until the store is dropped and the queue is empty.
    pub(super) fn run(mut self) {
        while let Ok(first) = self.queue.recv() {
            let mut batch = vec![first];
            batch.extend(self.queue.try_iter().take(MAX_BATCH - 1));
            self.write(batch);
        }
    }

    fn write(&mut self, mut batch: Vec<Box<dyn Job>>) {
        if self.full_at.is_some_and(|at| at.elapsed() < FULL_PAUSE) {
            let full = StoreError::file(&self.path, FileFault::Full);
            for job in batch.extract_if(.., |job| job.need() == Need::Space) {
                job.answer(Err(full.clone()));
            }
        }
        match self.commit(&mut batch) {
            Err(error) if batch.len() > 1 && is_of_one_change(&error) => {
                for job in batch {
                    self.write_alone(job);
                }
            }
            done => {
                let done = self.settle(done);
                batch.into_iter().for_each(|job| job.answer(done.clone()));
            }
        }
    }

    /// One change must not take the others of its batch down with it.
    fn write_alone(&mut self, job: Box<dyn Job>) {
        let mut alone = [job];
        let done = self.commit(&mut alone);
        let done = self.settle(done);
        let [job] = alone;
        job.answer(done);
    }

    /// Makes all changes durable, or none. Dropping a transaction rolls it back.
    fn commit(&mut self, batch: &mut [Box<dyn Job>]) -> rusqlite::Result<Vec<Hint>> {
        if batch.is_empty() {
            return Ok(Vec::new());
        }
        let transaction =
            self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut change = Change::new(&transaction, &self.name);
        batch.iter_mut().try_for_each(|job| job.run(&mut change))?;
        let hints = change.into_hints();
        transaction.commit()?;
        self.full_at = None;
        Ok(hints)
    }

    fn settle(&mut self, done: rusqlite::Result<Vec<Hint>>) -> Result<(), StoreError> {
        match done {
            Ok(hints) => {
                for hint in hints {
                    // Without subscribers there is nobody to tell.
                    let _ = self.hints.send(hint);
                }
                Ok(())
            }
            Err(error) => {
                if error.sqlite_error_code() == Some(ErrorCode::DiskFull) {
                    self.full_at = Some(Instant::now());
                }
                Err(StoreError::file(&self.path, fault(&error, self.busy_timeout_ms)))
            }
        }
    }
}
