//! The body of a request, read as a whole and within bounds.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::{Bytes, BytesMut};
use http::StatusCode;
use http_body_util::BodyExt;
use hyper::body::{Body as _, Incoming};
use tokio::time::{Instant, timeout_at};

use crate::answer::Refusal;
use crate::config::Limits;

/// Bytes of bodies that are held at the moment, in the whole gateway.
#[derive(Clone, Debug, Default)]
pub(crate) struct Held(Arc<AtomicU64>);

/// A part of what is held, until it is dropped.
#[derive(Debug)]
pub(crate) struct Share {
    held: Held,
    bytes: u64,
}

impl Held {
    fn share(&self) -> Share {
        Share { held: self.clone(), bytes: 0 }
    }
}

impl Share {
    /// Takes more; false if that would be more than `most` altogether.
    fn grow(&mut self, bytes: u64, most: u64) -> bool {
        let before = self.held.0.fetch_add(bytes, Ordering::Relaxed);
        self.bytes += bytes;
        before + bytes <= most
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.held.0.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// Reads a body. A body of one piece is given on without a copy.
pub(crate) async fn receive(
    mut body: Incoming,
    limits: &Limits,
    held: &Held,
) -> Result<(Bytes, Share), Refusal> {
    let due = Instant::now() + limits.body_timeout;
    let mut share = held.share();
    let declared = body.size_hint().exact();
    let mut pieces = Pieces::default();
    let outcome = loop {
        if declared.is_some_and(|length| length > limits.max_body_bytes) {
            break Err(Refusal::too_large(limits.max_body_bytes));
        }
        let bytes = match timeout_at(due, body.frame()).await {
            Err(_) => return Err(late()),
            Ok(None) => break Ok(()),
            // Nobody reads this: the client is gone, or has broken its own framing.
            Ok(Some(Err(_))) => return Err(broken()),
            Ok(Some(Ok(frame))) => frame.into_data().unwrap_or_default(),
        };
        let length = pieces.len() + bytes.len() as u64;
        if length > limits.max_body_bytes {
            break Err(Refusal::too_large(limits.max_body_bytes));
        }
        if !share.grow(bytes.len() as u64, limits.max_held_bytes) {
            break Err(busy());
        }
        pieces.push(bytes, declared.unwrap_or(0));
    };
    match outcome {
        Ok(()) => Ok((pieces.finish(), share)),
        Err(refusal) => {
            drop((pieces, share));
            read_on(body, limits, due).await;
            Err(refusal)
        }
    }
}

/// Reads the body of a request that is refused before it came.
pub(crate) async fn drain(body: Incoming, limits: &Limits) {
    read_on(body, limits, Instant::now() + limits.body_timeout).await;
}

/// Reads on for a while: a client that is still sending would not see the answer.
async fn read_on(mut body: Incoming, limits: &Limits, due: Instant) {
    let mut left = limits.max_body_bytes.saturating_mul(4);
    if body.size_hint().lower() > left {
        return;
    }
    while let Ok(Some(Ok(frame))) = timeout_at(due, body.frame()).await {
        let length = frame.data_ref().map_or(0, |bytes| bytes.len() as u64);
        match left.checked_sub(length) {
            Some(less) => left = less,
            None => return,
        }
    }
}

/// Pieces that become one.
#[derive(Debug, Default)]
struct Pieces {
    first: Bytes,
    all: BytesMut,
}

impl Pieces {
    fn len(&self) -> u64 {
        (self.first.len() + self.all.len()) as u64
    }

    /// Adds a piece; `expected` bytes are to come altogether, 0 if that is not known.
    fn push(&mut self, bytes: Bytes, expected: u64) {
        if self.first.is_empty() && self.all.is_empty() {
            self.first = bytes;
            return;
        }
        if self.all.is_empty() {
            // What is declared is checked already, and held to by hyper; it is only not there yet.
            let expected = usize::try_from(expected).unwrap_or(0).min(4 << 20);
            self.all.reserve(expected.max(self.first.len() + bytes.len()));
            self.all.extend_from_slice(&self.first);
            self.first = Bytes::new();
        }
        self.all.extend_from_slice(&bytes);
    }

    fn finish(self) -> Bytes {
        if self.all.is_empty() { self.first } else { self.all.freeze() }
    }
}

fn late() -> Refusal {
    let message = "the body of the request did not come in time";
    Refusal::new(StatusCode::REQUEST_TIMEOUT, "body_timeout", message)
}

fn broken() -> Refusal {
    let message = "the body of the request broke off";
    Refusal::new(StatusCode::BAD_REQUEST, "body_broken", message)
}

fn busy() -> Refusal {
    let message = "too many requests are being held; try again";
    Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "too_much_held", message)
}
