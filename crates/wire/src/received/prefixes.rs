//! Beginnings of bodies that were read before, so that of a conversation that grows only what is
//! new is read.
//!
//! A request holds all of the one before it, usually to the byte. What was found in a body is kept
//! under the hash of its beginning; a body with the same beginning is scanned from there on, and
//! if what follows the conversation (tools, settings) is the same too, the scan ends with it.
//! Hashing is some twenty times as fast as scanning.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use twox_hash::XxHash3_128;

use super::scan::{Fields, Scanned, Span, scan_on};
use super::{Received, walk};
use crate::{Format, WireError};

/// Beginnings are looked for at multiples of this, in bytes.
const BLOCK: usize = 4096;
/// So many of the last items may be others in the next request: clients mark them for the prompt
/// cache, and the mark goes away then.
const LOOSE_ITEMS: usize = 4;
/// So many items at most that may be others, or do not fill a block, are known by hashes of their
/// own.
const MAX_SINGLE: usize = 32;
/// So many items come, usually, behind those that are known.
const MORE_ITEMS: usize = 16;
/// After so many beginnings were remembered those not met meanwhile grow old, even if there is
/// room: most are of conversations that have ended, and would fill it all in the end.
const GENERATION: usize = 8192;

/// Beginnings of bodies that were read before.
///
/// It is bounded: what was not met for longest is forgotten, and then read as if it were new.
#[derive(Debug)]
pub struct Prefixes {
    /// Nobody else can make beginnings that are taken for each other.
    seed: u64,
    known: Mutex<Generations>,
}

/// The hashes of a request's parts; see [`Received::hashes`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hashes {
    /// Of system prompt and tools; see [`Received::prelude_hash`].
    pub prelude: u64,
    /// Of every item; see [`Received::item_hash`].
    pub items: Vec<u64>,
}

/// A beginning of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Mark {
    format: Format,
    hash: u128,
}

/// What was found in a body up to the end of one of its items, and behind them.
#[derive(Debug)]
struct Prefix {
    items: Vec<Span>,
    hashes: Vec<u64>,
    /// How many of them stand in the beginning; those behind it may be others.
    marked: usize,
    /// Hashes of the bytes of these others, each with what stands between it and the one before.
    single: Vec<u128>,
    /// What stands before the items.
    fields: Fields,
    tail: Tail,
}

/// What stands behind the items.
#[derive(Debug)]
struct Tail {
    hash: u128,
    /// Where it began, and how long it is. Bytes.
    at: usize,
    len: usize,
    fields: Fields,
    /// What it says together with what stands before the items; `None` if more items could change
    /// that.
    prelude: Option<Prelude>,
}

#[derive(Clone, Copy, Debug)]
struct Prelude {
    hash: u64,
    has_tools: bool,
}

/// What is known of a body from one before it.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    /// Hashes of the body up to the end of each of its blocks.
    marks: Vec<u128>,
    prefix: Option<(Mark, Arc<Prefix>)>,
    /// How many items of the prefix are the body's.
    items: usize,
    has_same_tail: bool,
}

impl Known {
    pub(super) const fn items(&self) -> usize {
        self.items
    }

    pub(super) fn item_hash(&self, at: usize) -> Option<u64> {
        let (_, prefix) = self.prefix.as_ref().filter(|_| at < self.items)?;
        prefix.hashes.get(at).copied()
    }

    pub(super) fn prelude_hash(&self) -> Option<u64> {
        self.prelude().map(|prelude| prelude.hash)
    }

    pub(super) fn has_tools(&self) -> Option<bool> {
        self.prelude().map(|prelude| prelude.has_tools)
    }

    fn prelude(&self) -> Option<Prelude> {
        self.prefix.as_ref().filter(|_| self.has_same_tail)?.1.tail.prelude
    }
}

impl Prefixes {
    /// Room for so many bytes of what was found, which is some 16 per item and 700 per body.
    #[must_use]
    pub fn new(max_bytes: usize) -> Self {
        let seed = RandomState::new().hash_one(BLOCK);
        let known = Mutex::new(Generations { most: max_bytes / 2, ..Generations::default() });
        Self { seed, known }
    }

    /// As [`Format::receive`]; what was [remembered](Self::remember) of its beginning is not
    /// scanned again.
    ///
    /// # Errors
    /// As [`Format::receive`].
    pub fn receive<'a>(&self, format: Format, body: &'a [u8]) -> Result<Received<'a>, WireError> {
        let marks = self.marks(body);
        let Some((mark, prefix)) = self.find(format, &marks) else {
            let received = format.receive(body)?;
            return Ok(Received { known: Known { marks, ..Known::default() }, ..received });
        };
        let mut has_same_tail = false;
        let tail = |at: usize| {
            let known = &prefix.tail;
            let rest = body.get(at..)?;
            has_same_tail = rest.len() == known.len && self.hash(rest) == known.hash;
            has_same_tail.then(|| known.fields.map(|span| Some(span?.moved(known.at, at))))
        };
        let same = self.same_items(&prefix, body);
        let mut items = Vec::with_capacity(prefix.items.len() + MORE_ITEMS);
        items.extend_from_slice(prefix.items.get(..same).unwrap_or_default());
        let end = items.last().map_or(0, |item| item.range().end);
        let begun = Scanned { fields: prefix.fields, items, ..Scanned::default() };
        let scanned = scan_on(format, body, end, begun, tail);
        let received = Received::of(format, body, scanned)?;
        // Another list further behind took the place of the one that is known.
        let prefix = (!received.scanned.is_twice).then_some((mark, prefix));
        let items = prefix.as_ref().map_or(0, |_| same);
        Ok(Received { known: Known { marks, prefix, items, has_same_tail }, ..received })
    }

    /// How many items of a prefix a body with the same beginning has.
    fn same_items(&self, prefix: &Prefix, body: &[u8]) -> usize {
        let singles = prefix.singles().zip(&prefix.single);
        let same = singles.take_while(|(range, hash)| {
            body.get(range.clone()).is_some_and(|bytes| self.hash(bytes) == **hash)
        });
        prefix.marked + same.count()
    }

    /// Remembers what was found in a body.
    pub fn remember(&self, received: &Received<'_>, hashes: &Hashes) {
        let Some((mark, prefix)) = self.prefix_of(received, hashes) else { return };
        let before = received.known.prefix.as_ref().map(|(mark, _)| *mark);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        // The conversation has moved on.
        if let Some(before) = before.filter(|before| *before != mark) {
            known.forget(&before);
        }
        known.put(mark, Arc::new(prefix));
    }

    /// What is to be remembered; `None` if there is nothing, or if it is known as it is.
    fn prefix_of(&self, received: &Received<'_>, hashes: &Hashes) -> Option<(Mark, Prefix)> {
        let Received { format, body, scanned, known } = received;
        let at = scanned.behind.filter(|_| !scanned.is_twice && scanned.whole.is_none())?;
        let most = scanned.items.len().checked_sub(LOOSE_ITEMS)?;
        let end = scanned.items.get(most.checked_sub(1)?)?.range().end;
        let blocks = (end / BLOCK).min(known.marks.len());
        let fits = |item: &Span| item.range().end <= blocks * BLOCK;
        let marked = scanned.items[..most].partition_point(fits);
        let last = *scanned.items.get(marked.checked_sub(1)?)?;
        let mark = Mark { format: *format, hash: *known.marks.get(blocks.checked_sub(1)?)? };
        // What ends with itself cannot go on in another body, as a number can.
        let is_closed =
            |item: &&Span| matches!(body.get(item.range().end - 1), Some(b'}' | b']' | b'"'));
        let closed = scanned.items[marked - 1..].iter().take(MAX_SINGLE + 1).take_while(is_closed);
        let count = marked - 1 + closed.count();
        if count < marked {
            return None;
        }
        let same = known.prefix.as_ref().filter(|_| known.has_same_tail);
        let is_all_known = known.items == count;
        if is_all_known
            && same.is_some_and(|(before, it)| *before == mark && it.items.len() == count)
        {
            return None;
        }
        let first = scanned.items.first()?.range().start;
        let part = |own: &dyn Fn(usize) -> bool| {
            scanned.fields.map(|span| span.filter(|span| own(span.range().start)))
        };
        // Tools among the first items belong to the prelude; where they end, it does.
        let ends = !walk::says(last.of(body), "type", "additional_tools");
        let rest = body.get(at..)?;
        let prelude = Prelude { hash: hashes.prelude, has_tools: received.has_tools() };
        let tail = Tail {
            hash: same.map_or_else(|| self.hash(rest), |(_, before)| before.tail.hash),
            at,
            len: rest.len(),
            fields: part(&|start| start >= at),
            prelude: ends.then_some(prelude),
        };
        let mut prefix = Prefix {
            items: scanned.items[..count].to_vec(),
            hashes: hashes.items.get(..count)?.to_vec(),
            marked,
            single: Vec::new(),
            fields: part(&|start| start < first),
            tail,
        };
        let single = prefix.singles().map(|range| Some(self.hash(body.get(range)?)));
        prefix.single = single.collect::<Option<_>>()?;
        Some((mark, prefix))
    }

    /// The longest beginning that is known.
    fn find(&self, format: Format, marks: &[u128]) -> Option<(Mark, Arc<Prefix>)> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        marks.iter().rev().find_map(|hash| {
            let mark = Mark { format, hash: *hash };
            Some((mark, known.get(&mark)?))
        })
    }

    /// The hash of the body up to the end of each of its blocks.
    fn marks(&self, body: &[u8]) -> Vec<u128> {
        let blocks = body.chunks_exact(BLOCK);
        let mut marks = Vec::with_capacity(blocks.len());
        let mut before = 0_u128;
        for block in blocks {
            // Odd, so that no bit of what stands before is lost.
            let mixed = before.wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835);
            before = mixed.rotate_left(43) ^ self.hash(block);
            marks.push(before);
        }
        marks
    }

    fn hash(&self, bytes: &[u8]) -> u128 {
        XxHash3_128::oneshot_with_seed(self.seed, bytes)
    }
}

impl Prefix {
    /// Where the items stand that may be others, each from the end of the one before.
    fn singles(&self) -> impl Iterator<Item = Range<usize>> {
        let ends = self.items.windows(2).skip(self.marked.saturating_sub(1));
        ends.filter_map(|pair| match pair {
            [before, item] => Some(before.range().end..item.range().end),
            _ => None,
        })
    }

    /// What it takes, about. Bytes.
    const fn size(&self) -> usize {
        let item = size_of::<Span>() + size_of::<u64>();
        let single = self.single.len() * size_of::<u128>();
        self.items.len() * item + single + size_of::<Self>() + size_of::<(Mark, Arc<Self>)>()
    }
}

/// What is known, in two halves: the older one goes when the younger one is full or has taken up
/// [`GENERATION`] beginnings, and what is met in the older one becomes young again.
#[derive(Debug, Default)]
struct Generations {
    young: HashMap<Mark, Arc<Prefix>>,
    old: HashMap<Mark, Arc<Prefix>>,
    /// What the young ones take, and may take. Bytes.
    size: usize,
    most: usize,
    /// How many became young, in this generation.
    taken_up: usize,
}

impl Generations {
    fn get(&mut self, mark: &Mark) -> Option<Arc<Prefix>> {
        if let Some(found) = self.young.get(mark) {
            return Some(Arc::clone(found));
        }
        let found = self.old.remove(mark)?;
        self.put(*mark, Arc::clone(&found));
        Some(found)
    }

    fn put(&mut self, mark: Mark, prefix: Arc<Prefix>) {
        let size = prefix.size();
        if self.size + size > self.most || self.taken_up == GENERATION {
            self.old = std::mem::take(&mut self.young);
            (self.size, self.taken_up) = (0, 0);
        }
        if size > self.most {
            return;
        }
        self.size += size;
        self.taken_up += 1;
        if let Some(before) = self.young.insert(mark, prefix) {
            self.size -= before.size();
        }
    }

    fn forget(&mut self, mark: &Mark) {
        match self.young.remove(mark) {
            Some(gone) => self.size -= gone.size(),
            None => drop(self.old.remove(mark)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{GENERATION, Generations, Mark, Prefix, Tail};
    use crate::Format;
    use std::sync::Arc;

    fn prefix() -> Arc<Prefix> {
        let tail = Tail { hash: 0, at: 0, len: 0, fields: Default::default(), prelude: None };
        let (items, hashes, single) = (Vec::new(), Vec::new(), Vec::new());
        Arc::new(Prefix { items, hashes, marked: 0, single, fields: Default::default(), tail })
    }

    #[test]
    fn what_is_met_stays_and_the_rest_is_bounded() {
        let mark = |hash| Mark { format: Format::Gemini, hash };
        let most = 10 * prefix().size();
        let mut known = Generations { most, ..Generations::default() };
        for number in 1..1000 {
            known.put(mark(number), prefix());
            assert!(known.get(&mark(1)).is_some(), "{number}");
            assert!(known.young.len() <= 10 && known.old.len() <= 10, "{number}");
        }
        assert!(known.get(&mark(2)).is_none() && known.get(&mark(999)).is_some());
        known.forget(&mark(999));
        assert!(known.get(&mark(999)).is_none());
        assert_eq!(known.size, known.young.len() * prefix().size());
    }

    #[test]
    fn what_has_ended_goes_though_there_is_room() {
        let mark = |hash| Mark { format: Format::Gemini, hash };
        let mut known = Generations { most: usize::MAX / 2, ..Generations::default() };
        (1..=100).for_each(|hash| known.put(mark(hash), prefix()));
        // One conversation goes on for long.
        for hash in 1000..1000 + 2 * GENERATION as u128 {
            known.put(mark(hash), prefix());
            known.forget(&mark(hash - 1));
            assert!(known.young.len() + known.old.len() <= 101, "{hash}");
            assert!(hash % 1000 > 0 || known.get(&mark(1)).is_some(), "{hash}");
        }
        assert!(known.get(&mark(2)).is_none() && known.get(&mark(1)).is_some());
    }
}
