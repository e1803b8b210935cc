//! The chart of a run: calls per turn by how they went, the score, the decisions.

use std::fmt::Write;

use super::flag;
use super::markers::{Marker, markers};
use crate::page::Escaped;
use crate::replay::json::outcome_name;
use crate::replay::report::RunReport;
use crate::replay::series::{Series, SeriesPoint};
use crate::replay::wanted::place;
use crate::text;

/// Size of a chart, in its own units.
const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 150.0;
const LEFT: f64 = 34.0;
const RIGHT: f64 = 30.0;
const TOP: f64 = 24.0;
const BOTTOM: f64 = 20.0;
const PLOT_WIDTH: f64 = WIDTH - LEFT - RIGHT;
const PLOT_HEIGHT: f64 = HEIGHT - TOP - BOTTOM;
/// Bars are not wider than this, however short the run.
const MAX_BAR: f64 = 26.0;

/// A run with its chart, without the enclosing element.
pub(super) fn article(report: &RunReport) -> String {
    let mut html = String::new();
    // Writing to a string does not fail.
    let _ = write_article(report, &mut html);
    html
}

fn write_article(report: &RunReport, html: &mut String) -> std::fmt::Result {
    let id = if report.id.is_empty() { "(no id)" } else { &report.id };
    write!(html, "<h3>{}", Escaped(id))?;
    if let Some(outcome) = outcome_name(report.outcome) {
        write!(html, " <span class=\"tag {outcome}\">{outcome}</span>")?;
    }
    write!(html, "</h3><p class=\"facts\">{}</p>", Escaped(&facts(report)))?;
    let markers = markers(&report.verdict);
    if let Some(series) = &report.series {
        write_svg(report, series, &markers, html)?;
    }
    write_decisions(report, &markers, html)
}

fn facts(report: &RunReport) -> String {
    let mut facts = vec![place(report)];
    facts.extend([report.agent.clone(), report.model.clone()]);
    facts.push(text::counted(u64::from(report.turns), "turn"));
    facts.push(text::counted(u64::from(report.calls), "call"));
    if report.tokens() > 0 {
        facts.push(format!("{} tokens", text::compact(report.tokens())));
    }
    if report.truncated {
        facts.push("broken off".to_owned());
    }
    facts.retain(|fact| !fact.is_empty());
    facts.join(" · ")
}

/// Where things stand on a chart.
struct Scale {
    step: f64,
    bar: f64,
    turns_per_point: f64,
    calls: f64,
}

impl Scale {
    fn new(series: &Series) -> Self {
        let points = series.points.len().max(1) as f64;
        let step = (PLOT_WIDTH / points).min(MAX_BAR);
        let most = series.points.iter().map(SeriesPoint::calls).max().unwrap_or(0).max(1);
        Self {
            step,
            bar: if step > 4.0 { step - (step * 0.2).min(3.0) } else { step },
            turns_per_point: f64::from(series.step),
            calls: f64::from(most),
        }
    }

    /// The left edge of a turn, from 1.
    fn turn(&self, turn: u32) -> f64 {
        LEFT + (f64::from(turn.max(1) - 1) / self.turns_per_point).floor() * self.step
    }

    fn middle(&self, turn: u32) -> f64 {
        self.turn(turn) + self.bar / 2.0
    }

    fn height(&self, calls: u32) -> f64 {
        f64::from(calls) / self.calls * PLOT_HEIGHT
    }
}

fn write_svg(
    report: &RunReport,
    series: &Series,
    markers: &[Marker<'_>],
    html: &mut String,
) -> std::fmt::Result {
    let scale = Scale::new(series);
    let label = format!(
        "Calls per turn of {} turns, with {} decisions other than continue",
        report.turns, report.verdict.count
    );
    write!(
        html,
        "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"group\" aria-label=\"{}\">",
        Escaped(&label)
    )?;
    if let Some(ending) = &report.verdict.ending
        && ending.turn < report.turns
    {
        let from = scale.turn(ending.turn) + scale.step;
        let to = scale.turn(report.turns) + scale.step;
        write!(
            html,
            "<rect class=\"after\" x=\"{from:.1}\" y=\"{TOP}\" width=\"{:.1}\" \
             height=\"{PLOT_HEIGHT}\"/>",
            (to - from).max(0.0)
        )?;
    }
    write_axes(report, &scale, html)?;
    write_bars(series, &scale, html)?;
    write_score(series, &scale, html)?;
    markers.iter().try_for_each(|marker| write_marker(marker, &scale, html))?;
    html.push_str("</svg>");
    Ok(())
}

fn write_axes(report: &RunReport, scale: &Scale, html: &mut String) -> std::fmt::Result {
    let floor = TOP + PLOT_HEIGHT;
    let right = LEFT + PLOT_WIDTH;
    write!(
        html,
        "<path class=\"axis\" d=\"M{LEFT} {TOP}V{floor}H{right}\"/>\
         <text class=\"num\" x=\"{x}\" y=\"{y:.0}\">{calls}</text>\
         <text class=\"num\" x=\"{x}\" y=\"{floor}\">0</text>\
         <text class=\"score\" x=\"{s}\" y=\"{y:.0}\">1.0</text>\
         <text class=\"score\" x=\"{s}\" y=\"{floor}\">0.0</text>",
        x = LEFT - 6.0,
        y = TOP + 9.0,
        s = right + 5.0,
        calls = text::grouped(scale.calls as u64),
    )?;
    for turn in ticks(report.turns, scale.step / scale.turns_per_point) {
        write!(
            html,
            "<text class=\"tick\" x=\"{:.1}\" y=\"{}\">{}</text>",
            scale.middle(turn),
            floor + 14.0,
            text::grouped(u64::from(turn))
        )?;
    }
    Ok(())
}

/// Round turn numbers at least 60 units apart, beginning with 1.
fn ticks(turns: u32, units_per_turn: f64) -> Vec<u32> {
    let apart = (60.0 / units_per_turn.max(1e-9)).ceil();
    let mut every = 1_u32;
    'found: for power in 0..9 {
        for factor in [1, 2, 5] {
            every = factor * 10_u32.pow(power);
            if f64::from(every) >= apart {
                break 'found;
            }
        }
    }
    let rest = (1..).map_while(|i: u32| i.checked_mul(every)).take_while(|&turn| turn <= turns);
    let first = (turns > 0 && every > 1).then_some(1);
    first.into_iter().chain(rest).collect()
}

/// How calls went: the class of the bars, and their number.
type Way = (&'static str, fn(&SeriesPoint) -> u32);

/// One path per way to go: a chart stays small however many turns it has.
fn write_bars(series: &Series, scale: &Scale, html: &mut String) -> std::fmt::Result {
    let floor = TOP + PLOT_HEIGHT;
    let ways: [Way; 4] = [
        ("ok", |it| it.ok),
        ("repeat", |it| it.repeat),
        ("empty", |it| it.empty),
        ("error", |it| it.error),
    ];
    for (i, (class, of)) in ways.iter().enumerate() {
        let mut path = String::new();
        for (at, point) in series.points.iter().enumerate() {
            let calls = of(point);
            if calls == 0 {
                continue;
            }
            let below: u32 = ways[..i].iter().map(|(_, of)| of(point)).sum();
            let x = LEFT + at as f64 * scale.step;
            let (high, y) = (scale.height(calls), floor - scale.height(below));
            write!(path, "M{x:.1} {y:.1}h{w:.1}v-{high:.1}h-{w:.1}z", w = scale.bar)?;
        }
        if !path.is_empty() {
            write!(html, "<path class=\"{class}\" d=\"{path}\"/>")?;
        }
    }
    Ok(())
}

fn write_score(series: &Series, scale: &Scale, html: &mut String) -> std::fmt::Result {
    let mut path = String::new();
    for (at, point) in series.points.iter().enumerate() {
        let Some(score) = point.score else { continue };
        let x = LEFT + at as f64 * scale.step + scale.bar / 2.0;
        let y = TOP + (1.0 - f64::from(score.clamp(0.0, 1.0))) * PLOT_HEIGHT;
        write!(path, "{}{x:.1} {y:.1}", if path.is_empty() { 'M' } else { 'L' })?;
    }
    if path.is_empty() {
        return Ok(());
    }
    write!(html, "<path class=\"scoreline\" d=\"{path}\"/>")
}

fn write_marker(marker: &Marker<'_>, scale: &Scale, html: &mut String) -> std::fmt::Result {
    let point = &marker.made.point;
    let class = if point.kind.action.ends_run() { "end" } else { "urge" };
    let x = scale.middle(point.turn);
    let tip = format!("{}, {}: {}", point.kind.action, marker.turns(), marker.made.message);
    write!(
        html,
        "<g class=\"mark {class}\" tabindex=\"0\" role=\"img\" aria-label=\"{tip}\" \
         data-tip=\"{tip}\">",
        tip = Escaped(&tip)
    )?;
    if marker.until > point.turn {
        write!(
            html,
            "<path class=\"span\" d=\"M{x:.1} {y}H{until:.1}\"/>",
            y = TOP - 10.0,
            until = scale.middle(marker.until)
        )?;
    }
    write!(
        html,
        "<path class=\"stem\" d=\"M{x:.1} {y}V{floor}\"/>\
         <path class=\"head\" d=\"M{left:.1} {top}h10l-5 9z\"/></g>",
        y = TOP - 6.0,
        floor = TOP + PLOT_HEIGHT,
        left = x - 5.0,
        top = TOP - 15.0,
    )
}

fn write_decisions(
    report: &RunReport,
    markers: &[Marker<'_>],
    html: &mut String,
) -> std::fmt::Result {
    let Some(first) = &report.verdict.first else {
        html.push_str("<p class=\"facts\">Every decision was to continue.</p>");
        return Ok(());
    };
    let shown = report.verdict.ending.as_ref().unwrap_or(first);
    let after = report.after(shown);
    write!(
        html,
        "<details{}><summary>{}; {} lay after the {}</summary><ol class=\"decisions\">",
        flag(markers.len() <= 3, " open"),
        text::counted(u64::from(report.verdict.count), "decision"),
        text::counted(u64::from(after.calls), "call"),
        if report.verdict.ending.is_some() { "first one that ends the run" } else { "first" },
    )?;
    for marker in markers {
        let made = marker.made;
        let class = if made.point.kind.action.ends_run() { "end" } else { "urge" };
        write!(
            html,
            "<li><b class=\"{class}\">{}</b> <span class=\"where\">{}{}, {}</span> {}",
            made.point.kind.action,
            marker.turns(),
            if marker.times > 1 { format!(" (×{})", marker.times) } else { String::new() },
            made.point.kind.reason,
            Escaped(&made.message),
        )?;
        if !made.excerpt.is_empty() {
            write!(html, "<code>{}</code>", Escaped(&made.excerpt))?;
        }
        html.push_str("</li>");
    }
    html.push_str("</ol></details>");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::ticks;

    #[test]
    fn ticks_are_round_and_few() {
        let cases: [(u32, f64, &[u32]); 5] = [
            (0, 20.0, &[]),
            (3, 60.0, &[1, 2, 3]),
            (12, 20.0, &[1, 5, 10]),
            (1000, 0.9, &[1, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1000]),
            (u32::MAX, 0.000_000_2, &[1, 500_000_000, 1_000_000_000, 1_500_000_000]),
        ];
        for (turns, units, expected) in cases {
            let found = ticks(turns, units);
            assert_eq!(found[..expected.len()], *expected, "{turns} turns: {found:?}");
        }
    }
}
