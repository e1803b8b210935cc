//! Where names stand beside the points of a chart, so that they do not cover each other.

/// A rectangle in the units of the chart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Area {
    /// Left edge.
    pub(super) x: f64,
    /// Upper edge.
    pub(super) y: f64,
    /// Width.
    pub(super) width: f64,
    /// Height.
    pub(super) height: f64,
}

impl Area {
    /// The size of what two rectangles share.
    fn shared(&self, other: &Self) -> f64 {
        let overlap = |a: f64, a_len: f64, b: f64, b_len: f64| {
            ((a + a_len).min(b + b_len) - a.max(b)).max(0.0)
        };
        overlap(self.x, self.width, other.x, other.width)
            * overlap(self.y, self.height, other.y, other.height)
    }

    /// The size of what lies outside of another.
    fn outside(&self, other: &Self) -> f64 {
        self.width * self.height - self.shared(other)
    }

    /// The point of the rectangle nearest to another point.
    pub(super) fn nearest(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (x.clamp(self.x, self.x + self.width), y.clamp(self.y, self.y + self.height))
    }
}

/// Half of what a point takes.
const POINT: f64 = 6.0;
/// Gaps between point and name that are tried, the closest first.
const GAPS: [f64; 5] = [9.0, 18.0, 32.0, 50.0, 72.0];
/// Directions that are tried: right, left, above, below, and between.
const DIRECTIONS: [(f64, f64); 8] = [
    (1.0, 0.0),
    (-1.0, 0.0),
    (0.0, -1.0),
    (0.0, 1.0),
    (0.8, -0.8),
    (0.8, 0.8),
    (-0.8, -0.8),
    (-0.8, 0.8),
];

/// What it costs to cover anything at all.
const COVERED: f64 = 400.0;
/// What it costs to stand nearer to a point of another name: less than to cover something, however
/// many points there are.
const ASTRAY: f64 = 70.0;
const MAX_ASTRAY: usize = 3;

/// Places names of the given sizes beside the first points, within `frame`, one after the other
/// where they cover the least and cannot be taken for the name of another point. Points beyond
/// those that have a size bear no name.
pub(super) fn place(points: &[(f64, f64)], sizes: &[(f64, f64)], frame: Area) -> Vec<Area> {
    let mut taken: Vec<Area> = points
        .iter()
        .map(|(x, y)| Area { x: x - POINT, y: y - POINT, width: 2.0 * POINT, height: 2.0 * POINT })
        .collect();
    let mut placed = Vec::with_capacity(points.len());
    for (&point, &size) in points.iter().zip(sizes) {
        let mut best: Option<(f64, Area)> = None;
        for gap in GAPS {
            for direction in DIRECTIONS {
                let area = beside(point, size, gap, direction);
                let covered: f64 = taken.iter().map(|it| it.shared(&area)).sum();
                let astray = astray(&area, point, points).min(MAX_ASTRAY) as f64 * ASTRAY;
                let covers = if covered > 0.01 { COVERED + covered * 10.0 } else { 0.0 };
                let cost = covers + area.outside(&frame) * 20.0 + gap + astray;
                // Less by no more than rounding is not less.
                if best.is_none_or(|(least, _)| cost < least - 0.01) {
                    best = Some((cost, area));
                }
            }
        }
        if let Some((_, area)) = best {
            taken.push(area);
            placed.push(area);
        }
    }
    placed
}

/// How many other points a name is nearer to than to its own.
fn astray(area: &Area, own: (f64, f64), points: &[(f64, f64)]) -> usize {
    let distance = |point: (f64, f64)| {
        let (x, y) = area.nearest(point);
        (x - point.0).hypot(y - point.1)
    };
    let near = distance(own);
    points.iter().filter(|point| **point != own && distance(**point) < near + 1.0).count()
}

fn beside(
    (x, y): (f64, f64),
    (width, height): (f64, f64),
    gap: f64,
    (right, down): (f64, f64),
) -> Area {
    let offset = |side: f64, length: f64| match side {
        side if side > 0.0 => gap * side,
        side if side < 0.0 => gap * side - length,
        _ => -length / 2.0,
    };
    Area { x: x + offset(right, width), y: y + offset(down, height), width, height }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_do_not_cover_each_other_where_there_is_room() {
        let frame = Area { x: 0.0, y: 0.0, width: 600.0, height: 400.0 };
        // A bunch of points, some at the edge.
        let points: Vec<(f64, f64)> =
            (0..10).map(|i| (60.0 + f64::from(i % 4) * 18.0, 200.0 + f64::from(i) * 6.0)).collect();
        let mut points = points;
        points.extend([(598.0, 5.0), (2.0, 398.0)]);
        let sizes = vec![(110.0, 14.0); points.len()];
        let placed = place(&points, &sizes, frame);
        assert_eq!(placed.len(), points.len());
        for (i, a) in placed.iter().enumerate() {
            assert!(a.outside(&frame) < 1e-9, "{a:?} leaves the frame");
            for b in &placed[i + 1..] {
                assert!(a.shared(b) < 1e-9, "{a:?} and {b:?} cover each other");
            }
        }
    }
}
