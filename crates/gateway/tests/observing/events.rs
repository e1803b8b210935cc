//! Events over a real socket.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use http::Request;
use serde_json::{Value, json};
use steersman_engine::Action;
use steersman_gateway::record::Recorder;
use steersman_gateway::{Config, Ended, Handle, PassThrough, Server};
use steersman_store::{Append, Head, NewEntry};
use steersman_upstream::Options;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message as Frame;

use crate::stage::{AT_MS, Stage, asked, decided, id, opened, replied};

/// No wait of a test takes longer; what does is a failure.
const PATIENCE: Duration = Duration::from_secs(30);

struct Gateway {
    stage: Stage,
    address: std::net::SocketAddr,
    handle: Handle,
    running: JoinHandle<Ended>,
}

async fn gateway() -> Gateway {
    let stage = Stage::new(None);
    let config = Config { listen: "127.0.0.1:0".parse().unwrap(), ..Config::default() };
    let options = Options::default();
    let server = Server::bind(config, Arc::new(PassThrough), &options, |_| None);
    let server = server.await.unwrap().with_api(stage.api.clone());
    let (address, handle) = (server.address(), server.handle());
    Gateway { stage, address, handle, running: tokio::spawn(server.run()) }
}

type Socket = WebSocketStream<TcpStream>;

impl Gateway {
    async fn follow(&self, query: &str) -> Socket {
        let stream = TcpStream::connect(self.address).await.unwrap();
        let request = Request::get(format!("ws://{}/api/events{query}", self.address))
            .header("host", self.address.to_string())
            .header("connection", "Upgrade")
            .header("upgrade", "websocket")
            .header("sec-websocket-version", "13")
            .header("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ==")
            .body(())
            .unwrap();
        tokio_tungstenite::client_async(request, stream).await.unwrap().0
    }

    async fn get(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        let request =
            format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut text = String::new();
        timeout(PATIENCE, stream.read_to_string(&mut text)).await.unwrap().unwrap();
        text
    }
}

/// The next message; null when the socket ends.
async fn next(socket: &mut Socket) -> Value {
    loop {
        match timeout(PATIENCE, socket.next()).await.unwrap() {
            Some(Ok(Frame::Text(text))) => return serde_json::from_str(&text).unwrap(),
            Some(Ok(Frame::Ping(_) | Frame::Pong(_))) => {}
            _ => return Value::Null,
        }
    }
}

async fn told(socket: &mut Socket, count: usize) -> Vec<String> {
    let mut told = Vec::new();
    for _ in 0..count {
        let event = next(socket).await;
        let of = |key: &str| event[key].as_str().unwrap_or("?").to_owned();
        told.push(format!("{} {} {}", of("session"), event["seq"], of("kind")));
    }
    told
}

#[tokio::test]
async fn a_session_is_followed_and_taken_up_again() {
    let gateway = gateway().await;
    let journal = Arc::clone(&gateway.stage.journal);
    journal.record("gw-1", AT_MS, &opened("x"));
    let mut all = gateway.follow("").await;
    let hello = json!({"type": "hello", "version": 1, "session": null});
    assert_eq!(next(&mut all).await, hello);
    journal.record("gw-1", AT_MS + 5, &asked(1));
    journal.record("gw-2", AT_MS + 5, &opened("y"));
    // Whether the first entry is told depends on when it was written; these are always.
    let mut missing = vec!["gw-1 2 asked".to_owned(), "gw-2 1 opened".to_owned()];
    while !missing.is_empty() {
        let line = told(&mut all, 1).await.remove(0);
        missing.retain(|one| *one != line);
        assert!(line.starts_with("gw-"), "{line}");
    }
    let mut one = gateway.follow("?session=gw-1&after=1").await;
    assert_eq!(next(&mut one).await["session"], "gw-1");
    assert_eq!(told(&mut one, 1).await, ["gw-1 2 asked"]);
    journal.record("gw-2", AT_MS + 6, &replied(&[]));
    journal.record("gw-1", AT_MS + 6, &decided(Action::Nudge));
    let event = next(&mut one).await;
    assert_eq!((&event["type"], &event["seq"]), (&json!("entry"), &json!(3)));
    assert_eq!(event["entry"]["action"], "nudge");
    drop(one);
    let mut again = gateway.follow("?session=gw-1&after=2").await;
    next(&mut again).await;
    assert_eq!(told(&mut again, 1).await, ["gw-1 3 decided"]);
    let mut since = gateway.follow(&format!("?since_ms={}", AT_MS + 6)).await;
    next(&mut since).await;
    let mut both = told(&mut since, 2).await;
    both.sort();
    assert_eq!(both, ["gw-1 3 decided", "gw-2 2 replied"]);

    gateway.handle.drain();
    assert_eq!(next(&mut again).await, Value::Null);
    let ended = timeout(PATIENCE, gateway.running).await.unwrap().unwrap();
    assert_eq!(ended, Ended { cut: 0 });
}

#[tokio::test]
async fn a_client_that_is_far_behind_is_told_how_much_it_missed() {
    let gateway = gateway().await;
    let store = &gateway.stage.store;
    store.create(&id("gw-1"), Head::default(), AT_MS).await.unwrap();
    let mut all = gateway.follow("").await;
    next(&mut all).await;
    let entry = |at_ms| NewEntry { at_ms, kind: "asked".to_owned(), body: "1".into() };
    store.append(&id("gw-1"), Append::new(0, vec![entry(AT_MS + 99)])).await.unwrap();
    assert_eq!(told(&mut all, 1).await, ["gw-1 1 asked"]);
    let many = vec![entry(AT_MS + 99); 3000];
    store.append(&id("gw-1"), Append::new(1, many)).await.unwrap();
    let missed = json!({"type": "missed", "session": "gw-1", "entries": 1976});
    assert_eq!(next(&mut all).await, missed);
    assert_eq!(told(&mut all, 1).await, ["gw-1 1978 asked"]);
    assert_eq!(told(&mut all, 1023).await.last().unwrap(), "gw-1 3001 asked");
}

#[tokio::test]
async fn sessions_are_told_as_they_stand_once_for_many_entries() {
    let gateway = gateway().await;
    let journal = Arc::clone(&gateway.stage.journal);
    let mut lines = gateway.follow("?tell=sessions").await;
    assert_eq!(next(&mut lines).await["type"], "hello");
    for turn in 1..=20 {
        journal.record("gw-1", AT_MS + turn, &replied(&["read"]));
    }
    let mut told = 0;
    loop {
        let line = next(&mut lines).await;
        assert_eq!((&line["type"], &line["session"]), (&json!("session"), &json!("gw-1")));
        told += 1;
        if line["turns"] == 20 {
            break;
        }
    }
    assert!(told < 20, "told {told} times");
    let mut since = gateway.follow(&format!("?tell=sessions&since_ms={AT_MS}")).await;
    next(&mut since).await;
    assert_eq!(next(&mut since).await["turns"], 20);
    let refused = gateway.get("/api/events?tell=sessions&session=gw-1").await;
    assert!(refused.starts_with("HTTP/1.1 400"), "{refused}");
}

#[tokio::test]
async fn the_server_answers_for_the_api() {
    let gateway = gateway().await;
    assert!(gateway.get("/readyz").await.contains("ready"));
    assert!(gateway.get("/api/sessions").await.ends_with(r#"{"sessions":[],"next":null}"#));
    assert!(gateway.get("/metrics").await.contains("steersman_journal_works 1"));
    let refused = gateway.get("/api/x").await;
    assert!(refused.starts_with("HTTP/1.1 404"), "{refused}");
}
