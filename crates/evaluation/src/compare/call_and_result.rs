//! The same calls with the same results, again and again among the last turns.

use std::collections::VecDeque;

use super::{Moment, Rule};

/// Turns looked back on; the rule is silent before that many had calls.
const WINDOW: usize = 10;
/// As many equal turns are still fine.
const ALLOWED: usize = 5;

/// Compares whole turns: all their calls and all they returned. Turns without calls do not count.
#[derive(Debug, Default)]
pub(super) struct CallAndResult {
    turns: VecDeque<u64>,
}

impl Rule for CallAndResult {
    fn see(&mut self, moment: Moment<'_>) -> bool {
        let Moment::TurnEnded { turn: Some(turn), .. } = moment else { return false };
        if self.turns.len() == WINDOW {
            self.turns.pop_front();
        }
        self.turns.push_back(turn);
        let times = |turn: &u64| self.turns.iter().filter(|it| *it == turn).count();
        self.turns.len() == WINDOW && self.turns.iter().any(|turn| times(turn) > ALLOWED)
    }
}
