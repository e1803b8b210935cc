//! What an event costs: by kind, by length of the run, and in memory.
//!
//! `cargo bench -p steersman-engine`. Compare figures of one run with each other; machines differ.

#![allow(
    missing_docs,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a bench, not a library"
)]

use std::borrow::Cow;
use std::sync::Arc;

use divan::{Bencher, black_box};
use steersman_engine::{Engine, Event, Policy, Reply, RunInfo, Timestamp, ToolCall, ToolResult};

fn main() {
    let engine = at_turn(300);
    let stored = serde_json::to_vec(engine.state()).unwrap().len();
    println!("state after 300 turns: {stored} bytes of JSON");
    divan::main();
}

/// The events of one turn that neither repeats nor is like another.
fn turn(n: u64, output: usize) -> [Event<'static>; 3] {
    let call = ToolCall {
        id: Cow::Owned(format!("c{n}")),
        name: Cow::Borrowed("bash"),
        arguments: Cow::Owned(format!(
            r#"{{"command":"sed -n '{n},{}p' src/m{}.py"}}"#,
            n + 50,
            n % 40
        )),
        ..ToolCall::default()
    };
    let line = format!("def function_{n}(value): return value + {n}\n");
    let result = ToolResult {
        call_id: Cow::Owned(format!("c{n}")),
        content: Cow::Owned(line.repeat(output / line.len() + 1)),
        exit_code: Some(0),
        ..ToolResult::default()
    };
    let reply = Reply {
        text: Cow::Owned(format!("Next I look at part {n} of the module.")),
        tool_calls: vec![call],
        ..Reply::default()
    };
    [Event::Replied(reply), Event::ToolReturned(result), Event::TurnEnded]
}

fn at_turn(turns: u64) -> Engine {
    let mut engine = Engine::new(Arc::new(Policy::default()), RunInfo::default());
    for n in 0..turns {
        for event in turn(n, 1000) {
            engine.handle(Timestamp(n * 1000 + 1), &event);
        }
    }
    engine
}

/// One turn (three events) at a given point of the run: the cost must not grow.
#[divan::bench(args = [10, 100, 1000, 10_000])]
fn turn_at(bencher: Bencher<'_, '_>, turns: u64) {
    let engine = at_turn(turns);
    let events = turn(turns + 1, 1000);
    bencher.with_inputs(|| engine.clone()).bench_local_values(|mut engine| {
        for event in &events {
            black_box(engine.handle(Timestamp(turns * 1000 + 2), event));
        }
        engine
    });
}

/// One turn with an output of so many bytes.
#[divan::bench(args = [100, 1000, 8000, 100_000])]
fn turn_with_output(bencher: Bencher<'_, '_>, bytes: usize) {
    let engine = at_turn(20);
    let events = turn(21, bytes);
    bencher.with_inputs(|| engine.clone()).bench_local_values(|mut engine| {
        for event in &events {
            black_box(engine.handle(Timestamp(22_000), event));
        }
        engine
    });
}
