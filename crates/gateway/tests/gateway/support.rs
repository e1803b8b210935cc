//! A gateway under test, and clients that ask it.

use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::Value;
use steersman_gateway::{Config, Ended, Governor, Handle, PassThrough, Server, Upstream};
use steersman_upstream::Options;
use steersman_wire::Format;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// No wait of a test takes longer; what does is a failure.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// A gateway under test. It ends with the runtime of its test.
pub(crate) struct Gateway {
    pub(crate) address: SocketAddr,
    pub(crate) handle: Handle,
    pub(crate) running: JoinHandle<Ended>,
}

/// The defaults, on a free port, with one server for every format.
pub(crate) fn config(upstream: &str) -> Config {
    Config {
        listen: "127.0.0.1:0".parse().unwrap(),
        upstreams: vec![Upstream::for_all(upstream).unwrap()],
        ..Config::default()
    }
}

pub(crate) fn no_variable(_: &str) -> Option<String> {
    None
}

impl Gateway {
    pub(crate) async fn start(config: Config) -> Self {
        Self::governed(config, Arc::new(PassThrough)).await
    }

    pub(crate) async fn governed(config: Config, governor: Arc<dyn Governor>) -> Self {
        let options = Options::default();
        let server = Server::bind(config, governor, &options, no_variable).await.unwrap();
        Self::of(server)
    }

    /// On threads of its own, as `steersman serve` has them.
    pub(crate) fn of(server: Server) -> Self {
        let server = server.with_threads(const { NonZeroUsize::new(2).unwrap() }).unwrap();
        let (address, handle) = (server.address(), server.handle());
        Self { address, handle, running: tokio::spawn(server.run()) }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// A connection of its own, on which bytes are sent as they are.
    pub(crate) async fn raw(&self, bytes: &[u8]) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(bytes).await.unwrap();
        stream
    }
}

/// What came back.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Got {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    /// Whether the answer came to its end.
    pub(crate) whole: bool,
}

impl Got {
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

pub(crate) fn client(http2: bool) -> Client<HttpConnector, Full<Bytes>> {
    Client::builder(TokioExecutor::new()).http2_only(http2).build_http()
}

pub(crate) fn request(url: &str, headers: &[(&str, &str)], body: &str) -> Request<Full<Bytes>> {
    let mut request = Request::post(url).header("content-type", "application/json");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(Full::new(Bytes::from(body.to_owned()))).unwrap()
}

/// Reads an answer to its end, or to where it breaks.
pub(crate) async fn read(response: Response<Incoming>) -> Got {
    let (head, mut body) = response.into_parts();
    let mut bytes = Vec::new();
    let mut whole = true;
    while let Some(frame) = within(body.frame()).await {
        match frame {
            Ok(frame) => bytes.extend_from_slice(frame.data_ref().unwrap_or(&Bytes::new())),
            Err(_) => {
                whole = false;
                break;
            }
        }
    }
    let (status, headers) = (head.status.as_u16(), head.headers);
    Got { status, headers, body: Bytes::from(bytes), whole }
}

pub(crate) async fn send(request: Request<Full<Bytes>>) -> Got {
    read(within(client(false).request(request)).await.unwrap()).await
}

/// Posts a body to an address.
pub(crate) async fn post(url: &str, headers: &[(&str, &str)], body: &str) -> Got {
    send(request(url, headers, body)).await
}

pub(crate) async fn get(url: &str, headers: &[(&str, &str)]) -> Got {
    let mut request = request(url, headers, "");
    *request.method_mut() = Method::GET;
    send(request).await
}

pub(crate) async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, future).await.unwrap()
}

/// Everything that comes until the other side ends the connection, or breaks it.
pub(crate) async fn to_end(stream: &mut TcpStream) -> String {
    let mut all = Vec::new();
    let _ = within(stream.read_to_end(&mut all)).await;
    String::from_utf8_lossy(&all).into_owned()
}

/// Reads until a text has come.
pub(crate) async fn read_until(stream: &mut TcpStream, text: &str) -> String {
    let mut all = Vec::new();
    while !String::from_utf8_lossy(&all).contains(text) {
        let mut bytes = [0; 4096];
        let length = within(stream.read(&mut bytes)).await.unwrap();
        assert!(length > 0, "the end came before {text:?}: {}", String::from_utf8_lossy(&all));
        all.extend_from_slice(&bytes[..length]);
    }
    String::from_utf8_lossy(&all).into_owned()
}

/// Sends bytes, reads until a text has come, and leaves.
pub(crate) async fn raw_until(gateway: &Gateway, bytes: &str, text: &str) {
    let mut stream = gateway.raw(bytes.as_bytes()).await;
    read_until(&mut stream, text).await;
}

/// A server that reads the head of one request, answers with bytes, and ends the connection; what
/// it read comes out.
pub(crate) async fn one_answer(answer: &'static [u8]) -> (String, JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let server = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let head = read_until(&mut stream, "\r\n\r\n").await;
        stream.write_all(answer).await.unwrap();
        head
    });
    (url, server)
}

/// An address at which nothing listens.
pub(crate) async fn nobody() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    format!("http://{}", listener.local_addr().unwrap())
}

/// The path of a call, and a body for it.
pub(crate) fn call(format: Format, stream: bool) -> (&'static str, String) {
    let body = format!(r#"{{"model": "m", "stream": {stream}, "n": 1.0, "text": "é\u00e9"}}"#);
    match (format, stream) {
        (Format::OpenAiChat, _) => ("/v1/chat/completions", body),
        (Format::OpenAiResponses, _) => ("/v1/responses", body),
        (Format::Anthropic, _) => ("/v1/messages?beta=true", body),
        (Format::Gemini, false) => ("/v1beta/models/m:generateContent", "{}".to_owned()),
        (Format::Gemini, true) => {
            ("/v1beta/models/m:streamGenerateContent?alt=sse", "{}".to_owned())
        }
    }
}

/// The message of an error, where the format puts it.
pub(crate) fn error_of(format: Format, got: &Got) -> (u16, String, Value) {
    let body = got.json();
    let kind = match format {
        Format::OpenAiChat | Format::OpenAiResponses => &body["error"]["code"],
        Format::Anthropic => &body["error"]["type"],
        Format::Gemini => &body["error"]["status"],
    };
    assert!(body["error"]["message"].as_str().unwrap().starts_with("steersman: "), "{body}");
    (got.status, got.header("x-steersman-error").to_owned(), kind.clone())
}

pub(crate) fn ok() -> StatusCode {
    StatusCode::OK
}
