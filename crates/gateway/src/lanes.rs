//! Threads that serve connections, each with a runtime and a client of its own.
//!
//! A call costs little more than being handed on, so handing it between threads would cost as much
//! as the call: who reads from the client also asks the model's server. Nothing is shared on the
//! way but what sessions remember.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};

use steersman_upstream::Client;
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

/// A thread with its runtime.
#[derive(Debug)]
struct Lane {
    runtime: Handle,
    client: Client,
    /// Connections on it.
    connections: Arc<AtomicUsize>,
    /// Dropped, the thread ends.
    open: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// Threads that serve connections; each new one goes to the thread that has the fewest.
///
/// Dropping them waits for their threads, and cuts what they still serve.
#[derive(Debug, Default)]
pub(crate) struct Lanes(Vec<Lane>);

impl Lanes {
    /// Starts so many, each with a client like this one.
    ///
    /// # Errors
    /// The system gives no more threads.
    pub(crate) fn begin(count: usize, client: &Client) -> io::Result<Self> {
        let lanes: io::Result<Vec<Lane>> =
            (1..=count).map(|number| Lane::begin(number, client.apart())).collect();
        lanes.map(Self)
    }

    /// Whether there are none.
    pub(crate) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Serves a connection on the one that has the fewest.
    ///
    /// # Errors
    /// There are none, or the system does not let the connection change hands; it is closed.
    pub(crate) fn serve<F>(
        &self,
        stream: TcpStream,
        serve: impl FnOnce(TcpStream, Client) -> F + Send + 'static,
    ) -> io::Result<()>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let fewest = self.0.iter().min_by_key(|lane| lane.connections.load(Ordering::Relaxed));
        let Some(lane) = fewest else { return Err(io::ErrorKind::NotFound.into()) };
        // It must wake the runtime that serves it, not the one that accepted it.
        let stream = stream.into_std()?;
        let counted = Counted::one_more(&lane.connections);
        let client = lane.client.clone();
        lane.runtime.spawn(async move {
            let _counted = counted;
            if let Ok(stream) = TcpStream::from_std(stream) {
                serve(stream, client).await;
            }
        });
        Ok(())
    }
}

impl Lane {
    fn begin(number: usize, client: Client) -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let (open, closed) = oneshot::channel();
        let lane = thread::Builder::new().name(format!("lane-{number}"));
        let thread = lane.spawn(move || {
            // Closed by being dropped: nothing is ever sent.
            let _ = runtime.block_on(closed);
        })?;
        let connections = Arc::new(AtomicUsize::new(0));
        Ok(Self { runtime: handle, client, connections, open: Some(open), thread: Some(thread) })
    }
}

impl Drop for Lane {
    fn drop(&mut self) {
        drop(self.open.take());
        if let Some(thread) = self.thread.take() {
            // A thread that panicked serves nobody any more.
            let _ = thread.join();
        }
    }
}

/// One connection more, until it is dropped.
#[derive(Debug)]
struct Counted(Arc<AtomicUsize>);

impl Counted {
    fn one_more(connections: &Arc<AtomicUsize>) -> Self {
        connections.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(connections))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
