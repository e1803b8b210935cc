//! Everything about some subjects on some runs.

use std::sync::Arc;

use serde::Serialize;

use crate::Episode;
use crate::bootstrap::{Clusters, Estimate, Estimates, QuantityId, SumId, Sums, Table};
use crate::delay::{self, DelayRow};
use crate::measure::Graded;
use crate::reasons::{self, ReasonRow};

/// How intervals are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Options {
    /// Resamples; with 0 there are no intervals.
    pub resamples: u32,
    /// The seed: the same runs and the same seed give the same intervals.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self { resamples: 1000, seed: 1 }
    }
}

/// What [`evaluate`] found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Evaluation {
    /// How intervals were made.
    pub options: Options,
    /// The sources, in order of appearance.
    pub sources: Vec<SourceRow>,
    /// The subjects, in the order they were given.
    pub subjects: Vec<SubjectRow>,
}

/// The runs of a source.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SourceRow {
    /// Its name.
    pub source: Arc<str>,
    /// Runs, graded or not.
    pub runs: u64,
    /// Solved runs.
    pub solved: u64,
    /// Unsolved runs.
    pub unsolved: u64,
    /// Task instances.
    pub instances: u64,
}

/// How a subject did.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SubjectRow {
    /// Its name.
    pub name: String,
    /// The measures, as the mean over the sources that have them.
    pub mean: Measured,
    /// The measures of each source.
    pub by_source: Vec<Measured>,
    /// How often each reason was right.
    pub reasons: Vec<ReasonRow>,
    /// How soon labelled onsets were noticed.
    pub delays: Vec<DelayRow>,
}

/// Measures with their intervals; `None` where there is nothing to take a share of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Measured {
    /// See [`Measures::harm`](crate::measure::Measures::harm).
    pub harm: Option<Estimate>,
    /// See [`Measures::disturbance`](crate::measure::Measures::disturbance).
    pub disturbance: Option<Estimate>,
    /// See [`Measures::saved`](crate::measure::Measures::saved).
    pub saved: Option<Estimate>,
    /// See [`Measures::noticed`](crate::measure::Measures::noticed).
    pub noticed: Option<Estimate>,
}

impl Measured {
    /// The measures in the order of their definitions.
    #[must_use]
    pub const fn in_order(&self) -> [Option<Estimate>; 4] {
        [self.harm, self.disturbance, self.saved, self.noticed]
    }

    fn of([harm, disturbance, saved, noticed]: [QuantityId; 4], found: &Estimates) -> Self {
        let [harm, disturbance, saved, noticed] =
            [harm, disturbance, saved, noticed].map(|id| found.of(id));
        Self { harm, disturbance, saved, noticed }
    }
}

/// Measures the subjects of these names, which decided the episodes in this order.
#[must_use]
pub fn evaluate(episodes: &[Episode], names: &[String], options: Options) -> Evaluation {
    let clusters = Clusters::of(episodes);
    let split = Split::new(episodes);
    let mut table = Table::default();
    let wholes = split.wholes(episodes, &clusters, &mut table);
    let entered: Vec<Subject> = (0..names.len())
        .map(|position| {
            let by_source = split.parts(episodes, position, &clusters, &mut table, &wholes);
            let mean = [0, 1, 2, 3].map(|measure| {
                let of: Vec<QuantityId> = by_source.iter().map(|ids| ids[measure]).collect();
                table.mean(&of)
            });
            Subject {
                mean,
                by_source,
                reasons: reasons::enter(episodes, position, &clusters, &mut table),
                delays: delay::enter(episodes, position, &clusters, &mut table),
            }
        })
        .collect();
    let found = table.estimate(&clusters, options.resamples, options.seed);
    let subjects = entered.into_iter().zip(names).map(|(subject, name)| SubjectRow {
        name: name.clone(),
        mean: Measured::of(subject.mean, &found),
        by_source: subject.by_source.iter().map(|ids| Measured::of(*ids, &found)).collect(),
        reasons: subject.reasons.finish(&found),
        delays: subject.delays.finish(&found),
    });
    Evaluation { options, subjects: subjects.collect(), sources: split.rows(episodes, &clusters) }
}

/// A subject, entered into the table.
struct Subject {
    mean: [QuantityId; 4],
    by_source: Vec<[QuantityId; 4]>,
    reasons: reasons::Entered,
    delays: delay::Entered,
}

/// What the measures of a source are shares of.
struct Wholes {
    solved: SumId,
    unsolved: SumId,
    unsolved_calls: SumId,
}

/// The episodes by source.
struct Split {
    sources: Vec<(Arc<str>, Vec<usize>)>,
}

impl Split {
    fn new(episodes: &[Episode]) -> Self {
        let mut sources: Vec<(Arc<str>, Vec<usize>)> = Vec::new();
        let mut known = std::collections::HashMap::new();
        for (at, episode) in episodes.iter().enumerate() {
            let place = *known.entry(&episode.source).or_insert_with(|| {
                sources.push((Arc::clone(&episode.source), Vec::new()));
                sources.len() - 1
            });
            sources[place].1.push(at);
        }
        Self { sources }
    }

    fn wholes(&self, episodes: &[Episode], clusters: &Clusters, table: &mut Table) -> Vec<Wholes> {
        let sources = self.sources.iter().map(|(_, runs)| {
            let [mut solved, mut unsolved, mut calls] = [const { Sums::new() }; 3];
            for &at in runs {
                let cluster = clusters.of_episode(at);
                match episodes[at].solved {
                    Some(true) => solved.add(cluster, 1),
                    Some(false) => {
                        unsolved.add(cluster, 1);
                        calls.add(cluster, u64::from(episodes[at].counts.calls));
                    }
                    None => {}
                }
            }
            let [solved, unsolved, unsolved_calls] =
                [solved, unsolved, calls].map(|sums| table.sum(sums));
            Wholes { solved, unsolved, unsolved_calls }
        });
        sources.collect()
    }

    /// Harm, disturbance, saved and noticed of each source.
    fn parts(
        &self,
        episodes: &[Episode],
        position: usize,
        clusters: &Clusters,
        table: &mut Table,
        wholes: &[Wholes],
    ) -> Vec<[QuantityId; 4]> {
        let sources = self.sources.iter().zip(wholes).map(|((_, runs), wholes)| {
            let mut parts = [const { Sums::new() }; 4];
            for &at in runs {
                let (episode, cluster) = (&episodes[at], clusters.of_episode(at));
                let Some(course) = episode.courses.get(position) else { continue };
                let run = Graded::of(episode, course);
                let [harm, disturbance, saved, noticed] = &mut parts;
                match run.solved {
                    Some(true) => {
                        harm.add(cluster, u64::from(run.ended));
                        disturbance.add(cluster, u64::from(run.decided));
                    }
                    Some(false) => {
                        saved.add(cluster, u64::from(run.calls_after));
                        noticed.add(cluster, u64::from(run.decided));
                    }
                    None => {}
                }
            }
            let [harm, disturbance, saved, noticed] = parts.map(|sums| table.sum(sums));
            [
                table.share(harm, wholes.solved),
                table.share(disturbance, wholes.solved),
                table.share(saved, wholes.unsolved_calls),
                table.share(noticed, wholes.unsolved),
            ]
        });
        sources.collect()
    }

    fn rows(&self, episodes: &[Episode], clusters: &Clusters) -> Vec<SourceRow> {
        let sources = self.sources.iter().zip(clusters.sizes());
        let rows = sources.map(|((source, runs), instances)| {
            let graded = |solved| {
                runs.iter().filter(|at| episodes[**at].solved == Some(solved)).count() as u64
            };
            SourceRow {
                source: Arc::clone(source),
                runs: runs.len() as u64,
                solved: graded(true),
                unsolved: graded(false),
                instances: instances as u64,
            }
        });
        rows.collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use steersman_engine::Action::{Nudge, Stop};

    use super::*;
    use crate::measure::{Measures, Tally};
    use crate::samples::run;

    fn names() -> Vec<String> {
        vec!["default".to_owned()]
    }

    #[test]
    fn measures_are_by_source_and_as_the_mean_over_sources() {
        let episodes = [
            run("1").of_source("a").graded(true).decided(Stop, 5),
            run("2").of_source("b").graded(true),
            run("3").of_source("a").graded(false).decided(Stop, 5),
            run("4").of_source("c").graded(false).decided(Nudge, 5),
            run("5").of_source("d"),
        ];
        let found = evaluate(&episodes, &names(), Options { resamples: 0, seed: 1 });
        let values = |measured: &Measured| measured.in_order().map(|it| it.map(|it| it.value));
        let subject = &found.subjects[0];
        assert_eq!(values(&subject.mean), [Some(0.5), Some(0.5), Some(0.25), Some(1.0)]);
        let by_source: Vec<_> = subject.by_source.iter().map(values).collect();
        assert_eq!(
            by_source,
            [
                [Some(1.0), Some(1.0), Some(0.5), Some(1.0)],
                [Some(0.0), Some(0.0), None, None],
                [None, None, Some(0.0), Some(1.0)],
                [None; 4],
            ]
        );
        let sources: Vec<_> = found
            .sources
            .iter()
            .map(|row| (&*row.source, row.runs, row.solved, row.unsolved, row.instances))
            .collect();
        assert_eq!(
            sources,
            [("a", 2, 1, 1, 2), ("b", 1, 1, 0, 1), ("c", 1, 0, 1, 1), ("d", 1, 0, 0, 1)]
        );
    }

    #[test]
    fn no_runs_give_an_empty_evaluation() {
        let found = evaluate(&[], &names(), Options::default());
        assert_eq!(found.subjects[0].mean, Measured::default());
        assert_eq!((found.sources.len(), found.subjects[0].by_source.len()), (0, 0));
    }

    prop_compose! {
        fn any_run()(
            source in 0..3_u8, instance in 0..6_u8, solved: Option<bool>,
            nudge in 1..14_u32, stop in 1..20_u32, label in prop::option::of(0..12_u32),
        ) -> Episode {
            let mut run = run("x").of_source(&source.to_string());
            run.instance = instance.to_string();
            run.solved = solved;
            let run = match label {
                Some(turn) => run.labelled("drift", Some(turn)),
                None => run,
            };
            let run = if nudge <= 10 { run.decided(Nudge, nudge) } else { run };
            if stop <= 10 { run.decided(Stop, stop) } else { run }
        }
    }

    proptest! {
        /// The sums by cluster come to what counting run by run does, and intervals hold shares.
        #[test]
        fn sums_by_instance_are_sums_by_run(
            runs in prop::collection::vec(any_run(), 0..40), seed: u64,
        ) {
            let options = Options { resamples: 30, seed };
            let found = evaluate(&runs, &names(), options);
            let subject = &found.subjects[0];
            let mut measures = Vec::new();
            for (row, measured) in found.sources.iter().zip(&subject.by_source) {
                let mut tally = Tally::default();
                for run in runs.iter().filter(|run| run.source == row.source) {
                    tally.add(Graded::of(run, &run.courses[0]));
                }
                let values = measured.in_order().map(|it| it.map(|it| it.value));
                prop_assert_eq!(values, tally.measures().in_order());
                prop_assert_eq!((row.runs, row.solved), (tally.runs, tally.solved));
                measures.push(tally.measures());
                for estimate in measured.in_order().into_iter().flatten() {
                    if let Some((low, high)) = estimate.interval {
                        prop_assert!(0.0 <= low && low <= high && high <= 1.0);
                    }
                }
            }
            let mean = Measures::mean(&measures).in_order();
            for (found, expected) in subject.mean.in_order().iter().zip(mean) {
                let value = found.map(|found| found.value);
                prop_assert_eq!(value.is_some(), expected.is_some());
                let apart = value.unwrap_or(0.0) - expected.unwrap_or(0.0);
                prop_assert!(apart.abs() < 1e-12);
            }
            prop_assert_eq!(evaluate(&runs, &names(), options), found);
        }
    }
}
