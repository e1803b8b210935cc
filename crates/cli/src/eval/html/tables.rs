//! The tables of the page.

use std::io::{self, Write};

use steersman_evaluation::bootstrap::Estimate;
use steersman_evaluation::measure::Measures;
use steersman_evaluation::{Evaluation, Measured, SubjectRow};

use crate::eval::plan::Subject;
use crate::eval::table::{TERMS, bracketed, graded, turns, ungraded};
use crate::page::Escaped;
use crate::reading::GroupBy;
use crate::text;

/// Rows shown of a table.
const MAX_ROWS: usize = 200;

const MEASURES: &str = "<th class=\"n\">Harm<th class=\"n\">Disturbance<th class=\"n\">Saved\
<th class=\"n\">Noticed";

/// Writes all tables.
pub(super) fn write(
    evaluation: &Evaluation,
    by: GroupBy,
    subjects: &[Subject],
    out: &mut dyn Write,
) -> io::Result<()> {
    write_overview(evaluation, subjects, out)?;
    let Some((first, others)) = evaluation.subjects.split_first() else { return Ok(()) };
    let name = text::plain(&first.name);
    writeln!(out, "<section><h2>{} by {}</h2>", Escaped(&name), by.noun())?;
    write_sources(evaluation, first, by, out)?;
    if !others.is_empty() {
        writeln!(out, "<details class=\"more\"><summary>The others by {}</summary>", by.noun())?;
        for other in others {
            writeln!(out, "<h3>{}</h3>", Escaped(&text::plain(&other.name)))?;
            write_sources(evaluation, other, by, out)?;
        }
        writeln!(out, "</details>")?;
    }
    writeln!(out, "</section>")?;
    if !first.reasons.is_empty() {
        writeln!(out, "<section><h2>Reasons of {}</h2>", Escaped(&name))?;
        write_reasons(first, out)?;
        writeln!(out, "</section>")?;
    }
    if !first.delays.is_empty() {
        writeln!(out, "<section><h2>{} after labelled turns</h2>", Escaped(&name))?;
        write_delays(first, by, out)?;
        writeln!(out, "</section>")?;
    }
    Ok(())
}

fn write_overview(
    evaluation: &Evaluation,
    subjects: &[Subject],
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(
        out,
        "<section><h2>Policies and rules</h2><div class=\"scroll\"><table><thead><tr>\
         <th>Policy or rule{MEASURES}<th>What it does</thead><tbody>"
    )?;
    for (at, (row, subject)) in evaluation.subjects.iter().zip(subjects).enumerate() {
        let class = match (at, subject.about) {
            (0, None) => "chosen",
            (_, None) => "policy",
            (_, Some(_)) => "comparison",
        };
        writeln!(
            out,
            "<tr><td><b class=\"{class}\">{}</b>{}<td class=\"about\">{}",
            Escaped(&text::plain(&row.name)),
            measures(&row.mean),
            subject.about.unwrap_or("policy"),
        )?;
    }
    writeln!(out, "</tbody></table></div>")?;
    write_terms(&Measures::DEFINITIONS, out)?;
    writeln!(out, "</section>")
}

fn write_sources(
    evaluation: &Evaluation,
    row: &SubjectRow,
    by: GroupBy,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut noun = by.noun().to_owned();
    noun[..1].make_ascii_uppercase();
    writeln!(
        out,
        "<div class=\"scroll\"><table><thead><tr><th>{noun}<th class=\"n\">Runs\
         <th class=\"n\">Solved<th class=\"n\">Unsolved<th class=\"n\">Instances{MEASURES}</thead>\
         <tbody>"
    )?;
    let graded = graded(evaluation, row);
    for (source, measured) in graded.iter().take(MAX_ROWS) {
        write!(out, "<tr><td>{}", Escaped(&text::plain(&source.source)))?;
        for number in [source.runs, source.solved, source.unsolved, source.instances] {
            write!(out, "<td class=\"n\">{}", text::grouped(number))?;
        }
        writeln!(out, "{}", measures(measured))?;
    }
    write_more(graded.len(), out)?;
    if let Some(line) = ungraded(evaluation, by) {
        writeln!(out, "<tr><td colspan=\"9\">{line}")?;
    }
    writeln!(out, "</tbody><tfoot><tr><td colspan=\"5\">mean{}</tfoot>", measures(&row.mean))?;
    writeln!(out, "</table></div>")
}

fn write_reasons(row: &SubjectRow, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "<div class=\"scroll\"><table><thead><tr><th>Reason<th class=\"n\">Runs\
         <th class=\"n\">Unsolved<th class=\"n\">Precision<th class=\"n\">Base rate</thead><tbody>"
    )?;
    for reason in row.reasons.iter().take(MAX_ROWS) {
        writeln!(
            out,
            "<tr><td>{}<td class=\"n\">{}<td class=\"n\">{}{}<td class=\"n\">{}",
            Escaped(reason.reason),
            text::grouped(reason.runs),
            text::grouped(reason.unsolved),
            cell(reason.precision),
            text::percent(reason.base_rate),
        )?;
    }
    writeln!(out, "</tbody></table></div>")?;
    write_terms(&TERMS[..2], out)
}

fn write_delays(row: &SubjectRow, by: GroupBy, out: &mut dyn Write) -> io::Result<()> {
    let mut noun = by.noun().to_owned();
    noun[..1].make_ascii_uppercase();
    writeln!(
        out,
        "<div class=\"scroll\"><table><thead><tr><th>{noun}<th>Label<th class=\"n\">Runs\
         <th class=\"n\">Noticed<th class=\"n\">Median turns<th class=\"n\">≤ 3 turns\
         <th class=\"n\">≤ 5<th class=\"n\">≤ 10<th class=\"n\">Early\
         <th class=\"n\">Alarmed<th class=\"n\">False alarms</thead><tbody>"
    )?;
    let point = |estimate: Option<Estimate>| {
        format!("<td class=\"n\">{}", text::percent(estimate.map(|it| it.value)))
    };
    for delay in row.delays.iter().take(MAX_ROWS) {
        let within: String = delay.within.iter().map(|share| point(*share)).collect();
        writeln!(
            out,
            "<tr><td>{}<td>{}<td class=\"n\">{}{}<td class=\"n\">{}{within}{}{}\
             <small>of {}</small>{}",
            Escaped(&text::plain(&delay.source)),
            Escaped(&text::cut_end(&text::plain(&delay.kind), 60)),
            text::grouped(delay.runs),
            cell(delay.noticed),
            turns(delay.median),
            point(delay.early),
            point(delay.alarmed),
            text::grouped(delay.healthy),
            cell(delay.false_alarms),
        )?;
    }
    write_more(row.delays.len(), out)?;
    writeln!(out, "</tbody></table></div>")?;
    write_terms(&TERMS[2..], out)
}

fn write_more(all: usize, out: &mut dyn Write) -> io::Result<()> {
    if all > MAX_ROWS {
        writeln!(out, "<tr><td colspan=\"12\">… and {} more", all - MAX_ROWS)?;
    }
    Ok(())
}

fn write_terms(terms: &[(&str, &str)], out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "<dl class=\"terms\">")?;
    for (name, meaning) in terms {
        writeln!(out, "<dt>{name}</dt><dd>{meaning}</dd>")?;
    }
    writeln!(out, "</dl>")
}

fn measures(measured: &Measured) -> String {
    measured.in_order().into_iter().map(cell).collect()
}

/// A cell with a share and its interval.
fn cell(estimate: Option<Estimate>) -> String {
    let point = text::percent(estimate.map(|it| it.value));
    match estimate.and_then(|it| it.interval) {
        Some(interval) => format!("<td class=\"n\">{point}<small>{}</small>", bracketed(interval)),
        None => format!("<td class=\"n\">{point}"),
    }
}
