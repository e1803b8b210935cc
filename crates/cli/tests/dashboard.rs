//! The dashboard's page and API with real processes: a gateway and a run that share a store.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot set up its case must fail"
)]

mod command;

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdout, Stdio};

use command::{command, rehearsal, run_in, scratch};
use serde_json::{Value, json};

/// A page and its API at an address.
struct Site {
    address: String,
}

/// A gateway as a process; it is killed if its test fails.
struct Gateway {
    child: Child,
    site: Site,
}

impl Gateway {
    fn start(folder: &Path) -> Self {
        fs::write(
            folder.join("gateway.yaml"),
            "listen: 127.0.0.1:0\nstate_dir: state\nupstreams:\n  - base_url: http://127.0.0.1:9\n",
        )
        .unwrap();
        let mut child = command(folder, "serve", &[]).stdout(Stdio::piped()).spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on http://");
        let address = address.unwrap_or_else(|| panic!("{line:?}")).to_owned();
        Self { child, site: Site { address } }
    }
}

impl Deref for Gateway {
    type Target = Site;

    fn deref(&self) -> &Site {
        &self.site
    }
}

impl Site {
    /// Status, head and body of an answer.
    fn ask(&self, method: &str, path: &str, kind: &str, body: &[u8]) -> (u16, String, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let length = body.len();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
             x-steersman-who: anna\r\ncontent-type: {kind}\r\naccept: text/html\r\n\
             content-length: {length}\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(body).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let answer = String::from_utf8_lossy(&answer);
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, head.to_owned(), body.to_owned())
    }

    fn get(&self, path: &str) -> Value {
        let (status, _, body) = self.ask("GET", path, "text/plain", b"");
        assert_eq!(status, 200, "{path}: {body}");
        serde_json::from_str(&body).unwrap()
    }

    fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        let body = body.to_string();
        let (status, _, body) = self.ask("POST", path, "application/json", body.as_bytes());
        (status, serde_json::from_str(&body).unwrap())
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A run whose replies take long, and the journal it tells as it goes on.
struct Run {
    child: Child,
    out: BufReader<ChildStdout>,
    id: String,
    /// Where it shows itself, if it does.
    site: Option<(Site, BufReader<ChildStderr>)>,
}

impl Run {
    fn start(folder: &Path, reply_ms: u32) -> Self {
        Self::start_with(folder, reply_ms, &[])
    }

    /// A run that shows itself.
    fn listening(folder: &Path, reply_ms: u32) -> Self {
        let mut run = Self::start_with(folder, reply_ms, &["--listen", "127.0.0.1:0"]);
        let mut err = BufReader::new(run.child.stderr.take().unwrap());
        let begins = "the dashboard is at http://";
        let mut line = String::new();
        while !line.starts_with(begins) {
            line.clear();
            assert!(err.read_line(&mut line).unwrap() > 0, "no dashboard");
        }
        let (address, path) = line[begins.len()..].trim().split_once('/').unwrap();
        assert_eq!(path, format!("dashboard/#/s/{}", run.id));
        run.site = Some((Site { address: address.to_owned() }, err));
        run
    }

    fn start_with(folder: &Path, reply_ms: u32, more: &[&str]) -> Self {
        let script = fs::read_to_string(rehearsal("sorted-words")).unwrap();
        let slow = script.replace("reply_ms: 10", &format!("reply_ms: {reply_ms}"));
        fs::write(folder.join("slow.yaml"), slow).unwrap();
        let args = ["--rehearsal", "slow.yaml", "--state", "state", "--json"];
        let mut command = command(folder, "run", &[&args[..], more].concat());
        if !more.is_empty() {
            command.stderr(Stdio::piped());
        }
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let mut run = Self { child, out, id: String::new(), site: None };
        let first = run.until("call_started");
        run.id = first["session"].as_str().unwrap().to_owned();
        run
    }

    /// The next entry of this kind.
    fn until(&mut self, kind: &str) -> Value {
        let mut all = String::new();
        loop {
            let mut line = String::new();
            assert!(self.out.read_line(&mut line).unwrap() > 0, "no {kind:?}:\n{all}");
            all.push_str(&line);
            let entry: Value = serde_json::from_str(&line).unwrap();
            if line.contains(&format!("\"{kind}\"")) {
                return entry;
            }
        }
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn played(name: &str) -> PathBuf {
    let folder = scratch(name);
    let script = rehearsal("sorted-words");
    let done = run_in(&folder, "run", &["--rehearsal", &script, "--state", "state"]);
    assert_eq!(done.code, Some(0), "{}", done.err);
    folder
}

#[test]
fn the_page_is_served_and_locked_in() {
    let gateway = Gateway::start(&scratch("dashboard-page"));
    let (status, head, _) = gateway.ask("GET", "/", "text/plain", b"");
    assert!(status == 307 && head.contains("location: /dashboard/"), "{head}");
    let (status, head, body) = gateway.ask("GET", "/dashboard/", "text/plain", b"");
    assert!(status == 200 && body.contains("<!doctype html>") || body.contains("<!DOCTYPE"));
    assert!(head.contains("content-security-policy: default-src 'none'"), "{head}");
    assert_eq!(gateway.ask("GET", "/dashboard/none", "text/plain", b"").0, 404);
}

#[test]
fn a_run_is_told_turn_by_turn_and_summed_up() {
    let folder = played("dashboard-told");
    let gateway = Gateway::start(&folder);
    let list = gateway.get("/api/sessions");
    let line = &list["sessions"][0];
    assert_eq!((&line["kind"], &line["driven"]), (&json!("run"), &json!(false)), "{line}");
    let id = line["session"].as_str().unwrap();
    let told = gateway.get(&format!("/api/sessions/{id}/timeline"));
    assert_eq!(told["source"], "run");
    assert_eq!(told["turn_count"], 9);
    assert_eq!(told["ending"]["ending"], "complete");
    let turns = told["turns"].as_array().unwrap();
    assert_eq!(turns.len(), 9);
    let first = &turns[0]["calls"][0];
    assert_eq!((&first["kind"], &first["outcome"]), (&json!("search"), &json!("ok")), "{first}");
    assert_eq!(first["label"], "list: .");
    let nudge = turns.iter().find_map(|turn| turn["decisions"].get(0)).unwrap();
    assert_eq!(nudge["action"], "nudge", "{nudge}");
    assert_eq!(nudge["evidence"]["turns"], json!([5]));
    let whole = &told["whole"];
    assert_eq!(whole["attempts"][0]["number"], 1);
    let diff = whole["attempts"][0]["diff"].as_str().unwrap();
    assert!(diff.contains("words.txt"), "{diff}");
    // Calls of one reply run side by side: their files come in the order in which they end.
    let files: Vec<&Value> =
        whole["files"].as_array().unwrap().iter().map(|file| &file["name"]).collect();
    assert!(files.contains(&&json!("words.txt")), "{files:?}");
    let names: Vec<&Value> =
        whole["tests"].as_array().unwrap().iter().map(|test| &test["name"]).collect();
    assert!(names.contains(&&json!("pear last")), "{names:?}");
    assert_eq!(turns.last().unwrap()["attempt"], 2);
    assert_eq!(whole["thresholds"].as_array().unwrap().len(), 4);
    assert_eq!(whole["controls"], json!([]));
    let tail = gateway.get(&format!("/api/sessions/{id}/timeline?after_turn=7&limit=1"));
    assert_eq!((&tail["turns"][0]["number"], &tail["next"]), (&json!(8), &json!(8)));
    // Whoever asks for turns after the end of an attempt has its diff.
    for (after, expected) in [(4, json!(diff)), (8, Value::Null)] {
        let since = gateway.get(&format!("/api/sessions/{id}/timeline?after_turn={after}"));
        assert_eq!(since["whole"]["attempts"][0]["diff"], expected, "after {after}");
    }

    let mark = json!({"seq": nudge["seq"], "mark": "helpful", "note": "It was stuck."});
    let marks = format!("/api/sessions/{id}/marks");
    let (status, marked) = gateway.post(&marks, &mark);
    assert_eq!((status, &marked["who"]), (200, &json!("anna")), "{marked}");
    assert_eq!(gateway.post(&marks, &json!({"seq": 1, "mark": "helpful"})).0, 404);
    assert_eq!(gateway.post(&marks, &json!({"seq": 1, "mark": "odd"})).0, 400);
    let told = gateway.get(&format!("/api/sessions/{id}/timeline"));
    let turns = told["turns"].as_array().unwrap();
    let nudge = turns.iter().find_map(|turn| turn["decisions"].get(0)).unwrap();
    assert_eq!((&nudge["mark"], &nudge["mark_note"]), (&json!("helpful"), &json!("It was stuck.")));

    tune_hears_of(&folder, id);

    let sum = gateway.get("/api/analytics");
    assert_eq!(sum["kinds"], json!({"run": 1}));
    assert_eq!(sum["endings"], json!({"complete": 1}));
    assert_eq!(sum["start_overs"], json!({"count": 1, "sessions_by_count": {"1": 1}}));
    let group = &sum["groups"][0];
    assert_eq!((&group["judged"], &group["solved"]), (&json!(1), &json!(1)), "{group}");
    assert_eq!(sum["turns_to_solve"]["median"], 9);
    assert_eq!(sum["judged"][0]["helpful"], 1);
    assert_eq!(sum["after_warning"]["sessions"], 1);
    // Who has ended hears nothing any more.
    let control = format!("/api/sessions/{id}/control");
    let (status, problem) = gateway.post(&control, &json!({"control": "pause"}));
    assert_eq!((status, &problem["error"]["code"]), (409, &json!("not_driven")));
}

/// What a person marked in the page is what `tune` learns from.
fn tune_hears_of(folder: &Path, id: &str) {
    let marks = run_in(folder, "sessions", &["marks", "--state", "state", "--out", "m.jsonl"]);
    assert_eq!(marks.code, Some(0), "{}", marks.err);
    assert!(marks.err.contains("1 intervention, 1 marked by people"), "{}", marks.err);
    let written = fs::read_to_string(folder.join("m.jsonl")).unwrap();
    let written: Value = serde_json::from_str(&written).unwrap();
    let expected = json!({
        "run": id, "turn": 5, "model": "rehearsal", "reason": "contradicted_claim",
        "template": "contradicted_claim", "variant": 0, "mark": "helpful", "recovered": false
    });
    assert_eq!(written, expected);
    let again = run_in(folder, "sessions", &["marks", "--state", "state", "--out", "m.jsonl"]);
    assert!(again.code == Some(1) && again.err.contains("m.jsonl: "), "{}", again.err);
    let tuned = run_in(folder, "tune", &["--journal", "m.jsonl", "--dry-run"]);
    assert_eq!(tuned.code, Some(0), "{}", tuned.err);
    let said = format!("{}{}", tuned.out, tuned.err);
    assert!(said.contains("contradicted_claim with rehearsal: its texts helped 0 of 1"), "{said}");
}

#[test]
fn the_helm_of_a_run_is_taken_in_another_process() {
    let folder = scratch("dashboard-helm");
    let mut run = Run::start(&folder, 400);
    let gateway = Gateway::start(&folder);
    let control = format!("/api/sessions/{}/control", run.id);
    let timeline = format!("/api/sessions/{}/timeline", run.id);
    let told = gateway.get(&timeline);
    let known = told["whole"]["controls"].as_array().unwrap();
    assert!(known.contains(&json!("start_over")) && known.contains(&json!("pause")), "{known:?}");

    assert_eq!(gateway.post(&control, &json!({"control": "pause"})).0, 200);
    run.until("controlled");
    let list = gateway.get("/api/sessions");
    assert_eq!(list["sessions"][0]["state"], "paused");
    assert_eq!(list["sessions"][0]["attention"], "paused");
    let note = json!({"control": "note", "text": "Look at the words again."});
    assert_eq!(gateway.post(&control, &note).0, 200);
    let limits = json!({"control": "limits", "max_turns": 50});
    assert_eq!(gateway.post(&control, &limits).0, 200);
    let lenient = json!({"control": "aggressiveness", "preset": "lenient"});
    assert_eq!(gateway.post(&control, &lenient).0, 200);
    let odd = json!({"control": "aggressiveness", "preset": "odd"});
    assert_eq!(gateway.post(&control, &odd).0, 400);
    (0..3).for_each(|_| drop(run.until("controlled")));
    let told = gateway.get(&timeline);
    let standing = &told["whole"]["standing"];
    assert_eq!((&standing["paused"], &standing["preset"]), (&json!("anna"), &json!("lenient")));
    let budget = &told["whole"]["budgets"][0];
    assert_eq!((&budget["name"], &budget["allowed"]), (&json!("max_turns"), &json!(50)));
    assert_eq!(told["policy"], "lenient");

    assert_eq!(gateway.post(&control, &json!({"control": "resume"})).0, 200);
    let spoke = run.until("spoke");
    assert!(spoke.to_string().contains("Look at the words again."), "{spoke}");
    assert_eq!(gateway.post(&control, &json!({"control": "start_over"})).0, 200);
    let over = run.until("started_over");
    assert!(over.to_string().contains("anna asked for a new attempt"), "{over}");
    assert_eq!(gateway.post(&control, &json!({"control": "re_evaluate"})).0, 200);
    let said = run.until("said");
    assert!(said.to_string().contains("think again"), "{said}");
    assert_eq!(gateway.post(&control, &json!({"control": "force_synthesis"})).0, 200);
    let said = run.until("said");
    assert!(said.to_string().contains("wants your answer now"), "{said}");
    assert_eq!(gateway.post(&control, &json!({"control": "stop"})).0, 200);
    run.until("ended");
    let notes = gateway.get(&timeline).to_string();
    assert!(notes.contains("anna") && notes.contains("start_over"), "{notes}");
}

#[test]
fn a_run_that_listens_shows_the_page_and_obeys_it() {
    let mut run = Run::listening(&scratch("dashboard-listen"), 400);
    let (site, _err) = run.site.take().unwrap();
    let (status, head, _) = site.ask("GET", "/", "text/plain", b"");
    let home = format!("location: /dashboard/#/s/{}\r\n", run.id);
    assert!(status == 307 && head.contains(&home), "{head}");
    let (status, head, _) = site.ask("GET", "/dashboard/", "text/plain", b"");
    assert!(status == 200 && head.contains("content-security-policy: default-src 'none'"));
    assert_eq!(site.ask("GET", "/elsewhere", "text/plain", b"").0, 404);
    let list = site.get("/api/sessions");
    assert_eq!((&list["sessions"][0]["session"], &list["next"]), (&json!(run.id), &Value::Null));

    let control = format!("/api/sessions/{}/control", run.id);
    assert_eq!(site.post(&control, &json!({"control": "pause"})).0, 200);
    let controlled = run.until("controlled");
    assert!(controlled.to_string().contains("anna"), "{controlled}");
    let told = site.get(&format!("/api/sessions/{}/timeline", run.id));
    assert_eq!(told["whole"]["standing"]["paused"], "anna");
    assert_eq!(site.post(&control, &json!({"control": "stop"})).0, 200);
    run.until("ended");
    // Nobody looks, so nobody is waited for.
    assert_eq!(run.child.wait().unwrap().code(), Some(6));
}

#[test]
fn a_recorded_run_is_judged() {
    let gateway = Gateway::start(&scratch("dashboard-replay"));
    let sessions = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/sessions");
    let files = ["claude-code", "codex", "gemini-cli"].map(|agent| {
        let name = "edit-test-no-progress.jsonl";
        sessions.join(agent).join(name)
    });
    for file in &files {
        let (status, _, body) = gateway.ask(
            "POST",
            "/api/replay?name=dropped.jsonl",
            "application/octet-stream",
            &fs::read(file).unwrap(),
        );
        assert_eq!(status, 200, "{}: {body}", file.display());
        let replayed: Value = serde_json::from_str(&body).unwrap();
        let told = &replayed["timeline"];
        assert_eq!(told["source"], "recorded", "{}", file.display());
        assert_eq!(told["turn_count"], replayed["runs"][0]["turns"], "{}", file.display());
    }
    for (kind, body, expected) in [
        ("application/octet-stream", &b"no trace at all"[..], 422),
        ("application/octet-stream", b"", 422),
        ("text/plain", b"{}", 415),
    ] {
        let (status, _, answer) = gateway.ask("POST", "/api/replay", kind, body);
        assert_eq!(status, expected, "{answer}");
    }
}
