//! The turns that a model is fitted on, and how much each counts.

use std::collections::BTreeMap;

use steersman_engine::risk::{RiskFeature, RiskValues};

use super::{Record, Usuals};

/// How much a source counts in which all runs ended alike: it cannot tell good from bad.
const ONE_SIDED: f64 = 0.1;

/// Values by feature, and what became of each run.
#[derive(Default)]
pub(super) struct Samples {
    /// One column per feature.
    pub(super) columns: Vec<Vec<f32>>,
    /// 1 where the run failed.
    pub(super) failed: Vec<f64>,
    /// How much the turn counts; 1 on average.
    pub(super) weights: Vec<f64>,
}

impl Samples {
    /// The turns to fit on.
    ///
    /// A good run counts once, spread over its turns. In a bad run a turn counts by the calls still
    /// to come: stopping early saves more. Good and bad runs of a source count the same, and so do
    /// sources.
    pub(super) fn pick(records: &[&Record], usuals: &Usuals) -> Self {
        let mut samples = Self { columns: columns(), ..Self::default() };
        let mut sums: BTreeMap<&str, [f64; 2]> = BTreeMap::new();
        let mut of: Vec<(&str, bool)> = Vec::new();
        for record in records {
            let episode = &record.episode;
            let usual = usuals.get(&episode.agent, &episode.model);
            let picked = record.picked();
            let share = 1.0 / picked.len() as f64;
            for moment in picked {
                let to_come = episode.counts.calls.saturating_sub(moment.calls);
                let weight = share * if record.is_good() { 1.0 } else { f64::from(to_come) };
                samples.push(&moment.values_for(usual), record.is_good(), weight);
                sums.entry(&episode.source).or_default()[usize::from(record.is_good())] += weight;
                of.push((&episode.source, record.is_good()));
            }
        }
        for (weight, (source, good)) in samples.weights.iter_mut().zip(of) {
            let sums = sums[source];
            *weight /= sums[usize::from(good)].max(1e-9);
            if sums.contains(&0.0) {
                *weight *= ONE_SIDED;
            }
        }
        let scale = samples.weights.len() as f64 / samples.weights.iter().sum::<f64>().max(1e-9);
        samples.weights.iter_mut().for_each(|weight| *weight *= scale);
        samples
    }

    fn push(&mut self, values: &RiskValues, good: bool, weight: f64) {
        self.columns.iter_mut().zip(values).for_each(|(column, value)| column.push(*value));
        self.failed.push(if good { 0.0 } else { 1.0 });
        self.weights.push(weight);
    }
}

/// An empty column per feature.
fn columns() -> Vec<Vec<f32>> {
    vec![Vec::new(); RiskFeature::ALL.len()]
}

/// Whole runs, for fitting where they are stopped.
#[derive(Default)]
pub(super) struct Courses {
    /// One column per feature, every turn of every run.
    pub(super) columns: Vec<Vec<f32>>,
    /// The runs.
    pub(super) runs: Vec<Course>,
}

/// A run: its rows, the calls that follow each up to the next, and how much it counts.
pub(super) struct Course {
    pub(super) from: usize,
    pub(super) calls: Vec<f64>,
    pub(super) good: bool,
    pub(super) weight: f64,
}

impl Courses {
    /// All runs of sources that have good and bad ones; each such source counts the same.
    pub(super) fn of(records: &[&Record], usuals: &Usuals) -> Self {
        let mut sums: BTreeMap<&str, [f64; 2]> = BTreeMap::new();
        for record in records {
            let episode = &record.episode;
            let amount = if record.is_good() { 1.0 } else { f64::from(episode.counts.calls) };
            sums.entry(&episode.source).or_default()[usize::from(record.is_good())] += amount;
        }
        let mut courses = Self { columns: columns(), runs: Vec::new() };
        for record in records {
            let episode = &record.episode;
            let sums = sums[&*episode.source];
            if sums.contains(&0.0) || record.moments.is_empty() {
                continue;
            }
            let usual = usuals.get(&episode.agent, &episode.model);
            let from = courses.columns.first().map_or(0, Vec::len);
            for moment in &record.moments {
                let values = moment.values_for(usual);
                courses.columns.iter_mut().zip(values).for_each(|(to, value)| to.push(value));
            }
            let made = record.moments.iter().map(|moment| moment.calls);
            let later = record.moments.iter().skip(1).map(|moment| moment.calls);
            let calls = made
                .zip(later.chain([episode.counts.calls]))
                .map(|(now, next)| f64::from(next.saturating_sub(now)))
                .collect();
            let weight = 1.0 / sums[usize::from(record.is_good())];
            courses.runs.push(Course { from, calls, good: record.is_good(), weight });
        }
        courses
    }
}
