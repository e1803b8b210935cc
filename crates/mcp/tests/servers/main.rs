//! Servers of all kinds, each a process of its own: the program starts itself as `serve KIND`.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

mod bad;
mod good;

use std::collections::BTreeMap;
use std::env;
use std::future::pending;
use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use steersman_mcp::{Connection, MAX_TEXT_BYTES, McpConfig, McpError, Reach, ToolFilter, connect};
use tokio::runtime::Builder;

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// Far beyond what anything here takes; only a hang reaches it.
const PATIENCE: Duration = Duration::from_secs(60);

fn main() -> Outcome {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["serve", "good"] => runtime.block_on(good::serve_pipes()),
        ["serve", kind] => bad::serve(kind),
        _ => {
            runtime.block_on(check_all());
            Ok(())
        }
    }
}

async fn check_all() {
    macro_rules! checks {
        ($($name:ident),* $(,)?) => { [$((stringify!($name), Box::pin($name()) as Check)),*] };
    }
    type Check = std::pin::Pin<Box<dyn Future<Output = ()>>>;
    let checks = checks![
        tools_are_listed_and_filtered,
        calls_are_answered,
        calls_over_http_are_answered,
        a_call_ends_in_time_or_when_cancelled,
        a_changed_list_is_noticed,
        keys_are_not_passed_on,
        servers_that_do_not_start_are_explained,
        servers_that_do_not_answer_are_left,
        servers_that_end_are_explained,
        a_flood_is_stopped,
        another_protocol_is_refused,
        what_a_server_started_ends_with_it,
        an_unreachable_url_is_named,
        odd_answers_over_http_are_explained,
    ];
    let (count, mut out) = (checks.len(), io::stdout());
    for (name, check) in checks {
        let started = Instant::now();
        tokio::time::timeout(PATIENCE, check).await.unwrap();
        writeln!(out, "test {name} ... ok ({:?})", started.elapsed()).unwrap();
    }
    writeln!(out, "test result: ok. {count} passed; 0 failed").unwrap();
}

fn config(kind: &str) -> McpConfig {
    McpConfig {
        name: "it".to_owned(),
        reach: Reach::Command {
            program: env::current_exe().unwrap().to_str().unwrap().to_owned(),
            args: vec!["serve".to_owned(), kind.to_owned()],
            env: BTreeMap::from([("GIVEN".to_owned(), "x".to_owned())]),
            cwd: None,
        },
        tools: ToolFilter { allow: None, deny: vec!["secret".to_owned()] },
        timeout_ms: 10_000,
        start_timeout_ms: 10_000,
        enabled: true,
    }
}

/// A server that answers nothing within 300 ms is given up.
fn hurried(kind: &str) -> McpConfig {
    McpConfig { timeout_ms: 300, start_timeout_ms: 300, ..config(kind) }
}

async fn good() -> Connection {
    connect(&config("good"), Path::new("/")).await.unwrap()
}

async fn fails(config: &McpConfig) -> McpError {
    connect(config, Path::new("/")).await.unwrap_err()
}

async fn call(connection: &Connection, tool: &str) -> Result<String, McpError> {
    connection.call(tool, "", pending()).await.map(|answer| answer.text)
}

fn says(error: &McpError, expected: &[&str]) {
    let text = error.to_string();
    assert!(expected.iter().all(|part| text.contains(part)), "{text}");
}

async fn tools_are_listed_and_filtered() {
    let listing = good().await.tools().await.unwrap();
    let names: Vec<&str> = listing.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["echo", "fail", "wait", "env", "long", "grow", "refuse", "die"]);
    let echo = &listing.tools[0];
    assert_eq!((&*echo.prefixed, &*echo.description), ("mcp__it__echo", "Says it again"));
    assert_eq!((echo.read_only, echo.destructive, echo.idempotent), (true, false, true));
    assert_eq!(echo.schema, r#"{"type":"object"}"#);
    let fail = &listing.tools[1];
    assert_eq!((fail.read_only, fail.destructive, fail.idempotent), (false, true, false));
    let [left_out] = &listing.left_out[..] else { panic!("{listing:?}") };
    assert!(left_out.starts_with("`large.one`: its schema has 100018 bytes"), "{left_out}");
}

async fn check_calls(connection: &Connection) {
    let answer = connection.call("echo", r#"{"a":[1]}"#, pending()).await.unwrap();
    assert_eq!(answer.text, r#"{"a":[1]}"#);
    assert_eq!((answer.is_error, answer.structured.as_deref()), (false, Some(r#"{"a":[1]}"#)));
    let answer = connection.call("fail", "{}", pending()).await.unwrap();
    assert_eq!((answer.text.as_str(), answer.is_error), ("it failed", true));
    let long = call(connection, "long").await.unwrap();
    let end = format!("\n[{} more bytes are cut]", 1_000_000 - MAX_TEXT_BYTES);
    assert_eq!(long.len(), MAX_TEXT_BYTES + end.len());
    let error = call(connection, "refuse").await.unwrap_err();
    says(&error, &["`it` answered with error -32602: no such tool [31m"]);
    says(&call(connection, "secret").await.unwrap_err(), &["`secret`", "is not offered"]);
    let error = connection.call("echo", "[1]", pending()).await.unwrap_err();
    says(&error, &["`echo`", "no JSON object"]);
    assert_eq!(call(connection, "echo").await.unwrap(), "{}");
}

async fn calls_are_answered() {
    let connection = good().await;
    check_calls(&connection).await;
    assert_eq!(connection.close().await.as_deref(), Some("exit status: 0"));
}

async fn calls_over_http_are_answered() {
    let url = good::serve_http().await.unwrap();
    let headers = BTreeMap::from([("Authorization".to_owned(), "Bearer x".to_owned())]);
    let config = McpConfig { reach: Reach::Http { url, headers }, ..config("") };
    let connection = connect(&config, Path::new("/")).await.unwrap();
    assert_eq!(connection.tools().await.unwrap().tools.len(), 8);
    check_calls(&connection).await;
    let error = connection.call("wait", "", tokio::time::sleep(Duration::from_millis(20))).await;
    assert!(matches!(error, Err(McpError::Cancelled { .. })), "{error:?}");
    assert_eq!(call(&connection, "echo").await.unwrap(), "{}");
    assert_eq!(connection.close().await, None);
}

async fn a_call_ends_in_time_or_when_cancelled() {
    let connection =
        connect(&McpConfig { timeout_ms: 200, ..config("good") }, Path::new("/")).await.unwrap();
    says(&call(&connection, "wait").await.unwrap_err(), &["not answered `wait` within 200 ms"]);
    let error = connection.call("wait", "", std::future::ready(())).await;
    assert!(matches!(error, Err(McpError::Cancelled { .. })), "{error:?}");
    assert_eq!(call(&connection, "echo").await.unwrap(), "{}");
}

async fn a_changed_list_is_noticed() {
    let connection = good().await;
    let mut changes = connection.changes();
    assert_eq!(*changes.borrow(), 0);
    assert_eq!(call(&connection, "grow").await.unwrap(), "true");
    changes.changed().await.unwrap();
    assert_eq!(*changes.borrow(), 1);
}

async fn keys_are_not_passed_on() {
    let ours: Vec<String> = env::vars().map(|(name, _)| name).collect();
    // Cargo sets this one for tests, so there is something to keep back.
    assert!(ours.iter().any(|name| name == "CARGO_MANIFEST_DIR"), "{ours:?}");
    let theirs = call(&good().await, "env").await.unwrap();
    assert!(theirs.contains("\"GIVEN\"") && theirs.contains("\"PATH\""), "{theirs}");
    assert!(!theirs.contains("CARGO"), "{theirs}");
    assert!(theirs.ends_with("in Some(\"/\")"), "{theirs}");
}

async fn servers_that_do_not_start_are_explained() {
    let mut missing = config("good");
    if let Reach::Command { program, .. } = &mut missing.reach {
        *program = "no-such-program".to_owned();
    }
    says(&fails(&missing).await, &["`it` cannot be started: `no-such-program`: No such file"]);
    let error = connect(&config("good"), Path::new("/no/folder")).await.unwrap_err();
    says(&error, &["/no/folder is no folder"]);
    let off = McpConfig { enabled: false, ..config("good") };
    says(&fails(&off).await, &["`it` is not enabled"]);
    let error = fails(&config("exits")).await;
    says(&error, &["has ended (exit status: 7)", "ends with: first line\nno licence found"]);
    says(&fails(&config("floods-errors")).await, &["exit status: 1", "ends with: eee"]);
}

async fn servers_that_do_not_answer_are_left() {
    says(&fails(&hurried("hangs")).await, &["has not answered `initialize` within 300 ms"]);
    let error = fails(&hurried("chats")).await;
    says(&error, &["within 300 ms; it wrote `Welcome to the server!` where only messages"]);
    let slow = McpConfig { start_timeout_ms: 10_000, ..hurried("hangs-later") };
    let connection = connect(&slow, Path::new("/")).await.unwrap();
    says(&connection.tools().await.unwrap_err(), &["not answered `tools/list` within 300 ms"]);
}

async fn servers_that_end_are_explained() {
    let connection = connect(&config("dies-later"), Path::new("/")).await.unwrap();
    says(&call(&connection, "x").await.unwrap_err(), &["has ended (exit status: 5)"]);
    says(&call(&connection, "x").await.unwrap_err(), &["has ended (exit status: 5)"]);
    let connection = good().await;
    says(&call(&connection, "die").await.unwrap_err(), &["has ended (exit status: 3)"]);
}

async fn a_flood_is_stopped() {
    let flooded = |error: &McpError| matches!(error, McpError::Flooded { .. });
    let error = fails(&config("floods")).await;
    assert!(flooded(&error), "{error}");
    let connection = connect(&config("floods-later"), Path::new("/")).await.unwrap();
    let error = call(&connection, "x").await.unwrap_err();
    assert!(flooded(&error), "{error}");
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
    let peak_kib: u64 = peak.split_whitespace().nth(1).unwrap().parse().unwrap();
    assert!(peak_kib < 200 << 10, "{peak}");
}

async fn another_protocol_is_refused() {
    let error = fails(&config("old")).await;
    says(&error, &["speaks version \"1999-01-01\"", "2025-06-18"]);
}

/// Whether the process has ended, waiting a little for whoever reaps it.
async fn ends(id: &str) -> bool {
    for _ in 0..500 {
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        let state = stat.rsplit_once(") ").map(|(_, rest)| rest.starts_with('Z'));
        if state.unwrap_or(true) {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    false
}

async fn what_a_server_started_ends_with_it() {
    for gently in [true, false] {
        let patient = McpConfig { start_timeout_ms: 10_000, ..hurried("stays") };
        let connection = connect(&patient, Path::new("/")).await.unwrap();
        let error = connection.tools().await.unwrap_err().to_string();
        let (_, left) = error.rsplit_once(' ').unwrap();
        assert!(!left.is_empty() && left.chars().all(|c| c.is_ascii_digit()), "{error}");
        if gently {
            assert_eq!(connection.close().await.as_deref(), Some("signal: 15 (SIGTERM)"));
        } else {
            drop(connection);
        }
        assert!(ends(left).await, "process {left} is left");
    }
}

fn at(url: String) -> McpConfig {
    McpConfig { reach: Reach::Http { url, headers: BTreeMap::new() }, ..config("") }
}

async fn an_unreachable_url_is_named() {
    // A port that was free a moment ago.
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let error = fails(&at(format!("http://{address}/mcp"))).await;
    says(&error, &["`it` cannot be reached", "refused"]);
    let url = good::serve_http().await.unwrap();
    let mut with_header = at(url);
    if let Reach::Http { headers, .. } = &mut with_header.reach {
        headers.insert("X".to_owned(), "a\nb".to_owned());
    }
    says(&fails(&with_header).await, &["header `X` has characters"]);
}

async fn odd_answers_over_http_are_explained() {
    const DENIED: &[u8] = b"HTTP/1.1 401 Unauthorized\r\ncontent-length: 11\r\n\r\nkey missing";
    const PAGE: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 0\r\n\r\n";
    const MOVED: &[u8] =
        b"HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n";
    const EVENTS: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: ";
    const JSON: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n[";
    let check = async |answer, more, expected: &[&str]| {
        let error = fails(&at(bad::serve_http(answer, more).unwrap())).await;
        says(&error, expected);
    };
    check(DENIED, b"", &["cannot be reached", "401 Unauthorized key missing"]).await;
    check(PAGE, b"", &["cannot be reached", "text/html"]).await;
    check(MOVED, b"", &["cannot be reached", "302 Found"]).await;
    check(EVENTS, &[b'x'; 65_536], &["cannot be reached", "limit"]).await;
    check(JSON, &[b' '; 65_536], &["cannot be reached", "limit"]).await;
}
