//! The frontier: what each policy and rule saves at what harm.

use std::io::{self, Write};

use steersman_evaluation::bootstrap::Estimate;
use steersman_evaluation::{Evaluation, SubjectRow};

use super::panel::{Panel, Point, Scale};
use crate::eval::plan::Subject;
use crate::eval::table::bracketed;
use crate::text;

/// Points drawn.
const MAX_POINTS: usize = 64;
/// Points up to this harm are shown larger beside the whole, if others go beyond.
const ZOOM: f64 = 0.01;

const LEGEND: &str = "<p class=\"legend\" aria-label=\"Legend\">\
<span class=\"chosen\"><i class=\"dotted\"></i>the policy shown in detail</span>\
<span class=\"policy\"><i class=\"dotted\"></i>other policies</span>\
<span class=\"comparison\"><i class=\"dotted\"></i>rules of other tools</span>\
<span><i class=\"bar\"></i>no other saves more at as little harm</span>\
<span>lines: 95 % intervals</span></p>\n";

/// Writes the charts, if harm and saved are known.
pub(super) fn write(
    evaluation: &Evaluation,
    subjects: &[Subject],
    out: &mut dyn Write,
) -> io::Result<()> {
    let points = points(evaluation, subjects);
    if points.is_empty() {
        return Ok(());
    }
    let front = front(&points);
    writeln!(
        out,
        "<section aria-labelledby=\"frontier\"><h2 id=\"frontier\">Harm and saved calls</h2>\n\
         {LEGEND}<div class=\"panels\">"
    )?;
    for (panel, caption) in panels(&points) {
        let mut svg = String::new();
        panel.write(&points, &front, &mut svg).map_err(io::Error::other)?;
        writeln!(out, "<figure>{svg}<figcaption>{caption}</figcaption></figure>")?;
    }
    writeln!(out, "</div></section>")
}

/// The points; those at the same place are one.
fn points(evaluation: &Evaluation, subjects: &[Subject]) -> Vec<Point> {
    let mut points: Vec<Point> = Vec::new();
    for (at, (row, subject)) in evaluation.subjects.iter().zip(subjects).enumerate() {
        let (Some(harm), Some(saved)) = (row.mean.harm, row.mean.saved) else { continue };
        let name = text::cut_end(&text::plain(&row.name), 40);
        let same = points.iter_mut().find(|point| {
            (point.x - harm.value).abs() < 1e-6 && (point.y - saved.value).abs() < 1e-6
        });
        if let Some(point) = same {
            if point.name.len() < 60 {
                point.name = format!("{}, {name}", point.name);
            }
            point.tip = format!("{}; {}", point.tip, tip(row, subject));
        } else if points.len() < MAX_POINTS {
            let ends =
                |estimate: Estimate| estimate.interval.unwrap_or((estimate.value, estimate.value));
            points.push(Point {
                name,
                tip: tip(row, subject),
                class: match (at, subject.about) {
                    (0, None) => "chosen",
                    (_, None) => "policy",
                    (_, Some(_)) => "comparison",
                },
                x: harm.value,
                x_interval: ends(harm),
                y: saved.value,
                y_interval: ends(saved),
            });
        }
    }
    points
}

fn tip(row: &SubjectRow, subject: &Subject) -> String {
    let share = |estimate: Option<Estimate>| {
        let point = text::percent(estimate.map(|it| it.value));
        match estimate.and_then(|it| it.interval) {
            Some(interval) => format!("{point} {}", bracketed(interval)),
            None => point,
        }
    };
    let about = subject.about.map(|about| format!(" ({about})")).unwrap_or_default();
    let (harm, saved) = (share(row.mean.harm), share(row.mean.saved));
    format!("{}{about}: harm {harm}, saved {saved}", text::plain(&row.name))
}

/// The points that no other beats in both, from the least harm on.
fn front(points: &[Point]) -> Vec<(f64, f64)> {
    let mut all: Vec<(f64, f64)> = points.iter().map(|point| (point.x, point.y)).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.total_cmp(&a.1)));
    let mut front: Vec<(f64, f64)> = Vec::new();
    for point in all {
        if front.last().is_none_or(|best| point.1 > best.1) {
            front.push(point);
        }
    }
    front
}

/// The whole, and where it is needed the part near no harm.
fn panels(points: &[Point]) -> Vec<(Panel, &'static str)> {
    let ends = |points: &[&Point]| {
        let most = |of: fn(&Point) -> f64| points.iter().map(|it| of(it)).fold(0.0, f64::max);
        // A little room beyond the last interval; and an axis even if all is 0.
        let end = |most: f64| (most * 1.04).clamp(0.002, 1.0);
        // Long intervals are cut off rather than leaving most of the chart empty.
        let far = |point: f64, interval: f64| end(interval.min(point * 1.6).max(point));
        (
            far(most(|it| it.x), most(|it| it.x_interval.1)),
            far(most(|it| it.y), most(|it| it.y_interval.1)),
        )
    };
    let all: Vec<&Point> = points.iter().collect();
    let near: Vec<&Point> = points.iter().filter(|point| point.x <= ZOOM).collect();
    let (x_end, y_end) = ends(&all);
    if near.len() < 3 || near.len() == all.len() {
        let panel = Panel { scale: Scale::Linear, x_end, y_end, zoomed: None };
        return vec![(panel, "Mean over sources.")];
    }
    let zoomed = ends(&near);
    let near = Panel { scale: Scale::Linear, x_end: zoomed.0, y_end: zoomed.1, zoomed: None };
    let whole = Panel { scale: Scale::Root, x_end, y_end, zoomed: Some(zoomed) };
    vec![
        (near, "Near no harm, both axes in proportion. Mean over sources."),
        (whole, "All of them; distances are square roots, so that small shares have room."),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_front_is_what_no_other_beats() {
        let point = |x, y| Point {
            name: String::new(),
            tip: String::new(),
            class: "policy",
            x,
            x_interval: (x, x),
            y,
            y_interval: (y, y),
        };
        let points = [(0.2, 0.5), (0.0, 0.1), (0.3, 0.4), (0.0, 0.2), (0.2, 0.6), (0.5, 0.6)];
        let points: Vec<Point> = points.into_iter().map(|(x, y)| point(x, y)).collect();
        assert_eq!(front(&points), [(0.0, 0.2), (0.2, 0.6)]);
        assert_eq!(front(&[]), []);
    }
}
