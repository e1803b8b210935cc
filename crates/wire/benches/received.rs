//! What the gateway's look into a request costs. `cargo bench -p steersman-wire --bench received`.
#![expect(clippy::unwrap_used, reason = "a bench reports to its caller")]

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use serde_json::Value;
use steersman_wire::{Edit, Format, Message, Part, Prefixes, Request, ToolSpec};

fn main() {
    divan::main();
}

/// Calls of tools in the conversation; with their results and the task, 121 messages.
const CALLS: usize = 60;

/// A request of about 131 KB: 15 tools of 1 KB, results of 1.7 KB.
fn body(format: Format) -> Vec<u8> {
    body_of(format, CALLS)
}

fn body_of(format: Format, calls: usize) -> Vec<u8> {
    let mut messages = vec![Message::user("Fix the failing tests.")];
    for turn in 0..calls {
        let id = format!("call_{turn}");
        let name = "read".to_owned();
        let arguments = format!(r#"{{"path": "src/file_{turn}.rs", "offset": {turn}}}"#);
        let call = Part::ToolCall { id: id.clone(), name: name.clone(), arguments, raw: None };
        let parts = vec![Part::Text("I look at the next file.".to_owned()), call];
        messages.push(Message { parts, ..Message::assistant("") });
        let content =
            format!("{turn}:    let found = parse(line, \"utf-8\")?;\n").repeat(1700 / 42);
        let result = Part::ToolResult { call_id: id, name, content, is_error: false };
        messages.push(Message::results(vec![result]));
    }
    let tool = |index: usize| ToolSpec {
        name: format!("tool_{index}"),
        description: "What it does and when to use it. ".repeat(25),
        parameters: serde_json::json!({"type": "object", "properties": {
            "path": {"type": "string", "description": "Where."}, "offset": {"type": "integer"},
        }}),
    };
    let tools: Vec<_> = (0..15).map(tool).collect();
    let system = "You are a coding agent. ".repeat(120);
    let request = Request {
        system: &system,
        tools: &tools,
        stream: true,
        ..Request::new("some-model", &messages)
    };
    format.body(&request)
}

/// The scan alone.
#[divan::bench(args = Format::ALL)]
fn scan(bencher: Bencher<'_, '_>, format: Format) {
    let body = body(format);
    bencher
        .counter(BytesCount::new(body.len()))
        .bench(|| format.receive(black_box(&body)).unwrap().item_count());
}

/// The scan, and the hash of every item and of the prelude.
#[divan::bench(args = Format::ALL)]
fn scan_and_hash(bencher: Bencher<'_, '_>, format: Format) {
    let body = body(format);
    bencher.counter(BytesCount::new(body.len())).bench(|| {
        let request = format.receive(black_box(&body)).unwrap();
        let hashes = (0..request.item_count()).map(|at| request.item_hash(at));
        hashes.fold(request.prelude_hash(), |all, hash| all ^ hash)
    });
}

/// The same where the request before it was read, which had one turn less.
#[divan::bench(args = Format::ALL)]
fn scan_and_hash_what_is_new(bencher: Bencher<'_, '_>, format: Format) {
    let (before, body) = (body_of(format, CALLS - 1), body(format));
    let begin = || {
        let prefixes = Prefixes::new(1 << 20);
        let request = prefixes.receive(format, &before).unwrap();
        prefixes.remember(&request, &request.hashes());
        prefixes
    };
    bencher.counter(BytesCount::new(body.len())).with_inputs(begin).bench_refs(|prefixes| {
        let request = prefixes.receive(format, black_box(&body)).unwrap();
        let hashes = request.hashes();
        prefixes.remember(&request, &hashes);
        hashes.items.iter().fold(hashes.prelude, |all, hash| all ^ hash)
    });
}

/// The scan, the last turn, and a request with a text more.
#[divan::bench(args = Format::ALL)]
fn scan_and_edit(bencher: Bencher<'_, '_>, format: Format) {
    let body = body(format);
    bencher.counter(BytesCount::new(body.len())).bench(|| {
        let request = format.receive(black_box(&body)).unwrap();
        let end = request.item_count();
        let turns = request.turns(end - 1).unwrap();
        (turns, request.edited(&[Edit::Say { at: end, text: "Look at the tests." }]).unwrap())
    });
}

/// To compare: all of it as a tree of values.
#[divan::bench(args = Format::ALL)]
fn parse_values(bencher: Bencher<'_, '_>, format: Format) {
    let body = body(format);
    bencher
        .counter(BytesCount::new(body.len()))
        .bench(|| serde_json::from_slice::<Value>(black_box(&body)).unwrap());
}
