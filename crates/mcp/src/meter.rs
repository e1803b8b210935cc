//! Bounds what a server may send for one request, and remembers its first odd line.

use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, ReadBuf};

/// The most bytes a server may send between two requests of ours: 64 MiB.
pub(crate) const MAX_BYTES: u64 = 64 << 20;
/// The most bytes kept of a line that is no message.
const MAX_ODD_BYTES: usize = 160;

/// What is known of a stream, shared with those who report errors.
#[derive(Debug, Default)]
pub(crate) struct Gauge {
    bytes: AtomicU64,
    flooded: AtomicBool,
    /// The beginning of the first line that is no JSON object.
    odd: Mutex<Option<Vec<u8>>>,
}

impl Gauge {
    /// A new request begins.
    pub(crate) fn reset(&self) {
        self.bytes.store(0, Ordering::Relaxed);
    }

    pub(crate) fn is_flooded(&self) -> bool {
        self.flooded.load(Ordering::Relaxed)
    }

    pub(crate) fn odd_line(&self) -> Option<String> {
        let odd = self.odd.lock().unwrap_or_else(PoisonError::into_inner);
        odd.as_ref().map(|bytes| String::from_utf8_lossy(bytes).into_owned())
    }
}

/// A stream that ends with an error beyond [`MAX_BYTES`].
#[derive(Debug)]
pub(crate) struct Metered<R> {
    inner: R,
    gauge: Arc<Gauge>,
    place: Place,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    LineStart,
    /// In a line that needs no look.
    Within,
    /// In the first line that is no message.
    Odd,
}

impl<R> Metered<R> {
    pub(crate) fn new(inner: R, gauge: Arc<Gauge>) -> Self {
        Self { inner, gauge, place: Place::LineStart }
    }

    /// Looks at each line's first character, and copies what belongs to the first odd line.
    fn look(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            if self.place == Place::LineStart {
                let Some(start) = bytes.iter().position(|byte| !byte.is_ascii_whitespace()) else {
                    return;
                };
                bytes = &bytes[start..];
                let mut odd = self.gauge.odd.lock().unwrap_or_else(PoisonError::into_inner);
                self.place = match (bytes[0], &mut *odd) {
                    (b'{' | b'[', _) | (_, Some(_)) => Place::Within,
                    (_, none) => {
                        *none = Some(Vec::new());
                        Place::Odd
                    }
                };
            }
            let end = bytes.iter().position(|byte| *byte == b'\n');
            let (line, rest) = bytes.split_at(end.map_or(bytes.len(), |end| end + 1));
            if self.place == Place::Odd {
                let mut odd = self.gauge.odd.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(odd) = &mut *odd {
                    let room = MAX_ODD_BYTES.saturating_sub(odd.len());
                    odd.extend_from_slice(&line[..line.len().min(room)]);
                }
            }
            if end.is_some() {
                self.place = Place::LineStart;
            }
            bytes = rest;
        }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Metered<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(context, buffer))?;
        let read = buffer.filled()[before..].to_vec();
        let total = self.gauge.bytes.fetch_add(read.len() as u64, Ordering::Relaxed);
        if total + read.len() as u64 > MAX_BYTES {
            self.gauge.flooded.store(true, Ordering::Relaxed);
            return Poll::Ready(Err(io::Error::other("the server floods its output")));
        }
        self.look(&read);
        Poll::Ready(Ok(()))
    }
}
