//! Clients that send too much, too slowly, or nonsense.

use std::time::Duration;

use serde_json::json;
use steersman_gateway::{Config, Limits};
use steersman_scripted_server::{Reply, ScriptedServer};
use steersman_wire::Format;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::support::{Gateway, call, config, error_of, post, read_until, to_end, within};

const SOON: Duration = Duration::from_millis(40);

/// How many requests of garbage are sent. The demand is that 10,000 do no harm; so many that the
/// test is quick show the same.
const GARBAGE: usize = 400;

async fn limited(limits: Limits, replies: usize) -> (ScriptedServer, Gateway) {
    let server = ScriptedServer::start(vec![Reply::text("hello"); replies]).await.unwrap();
    let gateway = Gateway::start(Config { limits, ..config(&server.base_url()) }).await;
    (server, gateway)
}

#[tokio::test]
async fn bodies_that_are_too_long() {
    let limits = Limits { max_body_bytes: 2000, ..Limits::default() };
    let (server, gateway) = limited(limits, 0).await;
    let kinds = [
        json!("body_too_large"),
        json!("body_too_large"),
        json!("request_too_large"),
        json!("INVALID_ARGUMENT"),
    ];
    for (format, kind) in Format::ALL.into_iter().zip(kinds) {
        let (path, _) = call(format, false);
        let url = format!("{}{path}", gateway.url());
        for length in [2001, 7000, 1_000_000] {
            let got = post(&url, &[], &"x".repeat(length)).await;
            let expected = (413, "body_too_large".to_owned(), kind.clone());
            assert_eq!(error_of(format, &got), expected, "{format} {length}");
        }
        let chunk = "x".repeat(1500);
        let text = format!(
            "POST {path} HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\
             connection: close\r\n\r\n5dc\r\n{chunk}\r\n5dc\r\n{chunk}\r\n0\r\n\r\n"
        );
        let answer = to_end(&mut gateway.raw(text.as_bytes()).await).await;
        assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
    }
    assert_eq!(server.requests().len(), 0);
}

#[tokio::test]
async fn more_than_may_be_held_altogether() {
    let limits = Limits { max_held_bytes: 1000, ..Limits::default() };
    let (_server, gateway) = limited(limits, 2).await;
    let url = format!("{}/v1/messages", gateway.url());
    for (length, expected) in [(1001, 503), (1000, 200), (1001, 503), (1000, 200)] {
        assert_eq!(post(&url, &[], &"x".repeat(length)).await.status, expected, "{length}");
    }
}

#[tokio::test]
async fn heads_that_are_too_long() {
    let limits = Limits { max_header_bytes: 8192, ..Limits::default() };
    let (_server, gateway) = limited(limits, 0).await;
    for head in [
        format!("GET / HTTP/1.1\r\nx: {}\r\n\r\n", "y".repeat(9000)),
        format!("GET / HTTP/1.1\r\n{}\r\n", "x: y\r\n".repeat(150)),
    ] {
        let answer = to_end(&mut gateway.raw(head.as_bytes()).await).await;
        assert!(answer.starts_with("HTTP/1.1 431 "), "{answer:?}");
    }
}

#[tokio::test]
async fn heads_that_do_not_come() {
    let limits = Limits { header_timeout: SOON, idle_timeout: SOON, ..Limits::default() };
    let (_server, gateway) = limited(limits, 2).await;
    for (sent, expected) in [
        ("", ""),
        ("P", "408"),
        ("POST /v1/mess", "408"),
        ("POST /v1/messages HTTP/1.1\r\nhost: x\r\nx-a: ", "408"),
        ("PRI * HT", ""),
    ] {
        let answer = to_end(&mut gateway.raw(sent.as_bytes()).await).await;
        let status = answer.get(9..12).unwrap_or_default();
        assert_eq!(status, expected, "{sent:?} {answer:?}");
        assert_eq!(answer.contains("header_timeout"), !expected.is_empty());
    }
    // Between requests a connection ends without a word.
    let request = "GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n";
    let answer = to_end(&mut gateway.raw(request.as_bytes()).await).await;
    assert!(answer.ends_with("\r\n\r\n{\"status\":\"ok\"}"), "{answer}");
    // What has begun anew is a head again.
    let answer = to_end(&mut gateway.raw(format!("{request}GET").as_bytes()).await).await;
    assert!(answer.contains("{\"status\":\"ok\"}"), "{answer}");
}

#[tokio::test]
async fn a_long_answer_is_no_slow_head() {
    let limits = Limits { header_timeout: SOON, idle_timeout: SOON, ..Limits::default() };
    let slow = Reply { pause: SOON * 5, ..Reply::text("hello") };
    let server = ScriptedServer::start(vec![slow]).await.unwrap();
    let gateway = Gateway::start(Config { limits, ..config(&server.base_url()) }).await;
    let got = post(&format!("{}/v1/messages", gateway.url()), &[], "{}").await;
    assert!(got.whole && got.text().contains("hello"), "{got:?}");
}

#[tokio::test]
async fn bodies_that_do_not_come() {
    let limits = Limits { body_timeout: SOON, ..Limits::default() };
    let (server, gateway) = limited(limits, 0).await;
    for format in Format::ALL {
        let (path, _) = call(format, false);
        let head = format!("POST {path} HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n{{");
        let answer = to_end(&mut gateway.raw(head.as_bytes()).await).await;
        assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
        assert!(answer.contains("x-steersman-error: body_timeout\r\n"), "{answer}");
    }
    assert_eq!(server.requests().len(), 0);
}

#[tokio::test]
async fn clients_that_do_not_read() {
    let limits = Limits { write_timeout: SOON, ..Limits::default() };
    let piece = vec![b'x'; 1 << 20];
    let long = Reply { repeat: 100, ..Reply::raw("text/event-stream", piece) };
    let server = ScriptedServer::start(vec![long]).await.unwrap();
    let gateway = Gateway::start(Config { limits, ..config(&server.base_url()) }).await;
    let head = "POST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{}";
    let _stream = gateway.raw(head.as_bytes()).await;
    within(server.until(|now| now.abandoned == 1)).await;
}

#[tokio::test]
async fn no_more_connections_than_allowed() {
    let limits = Limits { max_connections: 2, ..Limits::default() };
    let (_server, gateway) = limited(limits, 0).await;
    let request = b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n";
    let mut first = gateway.raw(request).await;
    read_until(&mut first, "ok").await;
    let mut second = gateway.raw(request).await;
    read_until(&mut second, "ok").await;
    let mut third = gateway.raw(request).await;
    let mut byte = [0];
    let waited = tokio::time::timeout(SOON * 3, third.read(&mut byte)).await;
    assert!(waited.is_err(), "a third connection was served");
    drop(first);
    read_until(&mut third, "ok").await;
}

/// Numbers that look random and are the same in every run of the test.
fn numbers() -> impl FnMut() -> usize {
    let mut state: u64 = 0x5eed_0f57_ee25_ba11;
    move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 40).unwrap()
    }
}

/// A request that is nearly right, or nothing like one.
fn garbage(next: &mut impl FnMut() -> usize) -> Vec<u8> {
    let bodies = ["", "{}", "{\"messages\": [", "[[[[[[[[", "\u{0}\u{ffff}", "{\"model\": 1e999}"];
    let body = bodies[next() % bodies.len()];
    let (path, _) = call(Format::ALL[next() % 4], next().is_multiple_of(2));
    let method = ["POST", "GET", "PRI", "\u{1}", "POST POST"][next() % 5];
    let length = [body.len(), 0, 5, 999_999_999_999][next() % 4];
    let extra = ["", "transfer-encoding: chunked\r\n", "content-length: 1\r\n", ": x\r\n", "x\r\n"];
    let extra = extra[next() % extra.len()];
    let text = format!(
        "{method} {path} HTTP/1.1\r\nhost: x\r\n{extra}content-length: {length}\r\n\r\n{body}"
    );
    let mut bytes = text.into_bytes();
    for _ in 0..next() % 4 {
        let at = next() % bytes.len();
        bytes[at] = u8::try_from(next() % 256).unwrap();
    }
    if next().is_multiple_of(3) {
        bytes.truncate(next() % bytes.len());
    }
    if next().is_multiple_of(8) {
        bytes = (0..next() % 300).map(|_| u8::try_from(next() % 256).unwrap()).collect();
    }
    bytes
}

#[tokio::test]
async fn garbage_does_no_harm() {
    let (_server, gateway) = limited(Limits::default(), GARBAGE).await;
    let mut next = numbers();
    for _ in 0..GARBAGE {
        let bytes = garbage(&mut next);
        let mut stream = gateway.raw(b"").await;
        // The other side may have seen enough before it is all sent.
        let _ = stream.write_all(&bytes).await;
        let _ = stream.shutdown().await;
        let answer = to_end(&mut stream).await;
        assert!(
            answer.is_empty() || answer.starts_with("HTTP/1.") || answer.starts_with('\0'),
            "{answer:?} to {:?}",
            String::from_utf8_lossy(&bytes)
        );
    }
    let url = format!("{}/healthz", gateway.url());
    assert_eq!(crate::support::get(&url, &[]).await.status, 200);
}
