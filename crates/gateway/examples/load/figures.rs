//! Times of requests, and what a process has used.

use std::fmt;
use std::fs;
use std::time::Duration;

/// How long requests took.
#[derive(Debug, Default)]
pub(crate) struct Times {
    first: Vec<Duration>,
    whole: Vec<Duration>,
}

/// How long one request took.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Took {
    /// Until the first byte of the body.
    pub(crate) first: Duration,
    pub(crate) whole: Duration,
}

impl Times {
    pub(crate) fn add(&mut self, took: Took) {
        self.first.push(took.first);
        self.whole.push(took.whole);
    }

    pub(crate) fn join(&mut self, other: Self) {
        self.first.extend(other.first);
        self.whole.extend(other.whole);
    }
}

impl fmt::Display for Times {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tell = |name: &str, times: &[Duration], to: &mut fmt::Formatter<'_>| {
            let mut sorted = times.to_vec();
            sorted.sort_unstable();
            let at = |share: f64| {
                let place = (sorted.len() as f64 * share) as usize;
                let time = sorted.get(place.min(sorted.len().saturating_sub(1)));
                time.copied().unwrap_or_default().as_secs_f64() * 1e3
            };
            write!(
                to,
                "{name}: p50 {:.3} ms, p90 {:.3} ms, p99 {:.3} ms",
                at(0.5),
                at(0.9),
                at(0.99)
            )
        };
        tell("first byte", &self.first, to)?;
        writeln!(to)?;
        tell("whole answer", &self.whole, to)
    }
}

/// A program that is looked at from outside: one process, or several that share its work.
#[derive(Clone, Debug)]
pub(crate) struct Process {
    pids: Vec<String>,
}

impl Process {
    /// The processes with these ids, with commas between them.
    pub(crate) fn new(pids: &str) -> Self {
        Self { pids: pids.split(',').map(str::to_owned).collect() }
    }

    /// The time its threads have had of processors, in their own code and in the kernel's.
    pub(crate) fn cpu(&self) -> Result<Duration, String> {
        let mut nanoseconds = 0;
        for pid in &self.pids {
            let threads = format!("/proc/{pid}/task");
            let threads = fs::read_dir(&threads).map_err(|error| format!("{threads}: {error}"))?;
            for thread in threads.flatten() {
                // One that has just ended is no longer told.
                let told = fs::read_to_string(thread.path().join("schedstat")).unwrap_or_default();
                let had = told.split(' ').next().and_then(|had| had.parse::<u64>().ok());
                nanoseconds += had.unwrap_or_default();
            }
        }
        Ok(Duration::from_nanos(nanoseconds))
    }

    /// What it takes of memory now, and has taken at most.
    pub(crate) fn memory(&self) -> Result<String, String> {
        let (mut now, mut most) = (0.0, 0.0);
        for pid in &self.pids {
            let path = format!("/proc/{pid}/status");
            let told = fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
            let of = |key: &str| {
                let line = told.lines().find_map(|line| line.strip_prefix(key));
                let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
                kib.unwrap_or_default() / 1024.0
            };
            now += of("VmRSS:");
            most += of("VmHWM:");
        }
        Ok(format!("memory: {now:.1} MiB, at most {most:.1} MiB"))
    }
}
