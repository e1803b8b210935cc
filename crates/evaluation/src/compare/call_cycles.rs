//! The same few calls round and round.

use std::collections::VecDeque;

use super::{Moment, Rule};

/// Longest cycle, in calls.
const LONGEST: usize = 5;
/// How often a cycle has to go by.
const ROUNDS: usize = 5;

/// Looks for cycles of 1 to 5 calls that went by 5 times. Results are not looked at; a message of
/// the user begins anew.
#[derive(Debug, Default)]
pub(super) struct CallCycles {
    calls: VecDeque<u64>,
}

impl CallCycles {
    /// Whether the last calls are `ROUNDS` rounds of `length` calls.
    fn goes_round(&self, length: usize) -> bool {
        let calls = &self.calls;
        let Some(begin) = calls.len().checked_sub(length * ROUNDS) else { return false };
        (begin + length..calls.len()).all(|at| calls[at] == calls[at - length])
    }
}

impl Rule for CallCycles {
    fn see(&mut self, moment: Moment<'_>) -> bool {
        match moment {
            Moment::UserSpoke => self.calls.clear(),
            Moment::Called(call) => {
                if self.calls.len() == LONGEST * ROUNDS {
                    self.calls.pop_front();
                }
                self.calls.push_back(call.signature);
                return (1..=LONGEST).any(|length| self.goes_round(length));
            }
            _ => {}
        }
        false
    }
}
