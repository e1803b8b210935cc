//! How good what was learned is, on runs that took no part in learning it.

use std::num::NonZeroUsize;

use steersman_engine::Action;

use super::{Calibrated, Model, Record, Usuals, calibrate, fit};
use crate::compare::conformal;
use crate::folds::fold;
use crate::{Course, Decided, Episode, Evaluation, Options, evaluate};

/// Parts into which the instances are split.
pub const FOLDS: u32 = 5;

/// What is measured, in this order.
pub const SUBJECTS: [&str; 4] = ["before", "tuned", "tuned, source left out", "conformal_steps"];

/// What each of [`SUBJECTS`] is, in a sentence.
pub const ABOUT: [&str; 4] = [
    "the policy to build on, as it is",
    "the same with risk and lines fitted on the other instances (5 parts)",
    "the same with the tables fitted on the other sources, and what is usual and the lines on the \
     source's other instances",
    "a line on the number of turns by agent and model, fitted on the other instances",
];

/// Measures on runs that took no part: what is learned from four fifths of the instances decides
/// about the last fifth, in turn.
#[must_use]
pub fn validate(
    records: &[Record],
    alpha: f64,
    options: Options,
    threads: NonZeroUsize,
) -> Evaluation {
    let everyone: Vec<usize> = (0..records.len()).collect();
    let by_fold = in_parallel(threads, (0..FOLDS).collect(), |held_out| {
        let (test, train) = split(records, &everyone, |it| fold(&it.episode, FOLDS) == *held_out);
        decide(records, &test, &calibrate(&refer(records, &train), alpha, &fit))
    });
    let mut sources: Vec<&str> = records.iter().map(|record| &*record.episode.source).collect();
    sources.sort_unstable();
    sources.dedup();
    let by_source = in_parallel(threads, sources, |source| {
        let (own, others) = split(records, &everyone, |it| *it.episode.source == **source);
        let model = fit(&refer(records, &others));
        // Lines need good runs of the agent itself: they are drawn on the source's own instances.
        let transferred = |part: &[&Record]| Model { usuals: Usuals::of(part), ..model.clone() };
        let parts = (0..FOLDS).flat_map(|held_out| {
            let (test, train) = split(records, &own, |it| fold(&it.episode, FOLDS) == held_out);
            decide(records, &test, &calibrate(&refer(records, &train), alpha, &transferred))
        });
        parts.collect()
    });
    let mut episodes: Vec<Episode> = records.iter().map(|record| record.episode.clone()).collect();
    for ends in [by_fold, by_source] {
        for (at, end) in ends.into_iter().flatten() {
            let course = with_end(&records[at].episode, end);
            episodes[at].courses.push(course);
        }
    }
    for episode in &mut episodes {
        episode.courses.push(Course::default());
    }
    conformal::decide_at(&mut episodes, 3, alpha);
    evaluate(&episodes, &SUBJECTS.map(str::to_owned), options)
}

/// The runs that are held out, and the others.
fn split(
    records: &[Record],
    of: &[usize],
    held_out: impl Fn(&Record) -> bool,
) -> (Vec<usize>, Vec<usize>) {
    of.iter().partition(|at| held_out(&records[**at]))
}

fn refer<'r>(records: &'r [Record], of: &[usize]) -> Vec<&'r Record> {
    of.iter().map(|at| &records[*at]).collect()
}

/// In which turn each of some runs is ended by its risk; `None` where it is not.
fn decide(records: &[Record], of: &[usize], by: &Calibrated) -> Vec<(usize, Option<u32>)> {
    let end = |record: &Record| {
        let episode = &record.episode;
        let line = by.risk.line_of(&episode.agent, &episode.model).line?;
        let above = |moment: &&super::Moment| by.model.risk_at(record, moment) > line;
        record.moments.iter().find(above).map(|moment| moment.turn)
    };
    of.iter().map(|at| (*at, end(&records[*at]))).collect()
}

/// The course of the policy to build on, and then the end by risk if that comes first.
fn with_end(episode: &Episode, end: Option<u32>) -> Course {
    let before = episode.courses.first().cloned().unwrap_or_default();
    let Some(turn) = end else { return before };
    let mut course = Course::default();
    let earlier = before.decisions().iter().filter(|decided| decided.turn < turn);
    earlier.for_each(|decided| course.push(*decided));
    let call = episode.counts.calls_by(turn);
    course.push(Decided { turn, call, action: Action::ForceSynthesis, reason: "risk" });
    course
}

/// Does the work of each task on some threads; the results are in the order of the tasks.
fn in_parallel<T: Send + Sync, R: Send>(
    threads: NonZeroUsize,
    tasks: Vec<T>,
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let next = std::sync::atomic::AtomicUsize::new(0);
    let (next, tasks, work) = (&next, &tasks, &work);
    let mut results: Vec<(usize, R)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads.get().min(tasks.len()))
            .map(|_| {
                scope.spawn(move || {
                    let mut done = Vec::new();
                    loop {
                        let at = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                        let Some(task) = tasks.get(at) else { return done };
                        done.push((at, work(task)));
                    }
                })
            })
            .collect();
        // A worker that died leaves its tasks undone, which the caller sees in the figures.
        workers.into_iter().flat_map(|worker| worker.join().unwrap_or_default()).collect()
    });
    results.sort_by_key(|(at, _)| *at);
    results.into_iter().map(|(_, result)| result).collect()
}
