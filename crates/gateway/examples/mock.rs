//! A model server that says the same 374 bytes, to measure what stands in front of it. A header
//! `x-mock` has it say something else: see [`Wish`].
//!
//! `cargo run --release -p steersman-gateway --example mock -- 127.0.0.1:8899`

use std::convert::Infallible;
use std::error::Error;

use bytes::Bytes;
use futures::stream;
use http::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use http::{HeaderMap, Request, Response, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::{Frame as Piece, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use steersman_engine::StopReason;
use steersman_wire::{Answer, Format, Frame, Message, Part, Role, Tokens};
use tokio::net::TcpListener;

/// A short answer of Chat Completions, filled up to 374 bytes.
const ANSWER: &str = concat!(
    r#"{"id":"chatcmpl-1","object":"chat.completion","created":1700000000,"model":"mock","#,
    r#""choices":[{"index":0,"message":{"role":"assistant","content":"This is the answer that "#,
    r#"the mock gives to whatever it is asked, so that what is measured is the way and not the "#,
    r#"model at its end."},"finish_reason":"stop"}],"#,
    r#""usage":{"prompt_tokens":100,"completion_tokens":30,"total_tokens":130}}"#,
);

type Reply = Response<BoxBody<Bytes, std::io::Error>>;

/// What a request wants to be answered with, in its header `x-mock`.
enum Wish {
    /// `call ID ARGUMENTS`, `stream ID ARGUMENTS`: the model calls the tool `read`.
    Call { streams: bool, id: String, arguments: String },
    /// `cut`: a stream that breaks off.
    Cut,
    /// `status CODE`: an error, to be tried again after a second.
    Status(StatusCode),
    /// None of these.
    Usual,
}

impl Wish {
    fn of(headers: &HeaderMap) -> Self {
        let text = headers.get("x-mock").and_then(|value| value.to_str().ok()).unwrap_or_default();
        let mut words = text.splitn(3, ' ');
        let (kind, id) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let (id, arguments) = (id.to_owned(), words.next().unwrap_or("{}").to_owned());
        match kind {
            "call" => Self::Call { streams: false, id, arguments },
            "stream" => Self::Call { streams: true, id, arguments },
            "cut" => Self::Cut,
            "status" => id.parse().map_or(Self::Usual, Self::Status),
            _ => Self::Usual,
        }
    }
}

async fn answer(request: Request<Incoming>) -> Result<Reply, Infallible> {
    let wish = Wish::of(request.headers());
    let format = match request.uri().path() {
        path if path.contains("/messages") => Format::Anthropic,
        path if path.contains("/responses") => Format::OpenAiResponses,
        path if path.contains("/models/") => Format::Gemini,
        _ => Format::OpenAiChat,
    };
    // The request is read as a model server would.
    let _ = request.into_body().collect().await;
    Ok(match wish {
        Wish::Usual => reply("application/json", Bytes::from_static(ANSWER.as_bytes())),
        Wish::Status(status) => {
            let mut reply = reply("application/json", Bytes::from_static(b"{\"error\":{}}"));
            *reply.status_mut() = status;
            reply.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
            reply
        }
        Wish::Cut => {
            let pieces = [
                Ok(Piece::data(Bytes::from_static(b"data: {\"choices\":[]}\n\n"))),
                Err(std::io::Error::other("it was asked for")),
            ];
            let mut reply = reply("text/event-stream", Bytes::new());
            *reply.body_mut() = BodyExt::boxed(StreamBody::new(stream::iter(pieces)));
            reply
        }
        Wish::Call { streams, id, arguments } => {
            let answer = call(id, arguments);
            let frame =
                Frame { id: "mock-1", created_s: 1_700_000_000, model: "mock", usage_chunk: false };
            match streams {
                true => reply("text/event-stream", format.render_stream(&answer, &frame).into()),
                false => reply("application/json", format.render(&answer, &frame).into()),
            }
        }
    })
}

fn call(id: String, arguments: String) -> Answer {
    let call = Part::ToolCall { id, name: "read".to_owned(), arguments, raw: None };
    let parts = vec![Part::Text("I look at the next file.".to_owned()), call];
    Answer {
        message: Message { role: Role::Assistant, parts },
        stop: Some(StopReason::Stop),
        stop_word: None,
        usage: Tokens::default(),
        model: None,
        id: None,
        extra: serde_json::Map::new(),
    }
}

fn reply(kind: &'static str, body: Bytes) -> Reply {
    let body = Full::new(body).map_err(|never| match never {});
    let mut response = Response::new(body.boxed());
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:8899".to_owned());
    let listener = TcpListener::bind(address).await?;
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        tokio::spawn(
            http1::Builder::new().serve_connection(TokioIo::new(stream), service_fn(answer)),
        );
    }
}
