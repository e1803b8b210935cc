//! A watch that learns of it when nobody waits for the answer any more.

use bytes::Bytes;
use http::{HeaderMap, StatusCode};

use crate::seam::{EndOfAnswer, Instead, Next, Watch};

/// A watch, or none. Dropped before its end, it is told that the client went away: the one thing
/// that can be noticed by nothing else, because whoever serves the client is dropped too.
pub(crate) struct Watched(Option<Box<dyn Watch>>);

impl Watched {
    pub(crate) fn new(watch: Option<Box<dyn Watch>>) -> Self {
        Self(watch)
    }

    /// Whether somebody watches.
    pub(crate) fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// The head that the client gets; returns whether `Content-Length` holds.
    pub(crate) fn head(&mut self, status: StatusCode, headers: &HeaderMap) -> bool {
        self.0.as_mut().is_none_or(|watch| {
            watch.head(status, headers);
            watch.keeps_length()
        })
    }

    pub(crate) fn push(&mut self, bytes: Bytes, out: &mut Vec<Bytes>) {
        match &mut self.0 {
            Some(watch) => watch.push(bytes, out),
            None => out.push(bytes),
        }
    }

    /// The end; unless it is asked again, nobody watches any more.
    pub(crate) fn end(&mut self, how: EndOfAnswer) -> Next {
        let Some(watch) = &mut self.0 else { return Next::Done(Vec::new()) };
        let next = watch.end(how);
        if !matches!(next, Next::Again(_)) {
            self.0 = None;
        }
        next
    }

    pub(crate) fn retry(
        &mut self,
        status: Option<StatusCode>,
        headers: &HeaderMap,
        body: &[u8],
    ) -> Option<u64> {
        self.0.as_mut()?.retry(status, headers, body)
    }

    pub(crate) fn fall_back(&mut self) -> Option<Instead> {
        self.0.as_mut()?.fall_back()
    }

    /// Nobody watches any more.
    pub(crate) fn finish(&mut self) {
        self.0 = None;
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        if let Some(watch) = &mut self.0 {
            watch.dropped();
        }
    }
}
