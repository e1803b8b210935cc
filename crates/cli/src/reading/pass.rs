//! One pass over the inputs.

use std::io;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::Ending;
use super::inputs::Argument;
use super::pipeline::{Item, Next, Pipeline};
use super::progress::Meter;
use crate::screen::{Screen, Tone, complain};
use crate::text;

/// How long to wait for results before looking at the clock and at Ctrl-C.
const TICK: Duration = Duration::from_millis(60);
/// More threads than this are never started.
const MAX_JOBS: usize = 64;

/// Threads that judge: as many as asked for, else one per core.
pub(crate) fn jobs(wanted: Option<NonZeroUsize>) -> usize {
    let cores = || std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    wanted.map_or_else(cores, NonZeroUsize::get).min(MAX_JOBS)
}

/// Set by the first Ctrl-C; the second ends the process.
pub(crate) fn interruption() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    // Without the handlers, Ctrl-C ends the process at once: all that is lost is the totals.
    let ends = signal_hook::flag::register_conditional_shutdown(
        signal_hook::consts::SIGINT,
        130,
        Arc::clone(&flag),
    );
    if ends.is_ok() {
        let _ = signal_hook::flag::register(signal_hook::consts::SIGINT, Arc::clone(&flag));
    }
    flag
}

/// Takes judged runs, in the order of the input.
pub(crate) trait Taker<R> {
    /// Takes in a run; true if no other is wanted.
    fn take(&mut self, run: Box<R>) -> io::Result<bool>;

    /// Nothing has come for a moment.
    fn idle(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// One pass over the inputs: shows how far it is, tells what could not be read, and how it ended.
pub(crate) struct Pass {
    errors: Screen,
    meter: Option<Meter>,
    runs: u64,
    problems: u64,
    foreign: u64,
}

impl Pass {
    /// Problems shown one by one; all are counted.
    const MAX_PROBLEMS: u64 = 1000;

    /// A pass that has not begun, without a progress bar.
    pub(crate) const fn new(errors: Screen) -> Self {
        Self { errors, meter: None, runs: 0, problems: 0, foreign: 0 }
    }

    /// The same pass with a progress bar, where there is a terminal to show it on.
    pub(crate) fn metered(mut self, arguments: Vec<Argument>) -> Self {
        if self.errors.width.is_some() {
            self.meter = Some(Meter::start(self.errors, arguments));
        }
        self
    }

    /// Takes everything, until the end, the first Ctrl-C, or no more is wanted.
    pub(crate) fn take_all<R: Send + 'static>(
        &mut self,
        pipeline: &mut Pipeline<R>,
        stop: &AtomicBool,
        taker: &mut dyn Taker<R>,
    ) -> io::Result<Ending> {
        loop {
            if stop.load(Ordering::Relaxed) {
                return Ok(Ending::Interrupted);
            }
            match pipeline.next(TICK) {
                Next::Item(Item::Run(run)) => {
                    self.runs += 1;
                    if taker.take(run)? {
                        return Ok(Ending::Complete);
                    }
                }
                Next::Item(Item::Problem(problem)) => self.tell(&problem),
                Next::NoTrace => self.foreign += 1,
                Next::Idle => taker.idle()?,
                Next::End { failed } => {
                    return Ok(if failed { Ending::Failed } else { Ending::Complete });
                }
            }
            if let Some(meter) = &mut self.meter {
                meter.tick(self.runs, || pipeline.bytes_read());
            }
        }
    }

    fn tell(&mut self, problem: &str) {
        self.problems += 1;
        if self.problems <= Self::MAX_PROBLEMS {
            self.complain(Tone::Warn, "skipped", &text::plain(problem));
        }
    }

    /// Says something on standard error, beside the progress bar.
    pub(crate) fn complain(&mut self, tone: Tone, label: &str, message: &str) {
        self.clear();
        complain(self.errors, tone, label, message);
    }

    /// Removes the progress bar, so that something else can be written.
    pub(crate) fn clear(&mut self) {
        if let Some(meter) = &mut self.meter {
            meter.clear();
        }
    }

    /// Says what was left out, and how the work ended.
    pub(crate) fn close(&mut self, ending: Ending) -> Ending {
        if self.foreign > 0 && self.runs > 0 {
            let files = text::counted(self.foreign, "file");
            self.complain(Tone::Dim, "note", &format!("{files} of no known trace format"));
        }
        if self.problems > 0 && self.runs > 0 {
            let parts = text::counted(self.problems, "part");
            let what = format!("{parts} of the input could not be read");
            self.complain(Tone::Warn, "warning", &what);
        }
        match ending {
            Ending::Interrupted => {
                self.complain(Tone::Warn, "interrupted", "the figures cover what was read so far");
                ending
            }
            Ending::Complete if self.runs == 0 => {
                self.complain(Tone::Bad, "error", "there was no run to judge");
                Ending::Failed
            }
            Ending::Complete if self.problems > 0 => Ending::Partial,
            Ending::Failed => {
                self.complain(Tone::Bad, "error", "a thread died: this is a defect of steersman");
                ending
            }
            other => other,
        }
    }
}
