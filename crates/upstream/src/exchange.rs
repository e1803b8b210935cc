//! One call of a model.

use std::error::Error;
use std::time::{SystemTime, UNIX_EPOCH};

use http_body_util::BodyExt;
use hyper::body::{Bytes, Incoming};
use hyper::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue, LOCATION, USER_AGENT};
use hyper::{HeaderMap, Method, Response};
use steersman_wire::{Answer, Delta, Failure, FailureKind, Part, Request, StreamReader};
use tokio::time::{Duration, Instant, timeout_at};

use crate::client::SendError;
use crate::deadlines::{Due, Timer};
use crate::{Client, Deadlines, Endpoint, Outgoing};

/// Largest answer in one piece, in bytes.
const MAX_BODY: usize = 64 * 1024 * 1024;

/// Largest error that is read, in bytes.
const MAX_ERROR: usize = 256 * 1024;

/// How long the end of a connection is waited for once the answer is whole, so that it can be used
/// again.
const LINGER: Duration = Duration::from_millis(50);

impl Client {
    /// Calls a model and gives its answer; pieces of it go to `on_delta` as they come.
    ///
    /// The request's `stream` says how the answer is asked for; however it comes, it is read.
    /// Redirects are not followed: they would carry the key elsewhere. Dropping the future ends
    /// the call.
    ///
    /// # Errors
    /// Whatever gives no whole answer, with the part that had arrived.
    pub async fn send(
        &self,
        endpoint: &Endpoint,
        request: &Request<'_>,
        deadlines: Deadlines,
        mut on_delta: impl FnMut(Delta),
    ) -> Result<Answer, Failure> {
        let timer = Timer::start(deadlines, request.stream);
        let asked = http_request(endpoint, request)?;
        let outcome = async {
            let response = self.respond(asked, &timer, endpoint).await?;
            read(response, endpoint, &timer, &mut on_delta).await
        };
        outcome.await.map_err(|failure| endpoint.hidden(failure))
    }

    /// Sends the request and waits for the head of the response.
    pub(crate) async fn respond(
        &self,
        asked: hyper::Request<Outgoing>,
        timer: &Timer,
        endpoint: &Endpoint,
    ) -> Result<Response<Incoming>, Failure> {
        let Due { at, missed } = timer.first_byte();
        let server = endpoint.base_url();
        let unreachable = |problem: String| {
            Failure::new(FailureKind::Unreachable, &format!("{server}: {problem}"))
        };
        match timeout_at(at, self.request(asked)).await {
            Err(_) => Err(Failure::new(FailureKind::Timeout, &format!("timed out: {missed}"))),
            Ok(Ok(response)) => Ok(response),
            Ok(Err(SendError::NoAuthorities)) => Err(unreachable(
                "this machine has no certificate authorities; install ca-certificates or set \
                 SSL_CERT_FILE"
                    .to_owned(),
            )),
            Ok(Err(SendError::Broken(error))) if error.is_connect() => {
                Err(unreachable(format!("no connection: {}", root_cause(&error))))
            }
            Ok(Err(SendError::Broken(error))) => {
                let cause = root_cause(&error);
                Err(unreachable(format!("the connection closed before an answer began: {cause}")))
            }
        }
    }
}

fn http_request(
    endpoint: &Endpoint,
    request: &Request<'_>,
) -> Result<hyper::Request<Outgoing>, Failure> {
    let format = endpoint.format();
    let url = format.url(endpoint.base_url(), request.model, request.stream);
    let body = Outgoing::from(Bytes::from(format.body(request)));
    let mut asked = hyper::Request::builder()
        .method(Method::POST)
        .uri(&url)
        .body(body)
        .map_err(|error| Failure::new(FailureKind::Request, &format!("{url}: {error}")))?;
    let accept = if request.stream { "text/event-stream" } else { "application/json" };
    let headers = asked.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(ACCEPT, HeaderValue::from_static(accept));
    headers.extend([user_agent()]);
    for (name, value) in endpoint.headers() {
        headers.insert(name, value);
    }
    Ok(asked)
}

/// Who asks.
pub(crate) fn user_agent() -> (HeaderName, HeaderValue) {
    let agent = concat!("steersman/", env!("CARGO_PKG_VERSION"));
    (USER_AGENT, HeaderValue::from_static(agent))
}

/// What is told of an error: its innermost cause, in its own words.
pub(crate) fn root_cause(error: &dyn Error) -> String {
    let mut cause = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}

async fn read(
    response: Response<Incoming>,
    endpoint: &Endpoint,
    timer: &Timer,
    on_delta: &mut impl FnMut(Delta),
) -> Result<Answer, Failure> {
    let (head, body) = response.into_parts();
    let status = head.status.as_u16();
    let mut body = Body::new(body, timer, status);
    if !head.status.is_success() {
        return Err(body.failure(endpoint, &head.headers).await);
    }
    if comes_in_lines(&head.headers) {
        return body.stream(endpoint.format().stream(), on_delta).await;
    }
    let bytes = body.whole().await?;
    let answer = endpoint.format().answer(&bytes);
    let answer = answer.map_err(|error| Failure::of_answer(error, status))?;
    tell(&answer, on_delta);
    Ok(answer)
}

/// Whether the answer is a stream, whatever was asked for. A stream that calls itself JSON is read
/// when it has come as a whole.
fn comes_in_lines(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let kind = kind.to_ascii_lowercase();
    ["event-stream", "ndjson", "jsonl", "json-lines", "json-seq"]
        .iter()
        .any(|one| kind.contains(one))
}

/// Tells an answer that came in one piece.
fn tell(answer: &Answer, on_delta: &mut impl FnMut(Delta)) {
    let mut calls = 0;
    for part in &answer.message.parts {
        match part {
            Part::Text(text) => on_delta(Delta::Text(text.clone())),
            Part::Reasoning { text, .. } if !text.is_empty() => {
                on_delta(Delta::Reasoning(text.clone()));
            }
            Part::ToolCall { name, arguments, .. } => {
                on_delta(Delta::ToolCallStarted { index: calls, name: name.clone() });
                on_delta(Delta::Arguments { index: calls, text: arguments.clone() });
                calls += 1;
            }
            _ => {}
        }
    }
}

/// The body of a response that is being read.
pub(crate) struct Body<'a> {
    body: Incoming,
    timer: &'a Timer,
    status: u16,
    begun: bool,
}

impl<'a> Body<'a> {
    pub(crate) const fn new(body: Incoming, timer: &'a Timer, status: u16) -> Self {
        Self { body, timer, status, begun: false }
    }

    /// The next bytes; `None` at the end.
    async fn next(&mut self) -> Result<Option<Bytes>, Failure> {
        let due = if self.begun { self.timer.next_byte() } else { self.timer.first_byte() };
        loop {
            match timeout_at(due.at, self.body.frame()).await {
                Err(_) => {
                    let message = format!("timed out: {}", due.missed);
                    return Err(self.failed(FailureKind::Timeout, &message));
                }
                Ok(None) => return Ok(None),
                Ok(Some(Err(error))) => {
                    let cause = root_cause(&error);
                    let message =
                        format!("the connection broke in the middle of the answer: {cause}");
                    return Err(self.failed(FailureKind::CutOff, &message));
                }
                Ok(Some(Ok(frame))) => {
                    if let Ok(bytes) = frame.into_data() {
                        self.begun = true;
                        return Ok(Some(bytes));
                    }
                }
            }
        }
    }

    fn failed(&self, kind: FailureKind, message: &str) -> Failure {
        Failure { status: Some(self.status), ..Failure::new(kind, message) }
    }

    /// The whole body, at most [`MAX_BODY`].
    pub(crate) async fn whole(&mut self) -> Result<Vec<u8>, Failure> {
        let mut bytes = Vec::new();
        while let Some(more) = self.next().await? {
            if bytes.len() + more.len() > MAX_BODY {
                let message = format!("the answer is longer than {MAX_BODY} bytes");
                return Err(self.failed(FailureKind::NotAnAnswer, &message));
            }
            bytes.extend_from_slice(&more);
        }
        Ok(bytes)
    }

    async fn stream(
        &mut self,
        mut reader: StreamReader,
        on_delta: &mut impl FnMut(Delta),
    ) -> Result<Answer, Failure> {
        loop {
            let bytes = match self.next().await {
                Ok(Some(bytes)) => bytes,
                Ok(None) => break,
                Err(failure) => {
                    let partial = reader.partial();
                    // What breaks behind the end mark was no part of the answer.
                    return reader.finish().map_err(|_| failure.with_partial(partial));
                }
            };
            let deltas = reader.push(&bytes);
            deltas
                .map_err(|error| Failure::of_answer(error, self.status))?
                .into_iter()
                .for_each(&mut *on_delta);
            if reader.is_done() {
                self.linger().await;
                break;
            }
        }
        reader.finish().map_err(|error| Failure::of_answer(error, self.status))
    }

    /// Reads what is left, for a moment.
    async fn linger(&mut self) {
        let until = Instant::now() + LINGER;
        while let Ok(Some(Ok(_))) = timeout_at(until, self.body.frame()).await {}
    }

    /// The failure behind a status that is no success.
    pub(crate) async fn failure(&mut self, endpoint: &Endpoint, headers: &HeaderMap) -> Failure {
        let mut bytes = Vec::new();
        while let Ok(Some(more)) = self.next().await {
            bytes.extend_from_slice(&more[..more.len().min(MAX_ERROR - bytes.len())]);
            if bytes.len() == MAX_ERROR {
                break;
            }
        }
        let header = |name: &str| headers.get(name)?.to_str().ok();
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let now_ms = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
        let mut failure = endpoint.format().failure(self.status, header, &bytes, now_ms);
        if let (300..400, Some(to)) = (self.status, header(LOCATION.as_str())) {
            let message = format!("it redirects to {to}; use that as the base URL if you trust it");
            failure = Failure {
                status: Some(self.status),
                ..Failure::new(FailureKind::NotFound, &message)
            };
        }
        failure
    }
}
