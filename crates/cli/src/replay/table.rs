//! The report for people: runs, totals, loops, measures.

use std::io::{self, Write};

use steersman_trace::Outcome;

use super::report::{Point, RunReport};
use super::summary::write_summary;
use super::top::Top;
use super::totals::{Sources, Totals};
use crate::grid::{Cell, Column, Grid, Layout};
use crate::screen::{Screen, Tone};
use crate::text;

/// Which runs the table shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rows {
    /// The most interesting ones.
    Most(usize),
    /// All, in the order of the input, as they come.
    All,
}

/// The report for people.
pub(crate) struct Table {
    screen: Screen,
    rows: Shown,
    loops: Top<u32, LoopRow>,
}

enum Shown {
    Most(Top<super::report::Interest, Vec<Cell>>),
    All { grid: Grid, layout: Option<Layout> },
}

/// A loop, and the run it was in.
pub(crate) struct LoopRow {
    run: String,
    rule: &'static str,
    count: u32,
    turns: String,
    excerpt: String,
}

impl Table {
    /// How many loops are shown.
    const LOOPS: usize = 5;
    /// With [`Rows::All`], the rows that decide how wide columns are, and then how often rows
    /// are written.
    const ROWS_AT_ONCE: usize = 1000;
    /// Columns of an id beyond which it is cut even where there is no limit.
    pub(crate) const MAX_ID: usize = 72;

    /// A report without runs.
    pub(crate) fn new(screen: Screen, rows: Rows) -> Self {
        let rows = match rows {
            Rows::Most(limit) => Shown::Most(Top::new(limit)),
            Rows::All => Shown::All { grid: grid(), layout: None },
        };
        Self { screen, rows, loops: Top::new(Self::LOOPS) }
    }

    /// Takes in a run.
    pub(crate) fn add(&mut self, report: &RunReport, out: &mut dyn Write) -> io::Result<()> {
        if let Some(longest) = &report.verdict.longest {
            self.loops.offer(longest.count, || LoopRow {
                run: text::cut_middle(&text::plain(&report.id), Self::MAX_ID),
                rule: longest.rule,
                count: longest.count,
                turns: text::ranges(&longest.turns),
                excerpt: text::plain(&longest.excerpt),
            });
        }
        match &mut self.rows {
            Shown::Most(top) => top.offer(report.interest(), || row(report)),
            Shown::All { grid, .. } => {
                grid.push(row(report));
                if grid.len() >= Self::ROWS_AT_ONCE {
                    self.flush(out)?;
                }
            }
        }
        Ok(())
    }

    /// Writes what is still to be written.
    pub(crate) fn finish(
        mut self,
        totals: &Totals,
        sources: &Sources,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        self.flush(out)?;
        if let Shown::Most(top) = self.rows {
            let left_out = top.left_out();
            let mut grid = grid();
            top.into_sorted().into_iter().for_each(|row| grid.push(row));
            if !grid.is_empty() {
                out.write_all(grid.render(self.screen).as_bytes())?;
            }
            if left_out > 0 {
                let more = format!(
                    "… and {} more (--all shows all, --limit N as many as you like)",
                    text::grouped(left_out)
                );
                writeln!(out, "{}", self.screen.paint(Tone::Dim, &more))?;
            }
        }
        write_loops(self.loops.into_sorted(), self.screen, out)?;
        write_summary(totals, sources, self.screen, out)
    }

    fn flush(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let Shown::All { grid, layout } = &mut self.rows else { return Ok(()) };
        let begun = layout.is_some();
        let layout = layout.get_or_insert_with(|| grid.layout(self.screen));
        if !begun && !grid.is_empty() {
            out.write_all(grid.header(layout, self.screen).as_bytes())?;
        }
        out.write_all(grid.body(layout, self.screen).as_bytes())?;
        grid.clear();
        Ok(())
    }
}

fn grid() -> Grid {
    Grid::new(vec![
        Column::left("RUN").cut_middle(12).comfort(24),
        Column::left("OK").optional(),
        Column::right("TURNS").rank(1),
        Column::right("CALLS"),
        Column::right("TOKENS").rank(2).optional(),
        Column::left("FIRST DECISION"),
        Column::left("REASON").cut_end(10),
        Column::left("AFTER IT"),
        Column::left("FIRST END").rank(3).optional(),
    ])
}

fn row(report: &RunReport) -> Vec<Cell> {
    let id = text::cut_middle(&text::plain(&report.id), Table::MAX_ID);
    let verdict = &report.verdict;
    let tokens = match report.tokens() {
        0 => Cell::default(),
        tokens => Cell::new(text::compact(tokens)),
    };
    let ending = verdict.ending.as_ref().filter(|&ending| verdict.first.as_ref() != Some(ending));
    let mut row = vec![
        Cell::new(if id.is_empty() { "(no id)".to_owned() } else { id }),
        outcome(report.outcome),
        Cell::number(u64::from(report.turns)),
        Cell::number(u64::from(report.calls)),
        tokens,
    ];
    match &verdict.first {
        Some(first) => row.extend([decision(first), reason(first), after(report, first)]),
        None => row.extend([Cell::new("–").toned(Tone::Dim), Cell::default(), Cell::default()]),
    }
    row.push(ending.map_or_else(Cell::default, |ending| {
        let left = text::counted(u64::from(report.after(ending).calls), "call");
        Cell::new(format!("{} @{}, {left} after", ending.kind.action, ending.turn)).toned(Tone::Bad)
    }));
    row
}

fn outcome(outcome: Option<Outcome>) -> Cell {
    match outcome {
        Some(Outcome::Solved) => Cell::new("✓").toned(Tone::Good),
        Some(Outcome::Unsolved) => Cell::new("✗").toned(Tone::Bad),
        None => Cell::default(),
    }
}

fn decision(point: &Point) -> Cell {
    Cell::new(format!("{} @{}", point.kind.action, point.turn)).toned(tone(point))
}

fn reason(point: &Point) -> Cell {
    Cell::new(point.kind.reason)
}

/// The tone of a decision.
pub(crate) const fn tone(point: &Point) -> Tone {
    if point.kind.action.ends_run() { Tone::Bad } else { Tone::Warn }
}

fn after(report: &RunReport, point: &Point) -> Cell {
    let after = report.after(point);
    let calls = text::counted(u64::from(after.calls), "call");
    if after.tokens == 0 {
        return Cell::new(calls);
    }
    Cell::new(format!("{calls}, {} tokens", text::compact(after.tokens))).or_short(calls)
}

fn write_loops(loops: Vec<LoopRow>, screen: Screen, out: &mut dyn Write) -> io::Result<()> {
    if loops.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{}", screen.paint(Tone::Heading, "Longest loops"))?;
    let mut grid = Grid::new(vec![
        Column::right("TIMES"),
        Column::left("REASON").cut_end(10),
        Column::left("RUN").cut_middle(12),
        Column::left("TURNS").cut_end(6).rank(1),
        Column::left("WHAT").cut_end(16).optional(),
    ]);
    for row in loops {
        grid.push(vec![
            Cell::new(format!("×{}", text::grouped(u64::from(row.count)))),
            Cell::new(row.rule),
            Cell::new(row.run),
            Cell::new(row.turns),
            Cell::new(row.excerpt).toned(Tone::Dim),
        ]);
    }
    out.write_all(grid.render(screen).as_bytes())
}

#[cfg(test)]
mod tests {
    use steersman_engine::Action;

    use super::*;
    use crate::reading::GroupBy;
    use crate::replay::samples::{check_golden, run};

    fn table(width: Option<usize>, rows: Rows) -> String {
        let runs = [
            run("quiet").graded(true).with_tokens(2_000),
            run("django__django-11019").graded(false).with_tokens(12_000).with(Action::Nudge, 3),
            run("日本語/\x1b[31mred").graded(false).with(Action::Nudge, 2).with(Action::Stop, 5),
        ];
        let screen = Screen::plain(width);
        let mut table = Table::new(screen, rows);
        let mut totals = Totals { policies: vec!["default".to_owned()], ..Totals::default() };
        let mut sources = Sources::new(GroupBy::File);
        let mut out = Vec::new();
        for report in &runs {
            table.add(report, &mut out).unwrap();
            totals.add(report);
            sources.add(report);
        }
        table.finish(&totals, &sources, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn tables_look_like_this() {
        let cases = [
            ("wide", None, Rows::Most(40)),
            ("narrow", Some(80), Rows::Most(2)),
            ("all", Some(140), Rows::All),
        ];
        for (name, width, rows) in cases {
            let written = table(width, rows);
            check_golden(&format!("table-{name}"), &written);
            let widest = written.lines().map(text::width).max().unwrap();
            assert!(widest <= width.unwrap_or(usize::MAX), "{widest} columns");
        }
    }
}
