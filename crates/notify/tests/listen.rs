//! Clients over real loopback connections.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::{SinkExt, StreamExt};
use http::{HeaderMap, Method, Request, Response};
use hyper::body::Incoming;
use serde_json::{Value, json};
use steersman_agent::{
    AgentSetup, Attempt, CheckCause, CheckFinished, Checkpointed, Ended, Ending, Entry, Opened,
    Replied, ToolFinished, VERSION, to_stored,
};
use steersman_engine::{Policy, TestReport, Usage};
use steersman_notify::{Beside, Door, Feed, Later, ListenError, QUEUE, Serving};
use steersman_store::{Append, Head, MemoryStore, SessionId, Store};
use steersman_wire::{Message, Part, Role, ToolSpec};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::sync::Notify;
use tokio_tungstenite::tungstenite::Message as Frame;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::{WebSocketStream, client_async};

/// Far beyond what anything here takes; only a hang reaches it.
const PATIENCE: Duration = Duration::from_secs(60);

const BEGIN_MS: u64 = 1_700_000_000_000;

struct Stage {
    store: Arc<dyn Store>,
    id: SessionId,
    seq: u64,
}

impl Stage {
    async fn new() -> Self {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
        let id: SessionId = "test".parse().unwrap();
        store.create(&id, Head::default(), BEGIN_MS).await.unwrap();
        Self { store, id, seq: 0 }
    }

    async fn write(&mut self, entries: &[Entry]) {
        for entry in entries {
            let stored = to_stored(BEGIN_MS + self.seq * 100, entry).unwrap();
            let append = Append::new(self.seq, vec![stored]);
            self.seq = self.store.append(&self.id, append).await.unwrap();
        }
    }

    async fn serve(&self, queue: usize) -> (Serving, String) {
        let door = Door::open("127.0.0.1:0".parse().unwrap()).await.unwrap();
        let address = door.address().to_string();
        let feed = Feed::follow(Arc::clone(&self.store), self.id.clone(), queue);
        (door.serve(feed, None), address)
    }
}

fn tool(name: &str) -> ToolSpec {
    let parameters = json!({"type": "object"});
    ToolSpec { name: name.to_owned(), description: String::new(), parameters }
}

fn opened() -> Entry {
    let agent = AgentSetup {
        name: "coder".to_owned(),
        model: "a-model".to_owned(),
        tools: vec![tool("read"), tool("report_progress")],
        ..AgentSetup::default()
    };
    Entry::Opened(Box::new(Opened {
        version: VERSION,
        program: "test".to_owned(),
        agent,
        workspace: None,
        check: Some("make test".to_owned()),
        policy: Box::new(Policy::default()),
        interactive: false,
        others: Vec::new(),
        extra: Value::Null,
    }))
}

fn spoke(text: &str) -> Entry {
    Entry::Spoke { text: text.to_owned() }
}

fn replied() -> Entry {
    let call = |id: &str, name: &str, arguments: Value| Part::ToolCall {
        id: id.to_owned(),
        name: name.to_owned(),
        arguments: arguments.to_string(),
        raw: None,
    };
    let progress = json!({"status": "continue", "reason": "it goes well",
        "progress": {"current_step": 2, "total_steps": 5, "completion_percentage": 40}});
    let parts = vec![
        Part::Text("I look.".to_owned()),
        call("1", "read", json!({"path": "a"})),
        call("2", "report_progress", progress),
    ];
    Entry::Replied(Box::new(Replied {
        message: Message { role: Role::Assistant, parts },
        stop: None,
        usage: Usage { input_tokens: 1000, output_tokens: 50, cost_nanodollars: 2_500_000 },
        cached_tokens: 800,
        model: None,
    }))
}

fn finished(call_id: &str) -> Entry {
    let (call_id, content) = (call_id.to_owned(), "text".to_owned());
    let is_error = Some(false);
    let result = ToolFinished { call_id, content, is_error, took_ms: 7, ..Default::default() };
    Entry::ToolFinished(Box::new(result))
}

/// A journal with most of what is told. The decisions are those of the session itself.
fn journal() -> Vec<Entry> {
    let checked = CheckFinished {
        cause: CheckCause::Due,
        passed: false,
        exit_code: Some(1),
        tests: Some(TestReport { passed: 6, failed: 2, ..TestReport::default() }),
        excerpt: "2 failed".to_owned(),
        took_ms: 90,
    };
    let kept = Checkpointed {
        number: 1,
        id: "state".to_owned(),
        label: "before the run".to_owned(),
        skipped: Vec::new(),
    };
    let attempt = Attempt {
        number: 1,
        turns: 1,
        reason: "it leads nowhere".to_owned(),
        next: "something else".to_owned(),
        kept: "refs/kept".to_owned(),
        restored: 1,
        ..Attempt::default()
    };
    vec![
        opened(),
        spoke("Make it work."),
        Entry::Checkpointed(kept),
        Entry::CallStarted,
        replied(),
        Entry::ToolStarted { call_id: "1".to_owned() },
        finished("1"),
        finished("2"),
        Entry::TurnEnded,
        Entry::CheckStarted { cause: CheckCause::Due },
        Entry::CheckFinished(Box::new(checked)),
        Entry::WaitStarted { until_ms: BEGIN_MS + 5000 },
        Entry::WaitEnded,
        Entry::StartedOver(Box::new(attempt)),
        Entry::StopRequested { who: "somebody".to_owned() },
        Entry::Ended(Box::new(Ended {
            ending: Ending::Stopped,
            why: "somebody asked for it".to_owned(),
            answer: String::new(),
        })),
    ]
}

type Client = WebSocketStream<TcpStream>;

async fn connect(address: &str, query: &str, origin: Option<&str>) -> Result<Client, u16> {
    let stream = TcpStream::connect(address).await.unwrap();
    connect_over(stream, address, query, origin).await
}

async fn connect_over(
    stream: TcpStream,
    address: &str,
    query: &str,
    origin: Option<&str>,
) -> Result<Client, u16> {
    use tokio_tungstenite::tungstenite::Error;
    let mut request = format!("ws://{address}/{query}").into_client_request().unwrap();
    if let Some(origin) = origin {
        request.headers_mut().insert("origin", origin.parse().unwrap());
    }
    match client_async(request, stream).await {
        Ok((client, _)) => Ok(client),
        Err(Error::Http(response)) => Err(response.status().as_u16()),
        Err(error) => panic!("{error}"),
    }
}

async fn next(client: &mut Client) -> String {
    loop {
        match client.next().await.unwrap().unwrap() {
            Frame::Text(text) => return text.to_string(),
            Frame::Close(frame) => panic!("{frame:?}"),
            _ => {}
        }
    }
}

/// What is told from now on, and the code and reason of the end.
async fn rest(client: &mut Client) -> (Vec<String>, (u16, String)) {
    let mut told = Vec::new();
    loop {
        match client.next().await.unwrap().unwrap() {
            Frame::Text(text) => told.push(text.to_string()),
            Frame::Close(frame) => {
                let frame = frame.unwrap();
                return (told, (frame.code.into(), frame.reason.to_string()));
            }
            _ => {}
        }
    }
}

fn seqs(told: &[String]) -> Vec<u64> {
    let read = |text: &String| serde_json::from_str::<Value>(text).unwrap()["seq"].as_u64();
    told.iter().map(|text| read(text).unwrap()).collect()
}

fn play(work: impl Future<Output = ()>) {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    let runtime = builder.worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async { tokio::time::timeout(PATIENCE, work).await.unwrap() });
}

fn over() -> (u16, String) {
    (1000, "nothing more comes".to_owned())
}

#[test]
fn messages_are_as_documented() {
    play(async {
        let mut stage = Stage::new().await;
        let (serving, address) = stage.serve(QUEUE).await;
        let mut client = connect(&address, "", None).await.unwrap();
        let mut told = vec![next(&mut client).await];
        stage.write(&journal()).await;
        serving.close().await;
        let (events, end) = rest(&mut client).await;
        told.extend(events);
        assert_eq!(end, over());

        let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/progress.jsonl");
        let fresh = told.join("\n") + "\n";
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::write(golden, &fresh).unwrap();
        }
        let known = std::fs::read_to_string(golden).unwrap();
        assert!(
            fresh == known,
            "{golden} differs: UPDATE_GOLDEN=1 cargo test -p steersman-notify\n{fresh}"
        );
    });
}

#[test]
fn a_client_that_comes_back_misses_nothing() {
    play(async {
        let mut stage = Stage::new().await;
        let (serving, address) = stage.serve(QUEUE).await;
        let mut first = connect(&address, "", Some("http://localhost:3000")).await.unwrap();
        let hello = next(&mut first).await;
        assert_eq!(seqs(&[hello]), [0]);
        let entries = journal();
        stage.write(&entries[..6]).await;
        let mut live = Vec::new();
        for _ in 0..5 {
            live.push(next(&mut first).await);
        }

        let mut second = connect(&address, "?after=2", None).await.unwrap();
        let hello: Value = serde_json::from_str(&next(&mut second).await).unwrap();
        assert_eq!((&hello["seq"], &hello["progress"]["turn"]), (&json!(6), &json!(1)));
        assert_eq!(hello["progress"]["claimed"], json!({"percent": 40.0, "step": 2, "steps": 5}));
        stage.write(&entries[6..]).await;
        serving.close().await;
        let (told, end) = rest(&mut first).await;
        live.extend(told);
        let (again, end_again) = rest(&mut second).await;
        assert_eq!((end, end_again), (over(), over()));
        assert_eq!(again, live[2..], "what is told later is what was told at once");
        let expected = [1, 2, 4, 5, 6, 7, 8, 10, 11, 12, 13, 14, 15, 16];
        assert_eq!(seqs(&live), expected);
    });
}

#[test]
fn a_slow_client_is_sent_away_and_the_others_are_told() {
    play(async {
        let mut stage = Stage::new().await;
        stage.write(&[opened()]).await;
        let (serving, address) = stage.serve(64).await;
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(65_536).unwrap();
        let stream = socket.connect(address.parse().unwrap()).await.unwrap();
        let mut slow = connect_over(stream, &address, "?after=0", None).await.unwrap();
        let mut quick = connect(&address, "?after=0", None).await.unwrap();
        let before = [next(&mut quick).await, next(&mut quick).await];
        assert!(seqs(&before[1..]) == [1]);
        let long = "x".repeat(4000);
        // More than what the sockets hold between the two ends.
        for batch in 0..50 {
            stage.write(&vec![spoke(&long); 32]).await;
            for at in 0..32 {
                assert_eq!(seqs(&[next(&mut quick).await]), [batch * 32 + at + 2]);
            }
        }
        let (told, (code, reason)) = rest(&mut slow).await;
        assert_eq!(code, 1013, "{reason}");
        let last = *seqs(&told).last().unwrap();
        assert_eq!(reason, format!("too slow: go on with ?after={last}"));
        let mut back = connect(&address, &format!("?after={last}"), None).await.unwrap();
        serving.close().await;
        let (told, end) = rest(&mut back).await;
        assert_eq!(end, over());
        assert_eq!(seqs(&told)[1..], (last + 1..=1601).collect::<Vec<_>>());
    });
}

#[test]
fn what_clients_send_is_bounded() {
    play(async {
        let stage = Stage::new().await;
        let (_serving, address) = stage.serve(QUEUE).await;
        let mut client = connect(&address, "", None).await.unwrap();
        next(&mut client).await;
        client.send(Frame::text("hello")).await.unwrap();
        client.send(Frame::text("x".repeat(5000))).await.unwrap();
        let (_, (code, _)) = rest(&mut client).await;
        assert_eq!(code, 1009);
    });
}

async fn get(address: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

#[test]
fn strangers_are_not_let_in() {
    play(async {
        for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:7077"] {
            let refused = Door::open(address.parse().unwrap()).await.unwrap_err();
            assert!(matches!(refused, ListenError::Open(_)), "{refused}");
            assert!(refused.to_string().contains("no access control"), "{refused}");
        }
        let stage = Stage::new().await;
        let (_serving, address) = stage.serve(QUEUE).await;
        for origin in ["https://example.com", "null"] {
            assert_eq!(connect(&address, "", Some(origin)).await.err(), Some(403), "{origin}");
        }
        assert_eq!(connect(&address, "?after=x", None).await.err(), Some(400));
        assert_eq!(connect(&address, "other", None).await.err(), Some(404));
        let answer = get(&address, "/").await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        assert!(answer.contains("the progress of session test"), "{answer}");
        assert!(get(&address, "/x").await.starts_with("HTTP/1.1 404"));

        let mut clients = Vec::new();
        for _ in 0..steersman_notify::MAX_CLIENTS {
            clients.push(connect(&address, "", None).await.unwrap());
        }
        assert_eq!(connect(&address, "", None).await.err(), Some(503));
    });
}

/// Answers `/room`, and says when the door wants to close.
struct Room {
    leaving: Notify,
    left: Notify,
}

impl Beside for Room {
    fn wants(&self, _: &Method, path: &str, _: &HeaderMap) -> bool {
        path == "/room"
    }

    fn answer(&self, request: Request<Incoming>) -> Later<'_, Response<Bytes>> {
        Box::pin(async move { Response::new(Bytes::from(format!("the {}", request.uri()))) })
    }

    fn leave(&self) -> Later<'_, ()> {
        self.leaving.notify_one();
        Box::pin(self.left.notified())
    }
}

#[test]
fn what_is_beside_is_answered_until_it_has_left() {
    play(async {
        let stage = Stage::new().await;
        let door = Door::open("127.0.0.1:0".parse().unwrap()).await.unwrap();
        let address = door.address().to_string();
        let room = Arc::new(Room { leaving: Notify::new(), left: Notify::new() });
        let feed = Feed::follow(Arc::clone(&stage.store), stage.id.clone(), QUEUE);
        let serving = door.serve(feed, Some(Arc::clone(&room) as Arc<dyn Beside>));
        assert!(get(&address, "/room").await.ends_with("\r\n\r\nthe /room"));
        assert!(get(&address, "/").await.contains("progress of session test"));
        assert!(get(&address, "/elsewhere").await.starts_with("HTTP/1.1 404 "));
        let mut stranger = TcpStream::connect(&address).await.unwrap();
        let request = b"GET /room HTTP/1.1\r\nhost: evil.example\r\nconnection: close\r\n\r\n";
        stranger.write_all(request).await.unwrap();
        let mut answer = String::new();
        stranger.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 403 "), "{answer}");

        // A browser keeps its connections; nobody waits for what it may ask on them.
        let mut idle = TcpStream::connect(&address).await.unwrap();
        let request = format!("GET /room HTTP/1.1\r\nhost: {address}\r\n\r\n");
        idle.write_all(request.as_bytes()).await.unwrap();
        let mut first = [0; 12];
        idle.read_exact(&mut first).await.unwrap();
        assert_eq!(&first, b"HTTP/1.1 200");
        let closing = tokio::spawn(serving.close());
        room.leaving.notified().await;
        assert!(get(&address, "/room").await.ends_with("the /room"));
        room.left.notify_one();
        closing.await.unwrap();
        let mut rest = String::new();
        idle.read_to_string(&mut rest).await.unwrap();
        assert!(TcpStream::connect(&address).await.is_err());
    });
}
