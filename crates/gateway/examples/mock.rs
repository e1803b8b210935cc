//! A model server that always says the same 374 bytes, to measure what stands in front of it.
//!
//! `cargo run --release -p steersman-gateway --example mock -- 127.0.0.1:8899`

use std::convert::Infallible;
use std::error::Error;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

/// A short answer of Chat Completions, filled up to 374 bytes.
const ANSWER: &str = concat!(
    r#"{"id":"chatcmpl-1","object":"chat.completion","created":1700000000,"model":"mock","#,
    r#""choices":[{"index":0,"message":{"role":"assistant","content":"This is the answer that "#,
    r#"the mock gives to whatever it is asked, so that what is measured is the way and not the "#,
    r#"model at its end."},"finish_reason":"stop"}],"#,
    r#""usage":{"prompt_tokens":100,"completion_tokens":30,"total_tokens":130}}"#,
);

async fn answer(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    // The request is read as a model server would.
    let _ = request.into_body().collect().await;
    let mut response = Response::new(Full::new(Bytes::from_static(ANSWER.as_bytes())));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(response)
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
