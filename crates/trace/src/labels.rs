//! What the makers of a recording noted about a run, and the turns their notes point to.

use serde::Deserialize;

use crate::lenient::{Count, List, Str};
use crate::run::Label;

/// Replies whose place among the steps is remembered; labels on later ones point nowhere.
const MAX_REPLIES: usize = 1 << 16;
/// Bytes kept of a label's kind and author.
const MAX_TEXT: usize = 200;

/// A label as written.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct LabelFields<'a> {
    #[serde(borrow)]
    kind: Str<'a>,
    step: Count,
    #[serde(borrow)]
    by: Str<'a>,
}

/// Labels as written, with their steps still to be found.
pub(crate) type LabelList<'a> = List<LabelFields<'a>>;

/// Which turn each step belongs to.
#[derive(Debug, Default)]
pub(crate) struct StepTurns {
    steps: u64,
    turns: u32,
    /// Step and turn of each reply.
    replies: Vec<(u64, u32)>,
}

impl StepTurns {
    /// The next step is a reply of so many messages.
    pub(crate) fn reply(&mut self, messages: u32) {
        self.turns = self.turns.saturating_add(messages.max(1));
        if self.replies.len() < MAX_REPLIES {
            self.replies.push((self.steps, self.turns));
        }
        self.steps += 1;
    }

    /// The next step is something else, or could not be read.
    pub(crate) fn other(&mut self) {
        self.steps += 1;
    }

    /// The turn that a step belongs to, 0 before any reply; `None` if there is no such step.
    fn turn_of(&self, step: u64) -> Option<u32> {
        let known = self.replies.len() < MAX_REPLIES
            || self.replies.last().is_some_and(|&(last, _)| step <= last);
        let before = self.replies.partition_point(|&(reply, _)| reply <= step);
        let turn = before.checked_sub(1).map_or(0, |last| self.replies[last].1);
        (known && step < self.steps).then_some(turn)
    }
}

/// The labels of a run whose steps are `turns`. A label on a step that does not exist is left out;
/// one without a step is about the run as a whole.
pub(crate) fn resolve(labels: &LabelList<'_>, turns: &StepTurns) -> Vec<Label> {
    let placed = labels.0.iter().filter(|label| !label.kind.is_empty()).filter_map(|label| {
        let turn = match label.step.0 {
            Some(step) => Some(turns.turn_of(u64::try_from(step).ok()?)?),
            None => None,
        };
        Some(Label { kind: short(label.kind), turn, by: short(label.by) })
    });
    placed.collect()
}

fn short(text: Str<'_>) -> String {
    let text = text.text();
    text[..text.floor_char_boundary(MAX_TEXT)].to_owned()
}
