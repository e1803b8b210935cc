//! Actions and observations that repeat or alternate.

use std::collections::VecDeque;

use super::{Moment, Rule};

/// Pairs looked back on.
const WINDOW: usize = 6;
/// The same action and observation, in a row.
const SAME: usize = 4;
/// The same action with errors, in a row.
const SAME_WITH_ERRORS: usize = 3;
/// Two pairs in turn, in a row.
const ALTERNATING: usize = 6;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pair {
    action: u64,
    observation: u64,
    failed: bool,
}

/// Looks at calls and what they returned since the user's last message.
#[derive(Debug, Default)]
pub(super) struct ActionObservation {
    /// The latest first.
    pairs: VecDeque<Pair>,
}

impl ActionObservation {
    /// Whether the last `length` pairs are each related to the one `apart` places before.
    fn holds(&self, length: usize, apart: usize, related: fn(&Pair, &Pair) -> bool) -> bool {
        self.pairs.len() >= length
            && (0..length - apart).all(|at| related(&self.pairs[at], &self.pairs[at + apart]))
    }
}

impl Rule for ActionObservation {
    fn see(&mut self, moment: Moment<'_>) -> bool {
        match moment {
            Moment::UserSpoke => self.pairs.clear(),
            Moment::Returned(call, outcome) => {
                let pair = Pair {
                    action: call.signature,
                    observation: outcome.result,
                    failed: outcome.failed,
                };
                self.pairs.truncate(WINDOW - 1);
                self.pairs.push_front(pair);
                let failing = |a: &Pair, b: &Pair| a.action == b.action && a.failed && b.failed;
                return self.holds(SAME, 1, |a, b| a == b)
                    || self.holds(SAME_WITH_ERRORS, 1, failing)
                    || self.holds(ALTERNATING, 2, |a, b| a == b);
            }
            _ => {}
        }
        false
    }
}
