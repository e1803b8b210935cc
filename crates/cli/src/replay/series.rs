//! The course of a run in few numbers, for a chart.

use steersman_timeline::calls::Mark;

/// Calls per turn by how they went, and the score.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Series {
    /// The points, at most [`Series::MAX_POINTS`].
    pub(crate) points: Vec<SeriesPoint>,
    /// Turns per point, a power of two.
    pub(crate) step: u32,
    turns: u32,
}

/// One point of a chart: one turn, or several where a run is long.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct SeriesPoint {
    /// Calls that gave something new.
    pub(crate) ok: u32,
    /// Calls that failed.
    pub(crate) error: u32,
    /// Calls that gave nothing, or have no result.
    pub(crate) empty: u32,
    /// Calls that gave what they gave before.
    pub(crate) repeat: u32,
    /// The latest score, 0 to 1; `None` if nothing was decided.
    pub(crate) score: Option<f32>,
}

impl SeriesPoint {
    /// All calls of the point.
    pub(crate) const fn calls(&self) -> u32 {
        self.ok.saturating_add(self.error).saturating_add(self.empty).saturating_add(self.repeat)
    }

    fn add(&mut self, other: Self) {
        self.ok = self.ok.saturating_add(other.ok);
        self.error = self.error.saturating_add(other.error);
        self.empty = self.empty.saturating_add(other.empty);
        self.repeat = self.repeat.saturating_add(other.repeat);
        self.score = other.score.or(self.score);
    }
}

impl Default for Series {
    fn default() -> Self {
        Self { points: Vec::new(), step: 1, turns: 0 }
    }
}

impl Series {
    /// Points of a chart; longer runs have several turns per point.
    pub(crate) const MAX_POINTS: usize = 400;

    /// A turn begins.
    pub(crate) fn begin_turn(&mut self) {
        if self.turns.is_multiple_of(self.step) {
            if self.points.len() == Self::MAX_POINTS {
                self.halve();
            }
            if self.turns.is_multiple_of(self.step) {
                self.points.push(SeriesPoint::default());
            }
        }
        self.turns = self.turns.saturating_add(1);
    }

    /// A call of the turn went so.
    pub(crate) fn count(&mut self, mark: Mark) {
        self.count_many(mark, 1);
    }

    /// Several calls of the turn went so.
    pub(crate) fn count_many(&mut self, mark: Mark, calls: u32) {
        let Some(point) = self.points.last_mut() else { return };
        let field = match mark {
            Mark::Ok => &mut point.ok,
            Mark::Error => &mut point.error,
            Mark::Empty => &mut point.empty,
            Mark::Repeat => &mut point.repeat,
        };
        *field = field.saturating_add(calls);
    }

    /// The score of the turn.
    pub(crate) fn score(&mut self, score: f32) {
        if let Some(point) = self.points.last_mut() {
            point.score = Some(score);
        }
    }

    fn halve(&mut self) {
        self.points = self
            .points
            .chunks(2)
            .map(|pair| {
                let mut sum = SeriesPoint::default();
                pair.iter().for_each(|&point| sum.add(point));
                sum
            })
            .collect();
        self.step = self.step.saturating_mul(2);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_runs_fit_and_lose_no_calls() {
        for turns in [0_u32, 1, 399, 400, 401, 1000, 10_001] {
            let mut series = Series::default();
            for turn in 0..turns {
                series.begin_turn();
                series.count(if turn % 3 == 0 { Mark::Error } else { Mark::Ok });
                series.score(0.5);
            }
            let calls: u32 = series.points.iter().map(SeriesPoint::calls).sum();
            assert_eq!(calls, turns);
            assert!(series.points.len() <= Series::MAX_POINTS);
            assert_eq!(series.points.len() as u32, turns.div_ceil(series.step));
        }
    }
}
