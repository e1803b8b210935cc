//! Traces of model calls for a collector, by OTLP over HTTP, with the semantic conventions for
//! generative AI.
//!
//! A call is a span, and the calls of a session share a trace, unless the client brings one of its
//! own along (`traceparent`). What was said is never in it: names, numbers and decisions are. A
//! request waits for nothing here: a finished span goes into a bounded queue, and what does not
//! fit, or what the collector does not take, is dropped and counted.

mod encode;
mod export;
mod parent;
mod span;

use std::hash::{BuildHasher, Hash, Hasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use http::header::{HeaderMap, HeaderName, HeaderValue};
use steersman_upstream::Client;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::{Duration, timeout};

use crate::config::Otlp;
use crate::figures::Figures;
use crate::steering::Clock;
use export::Exporter;
use parent::Parent;
pub(crate) use span::{Asking, CallSpan};
use span::{Ids, Span};

/// Finished spans that wait to be sent; further ones are dropped.
pub const QUEUE: usize = 2048;
/// How long [`Tracer::close`] waits for the collector.
const FLUSH: Duration = Duration::from_secs(5);
/// Most headers for the collector.
const MAX_HEADERS: usize = 32;

/// Makes spans and sends them.
pub struct Tracer {
    queue: mpsc::Sender<Span>,
    clock: Clock,
    figures: Arc<Figures>,
    random: RandomState,
    made: AtomicU64,
    stop: watch::Sender<bool>,
    exporter: Mutex<Option<JoinHandle<()>>>,
}

impl Tracer {
    /// Begins to send what is traced. Needs a tokio runtime; its task ends with
    /// [`close`](Self::close). `variable` gives the value of an environment variable.
    ///
    /// # Errors
    /// The variable that the settings name holds no headers; the sentence says why, without its
    /// value.
    pub fn begin(
        settings: &Otlp,
        client: Client,
        clock: Clock,
        figures: Arc<Figures>,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Arc<Self>, String> {
        let headers = match &settings.headers_env {
            None => HeaderMap::new(),
            Some(name) => {
                let value = variable(name).ok_or_else(|| format!("{name} is not set"))?;
                headers(&value).ok_or_else(|| {
                    format!("{name} is not a list of headers: `name=value,name=value`")
                })?
            }
        };
        let (queue, spans) = mpsc::channel(QUEUE);
        let (stop, stopped) = watch::channel(false);
        let exporter = Exporter::new(settings, client, headers, Arc::clone(&figures))?;
        let exporter = Mutex::new(Some(tokio::spawn(exporter.run(spans, stopped))));
        let (random, made) = (RandomState::new(), AtomicU64::new(0));
        Ok(Arc::new(Self { queue, clock, figures, random, made, stop, exporter }))
    }

    /// Sends what waits, for at most five seconds; what is left then is dropped and counted.
    pub async fn close(&self) {
        self.stop.send_replace(true);
        let task = self.exporter.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(mut task) = task
            && timeout(FLUSH, &mut task).await.is_err()
        {
            task.abort();
            // The spans it held are counted when they are dropped with it.
            let _ = task.await;
        }
    }

    /// The span of a call; `None` if the client's trace is not recorded.
    pub(crate) fn call(self: &Arc<Self>, asking: &Asking<'_>) -> Option<CallSpan> {
        let parent = Parent::of(asking.headers);
        if parent.as_ref().is_some_and(|parent| !parent.sampled) {
            return None;
        }
        let number = self.made.fetch_add(1, Ordering::Relaxed);
        let id = self.random.hash_one((asking.session, asking.at_ms, number)).max(1);
        let trace = parent.as_ref().map_or_else(|| trace_of(asking.session), |it| it.trace);
        Some(CallSpan::begin(Arc::clone(self), asking, Ids { trace, id, parent }))
    }

    fn finished(&self, span: Span) {
        if self.queue.try_send(span).is_err() {
            self.figures.spans("dropped", 1);
        }
    }

    fn now_ms(&self) -> u64 {
        (self.clock)()
    }
}

/// The trace of a session is the same in every replica and after a restart.
fn trace_of(session: &str) -> u128 {
    let half = |salt: u8| {
        let mut hasher = twox_hash::XxHash3_64::default();
        (salt, session).hash(&mut hasher);
        u128::from(hasher.finish())
    };
    (half(1) << 64 | half(2)).max(1)
}

/// Headers as `OTEL_EXPORTER_OTLP_HEADERS` holds them: `name=value` with commas between, values
/// percent-encoded. `None` if they are none.
fn headers(text: &str) -> Option<HeaderMap> {
    let mut headers = HeaderMap::new();
    for pair in text.split(',').map(str::trim).filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=')?;
        let name = HeaderName::from_bytes(name.trim().as_bytes()).ok()?;
        let mut value = HeaderValue::from_bytes(&decoded(value.trim())?).ok()?;
        value.set_sensitive(true);
        headers.append(name, value);
        if headers.len() > MAX_HEADERS {
            return None;
        }
    }
    (!headers.is_empty()).then_some(headers)
}

/// A text without its percent-encoding; `None` if a `%` stands before no two digits.
fn decoded(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        rest = behind;
        if *first == b'%' {
            let digit = |at: usize| char::from(*behind.get(at)?).to_digit(16);
            bytes.push(u8::try_from(digit(0)? * 16 + digit(1)?).ok()?);
            rest = behind.get(2..)?;
        } else {
            bytes.push(*first);
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_read_as_in_the_variable_of_other_exporters() {
        let check = |text: &str, expected: Option<&[(&str, &str)]>| {
            let found = headers(text);
            let found = found.as_ref().map(|map| {
                map.iter()
                    .map(|(name, value)| (name.as_str(), value.to_str().unwrap()))
                    .collect::<Vec<_>>()
            });
            assert_eq!(found.as_deref(), expected, "{text}");
        };
        check("x-key=abc", Some(&[("x-key", "abc")]));
        check(
            " Authorization=Basic%20YTpi , b=c=d,",
            Some(&[("authorization", "Basic YTpi"), ("b", "c=d")]),
        );
        check("", None);
        check("abc", None);
        check("a b=c", None);
        check("a=%4", None);
        check("a=%zz", None);
        check("a=b%0Ac", None);
        check(&"a=b,".repeat(33), None);
    }

    #[test]
    fn a_session_has_one_trace() {
        assert_eq!(trace_of("gw-1"), trace_of("gw-1"));
        assert_ne!(trace_of("gw-1"), trace_of("gw-2"));
    }
}
