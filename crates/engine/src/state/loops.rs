//! What goes round in circles: repeats, cycles, streaks.
//!
//! All counts are of turns; parallel calls of one reply are one batch. A state change and a user
//! message begin a new *epoch*: what was repeated before does not count any more (evidence,
//! facts 1 and 2).

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::cache::Cache;
use super::ring::Ring;
use super::streak::Streak;
use super::turn::{OpenCall, Returned};
use crate::classify::Outcome;
use crate::digest::{Sketch, combine, mix};
use crate::event::Timestamp;
use crate::tool::{self, EditDigest, ToolKind};

/// Longest cycle looked for, in turns.
const MAX_PERIOD: usize = 4;

/// Texts shorter than this many bytes are never compared by likeness.
const MIN_SIMILAR_LEN: u32 = 80;

/// What goes round in circles.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct LoopTrack {
    outcomes: Cache<Streak, 32>,
    /// The call of the last turn that was seen most often with this outcome.
    pub(crate) repeat: Repeat,
    /// Turns in a row in which every call was seen before with the same outcome.
    pub(crate) stale: Streak,
    /// Turns in a row in which one tool gave the same output.
    pub(crate) same_output: SameOutput,
    /// Failing turns in a row with the same error signature.
    pub(crate) same_error: Streak,
    error_signature: u64,
    /// That error is a transient one.
    pub(crate) error_transient: bool,
    /// Failing turns in a row.
    pub(crate) errors: Streak,
    /// Searches in a row that found nothing, or nothing new.
    pub(crate) fruitless: Streak,
    /// Turns in a row with nearly the same call and nearly the same output.
    pub(crate) similar: Streak,
    recent: Ring<Recent, 8>,
    /// Turns in a row in which polling saw no change.
    pub(crate) polling: Streak,
    /// When polling began to see no change.
    pub(crate) polling_since: Timestamp,
    polled: u64,
    /// Whole repeats of cycles of 1–4 turns, the first round included.
    pub(crate) cycle: Cycle,
    rounds: [Streak; MAX_PERIOD],
    digests: Ring<u64, MAX_PERIOD>,
    /// Edits that undid an earlier edit.
    pub(crate) reverts: Streak,
    edits: Cache<(), 16>,
    last_change: u64,
    last_content: u64,
    /// State changes so far.
    pub(crate) changes: u32,
    novel: Recents,
    failed: Recents,
}

/// The most repeated call of a turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Repeat {
    pub(crate) seen: Streak,
    /// The outcome is a transient error.
    pub(crate) transient: bool,
    /// The call says that it changes something, and does so without an error.
    pub(crate) acts: bool,
    /// Which call of the turn it is.
    pub(crate) call: u32,
}

/// The same output from one tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SameOutput {
    pub(crate) seen: Streak,
    /// One of the calls was the very same, too.
    pub(crate) repeated: bool,
    key: u64,
}

/// The cycle that was repeated most often up to the last turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Cycle {
    /// Rounds, the first included; 0 if there is no cycle.
    pub(crate) rounds: u32,
    /// Turns of a round.
    pub(crate) period: u32,
    pub(crate) seen: Streak,
}

/// A yes or no of each of the last 16 turns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Recents {
    bits: u16,
    len: u8,
}

impl Recents {
    const fn push(&mut self, yes: bool) {
        self.bits = (self.bits << 1) | yes as u16;
        if self.len < 16 {
            self.len += 1;
        }
    }

    /// Share of yes, `empty` if nothing was pushed yet.
    fn share(self, empty: f32) -> f32 {
        if self.len == 0 { empty } else { self.bits.count_ones() as f32 / f32::from(self.len) }
    }
}

/// A call kept for comparison by likeness.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Recent {
    tool: u64,
    signature: u64,
    words: Option<u64>,
    output: u64,
    sketch: Sketch,
}

/// What a turn brought.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Brought {
    /// Something was changed.
    pub(crate) changed: bool,
    /// A call or an output was new.
    pub(crate) novel: bool,
}

impl LoopTrack {
    /// Share of recent turns that brought something new.
    pub(crate) fn novelty(&self) -> f32 {
        self.novel.share(1.0)
    }

    /// Share of recent turns in which every call failed.
    pub(crate) fn error_rate(&self) -> f32 {
        self.failed.share(0.0)
    }

    /// Begins a new epoch.
    fn begin_epoch(&mut self) {
        self.outcomes.clear();
        self.repeat = Repeat::default();
        self.stale.reset();
        self.same_output = SameOutput::default();
        self.fruitless.reset();
        self.similar.reset();
        self.recent.clear();
    }

    /// The user spoke, or the workspace was restored: nothing seen before counts.
    pub(crate) fn forget(&mut self) {
        self.begin_epoch();
        self.same_error.reset();
        self.errors.reset();
        self.polling.reset();
        self.cycle = Cycle::default();
        self.rounds = Default::default();
        self.digests.clear();
        self.reverts.reset();
        self.edits.clear();
        self.last_change = 0;
    }

    /// Takes in a turn that called tools.
    pub(crate) fn take(
        &mut self,
        calls: &[OpenCall],
        turn: u32,
        now: Timestamp,
        alike: f32,
    ) -> Brought {
        let batch = distinct(calls);
        let changed = self.take_changes(&batch, turn);
        if changed {
            self.changes = self.changes.saturating_add(1);
            self.begin_epoch();
        }
        let settled = batch.iter().any(|call| !call.neutral());
        let novel = self.take_outcomes(&batch, turn) || changed;
        if novel {
            self.stale.reset();
        } else if settled {
            self.stale.extend(turn);
        }
        self.take_same_output(&batch, turn);
        self.take_errors(&batch, turn);
        self.take_searches(&batch, turn);
        self.take_likeness(&batch, turn, alike);
        self.take_polling(&batch, turn, now);
        self.take_cycle(&batch, turn);
        self.novel.push(novel);
        self.failed.push(!batch.is_empty() && batch.iter().all(Seen::failed));
        Brought { changed, novel }
    }

    /// In how many turns a call of the last one has had its outcome in this epoch; 0 if that is not
    /// known.
    pub(crate) fn times(&self, call: &OpenCall) -> u32 {
        let outcome = call.returned.as_ref().map_or(0, |returned| returned.hash);
        let streak = self.outcomes.look(combine(call.facts.signature, outcome));
        streak.map_or(0, |streak| streak.count)
    }

    /// Whether the batch changed something. The same change with the same outcome again changes
    /// nothing.
    fn take_changes(&mut self, batch: &[Seen<'_>], turn: u32) -> bool {
        let mut changed = false;
        for seen in batch.iter().filter(|seen| seen.acts()) {
            changed |= seen.key != self.last_change;
            self.last_change = seen.key;
            if let Some(edit) = &seen.call.facts.edit {
                self.take_edit(edit, turn);
            }
        }
        changed
    }

    /// Notes an edit, and whether it undoes an earlier one: takes out what that put in and puts in
    /// what it took out, or writes a whole content that stood there before another.
    fn take_edit(&mut self, edit: &EditDigest, turn: u32) {
        let identity = |old, new| combine(edit.resource, combine(old, new));
        let undone = if edit.old == 0 {
            let content = identity(0, edit.new);
            let before = self.edits.look(content).is_some() && self.last_content != content;
            self.last_content = content;
            before
        } else {
            self.edits.look(identity(edit.new, edit.old)).is_some()
        };
        if undone {
            self.reverts.extend(turn);
        }
        self.edits.touch(identity(edit.old, edit.new));
    }

    fn take_outcomes(&mut self, batch: &[Seen<'_>], turn: u32) -> bool {
        self.repeat = Repeat::default();
        let mut novel = false;
        for (at, seen) in batch.iter().enumerate() {
            if seen.polls() {
                continue;
            }
            if seen.call.returned.is_none() || seen.call.unrecorded {
                novel = true;
                continue;
            }
            let (streak, known) = self.outcomes.touch(seen.key);
            streak.extend(turn);
            novel |= !known && !seen.transient();
            if streak.count > self.repeat.seen.count {
                self.repeat = Repeat {
                    seen: *streak,
                    transient: seen.transient(),
                    acts: seen.acts(),
                    call: at as u32,
                };
            }
        }
        novel
    }

    fn take_same_output(&mut self, batch: &[Seen<'_>], turn: u32) {
        let [seen] = batch else {
            self.same_output = SameOutput::default();
            return;
        };
        let Some(returned) = &seen.call.returned else { return };
        if seen.neutral() || seen.acts() || seen.failed() || seen.call.unrecorded {
            self.same_output = SameOutput::default();
            return;
        }
        let key = combine(seen.call.tool, returned.hash);
        let same = &mut self.same_output;
        if same.key == key && same.seen.count > 0 {
            same.seen.extend(turn);
            same.repeated |= self.repeat.seen.count >= 2;
        } else {
            *same = SameOutput { key, ..SameOutput::default() };
            same.seen.extend(turn);
        }
    }

    fn take_errors(&mut self, batch: &[Seen<'_>], turn: u32) {
        let all_failed = !batch.is_empty() && batch.iter().all(Seen::failed);
        let first = batch.iter().find_map(Seen::error);
        let Some((signature, transient)) = first.filter(|_| all_failed) else {
            self.errors.reset();
            self.same_error.reset();
            return;
        };
        self.errors.extend(turn);
        self.error_transient = transient;
        if signature == self.error_signature && self.same_error.count > 0 {
            self.same_error.extend(turn);
        } else {
            self.error_signature = signature;
            self.same_error.restart(turn);
        }
    }

    fn take_searches(&mut self, batch: &[Seen<'_>], turn: u32) {
        let searches = || batch.iter().filter(|seen| seen.call.facts.kind == ToolKind::Search);
        if searches().next().is_none() {
            return;
        }
        let fruitless = |seen: &Seen<'_>| {
            matches!(seen.outcome(), Some(Outcome::Empty | Outcome::Error { .. }))
        };
        if searches().all(fruitless) {
            self.fruitless.extend(turn);
        } else {
            self.fruitless.reset();
        }
    }

    fn take_likeness(&mut self, batch: &[Seen<'_>], turn: u32, alike: f32) {
        let mut similar = false;
        for seen in batch {
            let (facts, Some(returned)) = (&seen.call.facts, &seen.call.returned) else {
                continue;
            };
            if seen.neutral() || seen.acts() || returned.len < MIN_SIMILAR_LEN {
                continue;
            }
            let now = Recent {
                tool: seen.call.tool,
                signature: facts.signature,
                words: facts.query,
                output: returned.hash,
                sketch: returned.sketch,
            };
            similar |= self.recent.latest().any(|before| before.resembles(&now, alike));
            self.recent.push(now);
        }
        if similar {
            self.similar.extend(turn);
        } else {
            self.similar.reset();
        }
    }

    fn take_polling(&mut self, batch: &[Seen<'_>], turn: u32, now: Timestamp) {
        let Some(seen) = batch.iter().find(|seen| seen.polls()) else {
            if !batch.is_empty() {
                self.polling.reset();
            }
            return;
        };
        if self.polling.count > 0 && self.polled == seen.key {
            self.polling.extend(turn);
        } else {
            self.polled = seen.key;
            self.polling_since = now;
            self.polling.restart(turn);
        }
    }

    fn take_cycle(&mut self, batch: &[Seen<'_>], turn: u32) {
        self.cycle = Cycle::default();
        let known = batch
            .iter()
            .all(|seen| seen.call.returned.is_some() && !seen.call.unrecorded && !seen.neutral());
        if !known || batch.is_empty() {
            self.digests.clear();
            self.rounds = Default::default();
            return;
        }
        let digest = batch.iter().fold(0, |digest, seen| digest ^ mix(seen.key));
        let before: Vec<u64> = self.digests.latest().copied().collect();
        for (at, streak) in self.rounds.iter_mut().enumerate() {
            if before.get(at) == Some(&digest) {
                streak.extend(turn);
                let period = at as u32 + 1;
                let rounds = streak.count / period + 1;
                if rounds > self.cycle.rounds.max(1) {
                    self.cycle = Cycle { rounds, period, seen: *streak };
                }
            } else {
                streak.reset();
            }
        }
        self.digests.push(digest);
    }
}

impl Recent {
    /// Whether another call of the same tool says nearly the same and got nearly the same. The very
    /// same call with a slightly different output is not meant: that is polling.
    fn resembles(&self, other: &Self, alike: f32) -> bool {
        self.tool == other.tool
            && self.signature != other.signature
            && (self.output == other.output || self.sketch.similarity(&other.sketch) >= alike)
            && match (self.words, other.words) {
                (Some(a), Some(b)) => tool::similarity(a, b) >= 0.5,
                _ => false,
            }
    }
}

/// A call as it is compared.
struct Seen<'a> {
    call: &'a OpenCall,
    /// Hash of call and outcome.
    key: u64,
}

impl Seen<'_> {
    fn outcome(&self) -> Option<Outcome> {
        self.call.returned.as_ref().map(|returned| returned.outcome)
    }

    fn error(&self) -> Option<(u64, bool)> {
        match self.outcome()? {
            Outcome::Error { signature, transient } => Some((signature, transient)),
            Outcome::Ok | Outcome::Empty => None,
        }
    }

    fn failed(&self) -> bool {
        self.error().is_some()
    }

    fn transient(&self) -> bool {
        self.error().is_some_and(|(_, transient)| transient)
    }

    /// The call changes something, and did not fail.
    fn acts(&self) -> bool {
        self.call.facts.changes && self.call.returned.is_some() && !self.failed()
    }

    fn polls(&self) -> bool {
        let pending = |returned: &Returned| returned.pending;
        self.call.facts.kind == ToolKind::Poll
            || self.call.facts.polls
            || (!self.failed() && self.call.returned.as_ref().is_some_and(pending))
    }

    /// The call says nothing about staleness, one way or the other.
    fn neutral(&self) -> bool {
        self.polls() || self.transient()
    }
}

/// The distinct calls of a batch: identical parallel calls count once.
fn distinct(calls: &[OpenCall]) -> Vec<Seen<'_>> {
    let mut batch: Vec<Seen<'_>> = Vec::with_capacity(calls.len());
    for call in calls {
        let outcome = call.returned.as_ref().map_or(0, |returned| returned.hash);
        let key = combine(call.facts.signature, outcome);
        if batch.iter().all(|seen| seen.key != key) {
            batch.push(Seen { call, key });
        }
    }
    batch
}
