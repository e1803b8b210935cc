//! Reading and judging on several threads, with results in the order of the input.
//!
//! One thread opens the inputs and cuts them into units; workers judge units; whoever holds the
//! [`Pipeline`] takes the results unit by unit. Each unit has a small channel of its own, so a
//! worker that is ahead waits, and memory stays bounded whatever the size of the input.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use steersman_trace::{Flow, OpenError, Problem, Unit, Units};

use super::inputs::{Argument, problem};
use super::judge::{Item, Judge, Setup};
use super::report::Source;

/// What the pipeline gives.
#[derive(Debug)]
pub(crate) enum Next {
    /// A run or a problem.
    Item(Item),
    /// A file found in a folder or by a pattern is no trace.
    NoTrace,
    /// Nothing yet.
    Idle,
    /// Everything was read. `failed` if a worker died.
    End {
        /// A worker died: a defect of this program.
        failed: bool,
    },
}

/// How far reading is.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    /// Bytes taken from the inputs.
    pub(crate) read: AtomicU64,
    /// Bytes of all inputs; 0 as long as they are not known.
    pub(crate) total: AtomicU64,
}

/// Threads that read and judge.
pub(crate) struct Pipeline {
    entries: Receiver<Entry>,
    unit: Option<Receiver<Vec<Item>>>,
    batch: std::vec::IntoIter<Item>,
    stop: Arc<AtomicBool>,
    progress: Arc<Progress>,
    threads: Vec<JoinHandle<()>>,
}

enum Entry {
    Unit(Receiver<Vec<Item>>),
    Problem(Problem),
    NoTrace,
}

struct Job {
    unit: Unit,
    source: Arc<Source>,
    results: SyncSender<Vec<Item>>,
}

/// Units that are read or wait to be, per worker.
const UNITS_PER_WORKER: usize = 4;
/// Batches of results that a unit may be ahead.
const BATCHES_AHEAD: usize = 4;
/// Weight at which a batch is passed on; about its bytes.
const BATCH_WEIGHT: usize = 64 * 1024;

impl Pipeline {
    /// Starts reading and judging.
    pub(crate) fn start(arguments: Vec<Argument>, setup: Setup, jobs: usize) -> Self {
        let jobs = jobs.max(1);
        let stop = Arc::new(AtomicBool::new(false));
        let progress = Arc::new(Progress::default());
        let (entry_sender, entries) = sync_channel(jobs * UNITS_PER_WORKER);
        let (job_sender, job_receiver) = sync_channel(jobs);
        let job_receiver = Arc::new(Mutex::new(job_receiver));
        let setup = Arc::new(setup);
        let mut threads: Vec<JoinHandle<()>> = (0..jobs)
            .map(|_| {
                let (jobs, setup) = (Arc::clone(&job_receiver), Arc::clone(&setup));
                let stop = Arc::clone(&stop);
                std::thread::spawn(move || work(&jobs, &setup, &stop))
            })
            .collect();
        let mut feeder = Feeder {
            entries: entry_sender,
            jobs: job_sender,
            stop: Arc::clone(&stop),
            progress: Arc::clone(&progress),
        };
        threads.push(std::thread::spawn(move || {
            // The only reason to break off is that nobody wants the results any more.
            let _ = feeder.feed(&arguments);
        }));
        Self { entries, unit: None, batch: Vec::new().into_iter(), stop, progress, threads }
    }

    /// The next result, in the order of the input; waits at most `patience`.
    pub(crate) fn next(&mut self, patience: Duration) -> Next {
        loop {
            if let Some(item) = self.batch.next() {
                return Next::Item(item);
            }
            if let Some(unit) = &self.unit {
                match unit.recv_timeout(patience) {
                    Ok(batch) => self.batch = batch.into_iter(),
                    Err(RecvTimeoutError::Timeout) => return Next::Idle,
                    Err(RecvTimeoutError::Disconnected) => self.unit = None,
                }
                continue;
            }
            match self.entries.recv_timeout(patience) {
                Ok(Entry::Unit(unit)) => self.unit = Some(unit),
                Ok(Entry::Problem(problem)) => return Next::Item(Item::Problem(problem)),
                Ok(Entry::NoTrace) => return Next::NoTrace,
                Err(RecvTimeoutError::Timeout) => return Next::Idle,
                Err(RecvTimeoutError::Disconnected) => return self.end(),
            }
        }
    }

    /// How far reading is.
    pub(crate) fn progress(&self) -> Arc<Progress> {
        Arc::clone(&self.progress)
    }

    /// Asks the threads to stop; they are not waited for, because one may be waiting for input.
    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    fn end(&mut self) -> Next {
        let joined = self.threads.drain(..).map(JoinHandle::join);
        Next::End { failed: joined.filter(Result::is_err).count() > 0 }
    }
}

/// Nobody wants the results any more.
struct Unwanted;

struct Feeder {
    entries: SyncSender<Entry>,
    jobs: SyncSender<Job>,
    stop: Arc<AtomicBool>,
    progress: Arc<Progress>,
}

impl Feeder {
    fn feed(&mut self, arguments: &[Argument]) -> Result<(), Unwanted> {
        for argument in arguments {
            if *argument == Argument::Stdin {
                match steersman_trace::open_reader("-", std::io::stdin()) {
                    Ok(units) => self.feed_units(Path::new("-"), units)?,
                    Err(error) => self.report(Path::new("-"), &error)?,
                }
            } else {
                self.feed_argument(argument)?;
            }
        }
        Ok(())
    }

    fn feed_argument(&mut self, argument: &Argument) -> Result<(), Unwanted> {
        let (mut files, mut foreign) = (0_u64, 0_u64);
        for found in argument.files() {
            files += 1;
            match found {
                Err(problem) => self.send(Entry::Problem(problem))?,
                Ok(file) => match steersman_trace::open(&file.path) {
                    Ok(units) => self.feed_units(&file.path, units)?,
                    Err(OpenError::Format { .. }) if file.walked => {
                        foreign += 1;
                        self.send(Entry::NoTrace)?;
                    }
                    Err(error) => self.report(&file.path, &error)?,
                },
            }
        }
        if foreign < files {
            return Ok(());
        }
        let what = match (argument, files) {
            (Argument::Pattern(_), 0) => "no file matches this pattern".to_owned(),
            (_, 0) => "the folder holds no files (hidden ones are not looked at)".to_owned(),
            (_, 1) => "its only file is no trace of a known format".to_owned(),
            (_, files) => format!("none of its {files} files is a trace of a known format"),
        };
        self.send(Entry::Problem(problem(argument.as_path(), &what)))
    }

    fn feed_units(&mut self, path: &Path, mut units: Units) -> Result<(), Unwanted> {
        let name = path.display().to_string();
        let source = Arc::new(Source { name, format: units.format().to_string() });
        let before = self.progress.read.load(Ordering::Relaxed);
        while let Some(unit) = units.next_unit() {
            let (results, receiver) = sync_channel(BATCHES_AHEAD);
            self.send(Entry::Unit(receiver))?;
            let job = Job { unit, source: Arc::clone(&source), results };
            self.jobs.send(job).map_err(|_| Unwanted)?;
            self.progress.read.store(before + units.bytes_read(), Ordering::Relaxed);
        }
        Ok(())
    }

    fn report(&self, path: &Path, error: &OpenError) -> Result<(), Unwanted> {
        self.send(Entry::Problem(problem(path, error)))
    }

    fn send(&self, entry: Entry) -> Result<(), Unwanted> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(Unwanted);
        }
        self.entries.send(entry).map_err(|_| Unwanted)
    }
}

fn work(jobs: &Mutex<Receiver<Job>>, setup: &Setup, stop: &AtomicBool) {
    loop {
        let Ok(job) = jobs.lock().map_err(|_| ()).and_then(|jobs| jobs.recv().map_err(|_| ()))
        else {
            return;
        };
        let mut batch = Batch { items: Vec::new(), weight: 0, results: job.results };
        let mut emit = |item| {
            if stop.load(Ordering::Relaxed) { Flow::Break } else { batch.push(item) }
        };
        let mut judge = Judge::new(setup, &job.source, &mut emit);
        // Whether the reader broke off is known to whoever made it break off.
        let _ = job.unit.read(&mut judge);
        let _ = batch.flush();
    }
}

/// Results on their way.
struct Batch {
    items: Vec<Item>,
    weight: usize,
    results: SyncSender<Vec<Item>>,
}

impl Batch {
    fn push(&mut self, item: Item) -> Flow {
        self.weight += weight(&item);
        self.items.push(item);
        if self.weight < BATCH_WEIGHT { Flow::Continue } else { self.flush() }
    }

    fn flush(&mut self) -> Flow {
        self.weight = 0;
        let items = std::mem::take(&mut self.items);
        if !items.is_empty() && self.results.send(items).is_err() {
            return Flow::Break;
        }
        Flow::Continue
    }
}

/// About the bytes an item takes.
fn weight(item: &Item) -> usize {
    const RUN: usize = 1024;
    const DECISION: usize = 1024;
    match item {
        Item::Problem(_) => RUN,
        Item::Run(report) if report.timeline.is_some() => BATCH_WEIGHT,
        Item::Run(report) => {
            let verdicts = std::iter::once(&report.verdict).chain(&report.other);
            let decisions: usize = verdicts.map(|verdict| verdict.decisions.len()).sum();
            let points = report.series.as_ref().map_or(0, |series| series.points.len());
            RUN + decisions * DECISION + points * size_of::<super::series::SeriesPoint>()
        }
    }
}
