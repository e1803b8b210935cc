//! One question to a model server, which may be asked more than once.

use bytes::Bytes;
use http::header::CONTENT_LENGTH;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, Uri};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use steersman_upstream::{Client, Outgoing, PassError};
use steersman_wire::Format;
use tokio::time::{Duration, Instant, sleep_until, timeout_at};

use crate::answer::Refusal;

/// Most of a refusal's body that is read so that a watch can look at it. Bytes.
const MAX_REFUSAL: usize = 256 * 1024;

/// A question to a model server.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    pub(crate) client: Client,
    /// The server's name in messages.
    pub(crate) server: String,
    pub(crate) method: Method,
    pub(crate) uri: Uri,
    /// Without `Content-Length`, if the body can be another one.
    pub(crate) headers: HeaderMap,
    /// How long the first byte of an answer may take.
    pub(crate) first_byte: Duration,
    /// When everything must be over.
    pub(crate) due: Instant,
}

/// What came of a question.
pub(crate) enum Asked {
    /// An answer that is streaming in. What had been read of it already stands in front.
    Answer(Box<Response<Incoming>>, Option<Bytes>),
    /// A refusal.
    Refused(Box<Refused>),
}

/// A refusal.
pub(crate) struct Refused {
    /// The server's status; `None` if there was no answer.
    pub(crate) status: Option<StatusCode>,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    /// What the gateway says of it, where the server said nothing.
    pub(crate) own: Option<Refusal>,
}

impl Question {
    /// The same question to another model; `None` if it cannot be asked there. Only Gemini has the
    /// model in the path.
    pub(crate) fn of_model(&self, format: Format, model: &str) -> Option<Self> {
        let mut question = self.clone();
        if format == Format::Gemini {
            let told = self.uri.to_string();
            let (before, rest) = told.split_once("/models/")?;
            let (_, method) = rest.split_once(':')?;
            question.uri = format!("{before}/models/{model}:{method}").parse().ok()?;
        }
        Some(question)
    }

    /// Asks once; consumes the headers, so there is no second time.
    pub(crate) async fn ask_once(mut self, body: Outgoing) -> Result<Response<Incoming>, Refusal> {
        let headers = std::mem::take(&mut self.headers);
        self.send(headers, body).await
    }

    /// Asks with a body and reads a refusal, unless it is too long.
    pub(crate) async fn ask(&self, body: Bytes) -> Asked {
        let mut headers = self.headers.clone();
        headers.insert(CONTENT_LENGTH, HeaderValue::from(body.len()));
        match self.send(headers, Outgoing::from(body)).await {
            Ok(response) if response.status().is_success() => {
                Asked::Answer(Box::new(response), None)
            }
            Ok(response) => self.read_refusal(response).await,
            Err(own) => Asked::Refused(Box::new(Refused::without_answer(own))),
        }
    }

    /// As [`ask`](Self::ask), at a later moment.
    pub(crate) async fn ask_at(
        self: std::sync::Arc<Self>,
        at: Option<Instant>,
        body: Bytes,
    ) -> Asked {
        if let Some(at) = at {
            sleep_until(at.min(self.due)).await;
        }
        self.ask(body).await
    }

    async fn send(
        &self,
        headers: HeaderMap,
        body: Outgoing,
    ) -> Result<Response<Incoming>, Refusal> {
        let mut request = Request::new(body);
        *request.method_mut() = self.method.clone();
        *request.uri_mut() = self.uri.clone();
        *request.headers_mut() = headers;
        let due = self.first_byte_due();
        match timeout_at(due, self.client.pass(request)).await {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(error)) => Err(self.unreachable(&error)),
            Err(_) => Err(self.timed_out()),
        }
    }

    fn first_byte_due(&self) -> Instant {
        Instant::now().checked_add(self.first_byte).map_or(self.due, |at| at.min(self.due))
    }

    /// Reads the body of an answer that is no success.
    async fn read_refusal(&self, response: Response<Incoming>) -> Asked {
        let (head, mut body) = response.into_parts();
        let due = self.first_byte_due();
        let mut read = Vec::new();
        loop {
            let frame = match timeout_at(due, body.frame()).await {
                Ok(Some(Ok(frame))) => frame,
                Ok(None) => break,
                // Who waits for the rest will see that it does not come.
                Ok(Some(Err(_))) | Err(_) => {
                    let response = Response::from_parts(head, body);
                    return Asked::Answer(Box::new(response), Some(Bytes::from(read)));
                }
            };
            if let Ok(bytes) = frame.into_data() {
                read.extend_from_slice(&bytes);
            }
            if read.len() > MAX_REFUSAL {
                let response = Response::from_parts(head, body);
                return Asked::Answer(Box::new(response), Some(Bytes::from(read)));
            }
        }
        Asked::Refused(Box::new(Refused {
            status: Some(head.status),
            headers: head.headers,
            body: Bytes::from(read),
            own: None,
        }))
    }

    fn unreachable(&self, error: &PassError) -> Refusal {
        let message = format!("the upstream {} gave no answer: {error}", self.server);
        Refusal::new(StatusCode::BAD_GATEWAY, "upstream_unreachable", message)
    }

    fn timed_out(&self) -> Refusal {
        let message = format!("the upstream {} did not answer in time", self.server);
        Refusal::new(StatusCode::GATEWAY_TIMEOUT, "upstream_timeout", message)
    }
}

impl Refused {
    fn without_answer(own: Refusal) -> Self {
        Self { status: None, headers: HeaderMap::new(), body: Bytes::new(), own: Some(own) }
    }
}
