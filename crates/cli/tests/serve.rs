//! `steersman serve` as a process: what it prints, what signals do.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot set up its case must fail"
)]

mod command;

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};

use command::{Done, command, run_in, scratch};

/// A gateway as a process; it is killed if its test fails.
struct Gateway {
    child: Child,
    address: String,
    errors: BufReader<ChildStderr>,
}

impl Gateway {
    fn start(folder: &Path, args: &[&str]) -> Self {
        let mut command = command(folder, "serve", args);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut child = child.unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on http://");
        let address = address.unwrap_or_else(|| panic!("{line:?}")).to_owned();
        let errors = BufReader::new(child.stderr.take().unwrap());
        Self { child, address, errors }
    }

    fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        let status = Command::new("kill").args(["-s", name, &pid]).status().unwrap();
        assert!(status.success());
    }

    /// The lines on stderr up to one that begins so.
    fn told(&mut self, begin: &str) -> String {
        let mut all = String::new();
        loop {
            let mut line = String::new();
            let length = self.errors.read_line(&mut line).unwrap();
            assert!(length > 0, "no line began with {begin:?}:\n{all}");
            all.push_str(&line);
            if line.starts_with(begin) {
                return all;
            }
        }
    }

    fn ask(&self, path: &str) -> String {
        self.ask_with(path, "")
    }

    /// The same with more lines in the head.
    fn ask_with(&self, path: &str, lines: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let head = format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n{lines}\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A server that sends the head of an answer and a piece of it, and the rest when it is told to.
fn slow_server() -> (String, std::sync::mpsc::Sender<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (sender, go_on) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut head = [0; 4096];
        let _ = stream.read(&mut head).unwrap();
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nfirst").unwrap();
        // A test that is over tells nothing more.
        if go_on.recv().is_ok() {
            stream.write_all(b"-last").unwrap();
        }
    });
    (url, sender)
}

#[test]
fn signals_are_followed() {
    let folder = scratch("serve-signals");
    let (url, go_on) = slow_server();
    let file = folder.join("gateway.yaml");
    let write = |url: &str| {
        let upstream = format!("upstreams:\n  - base_url: {url}\n");
        fs::write(&file, format!("listen: 127.0.0.1:0\nmode: off\n{upstream}")).unwrap();
    };
    write(&url);
    let mut gateway = Gateway::start(&folder, &[]);
    assert!(gateway.ask("/healthz").ends_with(r#"{"status":"ok"}"#));

    let mut stream = TcpStream::connect(&gateway.address).unwrap();
    stream.write_all(b"GET /v1/models HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").unwrap();
    let mut begun = String::new();
    let mut bytes = [0; 512];
    while !begun.ends_with("first") {
        let length = stream.read(&mut bytes).unwrap();
        begun.push_str(std::str::from_utf8(&bytes[..length]).unwrap());
    }

    let gone = TcpListener::bind("127.0.0.1:0").unwrap();
    write(&format!("http://{}", gone.local_addr().unwrap()));
    drop(gone);
    gateway.signal("HUP");
    gateway.told("the configuration was read again");
    assert!(gateway.ask("/v1/models").contains("x-steersman-error: upstream_unreachable\r\n"));

    fs::write(&file, "mode: on\n").unwrap();
    gateway.signal("HUP");
    let told = gateway.told("the configuration before holds");
    assert!(told.contains("gateway.yaml:1:7: error: mode:"), "{told}");
    fs::write(&file, "listen: 127.0.0.1:1\n").unwrap();
    gateway.signal("HUP");
    gateway.told("error: listen cannot change while the gateway runs");

    gateway.signal("TERM");
    gateway.told("ending: ");
    go_on.send(()).unwrap();
    let mut rest = String::new();
    stream.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "-last");
    gateway.told("ended");
    assert_eq!(gateway.child.wait().unwrap().code(), Some(0));
}

#[test]
fn keys_are_learned_while_it_runs() {
    let folder = scratch("serve-keys");
    fs::write(folder.join("gateway.yaml"), "listen: 127.0.0.1:0\nkeys: required\nstate_dir: s\n")
        .unwrap();
    let gone = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", gone.local_addr().unwrap());
    drop(gone);
    let gateway = Gateway::start(&folder, &["--upstream", &url]);
    let ask = |key: &str| {
        let answer = gateway.ask_with("/v1/models", &format!("x-api-key: {key}\r\n"));
        let code = answer.split("x-steersman-error: ").nth(1).unwrap();
        code.split("\r\n").next().unwrap().to_owned()
    };
    assert_eq!(ask("own"), "key_missing");
    let key = run_in(&folder, "keys", &["create", "alice"]).out;
    // It came through to a server that is not there.
    assert_eq!(ask(key.trim()), "upstream_unreachable");
    assert_eq!(run_in(&folder, "keys", &["revoke", "alice"]).code, Some(0));
    while ask(key.trim()) != "key_revoked" {}
}

#[test]
fn a_second_signal_ends_at_once() {
    let folder = scratch("serve-twice");
    let (url, _go_on) = slow_server();
    let args = ["--listen", "127.0.0.1:0", "--upstream", &url, "--mode", "off"];
    let mut gateway = Gateway::start(&folder, &args);
    let mut stream = TcpStream::connect(&gateway.address).unwrap();
    stream.write_all(b"GET /v1/models HTTP/1.1\r\nhost: x\r\n\r\n").unwrap();
    let mut byte = [0];
    stream.read_exact(&mut byte).unwrap();
    gateway.signal("INT");
    gateway.told("ending: ");
    gateway.signal("INT");
    gateway.told("ended; answers on 1 connections were cut off");
    assert_eq!(gateway.child.wait().unwrap().code(), Some(0));
}

#[test]
fn what_cannot_be_served_is_told() {
    let folder = scratch("serve-wrong");
    fs::write(folder.join("bad.yaml"), "listn: x\n").unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap().to_string();
    let cases: [(&[&str], i32, &str); 5] = [
        (&["--config", "bad.yaml"], 1, "bad.yaml:1:1: error: listn:"),
        (&["--config", "missing.yaml"], 2, "missing.yaml: error: cannot read the configuration"),
        (&["--listen", "0.0.0.0:0"], 2, "error: 0.0.0.0:0 is not allowed"),
        (&["--upstream", "localhost"], 2, "error: `localhost` is no base URL"),
        (&["--listen", &taken, "--mode", "off"], 2, "error: cannot listen on"),
    ];
    for (args, expected, message) in cases {
        let Done { code, err, .. } = run_in(&folder, "serve", args);
        assert_eq!(code, Some(expected), "{err}");
        assert!(err.starts_with(message), "{err}");
    }
    let Done { code, out, .. } = run_in(&folder, "serve", &["--check"]);
    assert_eq!((code, out.as_str()), (Some(0), "the configuration is right\n"));
    let Done { out, .. } = run_in(&folder, "serve", &["--schema"]);
    assert_eq!(out, steersman_gateway::schema_text());
}
