//! A sum of tables, one per feature: fitted by cyclic Newton steps on the logistic loss, each table
//! held smooth, near zero, and going only the way it may (Hastie and Tibshirani 1990; Lou,
//! Caruana and Gehrke 2012).

use steersman_engine::policy::{Risk, RiskTable};
use steersman_engine::risk::RiskFeature;

use super::samples::Samples;
use super::steps::{self, Way};

/// Rounds over all features.
const SWEEPS: usize = 20;
/// Share of a Newton step that is taken.
const RATE: f64 = 0.3;
/// Pull of every number towards zero, in samples.
const RIDGE: f64 = 10.0;
/// Pull of neighbours towards each other, in samples.
const SMOOTHNESS: f64 = 10.0;

/// A sum of tables.
#[derive(Clone, Debug, Default)]
pub(super) struct Additive {
    pub(super) base: f64,
    pub(super) tables: Vec<Table>,
}

/// The table of one feature.
#[derive(Clone, Debug)]
pub(super) struct Table {
    pub(super) feature: RiskFeature,
    pub(super) ends: Vec<f32>,
    pub(super) adds: Vec<f64>,
    pub(super) way: Way,
}

/// To a hundredth; never -0, which reads badly.
fn round(value: f64) -> f32 {
    ((value * 100.0).round() / 100.0) as f32 + 0.0
}

impl Table {
    fn to_policy(&self) -> RiskTable {
        let mut to = RiskTable { up_to: Vec::new(), add: Vec::new() };
        for (at, add) in self.adds.iter().enumerate() {
            let add = round(*add);
            if to.add.last() == Some(&add) {
                to.up_to.pop();
            } else {
                to.add.push(add);
            }
            to.up_to.extend(self.ends.get(at));
        }
        // The last step has no end.
        to.up_to.truncate(to.add.len() - 1);
        to
    }

    /// The step of each value.
    pub(super) fn places(&self, values: &[f32]) -> Vec<u8> {
        let place = |value: &f32| self.ends.partition_point(|end| end < value);
        values.iter().map(|value| u8::try_from(place(value)).unwrap_or(u8::MAX)).collect()
    }
}

impl Additive {
    /// Fits all tables.
    pub(super) fn fit(samples: &Samples) -> Self {
        let count = samples.failed.len();
        let tables = RiskFeature::ALL.iter().zip(&samples.columns).map(|(feature, column)| {
            let ends = steps::ends(*feature, column, &samples.weights);
            Table {
                feature: *feature,
                adds: vec![0.0; ends.len() + 1],
                ends,
                way: steps::way(*feature),
            }
        });
        let mut tables: Vec<Table> = tables.collect();
        let failing: f64 = samples.failed.iter().zip(&samples.weights).map(|(y, w)| y * w).sum();
        let share = (failing / (count as f64).max(1.0)).clamp(1e-6, 1.0 - 1e-6);
        let base = (share / (1.0 - share)).ln();
        let mut risk = vec![base; count];
        let places: Vec<Vec<u8>> = tables
            .iter()
            .zip(&samples.columns)
            .map(|(table, column)| table.places(column))
            .collect();
        for _ in 0..SWEEPS {
            for (table, places) in tables.iter_mut().zip(&places) {
                table.step(samples, places, &mut risk);
            }
        }
        Self { base, tables }
    }

    /// The model as a policy holds it. Numbers are rounded to a hundredth, and steps that add the
    /// same are one.
    pub(super) fn to_policy(&self) -> Risk {
        let mut risk = Risk { base: round(self.base), ..Risk::default() };
        for table in &self.tables {
            risk.tables.set(table.feature, table.to_policy());
        }
        risk
    }
}

impl Table {
    /// One Newton step of this table, the others left as they are.
    fn step(&mut self, samples: &Samples, places: &[u8], risk: &mut [f64]) {
        let steps = self.adds.len();
        let (mut slope, mut curve) = (vec![0.0; steps], vec![0.0; steps]);
        let rows = risk.iter().zip(&samples.failed).zip(&samples.weights).zip(places);
        for (((risk, failed), weight), place) in rows {
            let odds = 1.0 / (1.0 + (-risk).exp());
            slope[usize::from(*place)] += weight * (failed - odds);
            curve[usize::from(*place)] += weight * odds * (1.0 - odds);
        }
        let old = self.adds.clone();
        for (at, add) in self.adds.iter_mut().enumerate() {
            let (mut pull, mut stiffness) = (-RIDGE * old[at], RIDGE);
            let neighbours = [at.checked_sub(1), Some(at + 1)];
            for other in neighbours.into_iter().flatten().filter_map(|place| old.get(place)) {
                pull += SMOOTHNESS * (other - old[at]);
                stiffness += SMOOTHNESS;
            }
            *add += RATE * (slope[at] + pull) / (curve[at] + stiffness);
        }
        straighten(&mut self.adds, &curve, self.way);
        let moved: Vec<f64> = self.adds.iter().zip(&old).map(|(new, old)| new - old).collect();
        risk.iter_mut().zip(places).for_each(|(risk, place)| *risk += moved[usize::from(*place)]);
    }
}

/// Makes numbers go only the way they may: neighbours that violate it are pooled (Ayer et al.
/// 1955).
pub(super) fn straighten(adds: &mut [f64], weights: &[f64], way: Way) {
    let sign = match way {
        Way::Rises => 1.0,
        Way::Falls => -1.0,
        Way::Free => return,
    };
    let mut pools: Vec<(f64, f64, usize)> = Vec::with_capacity(adds.len());
    for (add, weight) in adds.iter().zip(weights) {
        let mut pool = (add * sign, weight + 1.0, 1);
        while let Some(last) = pools.pop_if(|last| last.0 > pool.0) {
            let weight = last.1 + pool.1;
            pool = ((last.0 * last.1 + pool.0 * pool.1) / weight, weight, last.2 + pool.2);
        }
        pools.push(pool);
    }
    let values =
        pools.iter().flat_map(|(value, _, count)| std::iter::repeat_n(value * sign, *count));
    adds.iter_mut().zip(values).for_each(|(add, value)| *add = value);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_violates_the_way_is_pooled() {
        // Every weight counts one more than it is, so that empty steps have a say.
        type Case = (&'static [f64], &'static [f64], Way, &'static [f64]);
        let cases: [Case; 8] = [
            (&[1.0, 2.0, 3.0], &[0.0; 3], Way::Rises, &[1.0, 2.0, 3.0]),
            (&[1.0, 3.0, 2.0], &[0.0; 3], Way::Rises, &[1.0, 2.5, 2.5]),
            (&[3.0, 2.0, 1.0], &[0.0; 3], Way::Rises, &[2.0, 2.0, 2.0]),
            (&[4.0, 1.0], &[2.0, 0.0], Way::Rises, &[3.25, 3.25]),
            // The second pool pulls the first one in.
            (&[2.0, 4.0, 0.0], &[0.0; 3], Way::Rises, &[2.0, 2.0, 2.0]),
            (&[1.0, 2.0, 0.0], &[0.0; 3], Way::Falls, &[1.5, 1.5, 0.0]),
            (&[3.0, 1.0, 2.0], &[9.0; 3], Way::Free, &[3.0, 1.0, 2.0]),
            (&[], &[], Way::Rises, &[]),
        ];
        for (adds, weights, way, expected) in cases {
            let mut found = adds.to_vec();
            straighten(&mut found, weights, way);
            assert_eq!(found, expected, "{adds:?} {way:?}");
        }
    }

    #[test]
    fn steps_that_add_the_same_are_one() {
        let cases: [(&[f64], &[f32], &[f32]); 5] = [
            (&[0.1, 0.2, 0.3], &[1.0, 2.0], &[0.1, 0.2, 0.3]),
            (&[0.1, 0.101, 0.3], &[2.0], &[0.1, 0.3]),
            (&[0.1, 0.3, 0.299], &[1.0], &[0.1, 0.3]),
            (&[-0.001, 0.0, 0.001], &[], &[0.0]),
            (&[1.0, 1.0, 1.0], &[], &[1.0]),
        ];
        for (adds, up_to, add) in cases {
            let (feature, way) = (RiskFeature::Stale, Way::Rises);
            let table = Table { feature, ends: vec![1.0, 2.0], adds: adds.to_vec(), way };
            let found = table.to_policy();
            assert_eq!((&*found.up_to, &*found.add), (up_to, add), "{adds:?}");
            assert!(found.add.iter().all(|add| *add != 0.0 || add.is_sign_positive()), "{adds:?}");
            // What the policy finds is what the table says, on either side of every end.
            for (value, place) in [(0.5, 0), (1.0, 0), (1.5, 1), (2.0, 1), (2.5, 2)] {
                assert_eq!(found.at(value), round(adds[place]), "{adds:?} at {value}");
                assert_eq!(table.places(&[value]), [place as u8], "{value}");
            }
        }
    }
}
