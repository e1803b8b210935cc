//! Moves the tables towards what they are for: stopping.
//!
//! The logistic loss asks how well every turn is told apart. What counts is how many calls of bad
//! runs lie behind the first turn above the line, while few good runs ever cross it. Both are made
//! smooth (a run is "over the line" by a sigmoid), and the tables climb the saved share at a fixed
//! share of harm.

use super::additive::{Additive, Table, straighten};
use super::samples::{Course, Courses};

/// Steps of the ascent (Adam, Kingma and Ba 2015).
const ROUNDS: i32 = 80;
/// Length of a step, in log odds.
const STEP: f64 = 0.02;
/// How soft "over the line" is, in log odds.
const SOFTNESS: f64 = 0.3;
/// Share of good runs over the line at which saving is compared.
const HARM: f64 = 0.03;
/// Pull towards the fitted tables.
const PULL: f64 = 0.01;

fn over(distance: f64) -> f64 {
    1.0 / (1.0 + (-distance / SOFTNESS).exp())
}

/// Improves the tables on whole runs.
pub(super) fn improve(model: &mut Additive, courses: &Courses) {
    if courses.runs.iter().all(|run| run.good) || !courses.runs.iter().any(|run| run.good) {
        return;
    }
    let places: Vec<Vec<u8>> = model
        .tables
        .iter()
        .zip(&courses.columns)
        .map(|(table, column)| table.places(column))
        .collect();
    let mut ascents: Vec<Ascent> = model.tables.iter().map(Ascent::from).collect();
    for round in 1..=ROUNDS {
        let risks = risks(model, &places);
        let wish = wish(courses, &risks);
        for ((table, ascent), places) in model.tables.iter_mut().zip(&mut ascents).zip(&places) {
            let mut slope = vec![0.0; table.adds.len()];
            for (place, wish) in places.iter().zip(&wish).filter(|(_, wish)| **wish != 0.0) {
                slope[usize::from(*place)] += wish / SOFTNESS;
            }
            ascent.climb(table, &slope, round);
        }
    }
}

/// The risk of every row.
fn risks(model: &Additive, places: &[Vec<u8>]) -> Vec<f64> {
    let mut risks = vec![model.base; places.first().map_or(0, Vec::len)];
    for (table, places) in model.tables.iter().zip(places) {
        let rows = risks.iter_mut().zip(places);
        rows.for_each(|(risk, place)| *risk += table.adds[usize::from(*place)]);
    }
    risks
}

/// The highest risk of a run and its row.
fn worst(course: &Course, risks: &[f64]) -> (f64, usize) {
    let rows = course.from..course.from + course.calls.len();
    let start = (f64::NEG_INFINITY, course.from);
    rows.fold(start, |best, row| if risks[row] > best.0 { (risks[row], row) } else { best })
}

/// How much each row's risk should rise: what that saves, less what it harms at the exchange rate
/// at which moving the line would change nothing.
fn wish(courses: &Courses, risks: &[f64]) -> Vec<f64> {
    let good: Vec<(f64, usize, f64)> = courses
        .runs
        .iter()
        .filter(|run| run.good)
        .map(|run| {
            let (risk, row) = worst(run, risks);
            (risk, row, run.weight)
        })
        .collect();
    let goods: f64 = good.iter().map(|run| run.2).sum();
    let bad = || courses.runs.iter().filter(|run| !run.good);
    let bads: f64 = bad().map(|run| run.weight * run.calls.iter().sum::<f64>()).sum();
    let line = line(&good, goods);
    let mut wish = vec![0.0; risks.len()];
    let mut saving = 0.0;
    for run in bad() {
        let (mut highest, mut at) = (f64::NEG_INFINITY, run.from);
        for (step, calls) in run.calls.iter().enumerate() {
            if risks[run.from + step] > highest {
                (highest, at) = (risks[run.from + step], run.from + step);
            }
            let over = over(highest - line);
            let gain = run.weight * calls * over * (1.0 - over) / bads.max(1e-12);
            wish[at] += gain;
            saving += gain;
        }
    }
    let steepness = |risk: f64, weight: f64| {
        let over = over(risk - line);
        weight * over * (1.0 - over) / goods.max(1e-12)
    };
    let harming: f64 = good.iter().map(|run| steepness(run.0, run.2)).sum();
    let price = saving / harming.max(1e-12);
    for (risk, row, weight) in good {
        wish[row] -= price * steepness(risk, weight);
    }
    wish
}

/// The line at which the share of good runs over it is what is aimed at.
fn line(good: &[(f64, usize, f64)], total: f64) -> f64 {
    let (mut low, mut high) = (-30.0, 30.0);
    for _ in 0..40 {
        let middle = 0.5 * (low + high);
        let harm: f64 = good.iter().map(|run| run.2 * over(run.0 - middle)).sum();
        if harm > HARM * total {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

/// The ascent of one table.
struct Ascent {
    start: Vec<f64>,
    first: Vec<f64>,
    second: Vec<f64>,
}

impl From<&Table> for Ascent {
    fn from(table: &Table) -> Self {
        let zero = vec![0.0; table.adds.len()];
        Self { start: table.adds.clone(), first: zero.clone(), second: zero }
    }
}

impl Ascent {
    fn climb(&mut self, table: &mut Table, slope: &[f64], round: i32) {
        let away: Vec<f64> =
            table.adds.iter().zip(&self.start).map(|(add, start)| add - start).collect();
        for at in 0..slope.len() {
            let neighbours = [at.checked_sub(1), Some(at + 1)];
            let apart: f64 = neighbours
                .into_iter()
                .flatten()
                .filter_map(|place| away.get(place))
                .map(|other| away[at] - other)
                .sum();
            let slope = slope[at] - PULL * (away[at] + apart);
            self.first[at] = 0.9 * self.first[at] + 0.1 * slope;
            self.second[at] = 0.99 * self.second[at] + 0.01 * slope * slope;
            let first = self.first[at] / (1.0 - 0.9_f64.powi(round));
            let second = self.second[at] / (1.0 - 0.99_f64.powi(round));
            table.adds[at] += STEP * first / (second.sqrt() + 1e-4);
        }
        let even = vec![1.0; table.adds.len()];
        straighten(&mut table.adds, &even, table.way);
    }
}
