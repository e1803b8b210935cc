//! Takes judged runs in order and feeds what is to be shown.

use std::io::{self, BufWriter, StdoutLock, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::Ending;
use super::diff::Diff;
use super::explain::{Explain, write_timeline};
use super::html::Page;
use super::judge::Item;
use super::pipeline::{Next, Pipeline};
use super::plan::{Plan, View};
use super::progress::Meter;
use super::report::RunReport;
use super::summary::summary_json;
use super::table::Table;
use super::totals::{Sources, Totals};
use crate::screen::{Screen, Tone, complain};
use crate::text;

/// How long to wait for results before looking at the clock and at Ctrl-C.
const TICK: Duration = Duration::from_millis(60);

/// Judges and shows.
pub(crate) fn run(plan: Plan, screen: Screen, errors: Screen) -> Ending {
    let interrupted = interruption();
    let mut session = Session::new(&plan, screen, errors);
    let mut pipeline = Pipeline::start(plan.arguments.clone(), plan.setup, plan.jobs);
    let streams = matches!(plan.view, View::Json) && screen.width.is_some();
    if plan.progress && errors.width.is_some() && !streams {
        session.meter = Some(Meter::start(errors, plan.arguments));
    }
    let taken = session.take_all(&mut pipeline, &interrupted);
    pipeline.stop();
    match taken.and_then(|ending| session.finish(ending)) {
        Ok(ending) => ending,
        // Whoever reads the output has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ending::Complete,
        Err(error) => {
            complain(errors, Tone::Bad, "error", &format!("cannot write: {error}"));
            Ending::Failed
        }
    }
}

/// Set by the first Ctrl-C; the second ends the process.
fn interruption() -> Arc<AtomicBool> {
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

struct Session {
    shown: Shown,
    page: Option<Page>,
    totals: Totals,
    sources: Sources,
    problems: u64,
    foreign: u64,
    screen: Screen,
    errors: Screen,
    meter: Option<Meter>,
    out: BufWriter<StdoutLock<'static>>,
}

enum Shown {
    Table(Table),
    Json,
    SummaryJson,
    Explain(Explain),
    Diff(Diff),
}

impl Session {
    /// Problems shown one by one; all are counted.
    const MAX_PROBLEMS: u64 = 1000;

    fn new(plan: &Plan, screen: Screen, errors: Screen) -> Self {
        let policies: Vec<String> = std::iter::once(&plan.setup.policy)
            .chain(&plan.setup.other)
            .map(|named| named.name.to_string())
            .collect();
        let shown = match &plan.view {
            View::Table(rows) => Shown::Table(Table::new(screen, *rows)),
            View::Json => Shown::Json,
            View::SummaryJson => Shown::SummaryJson,
            View::Explain(wanted) => Shown::Explain(Explain::new(wanted.clone())),
            View::Diff(limit) => {
                let names = [policies[0].clone(), policies.get(1).cloned().unwrap_or_default()];
                Shown::Diff(Diff::new(screen, names, *limit))
            }
        };
        Self {
            shown,
            page: plan.html.as_ref().map(|path| Page::new(path.clone())),
            totals: Totals { policies, ..Totals::default() },
            sources: Sources::new(plan.by),
            problems: 0,
            foreign: 0,
            screen,
            errors,
            meter: None,
            out: BufWriter::new(io::stdout().lock()),
        }
    }

    fn take_all(&mut self, pipeline: &mut Pipeline, stop: &AtomicBool) -> io::Result<Ending> {
        loop {
            if stop.load(Ordering::Relaxed) {
                return Ok(Ending::Interrupted);
            }
            match pipeline.next(TICK) {
                Next::Item(Item::Run(report)) => {
                    if self.take(report)? {
                        return Ok(Ending::Complete);
                    }
                }
                Next::Item(Item::Problem(problem)) => self.tell(&problem),
                Next::NoTrace => self.foreign += 1,
                Next::Idle if matches!(self.shown, Shown::Json) => self.out.flush()?,
                Next::Idle => {}
                Next::End { failed } => {
                    return Ok(if failed { Ending::Failed } else { Ending::Complete });
                }
            }
            if let Some(meter) = &mut self.meter {
                meter.tick(self.totals.runs, || pipeline.bytes_read());
            }
        }
    }

    /// Takes in a run; true if no other is wanted.
    fn take(&mut self, report: Box<RunReport>) -> io::Result<bool> {
        self.totals.add(&report);
        self.sources.add(&report);
        if let Some(page) = &mut self.page {
            page.add(&report);
        }
        match &mut self.shown {
            Shown::Table(table) => table.add(&report, &mut self.out)?,
            Shown::Json => super::json::write_run(&report, &mut self.out)?,
            Shown::SummaryJson => {}
            Shown::Explain(explain) => return Ok(explain.add(report)),
            Shown::Diff(diff) => diff.add(&report),
        }
        Ok(false)
    }

    fn tell(&mut self, problem: &str) {
        self.problems += 1;
        if self.problems <= Self::MAX_PROBLEMS {
            self.complain(Tone::Warn, "skipped", &text::plain(problem));
        }
    }

    fn complain(&mut self, tone: Tone, label: &str, message: &str) {
        if let Some(meter) = &mut self.meter {
            meter.clear();
        }
        complain(self.errors, tone, label, message);
    }

    fn finish(mut self, ending: Ending) -> io::Result<Ending> {
        if let Some(meter) = &mut self.meter {
            meter.clear();
        }
        let shown = std::mem::replace(&mut self.shown, Shown::Json);
        let (totals, sources) = (&self.totals, &self.sources);
        let mut ending = ending;
        match shown {
            Shown::Table(table) => table.finish(totals, sources, &mut self.out)?,
            Shown::Diff(diff) => diff.finish(totals, sources, &mut self.out)?,
            Shown::Json => {}
            Shown::SummaryJson => {
                let summary = summary_json(totals, sources);
                serde_json::to_writer_pretty(&mut self.out, &summary)?;
                writeln!(self.out)?;
            }
            Shown::Explain(explain) => match explain.found() {
                Some(Ok(report)) => write_timeline(&report, self.screen, &mut self.out)?,
                Some(Err(message)) => {
                    complain(self.errors, Tone::Bad, "error", &message);
                    ending = Ending::Unclear;
                }
                None => {}
            },
        }
        self.out.flush()?;
        self.finish_page()?;
        Ok(self.close(ending))
    }

    fn finish_page(&mut self) -> io::Result<()> {
        let Some(page) = self.page.take() else { return Ok(()) };
        if self.totals.runs == 0 {
            return Ok(());
        }
        let path = page.path().display().to_string();
        page.write(&self.totals, &self.sources)
            .map_err(|error| io::Error::new(error.kind(), format!("{path}: {error}")))?;
        complain(self.errors, Tone::Good, "wrote", &path);
        Ok(())
    }

    /// Says what was left out, and how the work ended.
    fn close(&mut self, ending: Ending) -> Ending {
        if self.foreign > 0 && self.totals.runs > 0 {
            let files = text::counted(self.foreign, "file");
            self.complain(Tone::Dim, "note", &format!("{files} of no known trace format"));
        }
        if self.problems > 0 && self.totals.runs > 0 {
            let parts = text::counted(self.problems, "part");
            let what = format!("{parts} of the input could not be read");
            self.complain(Tone::Warn, "warning", &what);
        }
        match ending {
            Ending::Interrupted => {
                self.complain(Tone::Warn, "interrupted", "the figures cover what was read so far");
                ending
            }
            Ending::Complete if self.totals.runs == 0 => {
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
