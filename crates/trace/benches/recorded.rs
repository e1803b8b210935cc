//! What judging costs on recorded runs: time per event by kind, and the size of a run's state.
//!
//! `cargo bench -p steersman-trace --bench recorded [-- FILE...]`; without files, the recordings in
//! `testdata/`. Quantiles rather than means: a machine that does something else shows in the tail.
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a bench reports to its caller")]

use std::collections::BTreeMap;
use std::fs::File;
use std::hint::black_box;
use std::io::Read;
use std::sync::Arc;
use std::time::Instant;

use steersman_engine::{Engine, Event, Policy, RunInfo, Timestamp};
use steersman_trace::{Flow, Problem, RunEnd, RunMeta, RunSink, open_reader};

/// Judges runs by the policy `default` and takes the time of every event.
struct Clocked {
    policy: Arc<Policy>,
    engine: Option<Engine>,
    /// Nanoseconds by kind of event.
    spent: BTreeMap<&'static str, Vec<u64>>,
    /// Bytes of the state's JSON at the end of each run.
    states: Vec<u64>,
}

impl RunSink for Clocked {
    fn run_started(&mut self, meta: &RunMeta<'_>) -> Flow {
        let (task, model) = (meta.task.to_string(), meta.model.to_string());
        let info = RunInfo { task, model, ..RunInfo::default() };
        self.engine = Some(Engine::new(Arc::clone(&self.policy), info));
        Flow::Continue
    }
    fn event(&mut self, at: Timestamp, event: &Event<'_>, _: u64) -> Flow {
        if let Some(engine) = &mut self.engine {
            let start = Instant::now();
            black_box(engine.handle(at, event));
            let spent = u64::try_from(start.elapsed().as_nanos()).unwrap();
            self.spent.entry(kind(event)).or_default().push(spent);
        }
        Flow::Continue
    }
    fn run_ended(&mut self, _: RunEnd) -> Flow {
        if let Some(engine) = self.engine.take() {
            self.states.push(serde_json::to_vec(engine.state()).unwrap().len() as u64);
        }
        Flow::Continue
    }
    fn problem(&mut self, problem: Problem) {
        println!("{problem}");
    }
}

const fn kind(event: &Event<'_>) -> &'static str {
    match event {
        Event::Replied(_) => "reply",
        Event::ToolReturned(_) => "tool result",
        Event::TurnEnded => "end of turn",
        Event::UserSpoke(_) => "user message",
        _ => "other",
    }
}

fn main() {
    let mut files: Vec<String> =
        std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    if files.is_empty() {
        let shipped = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/local-model/runs.jsonl");
        files.push(shipped.to_owned());
    }
    let mut sink = Clocked {
        policy: Arc::new(Policy::default()),
        engine: None,
        spent: BTreeMap::new(),
        states: Vec::new(),
    };
    for file in files {
        let mut text = Vec::new();
        let mut reader: Box<dyn Read> = Box::new(File::open(&file).unwrap());
        if file.ends_with(".gz") {
            reader = Box::new(flate2::read::MultiGzDecoder::new(reader));
        }
        reader.read_to_end(&mut text).unwrap();
        let mut units = open_reader("bench", std::io::Cursor::new(Arc::from(text))).unwrap();
        while let Some(unit) = units.next_unit() {
            unit.read(&mut sink);
        }
    }
    let mut all: Vec<u64> = sink.spent.values().flatten().copied().collect();
    show("every event", "ns", &mut all);
    for (kind, spent) in &mut sink.spent {
        show(kind, "ns", spent);
    }
    show("state of a run as JSON", "bytes", &mut sink.states);
}

fn show(what: &str, unit: &str, values: &mut [u64]) {
    values.sort_unstable();
    let at = |share: f64| values[((values.len() - 1) as f64 * share) as usize];
    if !values.is_empty() {
        let (median, ninety, most) = (at(0.5), at(0.9), at(0.99));
        println!(
            "{what:24} {:8} of them   median {median:6} {unit}   90 % {ninety:6}   99 % {most:6}",
            values.len()
        );
    }
}
