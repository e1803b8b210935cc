//! Runs with Model Context Protocol servers. The program starts itself as one: `serve LOG`.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod command;

use std::fs;
use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use command::{Done, command, run_in, scratch};
use serde_json::{Value, json};

/// Far beyond what anything here takes; only a hang reaches it.
const PATIENCE: Duration = Duration::from_secs(60);

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let ["serve", log] = arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        return serve(Path::new(log));
    }
    let checks: [(&str, fn()); 6] = [
        ("tools_of_servers_are_called", tools_of_servers_are_called),
        ("a_run_goes_on_without_a_server", a_run_goes_on_without_a_server),
        ("a_required_server_has_to_start", a_required_server_has_to_start),
        ("calls_need_approval", calls_need_approval),
        ("ctrl_c_ends_servers", ctrl_c_ends_servers),
        ("each_attempt_has_servers_of_its_own", each_attempt_has_servers_of_its_own),
    ];
    let mut out = std::io::stdout();
    for (name, check) in checks {
        check();
        writeln!(out, "test {name} ... ok").unwrap();
    }
    writeln!(out, "test result: ok. {} passed; 0 failed", checks.len()).unwrap();
}

/// A server as small as the protocol lets it be. It writes down its number and its end.
fn serve(log: &Path) {
    note(log, &format!("begins {}", std::process::id()));
    for line in std::io::stdin().lock().lines() {
        let request: Value = serde_json::from_str(&line.unwrap()).unwrap();
        let Some(id) = request.get("id") else { continue };
        let tool = |name: &str, hints: Value| json!({"name": name, "inputSchema": {"type": "object"}, "annotations": hints});
        let result = match request["method"].as_str().unwrap() {
            "initialize" => json!({
                "protocolVersion": request["params"]["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "test", "version": "1"},
            }),
            "tools/list" => json!({"tools": [
                tool("echo", json!({"readOnlyHint": true})),
                tool("die", json!({})),
                tool("wait", json!({})),
            ]}),
            "tools/call" => match request["params"]["name"].as_str().unwrap() {
                "die" => std::process::exit(3),
                "wait" => {
                    note(log, "waits");
                    continue;
                }
                _ => {
                    note(log, "echoes");
                    let text = format!("{} {}", request["params"]["arguments"], key());
                    json!({"content": [{"type": "text", "text": text}]})
                }
            },
            _ => json!({}),
        };
        let mut out = std::io::stdout().lock();
        let answer = json!({"jsonrpc": "2.0", "id": id, "result": result});
        writeln!(out, "{answer}").unwrap();
        out.flush().unwrap();
    }
    note(log, "ends");
}

fn key() -> String {
    std::env::var("KEY").unwrap_or_default()
}

fn note(log: &Path, line: &str) {
    let mut file = fs::OpenOptions::new().create(true).append(true).open(log).unwrap();
    writeln!(file, "{line}").unwrap();
}

/// A folder with a file of servers and a script that calls these tools, one in each reply.
fn stage(name: &str, calls: &[&str]) -> PathBuf {
    let folder = scratch(name);
    let program = std::env::current_exe().unwrap();
    let servers = json!({"mcpServers": {
        "it": {"command": program, "args": ["serve", folder.join("log")], "env": {"KEY": "${KEY}"}},
        "lost": {"command": folder.join("nothing-here")},
    }});
    fs::write(folder.join("servers.json"), servers.to_string()).unwrap();
    let reply = |name: &&str| json!({"calls": [{"name": name, "arguments": {"a": 1}}]});
    let replies: Vec<Value> = calls.iter().map(reply).collect();
    let script = json!({"title": "t", "task": "t", "attempts": [{"replies": replies}]});
    fs::write(folder.join("script.yaml"), script.to_string()).unwrap();
    folder
}

fn arguments<'a>(more: &[&'a str]) -> Vec<&'a str> {
    let all = ["--rehearsal", "script.yaml", "--mcp", "servers.json", "--state", "state", "--json"];
    all.into_iter().chain(more.iter().copied()).collect()
}

fn run(folder: &Path, more: &[&str]) -> Done {
    let mut command = command(folder, "run", &arguments(more));
    let output = command.env("KEY", "k3y").output().unwrap();
    Done {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// What tools returned, and whether they failed.
fn results(out: &str) -> Vec<(String, bool)> {
    let entries = out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let finished = entries.filter(|line| line["entry"]["entry"] == "tool_finished");
    let read = |line: Value| {
        let entry = &line["entry"];
        (entry["content"].as_str().unwrap().to_owned(), entry["is_error"].as_bool().unwrap())
    };
    finished.map(read).collect()
}

fn log(folder: &Path) -> String {
    fs::read_to_string(folder.join("log")).unwrap_or_default()
}

/// Whether the server that wrote the log is gone.
fn is_gone(folder: &Path) -> bool {
    let log = log(folder);
    let number = log.lines().find_map(|line| line.strip_prefix("begins ")).unwrap();
    // A process that ended and was not waited for by its new parent is gone as well.
    let state = fs::read_to_string(format!("/proc/{number}/stat")).unwrap_or_default();
    state.is_empty() || state.contains(") Z ")
}

fn tools_of_servers_are_called() {
    let folder = stage("mcp-calls", &["mcp__it__echo", "mcp__it__die", "mcp__it__echo"]);
    let done = run(&folder, &[]);
    assert_eq!(done.code, Some(0), "{}", done.err);
    assert!(done.err.contains("starting 2 MCP servers: it, lost"), "{}", done.err);
    let [first, died, after] = &results(&done.out)[..3] else { unreachable!() };
    assert_eq!(first, &(r#"{"a":1} k3y"#.to_owned(), false));
    assert!(died.1 && died.0.contains("MCP server `it` has ended (exit status: 3"), "{died:?}");
    assert!(after.1 && after.0.contains("MCP server `it` has ended"), "{after:?}");
    assert!(is_gone(&folder));
    let opened = done.out.lines().next().unwrap();
    assert!(!done.out.contains("nothing-here") && opened.contains("mcp__it__wait"), "{opened}");
    let journal = fs::read(folder.join("state/sessions.db")).unwrap();
    assert!(!String::from_utf8_lossy(&journal).contains("KEY\":\"k3y"), "keys are not kept");
}

fn a_run_goes_on_without_a_server() {
    let folder = stage("mcp-lost", &["mcp__lost__x", "mcp__it__echo"]);
    let mut args = arguments(&[]);
    args.retain(|arg| *arg != "--json");
    let output = command(&folder, "run", &args).env("KEY", "k").output().unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{out}");
    assert!(out.contains("MCP server `it` offers 3 tools"), "{out}");
    assert!(out.contains("MCP server `lost` cannot be started"), "{out}");
    assert!(out.contains("the run goes on without its tools"), "{out}");
    assert!(log(&folder).ends_with("echoes\nends\n"), "its input is closed, and it ends by itself");
}

fn a_required_server_has_to_start() {
    let folder = stage("mcp-required", &["mcp__it__echo"]);
    let done = run(&folder, &["--mcp-required"]);
    assert_eq!((done.code, done.out.as_str()), (Some(1), ""));
    assert!(done.err.contains("error: MCP server `lost` cannot be started"), "{}", done.err);
    let done = run_in(&folder, "run", &["--mcp", "none.json", "--state", "state"]);
    assert_eq!(done.code, Some(1));
    assert!(done.err.contains("none.json: No such file"), "{}", done.err);
    let mut no_key = command(&folder, "run", &arguments(&[]));
    let done = no_key.env_remove("KEY").output().unwrap();
    let err = String::from_utf8(done.stderr).unwrap();
    assert!(err.contains("mcpServers.it.env: `KEY`: the environment variable"), "{err}");
}

fn calls_need_approval() {
    let folder = stage("mcp-approval", &["mcp__it__echo"]);
    let done = run(&folder, &["--approve", "allow-list"]);
    let [refused, ..] = &results(&done.out)[..] else { unreachable!() };
    assert!(refused.1 && refused.0.starts_with("Not allowed"), "{refused:?}");
    assert!(!log(&folder).contains("echoes"), "its server's hint is no permission");
    let done = run(&folder, &["--approve", "allow-list", "--allow", "mcp__it__*"]);
    let [allowed, ..] = &results(&done.out)[..] else { unreachable!() };
    assert!(!allowed.1, "{allowed:?}");

    let folder = stage("mcp-confined", &["mcp__it__echo", "read"]);
    let done = run(&folder, &["--approve", "confined"]);
    let [refused, ..] = &results(&done.out)[..] else { unreachable!() };
    assert!(refused.1 && refused.0.starts_with("This call needs the user"), "{refused:?}");
    assert!(!log(&folder).contains("echoes"), "confinement does not hold servers");
}

fn each_attempt_has_servers_of_its_own() {
    let folder = stage("mcp-attempts", &["mcp__it__echo"]);
    fs::create_dir(folder.join("project")).unwrap();
    let more = ["-C", "project", "--check", "true", "--attempts", "2", "--all"];
    let done = run(&folder, &more);
    assert_eq!(done.code, Some(0), "{}{}", done.out, done.err);
    let echoes: Vec<_> =
        results(&done.out).into_iter().filter(|(text, _)| text.ends_with("k3y")).collect();
    assert_eq!(echoes.len(), 2, "{}", done.out);
    let log = log(&folder);
    // Two servers write at once, so that lines may run into each other.
    let count = |word: &str| log.matches(word).count();
    // One more is asked what it offers, before the attempts begin.
    assert_eq!((count("begins"), count("ends")), (3, 3), "{log}");

    let done = run(&folder, &[&more[..], &["--listen", "127.0.0.1:0"]].concat());
    assert_eq!(done.code, Some(1), "{}", done.out);
    assert!(done.err.contains("--listen tells of one run"), "{}", done.err);
}

fn ctrl_c_ends_servers() {
    let folder = stage("mcp-ctrl-c", &["mcp__it__wait"]);
    let mut command = command(&folder, "run", &arguments(&[]));
    let mut child = command.env("KEY", "k").stdout(Stdio::null()).spawn().unwrap();
    until(|| log(&folder).contains("waits"));
    interrupt(&child);
    assert_eq!(end_of(&mut child), Some(130));
    assert!(is_gone(&folder));

    let stopped = run_in(&folder, "sessions", &["stop", "last", "--state", "state"]);
    assert_eq!(stopped.code, Some(6), "{}{}", stopped.out, stopped.err);
    assert_eq!(log(&folder).matches("begins").count(), 1, "nobody needs a server to stop");
}

fn interrupt(child: &Child) {
    let number = child.id().to_string();
    let kill = std::process::Command::new("kill").args(["-INT", &number]).status().unwrap();
    assert!(kill.success());
}

fn end_of(child: &mut Child) -> Option<i32> {
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        if begun.elapsed() > PATIENCE {
            child.kill().unwrap();
            return None;
        }
        std::thread::yield_now();
    }
}

fn until(done: impl Fn() -> bool) {
    let begun = Instant::now();
    while !done() {
        assert!(begun.elapsed() < PATIENCE);
        std::thread::yield_now();
    }
}
