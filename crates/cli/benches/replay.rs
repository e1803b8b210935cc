//! How fast `steersman replay` is as a whole, by threads, against merely parsing the same JSON.
//!
//! `cargo bench -p steersman --bench replay [-- FILE...]`; files are JSON lines, not compressed;
//! without files, the shipped runs many times over. Parsing is a process as replaying is: it reads
//! the file line by line and makes a `serde_json::Value` of each, on one thread. Times are of the
//! wall, taken in turn; a ratio is the median of those of the rounds, so that a machine that is busy
//! for a while distorts both sides of it alike.
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a bench reports to its caller")]

use std::fs::File;
use std::hint::black_box;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// Rounds in which everything is measured once.
const ROUNDS: usize = 9;

/// The flag with which the bench only parses a file.
const PARSE: &str = "--parse";

/// How large the made-up input is at least, in bytes: below, starting the process counts.
const MADE_UP: usize = 64 << 20;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [PARSE, file] = arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        return parse(Path::new(file));
    }
    let files: Vec<PathBuf> =
        arguments.iter().filter(|arg| !arg.starts_with("--")).map(PathBuf::from).collect();
    if files.is_empty() {
        let path =
            std::env::temp_dir().join(format!("steersman-bench-{}.jsonl", std::process::id()));
        make_up(&path);
        measure(&path);
        std::fs::remove_file(&path).unwrap();
    }
    files.iter().for_each(|path| measure(path));
}

/// What is compared with: every line becomes a value, and nothing is made of it.
fn parse(path: &Path) {
    let mut file = BufReader::with_capacity(256 << 10, File::open(path).unwrap());
    let mut line = Vec::new();
    while file.read_until(b'\n', &mut line).unwrap() > 0 {
        black_box(serde_json::from_slice::<serde_json::Value>(&line).unwrap());
        line.clear();
    }
}

/// The shipped runs, again and again.
fn make_up(path: &Path) {
    let shipped = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/local-model/runs.jsonl");
    let text = std::fs::read(shipped).unwrap();
    let mut file = std::fs::File::create(path).unwrap();
    for _ in 0..MADE_UP.div_ceil(text.len()) {
        file.write_all(&text).unwrap();
    }
}

fn measure(path: &Path) {
    let megabytes = std::fs::metadata(path).unwrap().len() as f64 / 1e6;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut threads: Vec<usize> = vec![1, 2, cores];
    threads.retain(|count| *count <= cores);
    threads.dedup();
    let mut parsed = Vec::new();
    let mut replayed = vec![Vec::new(); threads.len()];
    for _ in 0..ROUNDS {
        parsed.push(seconds(parser(path)));
        for (times, jobs) in replayed.iter_mut().zip(&threads) {
            times.push(seconds(replayer(path, *jobs)));
        }
    }
    println!("{}: {megabytes:.1} MB, medians of {ROUNDS} rounds", path.display());
    let speed = |times: &[f64]| megabytes / median(times.to_vec());
    println!("  parsing into serde_json::Value, one thread {:6.0} MB/s", speed(&parsed));
    for (times, jobs) in replayed.iter().zip(&threads) {
        println!(
            "  steersman replay --jobs {jobs}                  {:6.0} MB/s   {:3.0} % of parsing   \
             {:.2} times one thread",
            speed(times),
            100.0 * median(ratios(&parsed, times)),
            median(ratios(&replayed[0], times)),
        );
    }
}

fn parser(path: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.arg(PARSE).arg(path);
    command
}

fn replayer(path: &Path, jobs: usize) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_steersman"));
    command
        .args(["replay", "--limit", "0", "--no-progress", "--jobs", &jobs.to_string()])
        .arg(path);
    command
}

/// How long a command takes; it must succeed.
fn seconds(mut command: Command) -> f64 {
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let start = Instant::now();
    let status = command.status().unwrap();
    assert!(status.success(), "{command:?} ends with {status}");
    start.elapsed().as_secs_f64()
}

fn ratios(of: &[f64], by: &[f64]) -> Vec<f64> {
    of.iter().zip(by).map(|(of, by)| of / by).collect()
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
