//! A client's connection with the times that it is allowed.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::Instant;

use crate::alarm::Alarm;
use crate::answer::HEAD_TIMEOUT;
use crate::config::Limits;

/// The requests of a connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flights(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    /// That are being answered.
    now: AtomicUsize,
    /// That ever began.
    ever: AtomicUsize,
}

/// A request that is being answered, until it is dropped.
#[derive(Debug)]
pub(crate) struct Flight(Flights);

impl Flights {
    /// One more request.
    pub(crate) fn begin(&self) -> Flight {
        self.0.now.fetch_add(1, Ordering::Relaxed);
        self.0.ever.fetch_add(1, Ordering::Relaxed);
        Flight(self.clone())
    }

    /// Whether a request is being answered.
    pub(crate) fn any(&self) -> bool {
        self.0.now.load(Ordering::Relaxed) > 0
    }

    fn ever(&self) -> usize {
        self.0.ever.load(Ordering::Relaxed)
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        self.0.0.now.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The next request, until then.
    Idle(Instant),
    /// The rest of a head, until then.
    Head(Instant),
    /// A request is being answered; its own times apply. Looked at again then: nobody says when
    /// the answer has ended, so that a connection may idle for twice the time allowed.
    Busy(Instant),
    /// The client was too slow: nothing is read any more.
    Over,
}

/// A connection that ends when its client is too slow: with the head of a request, with the next
/// request, with taking an answer. hyper's own timer does not see a client that never says which
/// version of HTTP it speaks, nor one that does not read.
#[derive(Debug)]
pub(crate) struct Socket {
    stream: TcpStream,
    flights: Flights,
    limits: Limits,
    phase: Phase,
    /// How many requests had begun when a head did: with one more, the head has come.
    before_head: usize,
    /// `None` until the first byte came.
    http2: Option<bool>,
    reading: Alarm,
    /// Until when the client must take something; `None` while it does.
    stuck: Option<Instant>,
    writing: Alarm,
}

impl Socket {
    pub(crate) fn new(stream: TcpStream, flights: Flights, limits: Limits) -> Self {
        Self {
            stream,
            flights,
            limits,
            phase: Phase::Idle(Instant::now() + limits.header_timeout),
            before_head: 0,
            http2: None,
            reading: Alarm::default(),
            stuck: None,
            writing: Alarm::default(),
        }
    }

    /// Bytes came in.
    fn heard(&mut self, bytes: &[u8]) {
        let http2 = match (self.http2, bytes) {
            (_, []) => return,
            (Some(known), _) => known,
            // Only the preface of HTTP/2 begins so.
            (None, [b'P', second, ..]) => *self.http2.insert(*second == b'R'),
            // A lone byte tells nothing yet.
            (None, [b'P']) => false,
            (None, _) => *self.http2.insert(false),
        };
        let waits = !self.flights.any() && !self.awaits_head();
        if waits && !http2 {
            self.before_head = self.flights.ever();
            self.phase = Phase::Head(Instant::now() + self.limits.header_timeout);
        }
    }

    /// Whether a head has begun to come and has not ended.
    fn awaits_head(&self) -> bool {
        matches!(self.phase, Phase::Head(_)) && self.before_head == self.flights.ever()
    }

    /// Whether the client was silent for too long; else wakes the task in time.
    fn is_late(&mut self, context: &mut Context<'_>) -> bool {
        let soon = |this: &Self| Instant::now() + this.limits.idle_timeout;
        let busy = self.flights.any();
        let due = match self.phase {
            Phase::Busy(due) => due,
            Phase::Idle(_) | Phase::Head(_) | Phase::Over if busy => {
                let due = soon(self);
                self.phase = Phase::Busy(due);
                due
            }
            // It came, and was answered before anybody looked.
            Phase::Head(_) if !self.awaits_head() => {
                let due = soon(self);
                self.phase = Phase::Idle(due);
                due
            }
            Phase::Idle(due) | Phase::Head(due) => due,
            Phase::Over => return true,
        };
        if self.reading.poll_at(context, due).is_pending() {
            return false;
        }
        if !matches!(self.phase, Phase::Busy(_)) {
            return true;
        }
        let due = soon(self);
        self.phase = if busy { Phase::Busy(due) } else { Phase::Idle(due) };
        self.reading.poll_at(context, due).is_ready()
    }

    /// What came of writing; an error if the client has not taken anything for too long.
    fn written(
        &mut self,
        context: &mut Context<'_>,
        outcome: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        if outcome.is_ready() {
            self.stuck = None;
            return outcome;
        }
        let limit = self.limits.write_timeout;
        let due = *self.stuck.get_or_insert_with(|| Instant::now() + limit);
        match self.writing.poll_at(context, due) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.phase == Phase::Over {
            return Poll::Ready(Ok(()));
        }
        let before = buffer.filled().len();
        if let Poll::Ready(outcome) = Pin::new(&mut this.stream).poll_read(context, buffer) {
            outcome?;
            this.heard(buffer.filled().get(before..).unwrap_or_default());
            return Poll::Ready(Ok(()));
        }
        if !this.is_late(context) {
            return Poll::Pending;
        }
        if matches!(this.phase, Phase::Head(_)) {
            // It is a courtesy: who sends so slowly may not read either.
            let _ = this.stream.try_write(HEAD_TIMEOUT);
        }
        // To whoever reads, the client has left.
        this.phase = Phase::Over;
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let outcome = Pin::new(&mut this.stream).poll_write(context, bytes);
        this.written(context, outcome)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let outcome = Pin::new(&mut this.stream).poll_write_vectored(context, slices);
        this.written(context, outcome)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(context)
    }
}
