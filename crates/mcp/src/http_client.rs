//! The HTTP requests of the streamable transport, with bounds on what comes back.

use std::borrow::Cow;
use std::collections::HashMap;
use std::error::Error as StdError;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use futures::stream::{BoxStream, StreamExt};
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderName, HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, BodyStream, Full, Limited};
use hyper::body::{Frame, Incoming};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_client::{
    StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
};
use sse_stream::{Error as SseError, Sse, SseStream};

use crate::error::words;

/// The most bytes of an answer that is one JSON message: 16 MiB, as over pipes.
const MAX_JSON_BYTES: usize = 16 << 20;
/// The most bytes read of an answer that is an error.
const MAX_ERROR_BYTES: usize = 64 << 10;
/// The most bytes of one stream of events: 64 MiB, as over pipes.
const MAX_STREAM_BYTES: usize = 64 << 20;

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";
const SESSION: &str = "mcp-session-id";
const LAST_EVENT: &str = "last-event-id";

/// What went wrong below the protocol.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct HttpFault(String);

type Fault = StreamableHttpError<HttpFault>;

fn fault(error: impl Into<Box<dyn StdError + Send + Sync>>) -> Fault {
    let error: Box<dyn StdError + Send + Sync> = error.into();
    StreamableHttpError::Client(HttpFault(chain(&*error)))
}

/// An error and its causes.
fn chain(error: &(dyn StdError + 'static)) -> String {
    let (mut text, mut cause) = (error.to_string(), error.source());
    while let Some(inner) = cause {
        let inner_text = inner.to_string();
        if !text.contains(&inner_text) {
            text = format!("{text}: {inner_text}");
        }
        cause = inner.source();
    }
    text
}

/// The last thing that went wrong: the transport says only that the connection is closed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Trouble(Arc<Mutex<Option<String>>>);

impl Trouble {
    fn note(&self, error: &(dyn StdError + 'static)) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(chain(error));
    }

    /// What it was, once.
    pub(crate) fn take(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// A client with pooled connections. It follows no redirects: headers may be secret.
#[derive(Clone)]
pub(crate) struct HttpClient {
    client: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
    /// Sent with each request.
    headers: Arc<[(HeaderName, HeaderValue)]>,
    trouble: Trouble,
}

impl HttpClient {
    /// # Errors
    /// The system has no certificates to trust.
    pub(crate) fn new(headers: Vec<(HeaderName, HeaderValue)>) -> Result<Self, String> {
        let connector = HttpsConnectorBuilder::new()
            .with_native_roots()
            .map_err(|error| format!("no certificates to trust: {error}"))?
            .https_or_http()
            .enable_http1()
            .build();
        let client = Client::builder(TokioExecutor::new()).build(connector);
        Ok(Self { client, headers: headers.into(), trouble: Trouble::default() })
    }

    /// What went wrong, also later.
    pub(crate) fn trouble(&self) -> Trouble {
        self.trouble.clone()
    }

    async fn send(&self, ask: Ask, body: Bytes) -> Result<Response<Incoming>, Fault> {
        let accept = format!("{EVENTS}, {JSON}");
        let mut request =
            Request::builder().method(ask.method).uri(&*ask.uri).header(ACCEPT, accept);
        if !body.is_empty() {
            request = request.header(CONTENT_TYPE, JSON);
        }
        if let Some(session) = ask.session {
            request = request.header(SESSION, &*session);
        }
        if let Some(last) = ask.last_event {
            request = request.header(LAST_EVENT, last);
        }
        let mut request = request.body(Full::new(body)).map_err(fault)?;
        // Inserted, not added: what the transport sets must not come twice.
        let headers = request.headers_mut();
        for (name, value) in self.headers.iter().cloned().chain(ask.headers) {
            headers.insert(name, value);
        }
        self.client.request(request).await.map_err(fault)
    }

    async fn post(
        &self,
        ask: Ask,
        message: ClientJsonRpcMessage,
    ) -> Result<StreamableHttpPostResponse, Fault> {
        let is_request = matches!(message, ClientJsonRpcMessage::Request(_));
        let had_session = ask.session.is_some();
        let response = self.send(ask, serde_json::to_vec(&message)?.into()).await?;
        if response.status() == StatusCode::NOT_FOUND && had_session {
            return Err(StreamableHttpError::SessionExpired);
        }
        let response = refuse_failure(response).await?;
        if matches!(response.status(), StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        let session = header(&response, SESSION);
        let kind = header(&response, CONTENT_TYPE);
        match kind.as_deref() {
            Some(kind) if kind.starts_with(EVENTS) => Ok(StreamableHttpPostResponse::Sse(
                events(response.into_body(), self.trouble()),
                session,
            )),
            Some(kind) if kind.starts_with(JSON) && is_request => {
                let body = read(response.into_body(), MAX_JSON_BYTES).await?;
                let answer: ServerJsonRpcMessage = serde_json::from_slice(&body)?;
                Ok(StreamableHttpPostResponse::Json(answer, session))
            }
            _ if !is_request => Ok(StreamableHttpPostResponse::Accepted),
            _ => Err(StreamableHttpError::UnexpectedContentType(kind)),
        }
    }
}

/// A request without its body.
struct Ask {
    method: Method,
    uri: Arc<str>,
    session: Option<Arc<str>>,
    last_event: Option<String>,
    headers: HashMap<HeaderName, HeaderValue>,
}

async fn read(body: Incoming, limit: usize) -> Result<Bytes, Fault> {
    Ok(Limited::new(body, limit).collect().await.map_err(fault)?.to_bytes())
}

/// The events of a body that ends with an error beyond [`MAX_STREAM_BYTES`].
fn events(body: Incoming, trouble: Trouble) -> BoxStream<'static, Result<Sse, SseError>> {
    let bounded = BodyStream::new(Limited::new(body, MAX_STREAM_BYTES)).filter_map(|frame| {
        let data = frame.map(|frame| Frame::into_data(frame).ok()).map_err(std::io::Error::other);
        std::future::ready(data.transpose())
    });
    let events = SseStream::from_bytes_stream(bounded);
    events
        .inspect(move |event| event.as_ref().map_or_else(|error| trouble.note(error), |_| ()))
        .boxed()
}

fn header(response: &Response<Incoming>, name: impl http::header::AsHeaderName) -> Option<String> {
    Some(response.headers().get(name)?.to_str().ok()?.to_owned())
}

/// # Errors
/// The status, and what the server says with it.
async fn refuse_failure(response: Response<Incoming>) -> Result<Response<Incoming>, Fault> {
    let status = response.status();
    if status.is_success() {
        return Ok(response);
    }
    let body = read(response.into_body(), MAX_ERROR_BYTES).await.unwrap_or_default();
    let said = words(&String::from_utf8_lossy(&body));
    Err(StreamableHttpError::UnexpectedServerResponse(Cow::Owned(format!("{status} {said}"))))
}

impl StreamableHttpClient for HttpClient {
    type Error = HttpFault;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        _token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, Fault> {
        let ask = Ask { method: Method::POST, uri, session, last_event: None, headers };
        let posted = self.post(ask, message).await;
        posted.inspect_err(|error| self.trouble.note(error))
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        _token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), Fault> {
        let session = Some(session);
        let ask = Ask { method: Method::DELETE, uri, session, last_event: None, headers };
        let response = self.send(ask, Bytes::new()).await?;
        if response.status() == StatusCode::METHOD_NOT_ALLOWED {
            return Ok(());
        }
        refuse_failure(response).await.map(drop)
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        _token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Fault> {
        let ask = Ask { method: Method::GET, uri, session, last_event, headers };
        let response = self.send(ask, Bytes::new()).await?;
        if response.status() == StatusCode::METHOD_NOT_ALLOWED {
            return Err(StreamableHttpError::ServerDoesNotSupportSse);
        }
        let response = refuse_failure(response).await?;
        match header(&response, CONTENT_TYPE) {
            Some(kind) if kind.starts_with(EVENTS) => {
                Ok(events(response.into_body(), self.trouble()))
            }
            kind => Err(StreamableHttpError::UnexpectedContentType(kind)),
        }
    }
}
