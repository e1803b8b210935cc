//! The server.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http_body_util::BodyExt;
use http_body_util::channel::{Channel, Sender};
use hyper::body::{Bytes, Incoming};
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
    /// Dropping it ends the server and its connections.
    _end: watch::Sender<()>,
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
        tokio::spawn(serve(listener, Arc::clone(&state), ended));
        Ok(Self { address, state, _end: end })
    }

    /// The base URL, without a version.
    #[must_use]
    pub fn base_url(&self) -> String {
        format!("http://{}", self.address)
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

async fn serve(listener: TcpListener, state: Arc<Mutex<State>>, ended: watch::Receiver<()>) {
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
        let number = connection;
        connection += 1;
        tokio::spawn(async move {
            let service = service_fn(|request| respond(request, number, &state));
            let served = hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(stream), service);
            tokio::select! {
                _ = served => {}
                _ = end.changed() => {}
            }
        });
    }
}

type Body = Channel<Bytes, io::Error>;

async fn respond(
    request: Request<Incoming>,
    connection: usize,
    state: &Mutex<State>,
) -> Result<Response<Body>, Infallible> {
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
    tokio::time::sleep(reply.delay).await;
    let (kind, pieces) = content(&reply, &path, &asked, number);
    let (sender, body) = Channel::new(1);
    tokio::spawn(send(sender, pieces, reply.pause, reply.cut));
    let mut response = Response::new(body);
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
        return (own("application/json"), halves(body.clone()));
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

/// Sends the pieces; pauses, or breaks the connection, in the middle.
async fn send(
    mut sender: Sender<Bytes, io::Error>,
    pieces: Vec<Bytes>,
    pause: Duration,
    cut: bool,
) {
    let middle = pieces.len().div_ceil(2);
    for (index, piece) in pieces.into_iter().enumerate() {
        if index == middle {
            if cut {
                // What was sent goes out before the connection breaks.
                tokio::time::sleep(Duration::from_millis(20)).await;
                sender.abort(io::Error::other("scripted cut"));
                return;
            }
            tokio::time::sleep(pause).await;
        }
        if sender.send_data(piece).await.is_err() {
            return;
        }
    }
}
