//! Upstreams that fail, and clients that leave.

use std::time::Duration;

use serde_json::{Value, json};
use steersman_gateway::{Config, Limits};
use steersman_scripted_server::{Reply, ScriptedServer};
use steersman_wire::Format;
use tokio::io::AsyncReadExt;
use tokio::net::TcpSocket;

use crate::support::{
    Gateway, call, client, config, error_of, nobody, ok, post, read, read_until, request, within,
};

const LONG: Duration = Duration::from_secs(3600);

/// Limits under which nothing but what a test sets is ever late.
fn patient() -> Limits {
    Limits { first_byte_timeout: LONG, between_bytes_timeout: LONG, ..Limits::default() }
}

async fn check_error(url: &str, limits: Limits, expected: [(u16, &str, Value); 4]) {
    let gateway = Gateway::start(Config { limits, ..config(url) }).await;
    for (format, (status, code, kind)) in Format::ALL.into_iter().zip(expected) {
        for stream in [false, true] {
            let (path, body) = call(format, stream);
            let got = post(&format!("{}{path}", gateway.url()), &[], &body).await;
            assert_eq!(error_of(format, &got), (status, code.to_owned(), kind.clone()), "{format}");
            assert!(got.whole);
        }
    }
}

#[tokio::test]
async fn servers_that_refuse_connections() {
    let code = "upstream_unreachable";
    let expected = [
        (502, code, json!(code)),
        (502, code, json!(code)),
        (502, code, json!("api_error")),
        (502, code, json!("UNAVAILABLE")),
    ];
    check_error(&nobody().await, patient(), expected).await;
}

#[tokio::test]
async fn servers_that_say_nothing() {
    let code = "upstream_timeout";
    let expected = [
        (504, code, json!(code)),
        (504, code, json!(code)),
        (504, code, json!("timeout_error")),
        (504, code, json!("DEADLINE_EXCEEDED")),
    ];
    let silent = Reply { delay: LONG, ..Reply::text("x") };
    let server = ScriptedServer::start(vec![silent; 16]).await.unwrap();
    let soon = Duration::from_millis(30);
    let limits = Limits { first_byte_timeout: soon, ..patient() };
    check_error(&server.base_url(), limits, expected.clone()).await;
    let limits = Limits { total_timeout: soon, ..patient() };
    check_error(&server.base_url(), limits, expected).await;
    // A question that is given up does not go on at the server. On a slow machine some are given up
    // before they are there.
    within(server.until(|now| now.requests > 0 && now.abandoned >= now.requests)).await;
}

#[tokio::test]
async fn formats_that_no_server_speaks() {
    let code = "no_upstream";
    let mut config = config("http://127.0.0.1:9");
    config.upstreams[0].formats = vec![Format::Anthropic];
    let gateway = Gateway::start(config).await;
    let (path, body) = call(Format::OpenAiChat, false);
    let got = post(&format!("{}{path}", gateway.url()), &[], &body).await;
    assert_eq!(error_of(Format::OpenAiChat, &got), (502, code.to_owned(), json!(code)));
}

/// What a client sees of an answer that breaks in the middle: the first half, and no end.
async fn check_broken(reply: Reply, limits: Limits) {
    for format in Format::ALL {
        for (stream, http2) in [(true, false), (false, false), (true, true)] {
            let whole = Reply { cut: false, stall: false, ..reply.clone() };
            let server = ScriptedServer::start(vec![reply.clone(), whole]).await.unwrap();
            let gateway = Gateway::start(Config { limits, ..config(&server.base_url()) }).await;
            let (path, body) = call(format, stream);
            let url = format!("{}{path}", gateway.url());
            let client = client(http2);
            let response = within(client.request(request(&url, &[], &body))).await.unwrap();
            let got = read(response).await;
            assert_eq!((got.status, got.whole), (200, false), "{format} {stream}");
            let whole = post(&url, &[], &body).await;
            assert!(whole.whole && whole.body.len() > got.body.len());
            assert!(got.body.len() >= whole.body.len() / 3, "{format} {stream} {got:?}");
        }
    }
}

#[tokio::test]
async fn a_cut_answer_is_cut_for_the_client_too() {
    let text = "A long enough text, in which the connection can break.";
    check_broken(Reply { cut: true, ..Reply::text(text) }, patient()).await;
}

#[tokio::test]
async fn an_answer_that_stalls_is_cut() {
    let text = "A long enough text, in which the server can fall silent.";
    let stalled = Reply { stall: true, ..Reply::text(text) };
    let soon = Duration::from_millis(50);
    check_broken(stalled.clone(), Limits { between_bytes_timeout: soon, ..patient() }).await;
    check_broken(stalled, Limits { total_timeout: soon * 4, ..patient() }).await;
}

#[tokio::test]
async fn a_hundred_megabytes_go_through() {
    let piece = vec![b'x'; 1 << 20];
    let long = Reply { repeat: 100, ..Reply::raw("application/json", piece) };
    let server = ScriptedServer::start(vec![long]).await.unwrap();
    let gateway = Gateway::start(config(&server.base_url())).await;
    let got = post(&format!("{}/v1/responses", gateway.url()), &[], "{}").await;
    assert_eq!((got.whole, got.body.len()), (true, 100 << 20));
}

#[tokio::test]
async fn what_a_client_does_not_take_is_not_read() {
    let piece = vec![b'x'; 1 << 20];
    let long = Reply { repeat: 200, ..Reply::raw("text/event-stream", piece) };
    let server = ScriptedServer::start(vec![long]).await.unwrap();
    let gateway = Gateway::start(config(&server.base_url())).await;
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(16 << 10).unwrap();
    let mut client = socket.connect(gateway.address).await.unwrap();
    let head = "POST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\
                connection: close\r\n\r\n{}";
    tokio::io::AsyncWriteExt::write_all(&mut client, head.as_bytes()).await.unwrap();
    // The machine's own buffers between three sockets take a few megabytes; the rest waits.
    let much = server.until(|now| now.sent > 50 << 20);
    let outcome = tokio::time::timeout(Duration::from_millis(700), much).await;
    assert!(outcome.is_err(), "{:?} were read for nobody", server.progress());
    let mut all = Vec::new();
    within(client.read_to_end(&mut all)).await.unwrap();
    assert!(all.len() > 200 << 20 && all.ends_with(b"\r\n0\r\n\r\n"), "{}", all.len());
}

#[tokio::test]
async fn a_client_that_leaves_ends_the_question() {
    let before_the_head = Reply { delay: LONG, ..Reply::text("x") };
    let in_the_middle = Reply { stall: true, ..Reply::text("A text in which the client leaves.") };
    for (reply, text) in [(before_the_head, ""), (in_the_middle, "data: ")] {
        let script = vec![reply.clone(), reply];
        let server = ScriptedServer::start(script).await.unwrap();
        let limits = patient();
        let gateway = Gateway::start(Config { limits, ..config(&server.base_url()) }).await;
        let body = r#"{"stream": true}"#;
        let head = format!(
            "POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        let mut stream = gateway.raw(head.as_bytes()).await;
        within(server.until(|now| now.requests == 1)).await;
        read_until(&mut stream, text).await;
        drop(stream);
        within(server.until(|now| now.abandoned == 1)).await;

        let url = format!("{}/v1/chat/completions", gateway.url());
        let asking = tokio::spawn(client(true).request(request(&url, &[], body)));
        within(server.until(|now| now.requests == 2)).await;
        if !text.is_empty() {
            let mut response = within(asking).await.unwrap().unwrap();
            assert_eq!(response.status(), ok());
            within(http_body_util::BodyExt::frame(response.body_mut())).await.unwrap().unwrap();
        } else {
            asking.abort();
        }
        within(server.until(|now| now.abandoned == 2)).await;
    }
}
