//! The server.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use http_body_util::BodyExt;
use http_body_util::channel::{Channel, Sender};
use hyper::body::{Bytes, Frame, Incoming};
use hyper::header::HeaderName;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use steersman_wire::Format;
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::{Reply, write};

/// A request that came in.
#[derive(Clone, Debug, PartialEq)]
pub struct Received {
    /// Path and query.
    pub path: String,
    /// Headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body; null if it is no JSON.
    pub body: Value,
    /// The body as it came.
    pub raw: Vec<u8>,
    /// Which connection it came on, from 0: to see that connections are used again.
    pub connection: usize,
}

impl Received {
    /// The value of a header.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }
}

/// A server that answers from a script. It ends when it is dropped.
#[derive(Debug)]
pub struct ScriptedServer {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
    progress: Arc<watch::Sender<Progress>>,
    /// Dropping it ends the server and its connections.
    _end: watch::Sender<()>,
}

/// How far the server is with its answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Requests that came in as a whole.
    pub requests: usize,
    /// Answers that were sent as a whole.
    pub answered: usize,
    /// Requests and answers that the client left.
    pub abandoned: usize,
    /// Bytes of answers that were taken to be sent.
    pub sent: u64,
}

#[derive(Debug, Default)]
struct State {
    script: std::collections::VecDeque<Reply>,
    received: Vec<Received>,
    given: usize,
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ScriptedServer {
    /// Starts a server on a free port of 127.0.0.1. Requests beyond the script get status 500.
    ///
    /// # Errors
    /// If no port can be had.
    pub async fn start(script: Vec<Reply>) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let state = Arc::new(Mutex::new(State { script: script.into(), ..State::default() }));
        let (end, ended) = watch::channel(());
        let progress = Arc::new(watch::Sender::new(Progress::default()));
        tokio::spawn(serve(listener, Arc::clone(&state), Arc::clone(&progress), ended));
        Ok(Self { address, state, progress, _end: end })
    }

    /// The base URL, without a version.
    #[must_use]
    pub fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// How far the server is.
    #[must_use]
    pub fn progress(&self) -> Progress {
        *self.progress.borrow()
    }

    /// Waits until the server is as far as `enough` says.
    pub async fn until(&self, enough: impl Fn(&Progress) -> bool) -> Progress {
        let mut progress = self.progress.subscribe();
        // The sender is a part of the server, so that there is one.
        progress.wait_for(enough).await.map_or_else(|_| Progress::default(), |now| *now)
    }

    /// Every request so far, in order.
    #[must_use]
    pub fn requests(&self) -> Vec<Received> {
        lock(&self.state).received.clone()
    }

    /// Replies that were not asked for yet.
    #[must_use]
    pub fn left(&self) -> usize {
        lock(&self.state).script.len()
    }

    /// Adds replies at the end of the script.
    pub fn extend(&self, replies: impl IntoIterator<Item = Reply>) {
        lock(&self.state).script.extend(replies);
    }
}

async fn serve(
    listener: TcpListener,
    state: Arc<Mutex<State>>,
    progress: Arc<watch::Sender<Progress>>,
    ended: watch::Receiver<()>,
) {
    let mut end = ended.clone();
    let mut connection = 0;
    loop {
        let stream = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = end.changed() => return,
        };
        let Ok((stream, _)) = stream else { continue };
        let _ = stream.set_nodelay(true);
        let (state, mut end) = (Arc::clone(&state), ended.clone());
        let progress = Arc::clone(&progress);
        let number = connection;
        connection += 1;
        tokio::spawn(async move {
            let service = service_fn(|request| respond(request, number, &state, &progress));
            let served = hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(stream), service);
            tokio::select! {
                _ = served => {}
                _ = end.changed() => {}
            }
        });
    }
}

/// An answer that is being sent, or is yet to be.
#[derive(Debug)]
struct Sending {
    /// `None` until the answer begins.
    body: Option<Channel<Bytes, io::Error>>,
    progress: Arc<watch::Sender<Progress>>,
    whole: bool,
}

impl hyper::body::Body for Sending {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        let Some(body) = &mut self.body else { return Poll::Ready(None) };
        let frame = ready!(Pin::new(body).poll_frame(context));
        match &frame {
            None => {
                self.whole = true;
                self.progress.send_modify(|progress| progress.answered += 1);
            }
            Some(Ok(frame)) => {
                let length = frame.data_ref().map_or(0, Bytes::len) as u64;
                self.progress.send_modify(|progress| progress.sent += length);
            }
            // A cut is the server's own doing.
            Some(Err(_)) => self.whole = true,
        }
        Poll::Ready(frame)
    }
}

impl Drop for Sending {
    fn drop(&mut self) {
        if !self.whole {
            self.progress.send_modify(|progress| progress.abandoned += 1);
        }
    }
}

async fn respond(
    request: Request<Incoming>,
    connection: usize,
    state: &Mutex<State>,
    progress: &Arc<watch::Sender<Progress>>,
) -> Result<Response<Sending>, Infallible> {
    let (head, body) = request.into_parts();
    let path = head.uri.to_string();
    let bytes = body.collect().await.map(|body| body.to_bytes()).unwrap_or_default();
    let asked: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let headers = head.headers.iter().map(|(name, value)| {
        (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned())
    });
    let raw = bytes.to_vec();
    let received =
        Received { path: path.clone(), headers: headers.collect(), body: asked, raw, connection };
    let (reply, number, asked) = {
        let mut state = lock(state);
        let asked = received.body.clone();
        state.received.push(received);
        state.given += 1;
        let over = || Reply { text: "the script is at its end".into(), ..Reply::status(500) };
        (state.script.pop_front().unwrap_or_else(over), state.given, asked)
    };
    progress.send_modify(|progress| progress.requests += 1);
    let mut sending = Sending { body: None, progress: Arc::clone(progress), whole: false };
    tokio::time::sleep(reply.delay).await;
    let (kind, pieces) = content(&reply, &path, &asked, number);
    let (sender, body) = Channel::new(1);
    tokio::spawn(send(sender, pieces, Middle::of(&reply)));
    sending.body = Some(body);
    let mut response = Response::new(sending);
    *response.status_mut() = StatusCode::from_u16(reply.status).unwrap_or_default();
    let kind = ("content-type".to_owned(), kind);
    for (name, value) in std::iter::once(&kind).chain(&reply.headers) {
        if let (Ok(name), Ok(value)) = (name.parse::<HeaderName>(), value.parse()) {
            response.headers_mut().append(name, value);
        }
    }
    Ok(response)
}

/// Content type and body, in the pieces that are sent.
fn content(reply: &Reply, path: &str, asked: &Value, number: usize) -> (String, Vec<Bytes>) {
    let streamed = asked["stream"] == true || path.contains("alt=sse");
    let own = |kind: &str| reply.content_type.clone().unwrap_or_else(|| kind.to_owned());
    let halves = |bytes: Vec<u8>| {
        let mut first = Bytes::from(bytes);
        let second = first.split_off(first.len() / 2);
        vec![first, second]
    };
    if let Some(body) = &reply.body {
        let once = halves(body.clone());
        let pieces = std::iter::repeat_n(once, reply.repeat).flatten();
        return (own("application/json"), pieces.collect());
    }
    let Some(format) = format_of(path) else {
        let body = format!("no wire format has the path {path}");
        return (own("text/plain"), halves(body.into_bytes()));
    };
    if reply.status > 299 {
        let body = write::error(format, reply).to_string();
        return (own("application/json"), halves(body.into_bytes()));
    }
    let model = asked["model"].as_str().unwrap_or("scripted");
    if streamed {
        let frames = write::frames(format, reply, model, number);
        (own("text/event-stream"), frames.into_iter().map(Bytes::from).collect())
    } else {
        let body = write::whole(format, reply, model, number).to_string();
        (own("application/json"), halves(body.into_bytes()))
    }
}

fn format_of(path: &str) -> Option<Format> {
    let path = path.split('?').next().unwrap_or(path);
    match path {
        _ if path.ends_with("/chat/completions") => Some(Format::OpenAiChat),
        _ if path.ends_with("/responses") => Some(Format::OpenAiResponses),
        _ if path.ends_with("/messages") => Some(Format::Anthropic),
        _ if path.ends_with("enerateContent") => Some(Format::Gemini),
        _ => None,
    }
}

/// What happens in the middle of a body.
#[derive(Clone, Copy, Debug)]
enum Middle {
    Pause(Duration),
    Cut,
    Stall,
}

impl Middle {
    fn of(reply: &Reply) -> Self {
        match reply {
            Reply { cut: true, .. } => Self::Cut,
            Reply { stall: true, .. } => Self::Stall,
            Reply { pause, .. } => Self::Pause(*pause),
        }
    }
}

/// Sends the pieces; pauses, or breaks the connection, in the middle.
async fn send(mut sender: Sender<Bytes, io::Error>, pieces: Vec<Bytes>, in_the_middle: Middle) {
    let middle = pieces.len().div_ceil(2);
    for (index, piece) in pieces.into_iter().enumerate() {
        if index == middle {
            match in_the_middle {
                Middle::Cut => {
                    // What was sent goes out before the connection breaks.
                    tokio::time::sleep(Duration::from_millis(20)).await;
                    sender.abort(io::Error::other("scripted cut"));
                    return;
                }
                // Dropping the sender would end the body.
                Middle::Stall => std::future::pending().await,
                Middle::Pause(pause) => tokio::time::sleep(pause).await,
            }
        }
        if sender.send_data(piece).await.is_err() {
            return;
        }
    }
}
