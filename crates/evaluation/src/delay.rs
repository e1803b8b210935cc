//! How soon after a labelled onset or mistake a decision comes.
//!
//! A run is counted under each kind of label that says where something went wrong
//! ([`Label::is_onset`]), by the earliest turn of that kind. It is noticed if a decision other
//! than continue comes in that turn or later, but before the last turn. A decision before it is
//! early, and so is any decision (before the last turn) in a run that went well.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use crate::bootstrap::{Clusters, Estimate, Estimates, QuantityId, Sums, Table};
use crate::{Course, Episode, Label};

/// Turns within which it is told how many runs were noticed.
pub const WITHIN: [u32; 3] = [3, 5, 10];
/// The kind that stands for the earliest label of any kind.
pub const ANY: &str = "(any)";

/// How soon a subject noticed one kind of label in one source.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DelayRow {
    /// The source.
    pub source: Arc<str>,
    /// The kind of label; [`ANY`] where a source has several.
    pub kind: String,
    /// Runs with such a label.
    pub runs: u64,
    /// Those of them where it points to the last turn, so that no decision could have come in time.
    pub at_the_end: u64,
    /// Share that was noticed at all.
    pub noticed: Option<Estimate>,
    /// Median of the turns from the label to the decision, over those noticed; `None` if none was.
    pub median: Option<f64>,
    /// Share that was noticed within so many turns: see [`WITHIN`].
    pub within: [Option<Estimate>; WITHIN.len()],
    /// Share with a decision before the labelled turn.
    pub early: Option<Estimate>,
    /// Runs of the source that went well.
    pub healthy: u64,
    /// Share of them with a decision.
    pub alarmed: Option<Estimate>,
    /// Share of both with an early decision or an alarm.
    pub false_alarms: Option<Estimate>,
}

/// The rows of one subject, entered into a table.
pub(crate) struct Entered {
    rows: Vec<(DelayRow, Ids)>,
}

struct Ids {
    noticed: QuantityId,
    within: [QuantityId; WITHIN.len()],
    early: QuantityId,
    alarmed: QuantityId,
    false_alarms: QuantityId,
}

#[derive(Clone, Debug, Default)]
struct Group {
    runs: Sums,
    at_the_end: u64,
    noticed: Sums,
    delays: Vec<u32>,
    within: [Sums; WITHIN.len()],
    early: Sums,
}

#[derive(Clone, Debug, Default)]
struct Healthy {
    runs: Sums,
    alarmed: Sums,
}

/// Enters the rows of the subject at `position`.
pub(crate) fn enter(
    episodes: &[Episode],
    position: usize,
    clusters: &Clusters,
    table: &mut Table,
) -> Entered {
    let mut groups: BTreeMap<(&Arc<str>, String), Group> = BTreeMap::new();
    let mut healthy: BTreeMap<&Arc<str>, Healthy> = BTreeMap::new();
    for (at, episode) in episodes.iter().enumerate() {
        let Some(course) = episode.courses.get(position) else { continue };
        let cluster = clusters.of_episode(at);
        let onsets = onsets(&episode.labels);
        for (kind, onset) in &onsets {
            let key = (&episode.source, (*kind).to_owned());
            groups.entry(key).or_default().add(episode, course, *onset, cluster);
        }
        if onsets.is_empty() && episode.is_healthy() {
            let healthy = healthy.entry(&episode.source).or_default();
            let first = course.first();
            let alarmed = first.is_some_and(|decided| episode.is_in_time(decided.turn));
            healthy.runs.add(cluster, 1);
            healthy.alarmed.add(cluster, u64::from(alarmed));
        }
    }
    let kinds = |source: &Arc<str>| groups.keys().filter(|(it, _)| *it == source).count();
    let several: Vec<bool> = groups.keys().map(|(source, _)| kinds(source) > 2).collect();
    let rows = groups.into_iter().zip(several).filter_map(|(((source, kind), group), several)| {
        let wanted = several || kind != ANY;
        let healthy = healthy.get(source).cloned().unwrap_or_default();
        wanted.then(|| group.enter(Arc::clone(source), kind, healthy, table))
    });
    Entered { rows: rows.collect() }
}

/// The earliest turn of each kind of label, and of any.
fn onsets(labels: &[Label]) -> BTreeMap<&str, u32> {
    let mut onsets: BTreeMap<&str, u32> = BTreeMap::new();
    for label in labels.iter().filter(|label| label.is_onset()) {
        let Some(turn) = label.turn else { continue };
        for kind in [label.kind.as_str(), ANY] {
            let onset = onsets.entry(kind).or_insert(turn);
            *onset = turn.min(*onset);
        }
    }
    onsets
}

impl Group {
    fn add(&mut self, episode: &Episode, course: &Course, onset: u32, cluster: u32) {
        let in_time = course.decisions().iter().filter(|it| episode.is_in_time(it.turn));
        let mut turns = in_time.map(|it| it.turn);
        let first = turns.next();
        let noticed = first.filter(|turn| *turn >= onset).or_else(|| turns.find(|it| *it >= onset));
        self.runs.add(cluster, 1);
        self.at_the_end += u64::from(!episode.is_in_time(onset));
        self.early.add(cluster, u64::from(first.is_some_and(|turn| turn < onset)));
        let Some(delay) = noticed.map(|turn| turn - onset) else { return };
        self.noticed.add(cluster, 1);
        self.delays.push(delay);
        for (sums, within) in self.within.iter_mut().zip(WITHIN) {
            sums.add(cluster, u64::from(delay <= within));
        }
    }

    fn enter(
        mut self,
        source: Arc<str>,
        kind: String,
        healthy: Healthy,
        table: &mut Table,
    ) -> (DelayRow, Ids) {
        let row = DelayRow {
            source,
            kind,
            runs: self.runs.total(),
            at_the_end: self.at_the_end,
            noticed: None,
            median: median(&mut self.delays),
            within: [None; WITHIN.len()],
            early: None,
            healthy: healthy.runs.total(),
            alarmed: None,
            false_alarms: None,
        };
        let both = table.sum(joined(&self.runs, &healthy.runs));
        let wrong = table.sum(joined(&self.early, &healthy.alarmed));
        let (runs, well) = (table.sum(self.runs), table.sum(healthy.runs));
        let mut of = |part: Sums, whole| {
            let part = table.sum(part);
            table.share(part, whole)
        };
        let (noticed, early) = (of(self.noticed, runs), of(self.early, runs));
        let within = self.within.map(|sums| of(sums, runs));
        let alarmed = of(healthy.alarmed, well);
        let false_alarms = table.share(wrong, both);
        (row, Ids { noticed, within, early, alarmed, false_alarms })
    }
}

fn joined(a: &Sums, b: &Sums) -> Sums {
    let mut sum = a.clone();
    sum.merge(b);
    sum
}

fn median(delays: &mut [u32]) -> Option<f64> {
    delays.sort_unstable();
    let last = delays.len().checked_sub(1)?;
    Some(f64::midpoint(f64::from(delays[last / 2]), f64::from(delays[last.div_ceil(2)])))
}

impl Entered {
    /// The rows with what was estimated.
    pub(crate) fn finish(self, found: &Estimates) -> Vec<DelayRow> {
        let rows = self.rows.into_iter().map(|(row, ids)| DelayRow {
            noticed: found.of(ids.noticed),
            within: ids.within.map(|id| found.of(id)),
            early: found.of(ids.early),
            alarmed: found.of(ids.alarmed),
            false_alarms: found.of(ids.false_alarms),
            ..row
        });
        rows.collect()
    }
}

#[cfg(test)]
mod tests {
    use steersman_engine::Action::{Nudge, Stop};

    use super::*;
    use crate::samples::run;

    fn rows(episodes: &[Episode]) -> Vec<DelayRow> {
        let clusters = Clusters::of(episodes);
        let mut table = Table::default();
        let entered = enter(episodes, 0, &clusters, &mut table);
        entered.finish(&table.estimate(&clusters, 0, 1))
    }

    fn exact(value: f64) -> Option<Estimate> {
        Some(Estimate { value, interval: None })
    }

    #[test]
    fn delays_are_counted_from_the_labelled_turn() {
        let episodes = [
            // Early, and noticed after four turns.
            run("a").labelled("drift", Some(3)).decided(Nudge, 1).decided(Nudge, 7),
            // Noticed at once; the later label of the same kind does not count.
            run("b").labelled("drift", Some(6)).labelled("drift", Some(4)).decided(Stop, 4),
            // Not noticed, and only when it was too late.
            run("c").labelled("drift", Some(2)),
            run("d").labelled("drift", Some(10)).decided(Stop, 10),
            // Well: one alarm in three, the last turn aside.
            run("e").graded(true).decided(Nudge, 9),
            run("f").graded(true).decided(Nudge, 10),
            run("g").labelled(Label::HEALTHY, None),
            // Neither labelled nor known to be well.
            run("h").decided(Stop, 2),
            run("i").graded(false).decided(Stop, 2),
        ];
        let expected = DelayRow {
            source: "source".into(),
            kind: "drift".to_owned(),
            runs: 4,
            at_the_end: 1,
            noticed: exact(0.5),
            median: Some(2.0),
            within: [exact(0.25), exact(0.5), exact(0.5)],
            early: exact(0.25),
            healthy: 3,
            alarmed: exact(1.0 / 3.0),
            false_alarms: exact(2.0 / 7.0),
        };
        assert_eq!(rows(&episodes), [expected]);
        assert_eq!(rows(&episodes[4..]), []);
    }

    #[test]
    fn several_kinds_are_also_taken_together() {
        let episodes = [
            run("a").labelled("drift", Some(5)).labelled("loop", Some(2)).decided(Nudge, 3),
            run("b").labelled("loop", Some(2)),
            run("c").of_source("other").labelled("loop", Some(1)),
        ];
        let facts: Vec<_> = rows(&episodes)
            .into_iter()
            .map(|row| (row.source.to_string(), row.kind, row.runs, row.noticed, row.early))
            .collect();
        let of = |source: &str, kind: &str, runs, noticed, early| {
            (source.to_owned(), kind.to_owned(), runs, exact(noticed), exact(early))
        };
        assert_eq!(
            facts,
            [
                of("other", "loop", 1, 0.0, 0.0),
                of("source", ANY, 2, 0.5, 0.0),
                of("source", "drift", 1, 0.0, 1.0),
                of("source", "loop", 2, 0.5, 0.0),
            ]
        );
    }

    #[test]
    fn medians_of_few() {
        for (delays, expected) in [
            (vec![], None),
            (vec![7], Some(7.0)),
            (vec![9, 1], Some(5.0)),
            (vec![4, 0, 2], Some(2.0)),
        ] {
            let mut delays: Vec<u32> = delays;
            assert_eq!(median(&mut delays), expected);
        }
    }
}
