//! 95 % intervals by resampling task instances.
//!
//! Runs of one instance resemble each other, so they are drawn together: a cluster bootstrap. Each
//! resample draws, within each source, as many instances as it has, with replacement; the sources
//! themselves are taken as given. The interval holds the middle 95 % of what the resamples give.
//! Where no run is counted at all the interval is the point itself, however few the runs are.

use std::collections::HashMap;
use std::ops::Range;

use serde::{Serialize, Serializer};
use steersman_engine::digest::hash_bytes;

use crate::Episode;

/// A small generator of pseudo-random numbers (splitmix64): the same seed, the same numbers.
#[derive(Clone, Debug)]
pub struct SplitMix(u64);

impl SplitMix {
    /// A generator with this seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`; 0 if that is 0. The bias is below 2⁻³² for bounds below 2³².
    pub const fn below(&mut self, bound: u64) -> u64 {
        ((self.next() as u128 * bound as u128) >> 64) as u64
    }
}

/// A value and its 95 % interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimate {
    /// The value.
    pub value: f64,
    /// The interval's ends; `None` without resamples.
    pub interval: Option<(f64, f64)>,
}

impl Serialize for Estimate {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;
        let mut estimate = to.serialize_struct("Estimate", 3)?;
        estimate.serialize_field("value", &self.value)?;
        estimate.serialize_field("low", &self.interval.map(|(low, _)| low))?;
        estimate.serialize_field("high", &self.interval.map(|(_, high)| high))?;
        estimate.end()
    }
}

/// The instances that runs belong to, by source.
#[derive(Clone, Debug, Default)]
pub struct Clusters {
    /// The clusters of each source, and the seed of its own.
    strata: Vec<(Range<usize>, u64)>,
    of_episode: Vec<u32>,
}

impl Clusters {
    /// The instances of all episodes. An instance that occurs in several sources is one in each.
    #[must_use]
    pub fn of(episodes: &[Episode]) -> Self {
        let mut sources: Vec<&str> = Vec::new();
        let mut known: HashMap<&str, HashMap<&str, u32>> = HashMap::new();
        let mut places: Vec<(&str, u32)> = Vec::with_capacity(episodes.len());
        for episode in episodes {
            let source: &str = &episode.source;
            let instances = known.entry(source).or_insert_with(|| {
                sources.push(source);
                HashMap::new()
            });
            let next = u32::try_from(instances.len()).unwrap_or(u32::MAX);
            places.push((source, *instances.entry(episode.cluster()).or_insert(next)));
        }
        let mut begin = 0;
        let mut begins: HashMap<&str, usize> = HashMap::new();
        let strata = sources.iter().map(|source| {
            let range = begin..begin + known[source].len();
            begins.insert(source, begin);
            begin = range.end;
            (range, hash_bytes(source.as_bytes()))
        });
        let strata = strata.collect();
        let at = |(source, place): &(&str, u32)| begins[source] as u32 + place;
        Self { strata, of_episode: places.iter().map(at).collect() }
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.strata.last().map_or(0, |(range, _)| range.end)
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many each source has, in order of appearance.
    #[must_use]
    pub fn sizes(&self) -> Vec<usize> {
        self.strata.iter().map(|(range, _)| range.len()).collect()
    }

    /// The cluster of the episode at this position.
    #[must_use]
    pub fn of_episode(&self, position: usize) -> u32 {
        self.of_episode[position]
    }
}

/// Numbers summed by cluster.
#[derive(Clone, Debug, Default)]
pub struct Sums {
    by_cluster: Vec<(u32, u32)>,
}

impl Sums {
    /// Nothing yet.
    #[must_use]
    pub const fn new() -> Self {
        Self { by_cluster: Vec::new() }
    }

    /// Adds to a cluster. Cheapest if the runs of a cluster come one after the other.
    pub fn add(&mut self, cluster: u32, amount: u64) {
        let amount = u32::try_from(amount).unwrap_or(u32::MAX);
        match self.by_cluster.last_mut() {
            Some((last, sum)) if *last == cluster => *sum = sum.saturating_add(amount),
            _ if amount > 0 => self.by_cluster.push((cluster, amount)),
            _ => {}
        }
    }

    /// Adds all of another's.
    pub fn merge(&mut self, other: &Self) {
        self.by_cluster.extend(&other.by_cluster);
    }

    /// The sum over all clusters.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.by_cluster.iter().map(|&(_, sum)| u64::from(sum)).sum()
    }

    fn weighted(&self, weights: &[u32]) -> u64 {
        let terms = self.by_cluster.iter();
        terms.map(|&(at, sum)| u64::from(weights[at as usize]) * u64::from(sum)).sum()
    }
}

/// A sum in a [`Table`].
#[derive(Clone, Copy, Debug)]
pub struct SumId(usize);

/// A quantity in a [`Table`].
#[derive(Clone, Copy, Debug)]
pub struct QuantityId(usize);

/// Shares of sums, and means of shares, that are estimated together.
#[derive(Clone, Debug, Default)]
pub struct Table {
    sums: Vec<Sums>,
    quantities: Vec<Quantity>,
}

#[derive(Clone, Debug)]
enum Quantity {
    Share(usize, usize),
    Mean(Vec<usize>),
}

impl Table {
    /// Enters sums.
    pub fn sum(&mut self, sums: Sums) -> SumId {
        self.sums.push(sums);
        SumId(self.sums.len() - 1)
    }

    /// Enters a share: `part` of `whole`.
    pub fn share(&mut self, part: SumId, whole: SumId) -> QuantityId {
        self.quantities.push(Quantity::Share(part.0, whole.0));
        QuantityId(self.quantities.len() - 1)
    }

    /// Enters the mean of quantities that were entered before, those that have no value left out.
    pub fn mean(&mut self, of: &[QuantityId]) -> QuantityId {
        self.quantities.push(Quantity::Mean(of.iter().map(|id| id.0).collect()));
        QuantityId(self.quantities.len() - 1)
    }

    fn values(&self, sum: impl Fn(&Sums) -> u64) -> Vec<Option<f64>> {
        let sums: Vec<u64> = self.sums.iter().map(sum).collect();
        let mut values: Vec<Option<f64>> = Vec::with_capacity(self.quantities.len());
        for quantity in &self.quantities {
            let value = match quantity {
                Quantity::Share(part, whole) => crate::measure::share(sums[*part], sums[*whole]),
                Quantity::Mean(of) => {
                    let (sum, n) = of
                        .iter()
                        .filter_map(|&at| values.get(at).copied().flatten())
                        .fold((0.0, 0_u32), |(sum, n), value| (sum + value, n + 1));
                    (n > 0).then(|| sum / f64::from(n))
                }
            };
            values.push(value);
        }
        values
    }

    /// All quantities with their intervals, from this many resamples.
    #[must_use]
    pub fn estimate(&self, clusters: &Clusters, resamples: u32, seed: u64) -> Estimates {
        let values = self.values(Sums::total);
        let mut drawn: Vec<Vec<f64>> = vec![Vec::new(); values.len()];
        let mut random: Vec<SplitMix> =
            clusters.strata.iter().map(|(_, own)| SplitMix::new(seed ^ own)).collect();
        let mut weights = vec![0_u32; clusters.len()];
        for _ in 0..resamples {
            weights.fill(0);
            for ((range, _), random) in clusters.strata.iter().zip(&mut random) {
                for _ in range.clone() {
                    weights[range.start + random.below(range.len() as u64) as usize] += 1;
                }
            }
            let resampled = self.values(|sums| sums.weighted(&weights));
            for (drawn, value) in drawn.iter_mut().zip(resampled) {
                drawn.extend(value);
            }
        }
        let estimates = values
            .iter()
            .zip(&mut drawn)
            .map(|(value, drawn)| value.map(|value| Estimate { value, interval: middle(drawn) }));
        Estimates(estimates.collect())
    }
}

/// What [`Table::estimate`] found.
#[derive(Clone, Debug, Default)]
pub struct Estimates(Vec<Option<Estimate>>);

impl Estimates {
    /// The estimate of a quantity; `None` where there was nothing to take a share of.
    #[must_use]
    pub fn of(&self, id: QuantityId) -> Option<Estimate> {
        self.0.get(id.0).copied().flatten()
    }
}

/// The middle 95 % of values, which are put in order; `None` if there are none.
fn middle(values: &mut [f64]) -> Option<(f64, f64)> {
    values.sort_unstable_by(f64::total_cmp);
    let at = |share: f64| {
        let place = share * (values.len().checked_sub(1)? as f64);
        let (below, above) = (place.floor() as usize, place.ceil() as usize);
        Some(values[below] + (values[above] - values[below]) * (place - place.floor()))
    };
    at(0.025).zip(at(0.975))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::samples::run;

    #[test]
    fn the_generator_is_the_published_one() {
        let mut random = SplitMix::new(1_234_567);
        let first: Vec<u64> = (0..3).map(|_| random.next()).collect();
        assert_eq!(
            first,
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        );
        assert_eq!(random.below(0), 0);
        assert!((0..1000).all(|_| random.below(3) < 3));
    }

    #[test]
    fn the_middle_is_interpolated() {
        let mut values: Vec<f64> = (0..=200).rev().map(f64::from).collect();
        assert_eq!(middle(&mut values), Some((5.0, 195.0)));
        assert_eq!(middle(&mut [3.0]), Some((3.0, 3.0)));
        assert_eq!(middle(&mut [1.0, 0.0]), Some((0.025, 0.975)));
        assert_eq!(middle(&mut []), None);
    }

    #[test]
    fn runs_of_one_instance_are_one_cluster_in_each_source() {
        let episodes = [
            run("1").of_source("a").of_instance("x"),
            run("2").of_source("b").of_instance("x"),
            run("3").of_source("a").of_instance("x"),
            run("4").of_source("a"),
            run("5").of_source("b").of_instance("y"),
        ];
        let clusters = Clusters::of(&episodes);
        let of: Vec<u32> = (0..5).map(|at| clusters.of_episode(at)).collect();
        assert_eq!((of, clusters.sizes()), (vec![0, 2, 0, 1, 3], vec![2, 2]));
        assert!(Clusters::of(&[]).is_empty());
    }

    /// Clusters of one source, each with `part` of `whole`.
    fn single(parts: &[(u64, u64)]) -> (Clusters, Table, QuantityId) {
        let episodes: Vec<Episode> = (0..parts.len()).map(|i| run(&i.to_string())).collect();
        let clusters = Clusters::of(&episodes);
        let (mut part, mut whole) = (Sums::default(), Sums::default());
        for (i, &(p, w)) in parts.iter().enumerate() {
            part.add(clusters.of_episode(i), p);
            whole.add(clusters.of_episode(i), w);
        }
        let mut table = Table::default();
        let (part, whole) = (table.sum(part), table.sum(whole));
        let share = table.share(part, whole);
        (clusters, table, share)
    }

    #[test]
    fn intervals_of_simple_cases_are_known() {
        // Nothing varies: the interval is the point.
        for parts in [vec![(0, 4); 9], vec![(4, 4); 9], vec![(1, 4); 9], vec![(1, 2)]] {
            let (clusters, table, share) = single(&parts);
            let found = table.estimate(&clusters, 50, 1).of(share).unwrap();
            assert_eq!(found.interval, Some((found.value, found.value)), "{parts:?}");
        }
        // Two instances, one all and one nothing: a resample has both, or one of them twice.
        let (clusters, table, share) = single(&[(1, 1), (0, 1)]);
        let found = table.estimate(&clusters, 500, 1).of(share).unwrap();
        assert_eq!(found, Estimate { value: 0.5, interval: Some((0.0, 1.0)) });
        // Nothing to take a share of, and no resamples.
        let (clusters, table, share) = single(&[(0, 0)]);
        assert_eq!(table.estimate(&clusters, 50, 1).of(share), None);
        let (clusters, table, share) = single(&[(1, 2)]);
        let found = table.estimate(&clusters, 0, 1).of(share);
        assert_eq!(found, Some(Estimate { value: 0.5, interval: None }));
    }

    #[test]
    fn a_mean_is_of_what_has_a_value() {
        let episodes = [run("1").of_source("a"), run("2").of_source("b"), run("3").of_source("c")];
        let clusters = Clusters::of(&episodes);
        let mut table = Table::default();
        let mut shares = Vec::new();
        for (cluster, part, whole) in [(0, 1, 4), (1, 3, 4), (2, 0, 0)] {
            let (mut of, mut all) = (Sums::default(), Sums::default());
            of.add(cluster, part);
            all.add(cluster, whole);
            let (of, all) = (table.sum(of), table.sum(all));
            shares.push(table.share(of, all));
        }
        let mean = table.mean(&shares);
        let found = table.estimate(&clusters, 10, 1);
        assert_eq!(found.of(mean), Some(Estimate { value: 0.5, interval: Some((0.5, 0.5)) }));
    }

    /// Clusters of several runs that succeed or fail together, with a known share.
    #[test]
    fn intervals_cover_the_true_value() {
        const TRUTH: f64 = 0.3;
        let mut random = SplitMix::new(42);
        let mut covered = 0;
        for trial in 0..300 {
            let parts: Vec<(u64, u64)> = (0..80)
                .map(|_| {
                    let size = random.below(5) + 1;
                    // Half of the clusters are of one piece, the others are mixed.
                    let hit = |random: &mut SplitMix| u64::from(random.below(10) < 3);
                    let part = if random.below(2) == 0 {
                        hit(&mut random) * size
                    } else {
                        (0..size).map(|_| hit(&mut random)).sum()
                    };
                    (part, size)
                })
                .collect();
            let (clusters, table, share) = single(&parts);
            let (low, high) =
                table.estimate(&clusters, 400, trial).of(share).unwrap().interval.unwrap();
            covered += u32::from((low..=high).contains(&TRUTH));
        }
        assert!((270..=297).contains(&covered), "{covered} of 300 intervals hold the true value");
    }

    proptest! {
        #[test]
        fn the_same_seed_gives_the_same_interval(
            parts in prop::collection::vec((0_u64..5, 0_u64..5), 1..30), seed: u64,
        ) {
            let parts: Vec<(u64, u64)> = parts.iter().map(|&(a, b)| (a.min(b), b)).collect();
            let (clusters, table, share) = single(&parts);
            let [one, two] = [0, 1].map(|_| table.estimate(&clusters, 60, seed).of(share));
            prop_assert_eq!(one, two);
            if let Some(Estimate { interval: Some((low, high)), .. }) = one {
                prop_assert!((0.0..=1.0).contains(&low) && low <= high && high <= 1.0);
            }
        }
    }
}
