//! Episodes to test with.

use steersman_engine::Action;

use crate::{Counts, Course, Decided, Episode, Label};

/// A run of ten calls in as many turns, with one subject that decided nothing.
pub(crate) fn run(id: &str) -> Episode {
    let mut counts = Counts::default();
    (0..10).for_each(|_| counts.add(1, 1));
    Episode {
        source: "source".into(),
        id: id.to_owned(),
        counts,
        courses: vec![Course::default()],
        ..Episode::default()
    }
}

impl Episode {
    /// The same run with an outcome.
    pub(crate) fn graded(mut self, solved: bool) -> Self {
        self.solved = Some(solved);
        self
    }

    /// The same run with a decision of the first subject.
    pub(crate) fn decided(self, action: Action, turn: u32) -> Self {
        self.because(action, turn, "repeated_outcome")
    }

    /// The same run with a decision of the first subject for a reason.
    pub(crate) fn because(mut self, action: Action, turn: u32, reason: &'static str) -> Self {
        let call = self.counts.calls_by(turn);
        self.courses[0].push(Decided { turn, call, action, reason });
        self
    }

    /// The same run of another source.
    pub(crate) fn of_source(mut self, source: &str) -> Self {
        self.source = source.into();
        self
    }

    /// The same run of an instance.
    pub(crate) fn of_instance(mut self, instance: &str) -> Self {
        self.instance = instance.to_owned();
        self
    }

    /// The same run of so many turns with a call each.
    pub(crate) fn long(mut self, turns: u32) -> Self {
        self.counts = Counts::default();
        (0..turns).for_each(|_| self.counts.add(1, 1));
        self
    }

    /// The same run with a label.
    pub(crate) fn labelled(mut self, kind: &str, turn: Option<u32>) -> Self {
        self.labels.push(Label { kind: kind.to_owned(), turn, by: "human".to_owned() });
        self
    }
}
