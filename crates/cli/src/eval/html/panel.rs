//! One chart of harm and saved calls.

use std::fmt::Write;

use super::labels::{Area, place};
use crate::page::Escaped;

/// Size of a chart, in its own units.
const WIDTH: f64 = 620.0;
const HEIGHT: f64 = 430.0;
const LEFT: f64 = 52.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 14.0;
const BOTTOM: f64 = 46.0;
const PLOT_WIDTH: f64 = WIDTH - LEFT - RIGHT;
const PLOT_HEIGHT: f64 = HEIGHT - TOP - BOTTOM;
/// About the width of a letter of a name, and the height of a line.
const LETTER: f64 = 6.4;
const LINE: f64 = 14.0;

/// A point of the chart: shares with their intervals.
#[derive(Clone, Debug)]
pub(super) struct Point {
    /// What it is called.
    pub(super) name: String,
    /// What a tooltip says.
    pub(super) tip: String,
    /// Its class: how it is coloured.
    pub(super) class: &'static str,
    /// Harm.
    pub(super) x: f64,
    /// Ends of the interval of harm.
    pub(super) x_interval: (f64, f64),
    /// Saved.
    pub(super) y: f64,
    /// Ends of the interval of saved.
    pub(super) y_interval: (f64, f64),
}

/// How shares become distances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scale {
    /// In proportion.
    Linear,
    /// As square roots: small shares get room, and 0 still has a place.
    Root,
}

impl Scale {
    fn of(self, share: f64) -> f64 {
        match self {
            Self::Linear => share.max(0.0),
            Self::Root => share.max(0.0).sqrt(),
        }
    }
}

/// A chart.
#[derive(Clone, Debug)]
pub(super) struct Panel {
    /// How both axes are scaled.
    pub(super) scale: Scale,
    /// Where the axis of harm ends.
    pub(super) x_end: f64,
    /// Where the axis of saved ends.
    pub(super) y_end: f64,
    /// The part that another chart shows larger: its ends; points within bear no name here.
    pub(super) zoomed: Option<(f64, f64)>,
}

impl Panel {
    fn x(&self, share: f64) -> f64 {
        LEFT + (self.scale.of(share) / self.scale.of(self.x_end)).min(1.0) * PLOT_WIDTH
    }

    fn y(&self, share: f64) -> f64 {
        let up = (self.scale.of(share) / self.scale.of(self.y_end)).min(1.0) * PLOT_HEIGHT;
        TOP + PLOT_HEIGHT - up
    }

    /// Whether a point lies where another chart shows it larger.
    fn is_zoomed(&self, point: &Point) -> bool {
        self.zoomed.is_some_and(|(x, y)| point.x <= x && point.y <= y)
    }

    /// Whether the chart reaches a point.
    pub(super) fn holds(&self, point: &Point) -> bool {
        point.x <= self.x_end && point.y <= self.y_end
    }

    /// Writes the chart. `front` are the points that no other beats, from the least harm on.
    pub(super) fn write(
        &self,
        points: &[Point],
        front: &[(f64, f64)],
        html: &mut String,
    ) -> std::fmt::Result {
        write!(
            html,
            "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"group\" \
             aria-label=\"Harm and saved calls\">"
        )?;
        self.write_axes(html)?;
        self.write_front(front, html)?;
        if let Some((x, y)) = self.zoomed {
            self.write_region(x, y, html)?;
        }
        let shown: Vec<&Point> = points.iter().filter(|point| self.holds(point)).collect();
        // The first lie on top.
        shown.iter().rev().try_for_each(|point| self.write_dot(point, html))?;
        let (nameless, named): (Vec<&Point>, Vec<&Point>) =
            shown.into_iter().partition(|point| self.is_zoomed(point));
        self.write_names(&named, &nameless, html)?;
        html.push_str("</svg>");
        Ok(())
    }

    fn write_axes(&self, html: &mut String) -> std::fmt::Result {
        let (floor, right) = (TOP + PLOT_HEIGHT, LEFT + PLOT_WIDTH);
        for (share, text) in ticks(self.scale, self.x_end) {
            let x = self.x(share);
            write!(
                html,
                "<path class=\"grid\" d=\"M{x:.1} {TOP}V{floor}\"/>\
                 <text class=\"tick\" x=\"{x:.1}\" y=\"{:.1}\">{text}</text>",
                floor + 15.0
            )?;
        }
        for (share, text) in ticks(self.scale, self.y_end) {
            let y = self.y(share);
            write!(
                html,
                "<path class=\"grid\" d=\"M{LEFT} {y:.1}H{right}\"/>\
                 <text class=\"num\" x=\"{:.1}\" y=\"{:.1}\">{text}</text>",
                LEFT - 6.0,
                y + 4.0
            )?;
        }
        write!(
            html,
            "<path class=\"axis\" d=\"M{LEFT} {TOP}V{floor}H{right}\"/>\
             <text class=\"name\" x=\"{:.1}\" y=\"{:.1}\">harm: solved runs ended, %</text>\
             <text class=\"name\" transform=\"translate(13 {:.1}) rotate(-90)\">\
             saved: calls of unsolved runs, %</text>",
            LEFT + PLOT_WIDTH / 2.0,
            HEIGHT - 8.0,
            TOP + PLOT_HEIGHT / 2.0,
        )
    }

    fn write_front(&self, front: &[(f64, f64)], html: &mut String) -> std::fmt::Result {
        let mut path = String::new();
        for &(x, y) in front.iter().filter(|(x, _)| *x <= self.x_end) {
            let (x, y) = (self.x(x), self.y(y));
            if path.is_empty() {
                write!(path, "M{x:.1} {y:.1}")?;
            } else {
                write!(path, "H{x:.1}V{y:.1}")?;
            }
        }
        if path.is_empty() {
            return Ok(());
        }
        write!(html, "<path class=\"front\" d=\"{path}H{:.1}\"/>", LEFT + PLOT_WIDTH)
    }

    fn write_region(&self, x: f64, y: f64, html: &mut String) -> std::fmt::Result {
        let (right, top) = (self.x(x), self.y(y));
        write!(
            html,
            "<path class=\"region\" d=\"M{LEFT} {top:.1}H{right:.1}V{:.1}\"/>\
             <text class=\"inside\" x=\"{:.1}\" y=\"{:.1}\">shown larger</text>",
            TOP + PLOT_HEIGHT,
            LEFT + 6.0,
            top - 5.0,
        )
    }

    fn write_dot(&self, point: &Point, html: &mut String) -> std::fmt::Result {
        let (x, y) = (self.x(point.x), self.y(point.y));
        write!(
            html,
            "<g class=\"dot {}\" tabindex=\"0\" role=\"img\" aria-label=\"{tip}\" \
             data-tip=\"{tip}\"><path d=\"M{:.1} {y:.1}H{:.1}M{x:.1} {:.1}V{:.1}\"/>\
             <circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"5\"/></g>",
            point.class,
            self.x(point.x_interval.0),
            self.x(point.x_interval.1),
            self.y(point.y_interval.0),
            self.y(point.y_interval.1),
            tip = Escaped(&point.tip),
        )
    }

    fn write_names(
        &self,
        points: &[&Point],
        nameless: &[&Point],
        html: &mut String,
    ) -> std::fmt::Result {
        let all = points.iter().chain(nameless);
        let at: Vec<(f64, f64)> = all.map(|point| (self.x(point.x), self.y(point.y))).collect();
        let size = |point: &&Point| (point.name.chars().count() as f64 * LETTER + 2.0, LINE);
        let sizes: Vec<(f64, f64)> = points.iter().map(size).collect();
        let frame = Area { x: LEFT, y: TOP, width: PLOT_WIDTH, height: PLOT_HEIGHT };
        let places = place(&at, &sizes, frame);
        for ((point, area), (x, y)) in points.iter().zip(places).zip(at) {
            let (near_x, near_y) = area.nearest((x, y));
            if (near_x - x).hypot(near_y - y) > 12.0 {
                write!(
                    html,
                    "<path class=\"leader {}\" d=\"M{x:.1} {y:.1}L{near_x:.1} {near_y:.1}\"/>",
                    point.class
                )?;
            }
            write!(
                html,
                "<text class=\"label {}\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                point.class,
                area.x + 1.0,
                area.y + LINE - 3.5,
                Escaped(&point.name),
            )?;
        }
        Ok(())
    }
}

/// Round shares along an axis, with their names in percent.
fn ticks(scale: Scale, end: f64) -> Vec<(f64, String)> {
    let name = |percent: f64| {
        let text = format!("{percent:.2}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    };
    let percents: Vec<f64> = match scale {
        Scale::Root => vec![0.0, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 50.0, 75.0, 100.0],
        Scale::Linear => {
            const STEPS: [f64; 10] = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0];
            let step = STEPS.into_iter().find(|step| end * 100.0 / step <= 8.0).unwrap_or(20.0);
            (0..=8).map(|i| f64::from(i) * step).collect()
        }
    };
    let within = percents.into_iter().filter(|percent| *percent <= end * 100.0 + 1e-9);
    within.map(|percent| (percent / 100.0, name(percent))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_few() {
        let names = |scale, end| -> Vec<String> {
            ticks(scale, end).into_iter().map(|(_, name)| name).collect()
        };
        assert_eq!(names(Scale::Linear, 0.013), ["0", "0.2", "0.4", "0.6", "0.8", "1", "1.2"]);
        assert_eq!(names(Scale::Linear, 1.0), ["0", "20", "40", "60", "80", "100"]);
        assert_eq!(names(Scale::Root, 0.03), ["0", "0.1", "0.5", "1", "2"]);
        assert_eq!(names(Scale::Linear, 0.0), ["0"]);
    }
}
