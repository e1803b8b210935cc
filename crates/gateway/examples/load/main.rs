//! Plays agents against a gateway in front of the example `mock`, and tells what that cost.
//!
//! ```sh
//! cargo run --release -p steersman-gateway --example load -- 127.0.0.1:8897 --pid PID \
//!     --sessions 8 --turns 50 --history 131072 --connections 1
//! ```
//!
//! * `--sessions N` conversations of `--turns N` turns each, `--connections N` at a time; each has
//!   `--history BYTES` of results behind it when it begins. What is measured begins with their
//!   second requests.
//! * `--format NAME`, `--stream`, `--unnamed` (sessions have no header with their name).
//! * `--seconds N` plays a mix instead: all formats, streamed and not, named and not, some agents
//!   that go in circles, errors, cut streams, clients that leave, requests that are no JSON.
//! * `--pid PID[,PID]...`: the processes whose time and memory are told. Linux only.

#![expect(clippy::print_stdout, reason = "figures are what it is for")]

mod agent;
mod figures;
mod mix;

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use steersman_wire::Format;
use tokio::task::JoinSet;

use agent::{Agent, Asker};
use figures::{Process, Times};

/// How long a gateway has to write what it heard of histories.
const SETTLES: Duration = Duration::from_secs(2);

/// What is asked for on the command line.
#[derive(Clone, Debug)]
struct Load {
    address: String,
    process: Option<Process>,
    sessions: usize,
    turns: usize,
    history: usize,
    connections: usize,
    format: Format,
    stream: bool,
    named: bool,
    seconds: Option<u64>,
}

type Failure = Box<dyn Error + Send + Sync>;

impl Load {
    fn of(arguments: &[String]) -> Result<Self, Failure> {
        let value = |name: &str| {
            let at = arguments.iter().position(|argument| argument == name)?;
            arguments.get(at + 1).map(String::as_str)
        };
        let number = |name: &str, usual: usize| match value(name) {
            None => Ok(usual),
            Some(text) => text.parse().map_err(|_| format!("{name} {text}: not a number")),
        };
        let has = |name: &str| arguments.iter().any(|argument| argument == name);
        Ok(Self {
            address: arguments.get(1).ok_or("an address is missing")?.clone(),
            process: value("--pid").map(Process::new),
            sessions: number("--sessions", 8)?.max(1),
            turns: number("--turns", 50)?.max(2),
            history: number("--history", 0)?,
            connections: number("--connections", 1)?.max(1),
            format: value("--format").unwrap_or("anthropic").parse()?,
            stream: has("--stream"),
            named: !has("--unnamed"),
            seconds: value("--seconds").map(str::parse).transpose()?,
        })
    }
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().collect();
    let load = Load::of(&arguments)?;
    match load.seconds {
        Some(seconds) => mix::play(&load, Duration::from_secs(seconds)).await,
        None => measure(load).await,
    }
}

/// Plays every session's first turn, and then measures the others.
async fn measure(load: Load) -> Result<(), Failure> {
    let asker = Asker::new(&load.address);
    let mut agents = Vec::new();
    for number in 0..load.sessions {
        let mut agent = Agent::new(load.format, number, load.stream, load.named);
        agent.look_back_on(load.history);
        agent.turn(&asker).await?;
        agents.push(agent);
    }
    let bytes = agents.first().map_or(0, Agent::body_len);
    // What the first requests, with all their history, have left to write is not what is measured.
    tokio::time::sleep(SETTLES).await;
    let before = load.process.as_ref().map(Process::cpu).transpose()?;
    let begun = std::time::Instant::now();
    let agents = Arc::new(tokio::sync::Mutex::new(agents));
    let asked = Arc::new(AtomicUsize::new(0));
    let mut workers = JoinSet::new();
    for _ in 0..load.connections {
        let (agents, asker, asked) = (Arc::clone(&agents), asker.clone(), Arc::clone(&asked));
        let turns = load.turns - 1;
        workers.spawn(async move {
            let mut times = Times::default();
            loop {
                let Some(mut agent) = agents.lock().await.pop() else { return Ok(times) };
                for _ in 0..turns {
                    times.add(agent.turn(&asker).await?);
                    asked.fetch_add(1, Ordering::Relaxed);
                }
            }
        });
    }
    let mut times = Times::default();
    while let Some(worker) = workers.join_next().await {
        let own: Result<Times, Failure> = worker?;
        times.join(own?);
    }
    let took = begun.elapsed();
    let count = asked.load(Ordering::Relaxed);
    println!("{count} requests, the first of {bytes} bytes, in {:.2} s", took.as_secs_f64());
    println!("{times}");
    if let (Some(process), Some(before)) = (&load.process, before) {
        let used = process.cpu()?.saturating_sub(before);
        println!("CPU per request: {:.0} us", used.as_secs_f64() * 1e6 / count as f64);
        println!("{}", process.memory()?);
    }
    Ok(())
}
