//! Evaluations to test with.

use steersman_engine::Action;
use steersman_evaluation::{
    Counts, Course, Decided, Episode, Evaluation, Label, Options, evaluate,
};

use super::plan::Subject;

/// Runs of two sources, judged by three subjects: the first named `name`.
pub(crate) fn evaluation(name: &str) -> (Evaluation, Vec<Subject>) {
    let names = [name, "hasty", "cap_5"].map(str::to_owned);
    let subjects = names
        .iter()
        .enumerate()
        .map(|(at, name)| Subject { name: name.clone(), about: (at == 2).then_some("5 calls") });
    let episodes: Vec<Episode> = (0..40).map(episode).collect();
    let options = Options { resamples: 200, seed: 1 };
    (evaluate(&episodes, &names, options), subjects.collect())
}

fn episode(i: u32) -> Episode {
    let mut counts = Counts::default();
    (0..10).for_each(|_| counts.add(1, 1));
    let decided = |turn, action, reason| Decided { turn, call: turn, action, reason };
    let mut courses = vec![Course::default(); 3];
    if i.is_multiple_of(4) {
        courses[0].push(decided(3, Action::Nudge, "cycle"));
        courses[0].push(decided(6, Action::Stop, "repeated_outcome"));
    }
    if i.is_multiple_of(3) {
        courses[1].push(decided(4, Action::Stop, "score"));
    }
    courses[2].push(decided(5, Action::Stop, "cap_5"));
    let label = Label { kind: "mistake".to_owned(), turn: Some(2), by: "human".to_owned() };
    Episode {
        source: if i < 20 { "coding" } else { "web" }.into(),
        id: i.to_string(),
        instance: format!("task-{}", i / 2),
        solved: Some(!i.is_multiple_of(4) || i == 4),
        labels: if i.is_multiple_of(4) { vec![label] } else { Vec::new() },
        counts,
        courses,
        ..Episode::default()
    }
}
