//! The same command again although nothing changed.

use std::collections::HashMap;

use super::{Moment, Rule};

/// The time at which a repeat is one too many.
const LIMIT: u32 = 4;
/// Commands told apart between two changes; later ones are not counted.
const MAX_COMMANDS: usize = 4096;

/// Counts calls that are the same once white space, the order of keys and chatter are left out,
/// since the last state change by another call. Empty results do not count.
#[derive(Debug, Default)]
pub(super) struct CommandRepeats {
    counts: HashMap<u64, u32>,
}

impl Rule for CommandRepeats {
    fn see(&mut self, moment: Moment<'_>) -> bool {
        let Moment::Returned(call, outcome) = moment else { return false };
        if call.changes && !outcome.failed {
            let own = self.counts.remove(&call.command);
            self.counts.clear();
            self.counts.extend(own.map(|count| (call.command, count)));
        }
        if outcome.empty {
            return false;
        }
        if self.counts.len() >= MAX_COMMANDS && !self.counts.contains_key(&call.command) {
            return false;
        }
        let count = self.counts.entry(call.command).or_default();
        *count += 1;
        *count >= LIMIT
    }
}
