//! The report for people.

use std::io::{self, Write};

use steersman_evaluation::bootstrap::Estimate;
use steersman_evaluation::measure::Measures;
use steersman_evaluation::{Evaluation, Measured, SourceRow, SubjectRow};

use super::plan::Subject;
use crate::grid::{Cell, Column, Grid};
use crate::reading::GroupBy;
use crate::screen::{Screen, Tone};
use crate::text;

/// Sources shown; all are measured.
const MAX_SOURCES: usize = 60;
/// Rows of labels shown.
const MAX_LABELS: usize = 60;

/// What the lists below the measures mean.
pub(crate) const TERMS: [(&str, &str); 6] = [
    (
        "precision",
        "share of the runs in which a reason speaks before the last turn that are unsolved; only \
         sources with solved and unsolved runs count",
    ),
    ("base rate", "what the precision would be had it spoken at random in the same sources"),
    (
        "noticed (of labels)",
        "share of labelled runs with a decision in the labelled turn or later, but before the last",
    ),
    ("early", "share of labelled runs with a decision before the labelled turn"),
    ("alarmed", "share of the source's runs that went well with a decision before the last turn"),
    ("false alarms", "share of both kinds of runs with an early decision or an alarm"),
];

/// Writes the report.
pub(crate) fn write(
    evaluation: &Evaluation,
    by: GroupBy,
    subjects: &[Subject],
    screen: Screen,
    out: &mut dyn Write,
) -> io::Result<()> {
    let heading = |text: &str| screen.paint(Tone::Heading, &text::plain(text));
    writeln!(out, "{}", heading(&over(evaluation, by)))?;
    out.write_all(overview(evaluation, subjects).render(screen).as_bytes())?;
    let Some(first) = evaluation.subjects.first() else { return Ok(()) };
    writeln!(out, "\n{}", heading(&format!("{} by {}", first.name, by.noun())))?;
    out.write_all(by_source(evaluation, first, by).render(screen).as_bytes())?;
    if !first.reasons.is_empty() {
        writeln!(out, "\n{}", heading(&format!("Reasons of {}", first.name)))?;
        out.write_all(reasons(first).render(screen).as_bytes())?;
    }
    if !first.delays.is_empty() {
        writeln!(out, "\n{}", heading(&format!("{} after labelled turns", first.name)))?;
        out.write_all(delays(first, by).render(screen).as_bytes())?;
    }
    writeln!(out)?;
    write_terms(evaluation, screen, out)
}

/// What the first table is about.
pub(crate) fn over(evaluation: &Evaluation, by: GroupBy) -> String {
    let sources = &evaluation.sources;
    let having = |of: fn(&SourceRow) -> bool| sources.iter().filter(|it| of(it)).count() as u64;
    let runs = text::counted(sources.iter().map(|source| source.runs).sum(), "run");
    let all = text::counted(sources.len() as u64, by.noun());
    let (solved, unsolved) = (having(|it| it.solved > 0), having(|it| it.unsolved > 0));
    let means = if solved == unsolved {
        format!("means over {solved}")
    } else {
        format!("means over {solved} with solved and {unsolved} with unsolved runs")
    };
    let intervals = if evaluation.options.resamples > 0 { ", 95 % intervals" } else { "" };
    format!("{runs} of {all}; {means}{intervals}")
}

fn measure_columns() -> [Column; 4] {
    ["HARM", "DISTURBANCE", "SAVED", "NOTICED"].map(Column::right)
}

pub(crate) fn overview(evaluation: &Evaluation, subjects: &[Subject]) -> Grid {
    let mut columns = vec![Column::left("POLICY OR RULE").cut_end(12)];
    columns.extend(measure_columns());
    let mut grid = Grid::new(columns);
    for (row, subject) in evaluation.subjects.iter().zip(subjects) {
        let tone = if subject.about.is_some() { Tone::Dim } else { Tone::Plain };
        let mut cells = vec![Cell::new(text::plain(&row.name)).toned(tone)];
        cells.extend(measures(&row.mean));
        grid.push(cells);
    }
    grid
}

pub(crate) fn by_source(evaluation: &Evaluation, subject: &SubjectRow, by: GroupBy) -> Grid {
    let mut columns = vec![Column::left(by.title()).cut_middle(12)];
    columns.extend(["RUNS", "SOLVED", "UNSOLVED"].map(|title| Column::right(title).rank(1)));
    columns.extend(measure_columns());
    let mut grid = Grid::new(columns);
    let graded = graded(evaluation, subject);
    for (source, measured) in graded.iter().take(MAX_SOURCES) {
        let mut cells = vec![Cell::new(text::cut_middle(&text::plain(&source.source), 60))];
        cells.extend([source.runs, source.solved, source.unsolved].map(Cell::number));
        cells.extend(measures(measured));
        grid.push(cells);
    }
    push_more(&mut grid, graded.len(), MAX_SOURCES);
    if let Some(line) = ungraded(evaluation, by) {
        grid.push(vec![Cell::new(line).toned(Tone::Dim)]);
    }
    grid
}

/// The sources that have graded runs, with the measures of a subject.
pub(crate) fn graded<'a>(
    evaluation: &'a Evaluation,
    subject: &'a SubjectRow,
) -> Vec<(&'a SourceRow, &'a Measured)> {
    let sources = evaluation.sources.iter().zip(&subject.by_source);
    sources.filter(|(source, _)| source.solved + source.unsolved > 0).collect()
}

/// How many sources have no graded runs, in words; `None` if all have.
pub(crate) fn ungraded(evaluation: &Evaluation, by: GroupBy) -> Option<String> {
    let without = |source: &&SourceRow| source.solved + source.unsolved == 0;
    match evaluation.sources.iter().filter(without).count() as u64 {
        0 => None,
        count => Some(format!("{} without graded runs", text::counted(count, by.noun()))),
    }
}

fn reasons(subject: &SubjectRow) -> Grid {
    let mut grid = Grid::new(vec![
        Column::left("REASON").cut_end(10),
        Column::right("RUNS"),
        Column::right("UNSOLVED"),
        Column::right("PRECISION"),
        Column::right("BASE RATE"),
    ]);
    for row in &subject.reasons {
        grid.push(vec![
            Cell::new(row.reason),
            Cell::number(row.runs),
            Cell::number(row.unsolved),
            share(row.precision),
            Cell::new(text::percent(row.base_rate)),
        ]);
    }
    grid
}

fn delays(subject: &SubjectRow, by: GroupBy) -> Grid {
    let mut grid = Grid::new(vec![
        Column::left(by.title()).cut_middle(10),
        Column::left("LABEL").cut_end(12),
        Column::right("RUNS"),
        Column::right("NOTICED"),
        Column::right("MEDIAN"),
        Column::right("≤ 3").rank(2),
        Column::right("≤ 5").rank(3),
        Column::right("≤ 10").rank(3),
        Column::right("EARLY").rank(1),
        Column::right("ALARMED").rank(1),
        Column::right("FALSE ALARMS"),
    ]);
    let point = |estimate: Option<Estimate>| {
        Cell::new(text::percent(estimate.map(|estimate| estimate.value)))
    };
    for row in subject.delays.iter().take(MAX_LABELS) {
        let mut cells = vec![
            Cell::new(text::cut_middle(&text::plain(&row.source), 40)),
            Cell::new(text::cut_end(&text::plain(&row.kind), 50)),
            Cell::number(row.runs),
            share(row.noticed),
            Cell::new(turns(row.median)),
        ];
        cells.extend(row.within.map(point));
        cells.extend([row.early, row.alarmed].map(point));
        cells.push(share(row.false_alarms));
        grid.push(cells);
    }
    push_more(&mut grid, subject.delays.len(), MAX_LABELS);
    grid
}

fn push_more(grid: &mut Grid, all: usize, shown: usize) {
    if all > shown {
        grid.push(vec![Cell::new(format!("… and {} more", all - shown)).toned(Tone::Dim)]);
    }
}

/// A number of turns; `–` if unknown.
pub(crate) fn turns(median: Option<f64>) -> String {
    median.map_or_else(|| "–".to_owned(), |turns| format!("{turns}"))
}

fn measures(measured: &Measured) -> [Cell; 4] {
    measured.in_order().map(share)
}

/// A share with its interval; only the share where space is short.
fn share(estimate: Option<Estimate>) -> Cell {
    let point = text::percent(estimate.map(|estimate| estimate.value));
    match estimate.and_then(|estimate| estimate.interval) {
        Some(interval) => Cell::new(format!("{point} {}", bracketed(interval))).or_short(point),
        None => Cell::new(point),
    }
}

/// An interval of shares, in percent.
pub(crate) fn bracketed((low, high): (f64, f64)) -> String {
    format!("({:.2}–{:.2})", low * 100.0, high * 100.0)
}

pub(crate) fn write_terms(
    evaluation: &Evaluation,
    screen: Screen,
    out: &mut dyn Write,
) -> io::Result<()> {
    let width = screen.width.unwrap_or(100);
    let has = |of: fn(&SubjectRow) -> bool| evaluation.subjects.first().is_some_and(of);
    let (reasons, labels) = (has(|it| !it.reasons.is_empty()), has(|it| !it.delays.is_empty()));
    let wanted = |at: usize| if at < 2 { reasons } else { labels };
    let terms = TERMS.iter().enumerate().filter(|(at, _)| wanted(*at)).map(|(_, term)| term);
    for (name, meaning) in Measures::DEFINITIONS.iter().chain(terms) {
        for line in text::wrap(&format!("{name} = {meaning}"), width, 4) {
            writeln!(out, "{}", screen.paint(Tone::Dim, &line))?;
        }
    }
    Ok(())
}
