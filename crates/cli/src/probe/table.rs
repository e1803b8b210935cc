//! What was found as a table.

use steersman_agent::probe::{Cost, Found, Report, Row, Standing};

use super::Findings;
use crate::screen::{Screen, Tone};
use crate::text;

/// Between two columns.
const GAP: usize = 2;

/// Fewest columns of the evidence.
const NARROW: usize = 24;

/// The table, what follows from it, and what it cost.
pub(super) fn render(findings: &Findings<'_>, screen: Screen) -> String {
    let report = &findings.report;
    let (model, server) = (text::plain(&report.model), text::plain(findings.server));
    let format = report.format.map_or_else(String::new, |format| format!(", in {format}"));
    let title = format!("{model} at {server}{format}");
    let mut lines = vec![screen.paint(Tone::Heading, &title), String::new()];
    lines.extend(rows(&report.rows, screen));
    let standing = standing(report, screen);
    if !standing.is_empty() {
        lines.push(String::new());
        lines.extend(standing);
    }
    if let Some(registry) = findings.registry() {
        lines.push(String::new());
        lines.push("For agents.yaml:".to_owned());
        lines.push(String::new());
        lines.extend(registry.lines().map(text::harmless));
    }
    lines.push(String::new());
    lines.push(screen.paint(Tone::Dim, &cost(&report.cost)));
    lines.join("\n") + "\n"
}

fn rows(rows: &[Row], screen: Screen) -> Vec<String> {
    let width = |texts: &mut dyn Iterator<Item = usize>| texts.max().unwrap_or(0);
    let names = width(&mut rows.iter().map(|row| text::width(row.name)));
    let founds = width(&mut rows.iter().map(|row| text::width(&row.found.to_string())));
    let indent = names + founds + 2 * GAP;
    let room = screen.width.map(|width| width.saturating_sub(indent).max(NARROW));
    let mut lines = Vec::new();
    for row in rows {
        let evidence = text::plain(&row.evidence());
        let evidence = match room {
            Some(room) => text::wrap(&evidence, room, 0),
            None => vec![evidence],
        };
        let found = text::left(&row.found.to_string(), founds);
        let head = format!(
            "{}{gap}{}{gap}",
            text::left(row.name, names),
            screen.paint(tone(row.found), &found),
            gap = " ".repeat(GAP),
        );
        let mut evidence = evidence.into_iter();
        lines.push(format!("{head}{}", evidence.next().unwrap_or_default()));
        lines.extend(evidence.map(|more| format!("{}{more}", " ".repeat(indent))));
    }
    lines
}

const fn tone(found: Found) -> Tone {
    match found {
        Found::Yes => Tone::Good,
        Found::Partly => Tone::Warn,
        Found::No => Tone::Bad,
        Found::NotTold => Tone::Dim,
    }
}

/// What the model is good for, and why.
fn standing(report: &Report, screen: Screen) -> Vec<String> {
    let (tone, label) = match report.standing {
        Standing::Usable => (Tone::Good, "Agents can use it"),
        Standing::Unusable => (Tone::Bad, "Agents cannot use it"),
        Standing::Unfinished => (Tone::Warn, "Unfinished"),
        // The error says it.
        Standing::Unanswered => return Vec::new(),
    };
    let mut lines = vec![format!("{}; {}", screen.paint(tone, label), text::plain(&report.why))];
    if let Some(why) = report.advice.as_ref().and_then(|advice| advice.no_stream.as_ref()) {
        lines.push(format!("Run it with --no-stream, because {}", text::plain(why)));
    }
    if let Some(halted) = &report.halted {
        let label = screen.paint(Tone::Warn, "Ended early");
        lines.push(format!("{label}: {}", text::plain(halted)));
    }
    lines
}

fn cost(cost: &Cost) -> String {
    let mut line = format!(
        "{}, {} tokens in, {} out",
        text::counted(cost.requests as u64, "request"),
        text::grouped(cost.input_tokens),
        text::grouped(cost.output_tokens),
    );
    if cost.untold > 0 {
        line += &format!(
            "; the tokens of {} were not told",
            text::counted(cost.untold as u64, "answer")
        );
    }
    line
}
