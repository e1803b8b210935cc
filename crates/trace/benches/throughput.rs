//! How fast runs are read and judged, against merely parsing the same JSON. One thread.
//!
//! `cargo bench -p steersman-trace --bench throughput [-- [--reader] FILE...]`; without files, runs
//! are made up; `--reader` leaves the comparison out, for a profiler.
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a bench reports to its caller")]

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use serde::de::IgnoredAny;
use steersman_engine::{Engine, Event, Policy, RunInfo, Timestamp};
use steersman_trace::{Flow, Problem, RunEnd, RunMeta, RunSink, open_reader};

/// Judges every run by the policy `default`, as `steersman replay` does.
#[derive(Debug)]
struct Judge {
    policy: Arc<Policy>,
    engine: Option<Engine>,
}

impl RunSink for Judge {
    fn run_started(&mut self, meta: &RunMeta<'_>) -> Flow {
        let (task, model) = (meta.task.to_string(), meta.model.to_string());
        let info = RunInfo { task, model, ..RunInfo::default() };
        self.engine = Some(Engine::new(Arc::clone(&self.policy), info));
        Flow::Continue
    }
    fn event(&mut self, at: Timestamp, event: &Event<'_>, _: u64) -> Flow {
        if let Some(engine) = &mut self.engine {
            black_box(engine.handle(at, event));
        }
        Flow::Continue
    }
    fn run_ended(&mut self, _: RunEnd) -> Flow {
        self.engine = None;
        Flow::Continue
    }
    fn problem(&mut self, problem: Problem) {
        println!("{problem}");
    }
}

/// Takes everything and keeps nothing.
#[derive(Debug, Default)]
struct Drain {
    events: u64,
}

impl RunSink for Drain {
    fn run_started(&mut self, meta: &RunMeta<'_>) -> Flow {
        black_box(meta);
        Flow::Continue
    }
    fn event(&mut self, _: Timestamp, event: &Event<'_>, _: u64) -> Flow {
        black_box(event);
        self.events += 1;
        Flow::Continue
    }
    fn run_ended(&mut self, _: RunEnd) -> Flow {
        Flow::Continue
    }
    fn problem(&mut self, problem: Problem) {
        println!("{problem}");
    }
}

fn main() {
    let compare = !std::env::args().any(|arg| arg == "--reader");
    let files: Vec<String> =
        std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    if files.is_empty() {
        measure("made-up runs", &made_up(), compare);
    }
    for file in files {
        let mut text = Vec::new();
        let mut reader: Box<dyn std::io::Read> = Box::new(std::fs::File::open(&file).unwrap());
        if file.ends_with(".gz") {
            reader = Box::new(flate2::read::MultiGzDecoder::new(reader));
        }
        reader.read_to_end(&mut text).unwrap();
        measure(file.rsplit('/').next().unwrap_or(&file), &text, compare);
    }
}

fn measure(name: &str, text: &[u8], compare: bool) {
    let lines: Vec<&str> = std::str::from_utf8(text).unwrap().lines().collect();
    let value = speed(text.len(), || {
        for line in lines.iter().filter(|_| compare) {
            black_box(serde_json::from_str::<serde_json::Value>(line).unwrap());
        }
    });
    let ignored = speed(text.len(), || {
        for line in lines.iter().filter(|_| compare) {
            black_box(serde_json::from_str::<IgnoredAny>(line).unwrap());
        }
    });
    let owned: Arc<[u8]> = text.into();
    let read = |sink: &mut dyn RunSink| {
        let mut units = open_reader("bench", std::io::Cursor::new(Arc::clone(&owned))).unwrap();
        while let Some(unit) = units.next_unit() {
            unit.read(sink);
        }
    };
    let ours = speed(text.len(), || {
        let mut drain = Drain::default();
        read(&mut drain);
        black_box(drain.events);
    });
    let policy = Arc::new(Policy::default());
    let judged = speed(text.len(), || {
        read(&mut Judge { policy: Arc::clone(&policy), engine: None });
    });
    println!(
        "{name:42} {:6.1} MB   judged {judged:5.0} MB/s   read {ours:5.0} MB/s   \
         Value {value:5.0} MB/s   IgnoredAny {ignored:5.0} MB/s",
        text.len() as f64 / 1e6
    );
}

/// Megabytes per second of processor time, the best of five rounds.
fn speed(bytes: usize, mut work: impl FnMut()) -> f64 {
    let mut best = f64::MAX;
    for _ in 0..5 {
        let clock = Instant::now();
        let start = cpu_seconds();
        work();
        let spent = match (start, cpu_seconds()) {
            (Some(start), Some(end)) => end - start,
            _ => clock.elapsed().as_secs_f64(),
        };
        best = best.min(spent);
    }
    bytes as f64 / 1e6 / best
}

/// Processor time of this thread, which a busy machine does not distort; `None` where the system
/// does not tell.
fn cpu_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds: f64 = text.split(' ').next()?.parse().ok()?;
    Some(nanoseconds / 1e9)
}

/// Runs of a coding agent: short calls, results of code with the usual escapes.
fn made_up() -> Vec<u8> {
    let mut text = Vec::new();
    for run in 0..200 {
        let mut steps =
            vec![serde_json::json!({"role": "user", "content": "Fix the failing test."})];
        for step in 0..60 {
            let id = format!("call_{step}");
            let code = format!("fn step_{step}() {{\n\tprintln!(\"run {run}\");\n}}\n").repeat(30);
            steps.push(serde_json::json!({
                "role": "assistant", "content": "Let me look at the next file.",
                "tool_calls": [{
                    "id": id, "name": "read", "arguments": {"path": format!("src/{step}.rs")},
                }],
                "usage": {"input_tokens": 1000 + step, "output_tokens": 50},
            }));
            steps.push(serde_json::json!({"role": "tool", "tool_call_id": id, "content": code}));
        }
        let run = serde_json::json!({"id": format!("run-{run}"), "agent": "bench", "steps": steps});
        text.extend_from_slice(run.to_string().as_bytes());
        text.push(b'\n');
    }
    text
}
