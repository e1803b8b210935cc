//! How fast `steersman replay` is as a whole, by threads, against merely parsing the same JSON.
//!
//! `cargo bench -p steersman --bench replay [-- FILE...]`; files are JSON lines, not compressed;
//! without files, the shipped runs many times over. Times are of the wall, taken in turn and the best
//! of five rounds, so that a busy machine distorts all of them alike.
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a bench reports to its caller")]

use std::hint::black_box;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// Rounds of which the best counts.
const ROUNDS: usize = 5;

/// How large the made-up input is at least, in bytes: below, starting the process counts.
const MADE_UP: usize = 64 << 20;

fn main() {
    let files: Vec<PathBuf> =
        std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).map(PathBuf::from).collect();
    if files.is_empty() {
        let path =
            std::env::temp_dir().join(format!("steersman-bench-{}.jsonl", std::process::id()));
        make_up(&path);
        measure(&path);
        std::fs::remove_file(&path).unwrap();
    }
    files.iter().for_each(|path| measure(path));
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
    let text = std::fs::read_to_string(path).unwrap();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut threads: Vec<usize> = vec![1, 2, cores];
    threads.retain(|count| *count <= cores);
    threads.dedup();
    let mut replayed = vec![f64::MAX; threads.len()];
    let mut parsed = f64::MAX;
    for _ in 0..ROUNDS {
        parsed = parsed.min(seconds(|| {
            for line in text.lines().filter(|line| !line.is_empty()) {
                black_box(serde_json::from_str::<serde_json::Value>(line).unwrap());
            }
        }));
        for (best, jobs) in replayed.iter_mut().zip(&threads) {
            *best = best.min(seconds(|| replay(path, *jobs)));
        }
    }
    let speed = |seconds: f64| text.len() as f64 / 1e6 / seconds;
    println!("{}: {:.1} MB", path.display(), text.len() as f64 / 1e6);
    println!("  parsing into serde_json::Value, one thread {:6.0} MB/s", speed(parsed));
    for (best, jobs) in replayed.iter().zip(&threads) {
        println!(
            "  steersman replay --jobs {jobs}                  {:6.0} MB/s   {:3.0} % of parsing   \
             {:.2} times one thread",
            speed(*best),
            100.0 * parsed / best,
            replayed[0] / best,
        );
    }
}

fn replay(path: &Path, jobs: usize) {
    let status = Command::new(env!("CARGO_BIN_EXE_steersman"))
        .args(["replay", "--limit", "0", "--no-progress", "--jobs", &jobs.to_string()])
        .arg(path)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success(), "replay ends with {status}");
}

fn seconds(mut work: impl FnMut()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64()
}
