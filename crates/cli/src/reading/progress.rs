//! The progress bar.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::inputs::Argument;
use crate::screen::{Screen, Tone};
use crate::text;

/// A line on standard error that tells how far the work is. It appears only on long work.
pub(crate) struct Meter {
    screen: Screen,
    /// Bytes of all inputs; 0 as long as they are not known.
    total: Arc<AtomicU64>,
    begun: Instant,
    drawn: Option<Instant>,
    visible: bool,
}

impl Meter {
    /// Shorter work shows no bar.
    const PATIENCE: Duration = Duration::from_millis(700);
    /// The line is drawn at most this often.
    const EVERY: Duration = Duration::from_millis(120);
    const BAR: usize = 20;

    /// A bar for the given work; the size of the inputs is summed up beside it.
    pub(crate) fn start(screen: Screen, arguments: Vec<Argument>) -> Self {
        let total = Arc::new(AtomicU64::new(0));
        let sizes = Arc::clone(&total);
        // Not waited for: without the sum the bar only lacks its percentage.
        drop(std::thread::spawn(move || sum_sizes(&arguments, &sizes)));
        Self { screen, total, begun: Instant::now(), drawn: None, visible: false }
    }

    /// Draws the line if it is time to: so many runs were judged, so many bytes read.
    pub(crate) fn tick(&mut self, runs: u64, read: impl FnOnce() -> u64) {
        if self.begun.elapsed() < Self::PATIENCE
            || self.drawn.is_some_and(|drawn| drawn.elapsed() < Self::EVERY)
        {
            return;
        }
        let width = self.screen.width.unwrap_or(80);
        let line = text::cut_end(&self.line(runs, read()), width.saturating_sub(1));
        let mut stream = std::io::stderr().lock();
        // A progress bar that cannot be written is no reason to stop.
        let _ = write!(stream, "\r{}\x1b[K", self.screen.paint(Tone::Dim, &line));
        let _ = stream.flush();
        self.drawn = Some(Instant::now());
        self.visible = true;
    }

    /// Removes the line, so that something else can be written.
    pub(crate) fn clear(&mut self) {
        if self.visible {
            let mut stream = std::io::stderr().lock();
            let _ = write!(stream, "\r\x1b[K");
            let _ = stream.flush();
            self.visible = false;
        }
    }

    fn line(&self, runs: u64, read: u64) -> String {
        let total = self.total.load(Ordering::Relaxed);
        let seconds = self.begun.elapsed().as_secs_f64().max(0.001);
        let runs = text::counted(runs, "run");
        if total == 0 {
            return format!("{runs} · {}", text::bytes(read));
        }
        let share = (read as f64 / total as f64).clamp(0.0, 1.0);
        let filled = (share * Self::BAR as f64) as usize;
        let bar = "█".repeat(filled) + &"░".repeat(Self::BAR - filled);
        let left = seconds * (1.0 - share) / share.max(1e-6);
        let left = if share < 0.02 { String::new() } else { format!(" · {}", duration(left)) };
        let percent = share * 100.0;
        format!("{bar} {percent:3.0} % of {} · {runs}{left}", text::bytes(total))
    }
}

fn duration(seconds: f64) -> String {
    let seconds = seconds.ceil() as u64;
    match seconds {
        0..60 => format!("{seconds} s left"),
        60..3600 => format!("{} min {} s left", seconds / 60, seconds % 60),
        _ => format!("{} h {} min left", seconds / 3600, seconds % 3600 / 60),
    }
}

fn sum_sizes(arguments: &[Argument], total: &AtomicU64) {
    if arguments.contains(&Argument::Stdin) {
        return;
    }
    let files = arguments.iter().flat_map(Argument::files).flatten();
    let sizes = files.filter_map(|file| file.path.metadata().ok()).map(|it| it.len());
    total.store(sizes.sum(), Ordering::Relaxed);
}
