//! What is kept of a judged run.

use std::sync::Arc;

use serde::Serialize;
use steersman_engine::{Action, Event};

/// A judged run, with what each subject (a policy, or a rule to compare with) decided.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Episode {
    /// What it is counted under: a file, an agent.
    pub source: Arc<str>,
    /// The run's id.
    pub id: String,
    /// The task instance; runs of one instance are never taken apart. Empty if unknown: the run
    /// then is an instance of its own.
    pub instance: String,
    /// The agent's name; empty if unknown.
    pub agent: String,
    /// The model's name; empty if unknown.
    pub model: String,
    /// Whether the task was solved; `None` if the run was not graded.
    pub solved: Option<bool>,
    /// What the makers of the recording noted.
    pub labels: Vec<Label>,
    /// Turns and calls.
    pub counts: Counts,
    /// What was decided, in the order of the subjects.
    pub courses: Vec<Course>,
}

impl Episode {
    /// What the run is resampled and split by: its instance, or itself where that is unknown.
    #[must_use]
    pub fn cluster(&self) -> &str {
        if self.instance.is_empty() { &self.id } else { &self.instance }
    }

    /// Whether a decision made in `turn` could have changed anything: nothing lies after the last
    /// turn.
    #[must_use]
    pub const fn is_in_time(&self, turn: u32) -> bool {
        turn < self.counts.turns
    }

    /// Whether the run is known to have gone well: solved, or labelled [`Label::HEALTHY`].
    #[must_use]
    pub fn is_healthy(&self) -> bool {
        let labelled = || self.labels.iter().any(|label| label.kind == Label::HEALTHY);
        self.solved == Some(true) || (self.solved.is_none() && labelled())
    }
}

/// A note on a run by whoever made the recording.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Label {
    /// What is noted.
    pub kind: String,
    /// The turn it is about, from 1; 0 before any reply; `None` if it is about the whole run.
    pub turn: Option<u32>,
    /// Who noted it; empty if unknown.
    pub by: String,
}

impl Label {
    /// The kind of label that says that nothing went wrong.
    pub const HEALTHY: &'static str = "healthy";

    /// Whether the label says where something went wrong. What an agent says about itself does
    /// not count: it is a claim of the one that is judged.
    #[must_use]
    pub fn is_onset(&self) -> bool {
        let own = self.by == "agent" || self.by.ends_with("-self");
        self.turn.is_some() && !own && self.kind != Self::HEALTHY
    }
}

/// Turns of a run, and the tool calls made by the end of each.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Assistant messages.
    pub turns: u32,
    /// Tool calls.
    pub calls: u32,
    /// Calls made by the end of turn 1, 2, …; the first [`Counts::MAX_TURNS`] turns.
    by_turn: Vec<u32>,
}

impl Counts {
    /// Turns whose calls are kept; later ones are counted only.
    pub const MAX_TURNS: usize = 1 << 16;

    /// Takes in an event.
    pub fn observe(&mut self, event: &Event<'_>) {
        let Event::Replied(reply) = event else { return };
        let calls = u32::try_from(reply.tool_calls.len()).unwrap_or(u32::MAX);
        self.add(reply.messages, calls);
    }

    /// Adds a reply of so many messages (0 means 1) that asks for so many calls. A reply of several
    /// messages spans as many turns; its calls belong to the last.
    pub fn add(&mut self, messages: u32, calls: u32) {
        let earlier = messages.max(1) - 1;
        let room = Self::MAX_TURNS.saturating_sub(self.by_turn.len());
        let kept = room.min(earlier as usize);
        self.by_turn.extend(std::iter::repeat_n(self.calls, kept));
        self.turns = self.turns.saturating_add(messages.max(1));
        self.calls = self.calls.saturating_add(calls);
        if self.by_turn.len() < Self::MAX_TURNS {
            self.by_turn.push(self.calls);
        }
    }

    /// Tool calls made by the end of a turn, from 1.
    #[must_use]
    pub fn calls_by(&self, turn: u32) -> u32 {
        match (turn as usize).checked_sub(1) {
            None => 0,
            Some(at) => self.by_turn.get(at).copied().unwrap_or(self.calls),
        }
    }
}

/// A decision other than continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Decided {
    /// The turn it was made in, from 1; 0 before any reply.
    pub turn: u32,
    /// Tool calls made so far, those of this turn's reply included.
    pub call: u32,
    /// What to do.
    pub action: Action,
    /// Why: the reason's name.
    pub reason: &'static str,
}

/// What one subject decided in a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Course {
    decisions: Vec<Decided>,
}

impl Course {
    /// Decisions kept: the first ones, and in any case the first that ends the run.
    pub const MAX_DECISIONS: usize = 256;

    /// Takes in a decision; continue is none.
    pub fn push(&mut self, decided: Decided) {
        if decided.action == Action::Continue {
            return;
        }
        if self.decisions.len() < Self::MAX_DECISIONS {
            self.decisions.push(decided);
        } else if decided.action.ends_run() && self.ending().is_none() {
            self.decisions.pop();
            self.decisions.push(decided);
        }
    }

    /// The decisions, in order.
    #[must_use]
    pub fn decisions(&self) -> &[Decided] {
        &self.decisions
    }

    /// The first decision.
    #[must_use]
    pub fn first(&self) -> Option<&Decided> {
        self.decisions.first()
    }

    /// The first decision that ends the run.
    #[must_use]
    pub fn ending(&self) -> Option<&Decided> {
        self.decisions.iter().find(|decided| decided.action.ends_run())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_known_by_turn() {
        let mut counts = Counts::default();
        for (messages, calls) in [(0, 2), (1, 0), (3, 4)] {
            counts.add(messages, calls);
        }
        let by_turn: Vec<u32> = (0..=6).map(|turn| counts.calls_by(turn)).collect();
        assert_eq!(by_turn, [0, 2, 2, 2, 2, 6, 6]);
        assert_eq!((counts.turns, counts.calls), (5, 6));
        counts.add(u32::MAX, u32::MAX);
        assert_eq!((counts.turns, counts.calls), (u32::MAX, u32::MAX));
        assert_eq!(counts.by_turn.len(), Counts::MAX_TURNS);
    }

    #[test]
    fn the_first_ending_is_never_dropped() {
        let decided = |turn, action| Decided { turn, call: turn, action, reason: "score" };
        let mut course = Course::default();
        course.push(decided(1, Action::Continue));
        assert_eq!(course.first(), None);
        (1..=1000).for_each(|turn| course.push(decided(turn, Action::Nudge)));
        assert_eq!(course.ending(), None);
        course.push(decided(1001, Action::Stop));
        course.push(decided(1002, Action::StartOver));
        assert_eq!(course.decisions().len(), Course::MAX_DECISIONS);
        assert_eq!(course.first().map(|it| it.turn), Some(1));
        assert_eq!(course.ending().map(|it| it.turn), Some(1001));
    }

    #[test]
    fn an_agents_own_words_are_no_onset() {
        let cases = [
            ("mistake", Some(3), "human", true),
            ("mistake", None, "human", false),
            ("is_in_loop", Some(3), "orchestrator-self", false),
            ("done", Some(3), "agent", false),
            ("healthy", Some(3), "collector", false),
            ("looping", Some(0), "", true),
        ];
        for (kind, turn, by, expected) in cases {
            let label = Label { kind: kind.to_owned(), turn, by: by.to_owned() };
            assert_eq!(label.is_onset(), expected, "{label:?}");
        }
    }
}
