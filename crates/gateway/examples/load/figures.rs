//! Times of requests, and what a process has used.

use std::fmt;
use std::fs;
use std::time::Duration;

/// Ticks of the processor's clock in a second, as Linux tells them to programs.
const TICKS: u64 = 100;

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

/// A process that is looked at from outside.
#[derive(Clone, Debug)]
pub(crate) struct Process {
    pid: String,
}

impl Process {
    pub(crate) const fn new(pid: String) -> Self {
        Self { pid }
    }

    /// The time it has had of processors, in its own code and in the kernel's.
    pub(crate) fn cpu(&self) -> Result<Duration, String> {
        let told = self.read("stat")?;
        // The name in brackets may hold anything.
        let fields = told.rsplit_once(')').map_or("", |(_, rest)| rest);
        let ticks = fields.split_whitespace().skip(11).take(2);
        let ticks: u64 = ticks.filter_map(|field| field.parse::<u64>().ok()).sum();
        Ok(Duration::from_millis(ticks * 1000 / TICKS))
    }

    /// What it takes of memory now, and has taken at most.
    pub(crate) fn memory(&self) -> Result<String, String> {
        let told = self.read("status")?;
        let of = |key: &str| {
            let line = told.lines().find_map(|line| line.strip_prefix(key));
            let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
            kib.unwrap_or_default() / 1024.0
        };
        Ok(format!("memory: {:.1} MiB, at most {:.1} MiB", of("VmRSS:"), of("VmHWM:")))
    }

    fn read(&self, name: &str) -> Result<String, String> {
        let path = format!("/proc/{}/{name}", self.pid);
        fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))
    }
}
