//! A line on the number of turns, drawn so that few good runs cross it.
//!
//! Split-conformal calibration: of n solved runs of the same agent and model, the line is the
//! length of the k-th shortest, k = ⌈(n + 1)(1 − α)⌉. A solved run that was not among them then
//! crosses it with a probability of at most α. Published with α = 5 %, where 19 runs are the fewest
//! that give a line.
//!
//! Measured honestly: the instances are split into folds, and the lines that runs are judged by
//! were fitted on the other folds.

use std::collections::HashMap;

use steersman_engine::Action;

use crate::folds::fold;
use crate::learn::rank;
use crate::{Decided, Episode};

/// The rule's name.
pub const NAME: &str = "conformal_steps";
/// Share of good runs that may be stopped.
pub const ALPHA: f64 = 0.05;
/// Folds of instances.
pub const FOLDS: u32 = 5;

/// The line for good runs of these lengths; `None` if they are too few for this α: fewer than
/// 1/α − 1.
#[must_use]
pub fn line(lengths: &mut [u32], alpha: f64) -> Option<u32> {
    lengths.sort_unstable();
    rank(lengths.len(), alpha).and_then(|at| lengths.get(at)).copied()
}

/// Decides all episodes for the subject at `position`: a run is stopped in the first turn beyond
/// the line of its agent and model, if there is one.
pub fn decide(episodes: &mut [Episode], position: usize) {
    decide_at(episodes, position, ALPHA);
}

/// As [`decide`] for another share of good runs.
pub fn decide_at(episodes: &mut [Episode], position: usize, alpha: f64) {
    let lines = fit(episodes, alpha);
    for episode in episodes {
        let key = (episode.agent.as_str(), episode.model.as_str(), fold(episode, FOLDS));
        let Some(&Some(line)) = lines.get(&owned(key)) else { continue };
        let turn = line.saturating_add(1);
        if turn > episode.counts.turns {
            continue;
        }
        let call = episode.counts.calls_by(turn);
        if let Some(course) = episode.courses.get_mut(position) {
            course.push(Decided { turn, call, action: Action::Stop, reason: NAME });
        }
    }
}

/// Agent, model and fold.
type Key = (String, String, u32);

fn owned((agent, model, fold): (&str, &str, u32)) -> Key {
    (agent.to_owned(), model.to_owned(), fold)
}

/// The line that holds for each agent, model and fold, from the good runs of the other folds.
fn fit(episodes: &[Episode], alpha: f64) -> HashMap<Key, Option<u32>> {
    let mut good: HashMap<(&str, &str), Vec<(u32, u32)>> = HashMap::new();
    for episode in episodes {
        let runs = good.entry((&episode.agent, &episode.model)).or_default();
        if episode.solved == Some(true) {
            runs.push((fold(episode, FOLDS), episode.counts.turns));
        }
    }
    let mut lines = HashMap::new();
    for ((agent, model), runs) in good {
        for held_out in 0..FOLDS {
            let others = runs.iter().filter(|(fold, _)| *fold != held_out);
            let mut lengths: Vec<u32> = others.map(|&(_, turns)| turns).collect();
            lines.insert(owned((agent, model, held_out)), line(&mut lengths, alpha));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::run;

    #[test]
    fn the_line_is_a_high_rank_of_good_lengths() {
        let cases: [(u32, f64, Option<u32>); 7] = [
            (0, 0.05, None),
            (18, 0.05, None),
            (19, 0.05, Some(19)),
            (39, 0.05, Some(38)),
            (100, 0.05, Some(96)),
            (98, 0.01, None),
            (99, 0.01, Some(99)),
        ];
        for (n, alpha, expected) in cases {
            let mut lengths: Vec<u32> = (1..=n).rev().collect();
            assert_eq!(line(&mut lengths, alpha), expected, "{n} runs at {alpha}");
        }
    }

    #[test]
    fn a_run_is_never_judged_by_its_own_instance() {
        // Thirty instances of five turns; the runs of one more are longer than all of them.
        let mut episodes: Vec<Episode> =
            (0..30).map(|i| run(&format!("good-{i}")).graded(true).long(5)).collect();
        for i in 0..10 {
            let long = run(&format!("long-{i}")).of_instance("long").graded(true).long(50);
            episodes.push(long);
        }
        episodes.push(run("failed").graded(false).long(8));
        episodes.push(run("at-the-line").graded(false).long(5));
        let stranger = Episode { agent: "other".to_owned(), ..run("stranger").graded(false) };
        episodes.push(stranger.long(99));
        decide(&mut episodes, 0);
        for episode in &episodes[30..40] {
            let made = episode.courses[0].first().map(|it| (it.turn, it.call));
            assert_eq!(made, Some((6, 6)), "its own fold must not have moved the line");
        }
        let others = episodes[40..].iter().map(|it| it.courses[0].first().map(|it| it.turn));
        let others: Vec<Option<u32>> = others.collect();
        let same_fold = fold(&episodes[40], FOLDS) == fold(&episodes[30], FOLDS);
        assert_eq!(others, [same_fold.then_some(6), None, None]);
    }

    #[test]
    fn the_guarantee_holds_on_other_instances() {
        let mut random = crate::bootstrap::SplitMix::new(7);
        let mut episodes: Vec<Episode> = (0..2_000)
            .map(|i| run(&format!("r{i}")).graded(true).long(random.below(60) as u32 + 1))
            .collect();
        decide(&mut episodes, 0);
        let crossed = episodes.iter().filter(|it| it.courses[0].first().is_some()).count();
        assert!((60..=115).contains(&crossed), "{crossed} of 2000 at 5 %");
    }
}
