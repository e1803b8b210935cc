//! Reading and judging on several threads, with results in the order of the input.
//!
//! One thread opens the inputs and cuts them into units; threads judge units; whoever holds the
//! [`Pipeline`] takes the results unit by unit. Each unit has a small channel of its own, so a
//! worker that is ahead waits, and memory stays bounded whatever the size of the input.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use steersman_trace::{Flow, OpenError, Unit, Units};

use super::inputs::{Argument, conversation, says};
use super::source::Source;

/// How units are judged; the same for all of them.
pub(crate) trait Judges: Send + Sync + 'static {
    /// What is kept of a run.
    type Run: Send + 'static;

    /// Judges the runs of a unit, and passes them on in order.
    fn judge(&self, unit: Unit, source: &Arc<Source>, emit: &mut Emit<'_, Self::Run>);

    /// About the bytes that a judged run takes.
    fn weight(run: &Self::Run) -> usize;
}

/// Where a judged run goes; it answers whether more is wanted.
pub(crate) type Emit<'a, R> = dyn FnMut(Item<R>) -> Flow + 'a;

/// What judging gives.
#[derive(Debug)]
pub(crate) enum Item<R> {
    /// A judged run.
    Run(Box<R>),
    /// Something that could not be read.
    Problem(String),
}

/// What the pipeline gives.
#[derive(Debug)]
pub(crate) enum Next<R> {
    /// A run or a problem.
    Item(Item<R>),
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

/// Threads that read and judge.
pub(crate) struct Pipeline<R> {
    entries: Receiver<Entry<R>>,
    unit: Option<Receiver<Vec<Item<R>>>>,
    batch: std::vec::IntoIter<Item<R>>,
    input: Option<Arc<Mutex<Units>>>,
    bytes_of_former: u64,
    bytes: u64,
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

enum Entry<R> {
    Unit(Receiver<Vec<Item<R>>>),
    Input(Arc<Mutex<Units>>),
    Problem(String),
    NoTrace,
}

struct Job<R> {
    unit: Unit,
    source: Arc<Source>,
    results: SyncSender<Vec<Item<R>>>,
}

/// Units that are read or wait to be, per worker.
const UNITS_PER_WORKER: usize = 2;
/// Units that wait to be read. A unit holds megabytes, so this many for any number of workers.
const MAX_WAITING: usize = 4;
/// Batches of results that a unit may be ahead.
const BATCHES_AHEAD: usize = 4;
/// Weight at which a batch is passed on; about its bytes.
pub(crate) const BATCH_WEIGHT: usize = 64 * 1024;
/// About the bytes of a problem.
const PROBLEM_WEIGHT: usize = 1024;

impl<R: Send + 'static> Pipeline<R> {
    /// Starts reading and judging.
    pub(crate) fn start<J: Judges<Run = R>>(
        arguments: Vec<Argument>,
        judges: J,
        jobs: usize,
    ) -> Self {
        let jobs = jobs.max(1);
        let stop = Arc::new(AtomicBool::new(false));
        let (entry_sender, entries) = sync_channel(jobs * UNITS_PER_WORKER);
        let (job_sender, job_receiver) = sync_channel(jobs.min(MAX_WAITING));
        let job_receiver = Arc::new(Mutex::new(job_receiver));
        let judges = Arc::new(judges);
        let mut threads: Vec<JoinHandle<()>> = (0..jobs)
            .map(|_| {
                let (jobs, judges) = (Arc::clone(&job_receiver), Arc::clone(&judges));
                let stop = Arc::clone(&stop);
                std::thread::spawn(move || work(&jobs, &*judges, &stop))
            })
            .collect();
        let mut feeder = Feeder {
            entries: entry_sender,
            jobs: job_sender,
            stop: Arc::clone(&stop),
            conversation: None,
        };
        threads.push(std::thread::spawn(move || {
            // The only reason to break off is that nobody wants the results any more.
            let _ = feeder.feed(&arguments);
        }));
        Self {
            entries,
            unit: None,
            batch: Vec::new().into_iter(),
            input: None,
            bytes_of_former: 0,
            bytes: 0,
            stop,
            threads,
        }
    }

    /// The next result, in the order of the input; waits at most `patience`.
    pub(crate) fn next(&mut self, patience: Duration) -> Next<R> {
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
                Ok(Entry::Input(input)) => {
                    self.bytes_of_former = self.bytes_read();
                    self.input = Some(input);
                }
                Ok(Entry::Problem(problem)) => return Next::Item(Item::Problem(problem)),
                Ok(Entry::NoTrace) => return Next::NoTrace,
                Err(RecvTimeoutError::Timeout) => return Next::Idle,
                Err(RecvTimeoutError::Disconnected) => return self.end(),
            }
        }
    }

    /// Bytes of the inputs whose results were taken or are being taken.
    pub(crate) fn bytes_read(&mut self) -> u64 {
        // While the input is being cut into units, the former figure has to do.
        if let Some(Ok(input)) = self.input.as_ref().map(|input| input.try_lock()) {
            self.bytes = self.bytes_of_former + input.bytes_read();
        }
        self.bytes
    }

    /// Asks the threads to stop; they are not waited for, because one may be waiting for input.
    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    fn end(&mut self) -> Next<R> {
        let joined = self.threads.drain(..).map(JoinHandle::join);
        Next::End { failed: joined.filter(Result::is_err).count() > 0 }
    }
}

/// Nobody wants the results any more.
struct Unwanted;

struct Feeder<R> {
    entries: SyncSender<Entry<R>>,
    jobs: SyncSender<Job<R>>,
    stop: Arc<AtomicBool>,
    /// The folder of events that was fed last.
    conversation: Option<PathBuf>,
}

impl<R> Feeder<R> {
    fn feed(&mut self, arguments: &[Argument]) -> Result<(), Unwanted> {
        for argument in arguments {
            if *argument == Argument::Stdin {
                match steersman_trace::open_reader("-", std::io::stdin()) {
                    Ok(units) => self.feed_units(Path::new("-"), units)?,
                    Err(error) => self.send(Entry::Problem(error.to_string()))?,
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
                Ok(file) => {
                    let fed = self.feed_file(file.path)?;
                    match fed {
                        Err(OpenError::Format { .. }) if file.walked => {
                            foreign += 1;
                            self.send(Entry::NoTrace)?;
                        }
                        Err(error) => self.send(Entry::Problem(error.to_string()))?,
                        Ok(()) => {}
                    }
                }
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
        self.send(Entry::Problem(says(argument.as_path(), &what)))
    }

    /// Feeds a file; of the event files of one conversation the first stands for all.
    fn feed_file(&mut self, path: PathBuf) -> Result<Result<(), OpenError>, Unwanted> {
        let path = match conversation(&path) {
            Some(folder) if self.conversation.as_deref() == Some(folder) => return Ok(Ok(())),
            Some(folder) => {
                self.conversation = Some(folder.to_owned());
                folder.to_owned()
            }
            None => path,
        };
        match steersman_trace::open(&path) {
            Ok(units) => self.feed_units(&path, units).map(Ok),
            Err(error) => Ok(Err(error)),
        }
    }

    fn feed_units(&mut self, path: &Path, units: Units) -> Result<(), Unwanted> {
        let name = path.display().to_string();
        let source = Arc::new(Source { name, format: units.format().to_string() });
        let units = Arc::new(Mutex::new(units));
        self.send(Entry::Input(Arc::clone(&units)))?;
        loop {
            let unit = units.lock().map_err(|_| Unwanted)?.next_unit();
            let Some(unit) = unit else { return Ok(()) };
            let (results, receiver) = sync_channel(BATCHES_AHEAD);
            self.send(Entry::Unit(receiver))?;
            let job = Job { unit, source: Arc::clone(&source), results };
            self.jobs.send(job).map_err(|_| Unwanted)?;
        }
    }

    fn send(&self, entry: Entry<R>) -> Result<(), Unwanted> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(Unwanted);
        }
        self.entries.send(entry).map_err(|_| Unwanted)
    }
}

fn work<J: Judges>(jobs: &Mutex<Receiver<Job<J::Run>>>, judges: &J, stop: &AtomicBool) {
    loop {
        let Ok(job) = jobs.lock().map_err(|_| ()).and_then(|jobs| jobs.recv().map_err(|_| ()))
        else {
            return;
        };
        let mut batch = Batch { items: Vec::new(), weight: 0, results: job.results };
        let mut emit = |item| {
            if stop.load(Ordering::Relaxed) {
                return Flow::Break;
            }
            let weight = match &item {
                Item::Problem(_) => PROBLEM_WEIGHT,
                Item::Run(run) => J::weight(run),
            };
            batch.push(item, weight)
        };
        judges.judge(job.unit, &job.source, &mut emit);
        let _ = batch.flush();
    }
}

/// Results on their way.
struct Batch<R> {
    items: Vec<Item<R>>,
    weight: usize,
    results: SyncSender<Vec<Item<R>>>,
}

impl<R> Batch<R> {
    fn push(&mut self, item: Item<R>, weight: usize) -> Flow {
        self.weight = self.weight.saturating_add(weight);
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
