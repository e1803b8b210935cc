//! Sends finished spans to the collector, in the background and in batches.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER};
use http::{Method, Request, StatusCode, Uri};
use http_body_util::{BodyExt, Limited};
use serde_json::Value as Json;
use steersman_upstream::{Client, Outgoing};
use tokio::sync::{mpsc, watch};
use tokio::time::{Duration, Instant, sleep, sleep_until, timeout};

use super::encode;
use super::span::Span;
use crate::config::Otlp;
use crate::figures::Figures;

/// Most spans in a request.
const BATCH: usize = 512;
/// How long a span waits for others.
const DELAY: Duration = Duration::from_secs(5);
/// How long the collector may take for an answer.
const TIMEOUT: Duration = Duration::from_secs(10);
/// How often a batch is sent before it is dropped.
const TRIES: u32 = 5;
/// The wait before the second try; it doubles from try to try.
const BACKOFF: Duration = Duration::from_secs(1);
/// Longest wait that a collector may ask for; longer ones count as this.
const MAX_WAIT: Duration = Duration::from_secs(30);
/// Most of a collector's answer that is read. Bytes.
const MAX_ANSWER: usize = 64 << 10;

/// Sends spans.
pub(super) struct Exporter {
    client: Client,
    uri: Uri,
    headers: HeaderMap,
    service: String,
    figures: Arc<Figures>,
}

/// Spans that are on their way. What was not delivered when it is dropped is counted as dropped.
struct Batch {
    spans: Vec<Span>,
    figures: Arc<Figures>,
}

impl Drop for Batch {
    fn drop(&mut self) {
        self.figures.spans("dropped", self.spans.len() as u64);
    }
}

/// Spans that nobody has taken yet. What is left when they are dropped is counted as dropped.
struct Waiting {
    spans: mpsc::Receiver<Span>,
    figures: Arc<Figures>,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.spans.close();
        self.figures.spans("dropped", self.spans.len() as u64);
    }
}

/// What came of a try.
enum Outcome {
    /// The collector took the batch, apart from so many spans.
    Taken(u64),
    /// It may take it later; it may say when.
    Later(Option<Duration>),
    /// It never will.
    Never,
}

impl Exporter {
    /// An exporter to the collector that the settings name.
    pub(super) fn new(
        settings: &Otlp,
        client: Client,
        mut headers: HeaderMap,
        figures: Arc<Figures>,
    ) -> Result<Self, String> {
        let uri = settings.traces_url().parse();
        let uri = uri.map_err(|_| "otlp.endpoint is no address".to_owned())?;
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        Ok(Self { client, uri, headers, service: settings.service_name.clone(), figures })
    }

    /// Sends what comes until it is stopped and nothing waits any more.
    pub(super) async fn run(self, spans: mpsc::Receiver<Span>, mut stop: watch::Receiver<bool>) {
        let mut waiting = Waiting { spans, figures: Arc::clone(&self.figures) };
        loop {
            let mut batch = Batch { spans: Vec::new(), figures: Arc::clone(&self.figures) };
            fill(&mut batch.spans, &mut waiting.spans, &mut stop).await;
            if batch.spans.is_empty() {
                return;
            }
            self.deliver(batch, &mut stop).await;
        }
    }

    async fn deliver(&self, mut batch: Batch, stop: &mut watch::Receiver<bool>) {
        let body = Bytes::from(encode::request(&self.service, &batch.spans));
        for tried in 0..TRIES {
            let wait = match self.send(body.clone()).await {
                Outcome::Taken(refused) => {
                    let all = std::mem::take(&mut batch.spans).len() as u64;
                    self.figures.spans("sent", all.saturating_sub(refused));
                    self.figures.spans("dropped", refused.min(all));
                    return;
                }
                Outcome::Never => return,
                Outcome::Later(wait) => wait.map_or_else(|| backoff(tried), |it| it.min(MAX_WAIT)),
            };
            // Whoever is stopped tries once more at once.
            let was_stopped = *stop.borrow();
            tokio::select! {
                () = sleep(wait) => {}
                _ = stop.wait_for(|stop| *stop), if !was_stopped => {}
            }
        }
    }

    async fn send(&self, body: Bytes) -> Outcome {
        let mut request = Request::new(Outgoing::from(body));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = self.uri.clone();
        *request.headers_mut() = self.headers.clone();
        let asked = async {
            let response = self.client.pass(request).await.ok()?;
            let (head, body) = response.into_parts();
            let body = Limited::new(body, MAX_ANSWER).collect().await;
            Some((head, body.map(http_body_util::Collected::to_bytes).unwrap_or_default()))
        };
        // A collector that cannot be reached, or says nothing, may be there later.
        let Ok(Some((head, body))) = timeout(TIMEOUT, asked).await else {
            return Outcome::Later(None);
        };
        match head.status {
            status if status.is_success() => Outcome::Taken(refused(&body)),
            StatusCode::TOO_MANY_REQUESTS
            | StatusCode::BAD_GATEWAY
            | StatusCode::SERVICE_UNAVAILABLE
            | StatusCode::GATEWAY_TIMEOUT => Outcome::Later(seconds(&head.headers)),
            _ => Outcome::Never,
        }
    }
}

/// Fills a batch: until it is full, its first span has waited long enough, or no more come.
async fn fill(
    batch: &mut Vec<Span>,
    spans: &mut mpsc::Receiver<Span>,
    stop: &mut watch::Receiver<bool>,
) {
    let mut due = Instant::now() + DELAY;
    let mut is_open = !spans.is_closed();
    while batch.len() < BATCH {
        tokio::select! {
            biased;
            _ = stop.wait_for(|stop| *stop), if is_open => {
                // What waits can still be taken.
                spans.close();
                is_open = false;
            }
            span = spans.recv() => match span {
                Some(span) => {
                    if batch.is_empty() {
                        due = Instant::now() + DELAY;
                    }
                    batch.push(span);
                }
                None => return,
            },
            () = sleep_until(due), if !batch.is_empty() => return,
        }
    }
}

/// The wait after a try, with up to half of it more, so that gateways do not come all at once.
fn backoff(tried: u32) -> Duration {
    let wait = BACKOFF * 2_u32.pow(tried);
    let share = RandomState::new().hash_one(tried) % 500;
    wait + wait * u32::try_from(share).unwrap_or(0) / 1000
}

/// The wait that the collector asks for. Dates are not read: collectors write seconds.
fn seconds(headers: &HeaderMap) -> Option<Duration> {
    let value = headers.get(RETRY_AFTER)?.to_str().ok()?;
    value.trim().parse().ok().map(Duration::from_secs)
}

/// How many spans a collector did not take of a batch that it took.
fn refused(body: &[u8]) -> u64 {
    let answer: Json = serde_json::from_slice(body).unwrap_or_default();
    match &answer["partialSuccess"]["rejectedSpans"] {
        Json::String(number) => number.parse().unwrap_or(0),
        number => number.as_u64().unwrap_or(0),
    }
}
