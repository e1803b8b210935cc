//! How often the reason of a decision was right.
//!
//! A reason is right if the run it speaks in fails. Counted are graded runs of sources that have
//! solved and unsolved runs, by the first time the reason speaks, if that is before the last turn.
//! A reason that speaks at random is as often right as runs fail: the base rate stands beside it.

use std::collections::HashMap;

use serde::Serialize;

use crate::Episode;
use crate::bootstrap::{Clusters, Estimate, Estimates, QuantityId, Sums, Table};
use crate::measure::share;

/// How often one reason was right.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReasonRow {
    /// The reason's name.
    pub reason: &'static str,
    /// Runs in which it spoke before the last turn.
    pub runs: u64,
    /// Those of them that failed.
    pub unsolved: u64,
    /// Share of them that failed.
    pub precision: Option<Estimate>,
    /// Share that would have failed had it spoken at random within the same sources.
    pub base_rate: Option<f64>,
}

/// The reasons of one subject, entered into a table.
pub(crate) struct Entered {
    rows: Vec<(ReasonRow, QuantityId)>,
}

struct Spoken {
    runs: Sums,
    unsolved: Sums,
    base: f64,
}

/// Enters the reasons of the subject at `position`, those that spoke in most runs first.
pub(crate) fn enter(
    episodes: &[Episode],
    position: usize,
    clusters: &Clusters,
    table: &mut Table,
) -> Entered {
    let base = base_rates(episodes);
    let mut reasons: HashMap<&'static str, Spoken> = HashMap::new();
    for (at, episode) in episodes.iter().enumerate() {
        let (Some(solved), Some(&base)) = (episode.solved, base.get(&*episode.source)) else {
            continue;
        };
        let Some(course) = episode.courses.get(position) else { continue };
        let mut seen: Vec<&'static str> = Vec::new();
        for decided in course.decisions() {
            if seen.contains(&decided.reason) {
                continue;
            }
            seen.push(decided.reason);
            if episode.is_in_time(decided.turn) {
                let spoken = reasons.entry(decided.reason).or_insert_with(|| Spoken {
                    runs: Sums::default(),
                    unsolved: Sums::default(),
                    base: 0.0,
                });
                spoken.runs.add(clusters.of_episode(at), 1);
                spoken.unsolved.add(clusters.of_episode(at), u64::from(!solved));
                spoken.base += base;
            }
        }
    }
    let mut rows: Vec<(ReasonRow, QuantityId)> = reasons
        .into_iter()
        .map(|(reason, spoken)| {
            let (runs, unsolved) = (spoken.runs.total(), spoken.unsolved.total());
            let base_rate = (runs > 0).then(|| spoken.base / runs as f64);
            let part = table.sum(spoken.unsolved);
            let whole = table.sum(spoken.runs);
            let precision = table.share(part, whole);
            (ReasonRow { reason, runs, unsolved, precision: None, base_rate }, precision)
        })
        .collect();
    rows.sort_by(|(a, _), (b, _)| b.runs.cmp(&a.runs).then(a.reason.cmp(b.reason)));
    Entered { rows }
}

impl Entered {
    /// The rows with what was estimated.
    pub(crate) fn finish(self, found: &Estimates) -> Vec<ReasonRow> {
        let rows = self.rows.into_iter();
        rows.map(|(row, id)| ReasonRow { precision: found.of(id), ..row }).collect()
    }
}

/// Share of unsolved runs, of each source that has solved and unsolved runs.
fn base_rates(episodes: &[Episode]) -> HashMap<&str, f64> {
    let mut counts: HashMap<&str, (u64, u64)> = HashMap::new();
    for episode in episodes {
        let (solved, unsolved) = counts.entry(&episode.source).or_default();
        match episode.solved {
            Some(true) => *solved += 1,
            Some(false) => *unsolved += 1,
            None => {}
        }
    }
    let mixed = counts.into_iter().filter(|(_, (solved, unsolved))| *solved > 0 && *unsolved > 0);
    mixed
        .filter_map(|(source, (solved, unsolved))| {
            Some((source, share(unsolved, solved + unsolved)?))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use steersman_engine::Action::{Nudge, Stop};

    use super::*;
    use crate::samples::run;

    /// Reason, runs, unsolved, precision, base rate.
    type Row = (&'static str, u64, u64, Option<f64>, Option<f64>);

    fn rows(episodes: &[Episode]) -> Vec<Row> {
        let clusters = Clusters::of(episodes);
        let mut table = Table::default();
        let entered = enter(episodes, 0, &clusters, &mut table);
        let rows = entered.finish(&table.estimate(&clusters, 20, 1)).into_iter();
        rows.map(|row| {
            let precision = row.precision.map(|it| it.value);
            (row.reason, row.runs, row.unsolved, precision, row.base_rate)
        })
        .collect()
    }

    #[test]
    fn a_reason_counts_once_per_run_and_only_in_time() {
        let episodes = [
            run("a").graded(false).because(Nudge, 2, "cycle").because(Stop, 4, "cycle"),
            run("b").graded(false).because(Nudge, 2, "cycle").because(Nudge, 5, "score"),
            run("c").graded(true).because(Nudge, 9, "cycle"),
            // Too late, not graded, and a source in which every run fails.
            run("d").graded(true).because(Stop, 10, "score"),
            run("e").because(Stop, 2, "score"),
            run("f").graded(false).of_source("failures").because(Stop, 2, "score"),
        ];
        let half = Some(0.5);
        assert_eq!(
            rows(&episodes),
            [("cycle", 3, 2, Some(2.0 / 3.0), half), ("score", 1, 1, Some(1.0), half),]
        );
        assert_eq!(rows(&episodes[5..]), []);
    }

    #[test]
    fn the_base_rate_is_that_of_the_sources_it_speaks_in() {
        let mut episodes = vec![
            run("a").of_source("hard").graded(false).because(Stop, 2, "cycle"),
            run("b").of_source("hard").graded(false),
            run("c").of_source("hard").graded(false),
            run("d").of_source("hard").graded(true),
            run("e").of_source("easy").graded(true).because(Stop, 2, "cycle"),
            run("f").of_source("easy").graded(false),
        ];
        assert_eq!(rows(&episodes), [("cycle", 2, 1, Some(0.5), Some(0.625))]);
        episodes.truncate(4);
        assert_eq!(rows(&episodes), [("cycle", 1, 1, Some(1.0), Some(0.75))]);
    }
}
