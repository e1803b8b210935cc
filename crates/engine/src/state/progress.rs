//! The record of progress of documents A and D (A1, D3, D4).

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::cache::Cache;
use super::ring::Ring;
use crate::tool::{CallFacts, ToolKind};

/// Stage of a run (D4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Nothing was looked at yet.
    #[default]
    Initial,
    /// Looking at things.
    Reading,
    /// Changing things.
    Executing,
    /// Checking what was changed.
    Verifying,
}

/// Milestones reached (D4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Milestones {
    /// A search found something, or a file was named.
    pub target_identified: bool,
    /// A target was read.
    pub target_read: bool,
    /// Something was changed.
    pub change_made: bool,
    /// A check ran after a change and did not fail.
    pub change_verified: bool,
    /// Something was read after a search.
    pub search_complete: bool,
}

/// The record of progress (A1, D3).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// Different files read.
    pub unique_files_read: u32,
    /// Reads of files, revisits included.
    pub total_file_reads: u32,
    /// Reads of what was read before and not changed since.
    pub file_revisits: u32,
    /// Revisits in a row.
    pub consecutive_revisits: u32,
    /// Different files changed.
    pub files_modified: u32,
    /// Different resources touched: files, queries, addresses.
    pub unique_resources: u32,
    /// Different tools used.
    pub tools_used: u32,
    /// Stage of the run.
    pub stage: Stage,
    /// Milestones reached.
    pub milestones: Milestones,
    resources: Cache<Resource, 64>,
    tools: Cache<(), 16>,
    pub(crate) signatures: Ring<u64, 64>,
}

/// What was read of a resource.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Resource {
    read: bool,
    modified: bool,
    ranges: Ranges,
}

/// Up to four ranges of lines; overlapping and adjacent ones are merged (D7).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<(u32, u32)>", into = "Vec<(u32, u32)>")]
struct Ranges {
    kept: [(u32, u32); 4],
    len: u8,
}

impl From<Vec<(u32, u32)>> for Ranges {
    fn from(stored: Vec<(u32, u32)>) -> Self {
        let mut ranges = Self::default();
        stored.into_iter().for_each(|range| ranges.push(range));
        ranges
    }
}

impl From<Ranges> for Vec<(u32, u32)> {
    fn from(ranges: Ranges) -> Self {
        ranges.kept[..usize::from(ranges.len)].to_vec()
    }
}

impl Ranges {
    /// Adds a range; returns whether it was covered already.
    fn add(&mut self, range: (u32, u32)) -> bool {
        let known = &self.kept[..usize::from(self.len)];
        if known.iter().any(|known| known.0 <= range.0 && range.1 <= known.1) {
            return true;
        }
        let mut merged = range;
        let mut rest = Self::default();
        for &known in known {
            let apart =
                known.1.saturating_add(1) < merged.0 || merged.1.saturating_add(1) < known.0;
            if apart {
                rest.push(known);
            } else {
                merged = (merged.0.min(known.0), merged.1.max(known.1));
            }
        }
        rest.push(merged);
        *self = rest;
        false
    }

    /// Appends a range; the oldest makes room.
    const fn push(&mut self, range: (u32, u32)) {
        if self.len as usize == self.kept.len() {
            self.kept.rotate_left(1);
            self.len -= 1;
        }
        self.kept[self.len as usize] = range;
        self.len += 1;
    }
}

impl Progress {
    /// Takes in a call that returned; `tool` is a hash of the tool's name. Returns whether it
    /// touched a resource for the first time.
    pub(crate) fn take(
        &mut self,
        call: &CallFacts,
        tool: u64,
        worked: bool,
        changed: bool,
    ) -> bool {
        if !self.tools.touch(tool).1 {
            self.tools_used = self.tools_used.saturating_add(1);
        }
        self.signatures.push(call.signature);
        let new = self.take_resource(call, worked, changed);
        self.advance(call.kind, worked, changed);
        new
    }

    fn take_resource(&mut self, call: &CallFacts, worked: bool, changed: bool) -> bool {
        let Some(key) = call.resource else { return false };
        let (resource, known) = self.resources.touch(key);
        let mut revisit = None;
        if call.kind == ToolKind::Read && worked {
            let covered = resource.ranges.add(call.range.unwrap_or((0, u32::MAX)));
            revisit = Some(covered);
            if !resource.read {
                self.unique_files_read = self.unique_files_read.saturating_add(1);
            }
            resource.read = true;
        }
        if changed {
            if !resource.modified {
                self.files_modified = self.files_modified.saturating_add(1);
            }
            resource.modified = true;
            resource.ranges = Ranges::default();
            self.consecutive_revisits = 0;
        }
        if let Some(covered) = revisit {
            self.total_file_reads = self.total_file_reads.saturating_add(1);
            self.file_revisits = self.file_revisits.saturating_add(u32::from(covered));
            self.consecutive_revisits = if covered { self.consecutive_revisits + 1 } else { 0 };
        }
        if !known {
            self.unique_resources = self.unique_resources.saturating_add(1);
        }
        !known
    }

    fn advance(&mut self, kind: ToolKind, worked: bool, changed: bool) {
        let reached = &mut self.milestones;
        match kind {
            ToolKind::Search if worked => reached.target_identified = true,
            ToolKind::Read if worked => {
                reached.search_complete |= reached.target_identified;
                reached.target_identified = true;
                reached.target_read = true;
            }
            ToolKind::Test if worked => reached.change_verified |= reached.change_made,
            _ => {}
        }
        reached.change_made |= changed;
        self.stage = match kind {
            _ if changed => Stage::Executing,
            ToolKind::Test => Stage::Verifying,
            ToolKind::Read | ToolKind::Search if self.stage == Stage::Initial => Stage::Reading,
            _ => self.stage,
        };
    }

    /// The workspace was restored: nothing of it was read or changed.
    pub(crate) fn start_over(&mut self) {
        self.resources.clear();
        self.consecutive_revisits = 0;
        self.stage = Stage::Initial;
        self.milestones = Milestones::default();
        self.signatures.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_merge_and_tell_what_is_covered() {
        let mut ranges = Ranges::default();
        let adds = [
            ((1, 100), false),
            ((101, 200), false),
            ((50, 150), true),
            ((300, 400), false),
            ((150, 350), false),
            ((1, 400), true),
            ((0, u32::MAX), false),
            ((5000, 6000), true),
        ];
        for (range, covered) in adds {
            assert_eq!(ranges.add(range), covered, "{range:?}");
        }
    }
}
