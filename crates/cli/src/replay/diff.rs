//! Where two policies differ.

use std::collections::BTreeMap;
use std::io::{self, Write};

use steersman_evaluation::measure::Measures;

use super::report::{Point, RunReport, Verdict};
use super::summary::{measures_grid, measures_row, write_definitions};
use super::table::Table;
use super::top::Top;
use super::totals::{Sources, Totals};
use crate::grid::{Cell, Column, Grid};
use crate::screen::{Screen, Tone};
use crate::text;

/// Where two policies differ.
pub(crate) struct Diff {
    screen: Screen,
    names: [String; 2],
    runs: u64,
    differing: u64,
    first: Changes,
    ending: Changes,
    rows: Top<u32, Vec<Cell>>,
}

/// How often one action became another; the names are those of actions, `continue` for none.
type Changes = BTreeMap<(&'static str, &'static str), u64>;

impl Diff {
    /// No runs yet.
    pub(crate) fn new(screen: Screen, names: [String; 2], limit: usize) -> Self {
        Self {
            screen,
            names,
            runs: 0,
            differing: 0,
            first: Changes::new(),
            ending: Changes::new(),
            rows: Top::new(limit),
        }
    }

    /// Takes in a run judged by both policies.
    pub(crate) fn add(&mut self, report: &RunReport) {
        let Some(other) = &report.other else { return };
        let verdict = &report.verdict;
        self.runs += 1;
        let first = differ(&verdict.first, &other.first);
        let ending = differ(&verdict.ending, &other.ending);
        for (changes, changed, a, b) in [
            (&mut self.first, first, &verdict.first, &other.first),
            (&mut self.ending, ending, &verdict.ending, &other.ending),
        ] {
            if changed {
                *changes.entry((action(a), action(b))).or_default() += 1;
            }
        }
        if first || ending {
            self.differing += 1;
            self.rows.offer(weight(report, other), || row(report, other));
        }
    }

    /// Writes the comparison.
    pub(crate) fn finish(
        self,
        totals: &Totals,
        sources: &Sources,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        if totals.runs == 0 {
            return Ok(());
        }
        let screen = self.screen;
        writeln!(
            out,
            "{}",
            screen.paint(Tone::Heading, &format!("A: {}   B: {}", self.names[0], self.names[1]))
        )?;
        writeln!(
            out,
            "{} of {} judged differently",
            text::grouped(self.differing),
            text::counted(self.runs, "run"),
        )?;
        write_changes("First decision", &self.first, screen, out)?;
        write_changes("First decision that ends the run", &self.ending, screen, out)?;
        let left_out = self.rows.left_out();
        write_rows(self.rows.into_sorted(), left_out, screen, out)?;
        write_measures(sources, screen, out)
    }
}

/// Whether two policies first decide something else, or at another moment.
fn differ(a: &Option<Point>, b: &Option<Point>) -> bool {
    let what = |point: &Option<Point>| point.map(|point| (point.kind, point.turn, point.call));
    what(a) != what(b)
}

fn action(point: &Option<Point>) -> &'static str {
    point.map_or("continue", |point| point.kind.action.name())
}

/// Runs are the more interesting the farther apart their endings, then their first decisions.
fn weight(report: &RunReport, other: &Verdict) -> u32 {
    let after = |point: &Option<Point>| point.as_ref().map_or(0, |it| report.after(it).calls);
    let apart = after(&report.verdict.ending).abs_diff(after(&other.ending));
    let first = after(&report.verdict.first).abs_diff(after(&other.first));
    apart.saturating_mul(1000).saturating_add(first)
}

fn row(report: &RunReport, other: &Verdict) -> Vec<Cell> {
    let at = |point: &Option<Point>| match point {
        Some(point) => Cell::new(format!("{} @{}", point.kind.action, point.turn))
            .toned(super::table::tone(point)),
        None => Cell::new("–").toned(Tone::Dim),
    };
    let verdict = &report.verdict;
    vec![
        Cell::new(text::cut_middle(&text::plain(&report.id), Table::MAX_ID)),
        Cell::new(match super::json::outcome_name(report.outcome) {
            Some("solved") => "✓",
            Some(_) => "✗",
            None => "",
        }),
        Cell::number(u64::from(report.turns)),
        at(&verdict.first),
        at(&other.first),
        at(&verdict.ending),
        at(&other.ending),
    ]
}

fn write_rows(
    rows: Vec<Vec<Cell>>,
    left_out: u64,
    screen: Screen,
    out: &mut dyn Write,
) -> io::Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    let mut grid = Grid::new(vec![
        Column::left("RUN").cut_middle(10),
        Column::left("OK").optional(),
        Column::right("TURNS").rank(1),
        Column::left("A FIRST").cut_end(8),
        Column::left("B FIRST").cut_end(8),
        Column::left("A END").cut_end(8),
        Column::left("B END").cut_end(8),
    ]);
    rows.into_iter().for_each(|row| grid.push(row));
    out.write_all(grid.render(screen).as_bytes())?;
    if left_out > 0 {
        let more = format!("… and {} more (--limit N)", text::grouped(left_out));
        writeln!(out, "{}", screen.paint(Tone::Dim, &more))?;
    }
    Ok(())
}

fn write_changes(
    title: &str,
    changes: &Changes,
    screen: Screen,
    out: &mut dyn Write,
) -> io::Result<()> {
    if changes.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{}", screen.paint(Tone::Heading, title))?;
    let mut grid = Grid::new(vec![
        Column::left("A"),
        Column::left(""),
        Column::left("B"),
        Column::right("RUNS"),
    ]);
    let mut sorted: Vec<_> = changes.iter().collect();
    sorted.sort_by_key(|&(_, count)| std::cmp::Reverse(*count));
    for ((a, b), count) in sorted {
        let b = if a == b { format!("{b}, other turn or reason") } else { (*b).to_owned() };
        grid.push(vec![Cell::new(*a), Cell::new("→"), Cell::new(b), Cell::number(*count)]);
    }
    out.write_all(grid.render(screen).as_bytes())
}

fn write_measures(sources: &Sources, screen: Screen, out: &mut dyn Write) -> io::Result<()> {
    let graded = sources.graded(0);
    if graded.is_empty() {
        return Ok(());
    }
    let title = format!(
        "Graded runs: mean over {}",
        text::counted(graded.len() as u64, sources.by().noun())
    );
    writeln!(out, "\n{}", screen.paint(Tone::Heading, &title))?;
    let mut grid = measures_grid(sources.by());
    let (a, b) = (sources.mean(0), sources.mean(1));
    grid.push(measures_row(Cell::new("A"), &sources.pooled(0), &a));
    grid.push(measures_row(Cell::new("B"), &sources.pooled(1), &b));
    let mut change = vec![Cell::new("B − A")];
    change.extend(std::iter::repeat_n(Cell::default(), 3));
    change.extend(deltas(&a, &b).map(Cell::new));
    grid.push(change);
    out.write_all(grid.render(screen).as_bytes())?;
    write_definitions(screen, out)
}

fn deltas(a: &Measures, b: &Measures) -> [String; 4] {
    let (a, b) = (a.in_order(), b.in_order());
    std::array::from_fn(|i| match (a[i], b[i]) {
        (Some(a), Some(b)) => format!("{:+.1} pp", (b - a) * 100.0),
        _ => "–".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use steersman_engine::Action;

    use super::*;
    use crate::reading::GroupBy;
    use crate::replay::samples::{check_golden, run};

    #[test]
    fn differences_look_like_this() {
        let runs = [
            run("same").graded(true).with(Action::Nudge, 3).with_other(Action::Nudge, 3),
            run("later").graded(true).with(Action::Stop, 3).with_other(Action::Stop, 6),
            run("harmed")
                .graded(true)
                .with(Action::Nudge, 10)
                .with_other(Action::ForceSynthesis, 2),
            run("saved").graded(false).with(Action::Nudge, 4).with_other(Action::Stop, 4),
        ];
        let mut diff = Diff::new(Screen::plain(Some(100)), ["a".into(), "b".into()], 2);
        let mut totals = Totals::default();
        let mut sources = Sources::new(GroupBy::File);
        for report in &runs {
            diff.add(report);
            totals.add(report);
            sources.add(report);
        }
        let mut out = Vec::new();
        diff.finish(&totals, &sources, &mut out).unwrap();
        let written = String::from_utf8(out).unwrap();
        check_golden("diff", &written);
    }
}
