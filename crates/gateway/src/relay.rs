//! The body of an answer on its way to the client.

use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::HeaderMap;
use hyper::body::{Body as _, Frame, Incoming, SizeHint};
use tokio::time::{Duration, Instant};

use crate::alarm::Alarm;
use crate::question::{Asked, Question};
use crate::seam::{EndOfAnswer, Next};
use crate::socket::Flight;
use crate::watched::Watched;

/// How often an answer may be asked for again, whatever its watch wants.
const MAX_AGAIN: u32 = 8;

/// How often a client that waits in the middle of an answer gets a sign of life.
const KEEP_ALIVE: Duration = Duration::from_secs(8);

/// The body of a response to a client.
pub(crate) struct Body {
    kind: Kind,
    /// The request is being answered as long as the body is there.
    flight: Option<Flight>,
}

enum Kind {
    Whole(Option<Bytes>),
    Relay(Box<Relay>),
}

/// The upstream's answer broke; so does the client's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the answer was cut off")]
pub(crate) struct Cut;

impl Body {
    pub(crate) fn whole(bytes: Bytes) -> Self {
        Self { kind: Kind::Whole((!bytes.is_empty()).then_some(bytes)), flight: None }
    }

    pub(crate) fn relay(relay: Relay) -> Self {
        Self { kind: Kind::Relay(Box::new(relay)), flight: None }
    }

    pub(crate) fn hold(&mut self, flight: Flight) {
        self.flight = Some(flight);
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Body").finish_non_exhaustive()
    }
}

impl hyper::body::Body for Body {
    type Data = Bytes;
    type Error = Cut;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Cut>>> {
        match &mut self.get_mut().kind {
            Kind::Whole(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Kind::Relay(relay) => relay.poll(context),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.kind {
            Kind::Whole(bytes) => bytes.is_none(),
            Kind::Relay(relay) => relay.is_end(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.kind {
            Kind::Whole(bytes) => {
                SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
            }
            Kind::Relay(relay) => relay.size_hint(),
        }
    }
}

/// Where the next bytes come from.
enum Source {
    /// The upstream's answer.
    Upstream(Incoming),
    /// A refusal that has been read.
    Read(Bytes),
    /// The upstream is asked again.
    Asking(Pin<Box<dyn Future<Output = Asked> + Send>>),
    /// Nowhere: the answer is whole.
    Whole,
    /// Nowhere: the answer is broken. Whether what was there has been sent out.
    Broken { flushed: bool },
}

/// How long an answer may be silent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    /// Until the first byte, which is waited for since the question.
    pub(crate) first_byte_due: Instant,
    /// Between two pieces.
    pub(crate) between: Duration,
    /// For everything.
    pub(crate) due: Instant,
}

/// What is needed to ask again.
pub(crate) struct Again {
    pub(crate) question: Arc<Question>,
    /// What is sent to the client while it waits; `None`: nothing may be.
    pub(crate) keep_alive: Option<Bytes>,
}

/// An answer on its way. It reads from the upstream only when the client takes something.
pub(crate) struct Relay {
    source: Source,
    ready: VecDeque<Bytes>,
    pushed: Vec<Bytes>,
    trailers: Option<HeaderMap>,
    watched: Watched,
    again: Option<Again>,
    /// The body of the question that is being asked again.
    body: Bytes,
    asked_again: u32,
    /// Whether the client has got bytes of the answer.
    begun: bool,
    patience: Patience,
    /// Until when the upstream must say something; `None` while it does.
    silent_until: Option<Instant>,
    heard: bool,
    alarm: Alarm,
}

impl Relay {
    /// Relays an answer; `begun` is what has been read of it.
    pub(crate) fn new(
        body: Incoming,
        begun: Option<Bytes>,
        watched: Watched,
        patience: Patience,
    ) -> Self {
        let mut relay = Self::of(Source::Upstream(body), watched, patience);
        if let Some(bytes) = begun {
            relay.push(bytes);
        }
        relay
    }

    /// Relays a refusal that has been read.
    pub(crate) fn of_read(body: Bytes, watched: Watched, patience: Patience) -> Self {
        Self::of(Source::Read(body), watched, patience)
    }

    fn of(source: Source, watched: Watched, patience: Patience) -> Self {
        Self {
            source,
            ready: VecDeque::new(),
            pushed: Vec::new(),
            trailers: None,
            watched,
            again: None,
            body: Bytes::new(),
            asked_again: 0,
            begun: false,
            patience,
            silent_until: None,
            heard: false,
            alarm: Alarm::default(),
        }
    }

    /// The relay can ask again.
    pub(crate) fn with_again(mut self, again: Again) -> Self {
        self.again = Some(again);
        self
    }

    /// Whether there is nothing to come. What is watched has an end that is told.
    fn is_end(&self) -> bool {
        match &self.source {
            Source::Upstream(body) => {
                !self.watched.is_on() && self.ready.is_empty() && body.is_end_stream()
            }
            _ => false,
        }
    }

    /// Whether the upstream's answer has been read to its end, as its length says.
    fn is_read(&self) -> bool {
        matches!(&self.source, Source::Upstream(body) if body.is_end_stream())
    }

    fn size_hint(&self) -> SizeHint {
        match &self.source {
            Source::Upstream(body) if !self.watched.is_on() && self.ready.is_empty() => {
                body.size_hint()
            }
            _ => SizeHint::default(),
        }
    }

    fn push(&mut self, bytes: Bytes) {
        if bytes.is_empty() {
            return;
        }
        if self.watched.is_on() {
            self.watched.push(bytes, &mut self.pushed);
            self.ready.extend(self.pushed.drain(..).filter(|bytes| !bytes.is_empty()));
        } else {
            self.ready.push_back(bytes);
        }
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Cut>>> {
        loop {
            if let Some(bytes) = self.ready.pop_front() {
                self.begun = true;
                // Whoever sends an answer of a told length asks no more behind its last byte.
                let is_last = self.ready.is_empty() && self.is_read();
                if is_last {
                    self.end(EndOfAnswer::Whole);
                }
                return Poll::Ready(Some(Ok(Frame::data(bytes))));
            }
            match &mut self.source {
                Source::Upstream(_) => ready!(self.poll_upstream(context)),
                Source::Read(bytes) => {
                    let bytes = std::mem::take(bytes);
                    self.push(bytes);
                    self.end(EndOfAnswer::Whole);
                }
                Source::Asking(_) => ready!(self.poll_asking(context)),
                Source::Whole => {
                    return Poll::Ready(self.trailers.take().map(|map| Ok(Frame::trailers(map))));
                }
                Source::Broken { flushed } if *flushed => return Poll::Ready(Some(Err(Cut))),
                Source::Broken { flushed } => {
                    // hyper sends out what it holds before it looks here again.
                    *flushed = true;
                    context.waker().wake_by_ref();
                    return Poll::Pending;
                }
            }
        }
    }

    /// Takes the next piece of the upstream's answer.
    fn poll_upstream(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let Source::Upstream(body) = &mut self.source else { return Poll::Ready(()) };
        match Pin::new(body).poll_frame(context) {
            Poll::Ready(Some(Ok(frame))) => {
                self.silent_until = None;
                self.heard = true;
                match frame.into_data() {
                    Ok(bytes) => self.push(bytes),
                    Err(frame) => self.trailers = frame.into_trailers().ok(),
                }
                if Instant::now() >= self.patience.due {
                    self.end(EndOfAnswer::TimedOut);
                }
                Poll::Ready(())
            }
            Poll::Ready(None) => {
                self.end(EndOfAnswer::Whole);
                Poll::Ready(())
            }
            Poll::Ready(Some(Err(_))) => {
                self.end(EndOfAnswer::Cut);
                Poll::Ready(())
            }
            Poll::Pending => {
                let due = self.silent_until();
                ready!(self.alarm.poll_at(context, due));
                self.end(EndOfAnswer::TimedOut);
                Poll::Ready(())
            }
        }
    }

    /// Until when the upstream must say something. A client that takes nothing meanwhile does not
    /// count: the time begins when the upstream is waited for.
    fn silent_until(&mut self) -> Instant {
        let Patience { first_byte_due, between, due } = self.patience;
        *self.silent_until.get_or_insert_with(|| {
            if !self.heard {
                return first_byte_due.min(due);
            }
            Instant::now().checked_add(between).map_or(due, |at| at.min(due))
        })
    }

    /// Waits for the upstream to answer again.
    fn poll_asking(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let Source::Asking(asking) = &mut self.source else { return Poll::Ready(()) };
        match asking.as_mut().poll(context) {
            Poll::Ready(Asked::Answer(response, begun)) if response.status().is_success() => {
                self.source = Source::Upstream(response.into_body());
                self.silent_until = None;
                self.push(begun.unwrap_or_default());
                Poll::Ready(())
            }
            Poll::Ready(Asked::Answer(..)) => {
                self.end(EndOfAnswer::Refused);
                Poll::Ready(())
            }
            Poll::Ready(Asked::Refused(refused)) => {
                let wait = self.watched.retry(refused.status, &refused.headers, &refused.body);
                let at = wait.and_then(|ms| Instant::now().checked_add(Duration::from_millis(ms)));
                match at.filter(|at| *at < self.patience.due) {
                    Some(at) => self.ask(Some(at), self.body.clone()),
                    None => self.end(EndOfAnswer::Refused),
                }
                Poll::Ready(())
            }
            Poll::Pending => {
                let due = self.patience.due;
                let beat = *self.silent_until.get_or_insert_with(|| Instant::now() + KEEP_ALIVE);
                ready!(self.alarm.poll_at(context, beat.min(due)));
                if beat >= due {
                    self.end(EndOfAnswer::TimedOut);
                } else {
                    self.silent_until = None;
                    let again = self.again.as_ref().filter(|_| self.begun);
                    self.ready.extend(again.and_then(|again| again.keep_alive.clone()));
                }
                Poll::Ready(())
            }
        }
    }

    /// The upstream's answer is at its end; asks the watch what follows.
    fn end(&mut self, how: EndOfAnswer) {
        // Dropping the source ends the exchange with the upstream.
        self.source = Source::Broken { flushed: false };
        let (last, whole) = match self.watched.end(how) {
            Next::Done(last) => (last, how == EndOfAnswer::Whole),
            Next::Finish(last) => (last, true),
            Next::Again(body) => return self.ask(None, body),
        };
        self.ready.extend(last.into_iter().filter(|bytes| !bytes.is_empty()));
        if whole {
            self.source = Source::Whole;
        }
    }

    /// Asks the upstream again, unless that was done too often.
    fn ask(&mut self, at: Option<Instant>, body: Bytes) {
        self.asked_again += 1;
        match &self.again {
            Some(again) if self.asked_again <= MAX_AGAIN => {
                self.trailers = None;
                self.silent_until = None;
                self.body = body.clone();
                let question = Arc::clone(&again.question);
                self.source = Source::Asking(Box::pin(question.ask_at(at, body)));
            }
            _ => {
                self.watched.finish();
                self.source = Source::Broken { flushed: false };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use http::Method;
    use steersman_upstream::{Client, Options};
    use tokio::time::sleep;

    use super::*;
    use crate::question::Refused;

    /// When a client that waits 20 seconds in the middle of an answer hears something. Seconds.
    async fn check(begun: bool, keep_alive: Option<Bytes>, expected: &[u64]) {
        let began = Instant::now();
        let due = began + Duration::from_secs(3600);
        let asking = async {
            sleep(Duration::from_secs(20)).await;
            let (headers, body) = (HeaderMap::new(), Bytes::new());
            Asked::Refused(Box::new(Refused { status: None, headers, body, own: None }))
        };
        let question = Question {
            client: Client::new(&Options::default()).unwrap(),
            server: String::new(),
            method: Method::POST,
            uri: http::Uri::default(),
            headers: HeaderMap::new(),
            first_byte: Duration::from_secs(3600),
            due,
        };
        let patience = Patience { first_byte_due: due, between: Duration::from_secs(1), due };
        let source = Source::Asking(Box::pin(asking));
        let mut relay = Relay::of(source, Watched::new(None), patience)
            .with_again(Again { question: Arc::new(question), keep_alive: keep_alive.clone() });
        relay.begun = begun;
        let mut heard = Vec::new();
        while let Some(Ok(frame)) = poll_fn(|context| relay.poll(context)).await {
            assert_eq!(frame.into_data().ok(), keep_alive);
            heard.push(began.elapsed().as_secs());
        }
        assert_eq!(heard, expected);
        assert_eq!(began.elapsed().as_secs(), 20);
    }

    #[tokio::test(start_paused = true)]
    async fn who_waits_in_the_middle_gets_signs_of_life() {
        let sign = Some(Bytes::from_static(b": keep-alive\n\n"));
        check(true, sign.clone(), &[8, 16]).await;
        check(false, sign, &[]).await;
        check(true, None, &[]).await;
    }
}
