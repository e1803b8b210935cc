//! Totals and measures, for people and as JSON.

use std::io::{self, Write};

use serde_json::{Value, json};
use steersman_evaluation::measure::{Measures, Tally};

use super::report::Kind;
use super::totals::{KindTotals, Sources, Totals};
use crate::grid::{Cell, Column, Grid};
use crate::reading::GroupBy;
use crate::screen::{Screen, Tone};
use crate::text;

/// Sources shown to people; all are counted.
const MAX_SOURCES: usize = 60;

/// Writes totals and measures for people.
pub(crate) fn write_summary(
    totals: &Totals,
    sources: &Sources,
    screen: Screen,
    out: &mut dyn Write,
) -> io::Result<()> {
    if totals.runs == 0 {
        return Ok(());
    }
    writeln!(out, "\n{}", screen.paint(Tone::Heading, "Totals"))?;
    for line in [sums(totals), effect(totals)] {
        for part in text::wrap(&line, screen.width.unwrap_or(usize::MAX), 2) {
            writeln!(out, "{part}")?;
        }
    }
    if !totals.kinds.is_empty() {
        let graded = !sources.graded(0).is_empty();
        writeln!(out)?;
        out.write_all(kinds(&totals.kinds, graded).render(screen).as_bytes())?;
    }
    write_measures(sources, screen, out)
}

fn sums(totals: &Totals) -> String {
    let mut parts = vec![
        text::counted(totals.runs, "run"),
        text::counted(totals.turns, "turn"),
        text::counted(totals.calls, "call"),
    ];
    if totals.tokens() > 0 {
        parts.push(format!("{} tokens", text::compact(totals.tokens())));
    }
    if totals.usage.cost_nanodollars > 0 {
        parts.push(dollars(totals.usage.cost_nanodollars));
    }
    if totals.incomplete > 0 {
        parts.push(format!("{} incomplete", text::grouped(totals.incomplete)));
    }
    let policy = totals.policies.first().map_or("", String::as_str);
    parts.push(format!("policy {}", text::plain(policy)));
    parts.join(" · ")
}

/// Nano-dollars in dollars and cents.
fn dollars(nanodollars: u64) -> String {
    let cents = nanodollars / 10_000_000;
    format!("${}.{:02}", text::grouped(cents / 100), cents % 100)
}

fn effect(totals: &Totals) -> String {
    if totals.decided == 0 {
        return "every decision was to continue".to_owned();
    }
    let decided = format!(
        "{} of {} with a decision other than continue",
        text::grouped(totals.decided),
        text::counted(totals.runs, "run")
    );
    if totals.ended == 0 {
        return format!("{decided}; none would have been ended");
    }
    let tokens = match totals.tokens_after_ending {
        0 => String::new(),
        tokens => format!(", {} tokens", text::compact(tokens)),
    };
    format!(
        "{decided}; {} would have been ended, {}{tokens} lay after that",
        text::grouped(totals.ended),
        text::counted(totals.calls_after_ending, "call"),
    )
}

fn kinds(kinds: &std::collections::BTreeMap<Kind, KindTotals>, graded: bool) -> Grid {
    let mut grid = Grid::new(vec![
        Column::left("DECISION"),
        Column::left("REASON").cut_end(10),
        Column::right("RUNS"),
        Column::right("SOLVED").optional(),
        Column::right("UNSOLVED").optional(),
        Column::right("DECISIONS"),
    ]);
    for (kind, sums) in kinds {
        let tone = if kind.action.ends_run() { Tone::Bad } else { Tone::Warn };
        let of_graded = |number| if graded { Cell::number(number) } else { Cell::default() };
        grid.push(vec![
            Cell::new(kind.action.name()).toned(tone),
            Cell::new(kind.reason),
            Cell::number(sums.runs),
            of_graded(sums.solved),
            of_graded(sums.unsolved),
            Cell::number(sums.decisions),
        ]);
    }
    grid
}

fn write_measures(sources: &Sources, screen: Screen, out: &mut dyn Write) -> io::Result<()> {
    let graded = sources.graded(0);
    if graded.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{}", screen.paint(Tone::Heading, "Graded runs by source"))?;
    let mut grid = measures_grid(sources.by());
    let shared = sources.by().shared_folder(graded.iter().map(|(name, _)| *name));
    for (name, grades) in graded.iter().take(MAX_SOURCES) {
        let name = text::cut_middle(&text::plain(&name[shared..]), 120);
        grid.push(measures_row(Cell::new(name), grades, &grades.measures()));
    }
    if graded.len() > MAX_SOURCES {
        let more = graded.len() - MAX_SOURCES;
        grid.push(vec![Cell::new(format!("… and {more} more")).toned(Tone::Dim)]);
    }
    if graded.len() > 1 {
        let name = format!("mean over {}", text::counted(graded.len() as u64, sources.by().noun()));
        let name = Cell::new(name).toned(Tone::Heading);
        grid.push(measures_row(name, &sources.pooled(0), &sources.mean(0)));
    }
    out.write_all(grid.render(screen).as_bytes())?;
    write_definitions(screen, out)
}

/// The columns of a table of measures.
pub(crate) fn measures_grid(by: GroupBy) -> Grid {
    Grid::new(vec![
        Column::left(by.title()).cut_middle(12),
        Column::right("RUNS"),
        Column::right("SOLVED"),
        Column::right("UNSOLVED"),
        Column::right("HARM"),
        Column::right("DISTURBANCE"),
        Column::right("SAVED"),
        Column::right("NOTICED"),
    ])
}

/// A row of a table of measures.
pub(crate) fn measures_row(name: Cell, grades: &Tally, measures: &Measures) -> Vec<Cell> {
    let mut row = vec![
        name,
        Cell::number(grades.runs),
        Cell::number(grades.solved),
        Cell::number(grades.unsolved),
    ];
    row.extend(measures.in_order().map(|share| Cell::new(text::percent(share))));
    row
}

/// Says what the measures are.
pub(crate) fn write_definitions(screen: Screen, out: &mut dyn Write) -> io::Result<()> {
    let width = screen.width.unwrap_or(100);
    for (name, definition) in Measures::DEFINITIONS {
        for line in text::wrap(&format!("{name} = {definition}"), width, 4) {
            writeln!(out, "{}", screen.paint(Tone::Dim, &line))?;
        }
    }
    Ok(())
}

/// Totals and measures as one JSON object.
pub(crate) fn summary_json(totals: &Totals, sources: &Sources) -> Value {
    let kinds: Vec<Value> = totals
        .kinds
        .iter()
        .map(|(kind, sums)| {
            json!({
                "action": kind.action.name(),
                "reason": kind.reason,
                "runs": sums.runs,
                "solved": sums.solved,
                "unsolved": sums.unsolved,
                "decisions": sums.decisions,
            })
        })
        .collect();
    let mut summary = json!({
        "schema": super::json::SCHEMA,
        "policy": totals.policies.first(),
        "runs": totals.runs,
        "incomplete": totals.incomplete,
        "turns": totals.turns,
        "calls": totals.calls,
        "tokens": {
            "input": totals.usage.input_tokens,
            "output": totals.usage.output_tokens,
        },
        "cost_nanodollars": totals.usage.cost_nanodollars,
        "decided": totals.decided,
        "ended": totals.ended,
        "after_ending": {
            "calls": totals.calls_after_ending,
            "tokens": totals.tokens_after_ending,
        },
        "decisions": kinds,
        "graded": graded_json(sources, 0),
    });
    if let Some(other) = totals.policies.get(1) {
        summary["shadow_diff"] = json!({ "policy": other, "graded": graded_json(sources, 1) });
    }
    summary
}

fn graded_json(sources: &Sources, which: usize) -> Value {
    let graded = sources.graded(which);
    if graded.is_empty() {
        return Value::Null;
    }
    let by_source: Vec<Value> = graded
        .iter()
        .map(|(name, grades)| source_json(Some(name), grades, &grades.measures()))
        .collect();
    let pooled = sources.pooled(which);
    json!({
        "by": sources.by(),
        "sources": by_source,
        "mean": source_json(None, &pooled, &sources.mean(which)),
    })
}

fn source_json(name: Option<&str>, grades: &Tally, measures: &Measures) -> Value {
    let mut source = json!({
        "runs": grades.runs,
        "solved": grades.solved,
        "unsolved": grades.unsolved,
        "harm": measures.harm,
        "disturbance": measures.disturbance,
        "saved": measures.saved,
        "noticed": measures.noticed,
    });
    if let Some(name) = name {
        source["source"] = json!(name);
    }
    source
}
