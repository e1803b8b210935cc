//! The tables of the page.

use std::fmt::Write as _;
use std::io::{self, Write};

use steersman_evaluation::measure::{Measures, Tally};

use crate::page::Escaped;
use crate::replay::json::outcome_name;
use crate::replay::report::{Point, RunReport};
use crate::replay::totals::{Sources, Totals};
use crate::text;

/// Sources shown; all are counted.
const MAX_SOURCES: usize = 200;

/// What the colours mean.
pub(super) const LEGEND: &str = "<p class=\"legend\" aria-label=\"Legend\">\
<span><i class=\"ok\"></i>new output</span><span><i class=\"repeat\"></i>same call and output as \
before</span><span><i class=\"empty\"></i>no output</span><span><i class=\"error\"></i>error</span>\
<span><i class=\"line\"></i>score</span><span><i class=\"tri urge\"></i>decision</span>\
<span><i class=\"tri end\"></i>decision that ends the run</span>\
<span><i class=\"after\"></i>what lay after it</span></p>\n";

/// The big numbers.
pub(super) fn write_cards(totals: &Totals, out: &mut dyn Write) -> io::Result<()> {
    let mut cards = vec![
        ("runs", text::grouped(totals.runs)),
        ("turns", text::grouped(totals.turns)),
        ("tool calls", text::grouped(totals.calls)),
    ];
    if totals.tokens() > 0 {
        cards.push(("tokens", text::compact(totals.tokens())));
    }
    cards.push(("runs with a decision other than continue", text::grouped(totals.decided)));
    cards.push(("runs that would have been ended", text::grouped(totals.ended)));
    cards.push(("calls that lay after", text::grouped(totals.calls_after_ending)));
    writeln!(out, "<section aria-label=\"Totals\"><dl class=\"cards\">")?;
    for (name, number) in cards {
        writeln!(out, "<div><dt>{name}</dt><dd>{number}</dd></div>")?;
    }
    writeln!(out, "</dl></section>")
}

/// Decisions by action and reason.
pub(super) fn write_kinds(totals: &Totals, graded: bool, out: &mut dyn Write) -> io::Result<()> {
    if totals.kinds.is_empty() {
        return Ok(());
    }
    let by_outcome = if graded { "<th class=\"n\">Solved<th class=\"n\">Unsolved" } else { "" };
    writeln!(
        out,
        "<section aria-labelledby=\"kinds\"><h2 id=\"kinds\">Decisions</h2>\
         <div class=\"scroll\"><table><thead><tr><th>Decision<th>Reason<th class=\"n\">Runs\
         {by_outcome}<th class=\"n\">Decisions</thead><tbody>"
    )?;
    for (kind, sums) in &totals.kinds {
        let class = if kind.action.ends_run() { "end" } else { "urge" };
        let mut by_outcome = String::new();
        if graded {
            number_cell(&mut by_outcome, sums.solved);
            number_cell(&mut by_outcome, sums.unsolved);
        }
        let (mut runs, mut decisions) = (String::new(), String::new());
        number_cell(&mut runs, sums.runs);
        number_cell(&mut decisions, sums.decisions);
        writeln!(
            out,
            "<tr><td><b class=\"{class}\">{}</b><td>{}{runs}{by_outcome}{decisions}",
            kind.action, kind.reason
        )?;
    }
    writeln!(out, "</tbody></table></div></section>")
}

/// Measures of graded runs.
pub(super) fn write_measures(sources: &Sources, out: &mut dyn Write) -> io::Result<()> {
    let graded = sources.graded(0);
    if graded.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "<section aria-labelledby=\"graded\"><h2 id=\"graded\">Graded runs by {}</h2>\
         <div class=\"scroll\"><table><thead><tr><th>Source<th class=\"n\">Runs\
         <th class=\"n\">Solved<th class=\"n\">Unsolved<th class=\"n\">Harm\
         <th class=\"n\">Disturbance<th class=\"n\">Saved<th class=\"n\">Noticed</thead><tbody>",
        sources.by().noun()
    )?;
    let shared = sources.by().shared_folder(graded.iter().map(|(name, _)| *name));
    for (name, grades) in graded.iter().take(MAX_SOURCES) {
        write_measures_row(&name[shared..], grades, &grades.measures(), out)?;
    }
    if graded.len() > MAX_SOURCES {
        writeln!(out, "<tr><td colspan=\"8\">… and {} more", graded.len() - MAX_SOURCES)?;
    }
    writeln!(out, "</tbody>")?;
    if graded.len() > 1 {
        writeln!(out, "<tfoot>")?;
        let name = format!("mean over {}", text::counted(graded.len() as u64, sources.by().noun()));
        write_measures_row(&name, &sources.pooled(0), &sources.mean(0), out)?;
        writeln!(out, "</tfoot>")?;
    }
    writeln!(out, "</table></div><dl class=\"terms\">")?;
    for (name, definition) in Measures::DEFINITIONS {
        writeln!(out, "<dt>{name}</dt><dd>{definition}</dd>")?;
    }
    writeln!(out, "</dl></section>")
}

fn write_measures_row(
    name: &str,
    grades: &Tally,
    measures: &Measures,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut row = String::new();
    for number in [grades.runs, grades.solved, grades.unsolved] {
        number_cell(&mut row, number);
    }
    for share in measures.in_order() {
        let _ = write!(row, "<td class=\"n\">{}", text::percent(share));
    }
    writeln!(out, "<tr><td>{}{row}", Escaped(name))
}

/// The head of the table of runs, with its filters.
pub(super) fn write_run_head(out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "<section aria-labelledby=\"runs\"><h2 id=\"runs\">Runs</h2>\
         <p class=\"filters\"><label>Filter <input id=\"filter\" type=\"search\" \
         placeholder=\"id, agent, model, reason …\" autocomplete=\"off\"></label>\
         <label>Show <select id=\"show\"><option value=\"\">all runs</option>\
         <option value=\"decided\">with a decision</option>\
         <option value=\"ended\">that would have been ended</option>\
         <option value=\"solved\">solved</option><option value=\"unsolved\">unsolved</option>\
         </select></label><span id=\"count\" role=\"status\" aria-live=\"polite\"></span></p>\
         <div class=\"scroll tall\"><table id=\"table\"><thead><tr>"
    )?;
    const COLUMNS: [(&str, bool); 11] = [
        ("Run", false),
        ("Outcome", false),
        ("Agent", false),
        ("Model", false),
        ("Turns", true),
        ("Calls", true),
        ("Tokens", true),
        ("First decision", false),
        ("Reason", false),
        ("After", true),
        ("After end", true),
    ];
    for (name, number) in COLUMNS {
        let class = if number { " class=\"n\"" } else { "" };
        writeln!(out, "<th{class} scope=\"col\"><button type=\"button\">{name}</button></th>")?;
    }
    writeln!(out, "</tr></thead><tbody>")
}

/// The cells of a run.
pub(super) fn run_row(report: &RunReport) -> String {
    let verdict = &report.verdict;
    let outcome = outcome_name(report.outcome).unwrap_or("");
    let id = if report.id.is_empty() { "(no id)" } else { &report.id };
    let mut row = format!(
        "<td class=\"id\">{}<td class=\"{outcome}\">{outcome}<td class=\"name\">{}\
         <td class=\"name\">{}",
        Escaped(id),
        Escaped(&report.agent),
        Escaped(&report.model),
    );
    number_cell(&mut row, u64::from(report.turns));
    number_cell(&mut row, u64::from(report.calls));
    match report.tokens() {
        0 => row.push_str("<td>"),
        tokens => {
            let shown = text::compact(tokens);
            let _ = write!(row, "<td class=\"n\" data-v=\"{tokens}\">{shown}");
        }
    }
    match &verdict.first {
        Some(first) => {
            let class = if first.kind.action.ends_run() { "end" } else { "urge" };
            let _ = write!(
                row,
                "<td data-v=\"{action} {turn:010}\"><b class=\"{class}\">{action}</b> @{turn}\
                 <td>{}",
                first.kind.reason,
                action = first.kind.action,
                turn = first.turn,
            );
        }
        None => row.push_str("<td><td>"),
    }
    for point in [&verdict.first, &verdict.ending] {
        after_cell(&mut row, report, point.as_ref());
    }
    row
}

fn after_cell(row: &mut String, report: &RunReport, point: Option<&Point>) {
    match point {
        Some(point) => number_cell(row, u64::from(report.after(point).calls)),
        None => row.push_str("<td>"),
    }
}

/// A number; the plain one beside the grouped one is what is sorted by.
fn number_cell(row: &mut String, number: u64) {
    let grouped = text::grouped(number);
    let _ = if grouped.contains(',') {
        write!(row, "<td class=\"n\" data-v=\"{number}\">{grouped}")
    } else {
        write!(row, "<td class=\"n\">{grouped}")
    };
}
