//! Whatever goes wrong has a message that says what.

use std::time::Duration;

use steersman_engine::retry::should_retry;
use steersman_scripted_server::{Reply, ScriptedServer};
use steersman_upstream::{
    Client, Deadlines, Endpoint, Failure, FailureKind, Format, Options, Request,
};
use steersman_wire::Message;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

async fn fail(endpoint: &Endpoint, stream: bool, deadlines: Deadlines) -> Failure {
    let messages = [Message::user("Go.")];
    let request = Request { stream, ..Request::new("m", &messages) };
    let client = Client::new(&Options::default()).unwrap();
    client.send(endpoint, &request, deadlines, |_| {}).await.unwrap_err()
}

/// What a reply of the script comes to: message, partial text, and whether it is tried again.
async fn outcome(format: Format, reply: Reply, stream: bool, deadlines: Deadlines) -> Outcome {
    let server = ScriptedServer::start(vec![reply]).await.unwrap();
    let endpoint = Endpoint::new(format, &server.base_url()).unwrap();
    let endpoint = endpoint.with_key("own-secret-key").unwrap();
    Outcome::of(&fail(&endpoint, stream, deadlines).await)
}

#[derive(Debug, PartialEq)]
struct Outcome {
    message: String,
    partial: String,
    retried: bool,
    retry_after_ms: Option<u64>,
}

impl Outcome {
    fn of(failure: &Failure) -> Self {
        let call = failure.call_failure();
        let partial = failure.partial.as_ref();
        Self {
            message: failure.to_string(),
            partial: partial.map(|answer| answer.message.text().into_owned()).unwrap_or_default(),
            retried: should_retry(call.stop, true, call.status, &call.message),
            retry_after_ms: call.retry_after_ms,
        }
    }
}

fn expected(message: &str, partial: &str, retried: bool, retry_after_ms: Option<u64>) -> Outcome {
    let (message, partial) = (message.to_owned(), partial.to_owned());
    Outcome { message, partial, retried, retry_after_ms }
}

#[tokio::test]
async fn errors_of_servers() {
    for format in Format::ALL {
        for stream in [true, false] {
            let check = async |reply: Reply, wanted: Outcome| {
                let found = outcome(format, reply, stream, Deadlines::default()).await;
                assert_eq!(found, wanted, "{format}, streamed: {stream}");
            };
            check(
                Reply::status(429).header("retry-after", "2"),
                expected("the rate limit was hit (HTTP 429): scripted 429", "", true, Some(2000)),
            )
            .await;
            check(
                Reply::status(503),
                expected("the model server is overloaded (HTTP 503): scripted 503", "", true, None),
            )
            .await;
            check(
                Reply { text: "bad key own-secret-key".into(), ..Reply::status(401) },
                expected(
                    "the model server refused the key (HTTP 401): bad key [key]",
                    "",
                    false,
                    None,
                ),
            )
            .await;
            let page = "<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>";
            check(
                Reply { status: 502, ..Reply::raw("text/html", page) },
                expected(
                    "the model server failed (HTTP 502): an HTML page, \"502 Bad Gateway\"",
                    "",
                    true,
                    None,
                ),
            )
            .await;
            check(
                Reply::raw("text/html", "<html><title>Sign in</title></html>"),
                expected(
                    "the model server sent something else than an answer: the body is not JSON \
                     (expected value at line 1 column 1): an HTML page, \"Sign in\"",
                    "",
                    false,
                    None,
                ),
            )
            .await;
            check(
                Reply::status(307).header("location", "https://elsewhere/v1"),
                expected(
                    "the model server knows no such address or model (HTTP 307): it redirects to \
                     https://elsewhere/v1; use that as the base URL if you trust it",
                    "",
                    false,
                    None,
                ),
            )
            .await;
        }
    }
}

#[tokio::test]
async fn streams_that_break() {
    let partial = "A long answer that is sent in";
    for format in Format::ALL {
        let text = "A long answer that is sent in many pieces, one after the other.";
        let cut = Reply { cut: true, ..Reply::text(text) };
        let found = outcome(format, cut, true, Deadlines::default()).await;
        assert!(found.message.starts_with("the answer was cut off: the connection"), "{found:?}");
        assert!(found.partial.starts_with("A long answer") && found.retried, "{format} {found:?}");
        let stall = Reply { pause: Duration::from_secs(3600), ..Reply::text(text) };
        let deadlines =
            Deadlines { between_bytes: Duration::from_millis(80), ..Deadlines::default() };
        let found = outcome(format, stall, true, deadlines).await;
        let message = "the model call timed out: timed out: nothing came for 80ms in the middle \
            of the answer";
        assert_eq!(found.message, message, "{format}");
        assert!(found.partial.starts_with(&partial[..13]) && found.retried, "{format} {found:?}");
    }
    let half = "data: {\"choices\":[{\"delta\":{\"content\":\"Half\"}}]}\n\n";
    let found = outcome(
        Format::OpenAiChat,
        Reply::raw("text/event-stream", half),
        true,
        Deadlines::default(),
    )
    .await;
    let message = "the answer was cut off: the connection closed before the answer was whole";
    assert_eq!(found, expected(message, "Half", true, None));
}

#[tokio::test]
async fn answers_that_do_not_come() {
    let slow = Reply { delay: Duration::from_secs(3600), ..Reply::text("late") };
    let first = Deadlines { first_byte: Duration::from_millis(80), ..Deadlines::default() };
    let found = outcome(Format::Gemini, slow.clone(), true, first).await;
    let message = "the model call timed out: timed out: no answer began within 80ms";
    assert_eq!(found, expected(message, "", true, None));
    let total = Deadlines { total: Duration::from_millis(80), ..Deadlines::default() };
    for stream in [true, false] {
        let found = outcome(Format::OpenAiChat, slow.clone(), stream, total).await;
        let message = "the model call timed out: timed out: the answer was not whole within 80ms";
        assert_eq!(found, expected(message, "", true, None));
    }
}

#[tokio::test]
async fn bodies_without_end() {
    let found = outcome(
        Format::OpenAiChat,
        Reply::raw("application/json", vec![b' '; 65 * 1024 * 1024]),
        false,
        Deadlines::default(),
    )
    .await;
    let message = "the model server sent something else than an answer: the answer is longer than \
        67108864 bytes";
    assert_eq!(found, expected(message, "", false, None));
    let line = [b"data: ".to_vec(), vec![b'x'; 17 * 1024 * 1024]].concat();
    let found = outcome(
        Format::Anthropic,
        Reply::raw("text/event-stream", line),
        true,
        Deadlines::default(),
    )
    .await;
    let message = "the model server sent something else than an answer: a line of the stream is \
        longer than 16777216 bytes";
    assert_eq!(found, expected(message, "", false, None));
    let error = Reply { status: 500, ..Reply::raw("text/plain", vec![b'e'; 1024 * 1024]) };
    let found = outcome(Format::OpenAiChat, error, true, Deadlines::default()).await;
    assert!(found.message.len() < 1100, "{}", found.message.len());
}

#[tokio::test]
async fn servers_that_are_not_there() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let endpoint = Endpoint::new(Format::OpenAiChat, &format!("http://{address}/v1")).unwrap();
    let failure = fail(&endpoint, true, Deadlines::default()).await;
    let message = format!(
        "the model server was not reached: http://{address}/v1: no connection: Connection refused \
         (os error 111)"
    );
    assert_eq!(Outcome::of(&failure), expected(&message, "", true, None));
    assert_eq!(failure.kind, FailureKind::Unreachable);
}

/// A server that speaks no HTTP, and one that hangs up.
#[tokio::test]
async fn servers_that_are_something_else() {
    for greeting in [&b"220 mail ready\r\n"[..], b""] {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let server = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = [0; 64];
            let _ = stream.read(&mut request).await;
            let _ = stream.write_all(greeting).await;
        });
        let endpoint = Endpoint::new(Format::OpenAiChat, &format!("http://{address}")).unwrap();
        let failure = fail(&endpoint, false, Deadlines::default()).await;
        assert_eq!(failure.kind, FailureKind::Unreachable, "{failure}");
        assert!(failure.message.contains("closed before an answer began"), "{failure}");
        server.await.unwrap();
    }
}

/// https to a server without it; also shows that the TLS stack is there.
#[tokio::test]
async fn servers_without_tls() {
    let server = ScriptedServer::start(Vec::new()).await.unwrap();
    let address = server.base_url().replace("http://", "https://");
    let endpoint = Endpoint::new(Format::Anthropic, &address).unwrap();
    let failure = fail(&endpoint, true, Deadlines::default()).await;
    assert_eq!(failure.kind, FailureKind::Unreachable, "{failure}");
    assert!(server.requests().is_empty());
}
