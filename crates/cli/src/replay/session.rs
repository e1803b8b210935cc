//! Takes judged runs in order and feeds what is to be shown.

use std::io::{self, BufWriter, StdoutLock, Write};

use super::diff::Diff;
use super::explain::{Explain, write_timeline};
use super::html::Page;
use super::plan::{Plan, View};
use super::report::RunReport;
use super::summary::summary_json;
use super::table::Table;
use super::totals::{Sources, Totals};
use crate::reading::{Ending, Pass, Pipeline, Taker, interruption};
use crate::screen::{Screen, Tone, complain};

/// Judges and shows.
pub(crate) fn run(plan: Plan, screen: Screen, errors: Screen) -> Ending {
    let interrupted = interruption();
    let mut session = Session::new(&plan, screen, errors);
    let mut pipeline = Pipeline::start(plan.arguments.clone(), plan.setup, plan.jobs);
    let streams = matches!(plan.view, View::Json) && screen.width.is_some();
    let mut pass = Pass::new(errors);
    if plan.progress && !streams {
        pass = pass.metered(plan.arguments);
    }
    let taken = pass.take_all(&mut pipeline, &interrupted, &mut session);
    pipeline.stop();
    pass.clear();
    match taken.and_then(|ending| session.finish(ending)).map(|ending| pass.close(ending)) {
        Ok(ending) => ending,
        // Whoever reads the output has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ending::Complete,
        Err(error) => {
            complain(errors, Tone::Bad, "error", &format!("cannot write: {error}"));
            Ending::Failed
        }
    }
}

struct Session {
    shown: Shown,
    page: Option<Page>,
    totals: Totals,
    sources: Sources,
    screen: Screen,
    errors: Screen,
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
            screen,
            errors,
            out: BufWriter::new(io::stdout().lock()),
        }
    }

    fn finish(mut self, ending: Ending) -> io::Result<Ending> {
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
        Ok(ending)
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
}

impl Taker<RunReport> for Session {
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

    fn idle(&mut self) -> io::Result<()> {
        if matches!(self.shown, Shown::Json) { self.out.flush() } else { Ok(()) }
    }
}
