//! Threads that read, each with a connection of its own.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::{self, JoinHandle};

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::fault::fault;
use super::rows::Answer;
use super::{Options, layout};
use crate::{FileFault, StoreError};

type Read = Box<dyn FnOnce(&Connection) + Send>;

/// The pool. Dropping it waits for its threads.
pub(super) struct Readers {
    path: PathBuf,
    busy_timeout_ms: u64,
    /// `None` only while the pool is being dropped.
    queue: Option<mpsc::Sender<Read>>,
    threads: Vec<JoinHandle<()>>,
}

impl Readers {
    /// # Errors
    /// The file cannot be opened, or a thread not be started.
    pub(super) fn start(path: PathBuf, options: &Options) -> Result<Self, StoreError> {
        let (queue, reads) = mpsc::channel::<Read>();
        let reads = Arc::new(Mutex::new(reads));
        let mut threads = Vec::new();
        for _ in 0..options.readers.max(1) {
            let connection = layout::open_reader(&path, options)?;
            let reads = Arc::clone(&reads);
            let next = move || reads.lock().unwrap_or_else(PoisonError::into_inner).recv();
            let thread = thread::Builder::new()
                .name("journal-reader".to_owned())
                .spawn(move || {
                    while let Ok(read) = next() {
                        read(&connection);
                    }
                })
                .map_err(|error| {
                    StoreError::file(&path, FileFault::Io { detail: error.to_string() })
                })?;
            threads.push(thread);
        }
        let (busy_timeout_ms, queue) = (options.busy_timeout_ms, Some(queue));
        Ok(Self { path, busy_timeout_ms, queue, threads })
    }

    /// A read is in the queue as soon as it is asked for, so that nothing but these threads is
    /// needed for its answer: a caller may block on it although other callers wait on the same
    /// thread. What waits is bounded by the callers, who are there anyway.
    ///
    /// # Errors
    /// What the reading comes to, or what is wrong with the file.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Connection) -> Answer<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (reply, answer) = oneshot::channel();
        let job: Read = Box::new(move |connection| {
            let answer = read(connection);
            // Whoever asked may have left.
            let _ = reply.send(answer);
        });
        let queue = self.queue.as_ref().ok_or(StoreError::Closed)?;
        queue.send(job).map_err(|_| StoreError::Closed)?;
        answer.await.map_err(|_| StoreError::Closed)?.unwrap_or_else(|error| {
            Err(StoreError::file(&self.path, fault(&error, self.busy_timeout_ms)))
        })
    }
}

impl Drop for Readers {
    fn drop(&mut self) {
        drop(self.queue.take());
        for thread in self.threads.drain(..) {
            // One that panicked has said so; there is nothing left to wait for.
            let _ = thread.join();
        }
    }
}
