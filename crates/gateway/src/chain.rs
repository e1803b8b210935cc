//! Conversations known by what they begin with.
//!
//! A client without names for its sessions sends the whole conversation each time, and each
//! request begins with all of the one before it. A chain of hashes, one per item, makes "begins
//! with" a look into a table: the session whose last request is the longest prefix of this one is
//! the one that goes on. Hashes are of 64 bits, so that a wrong match needs a billion of
//! conversations at once, or somebody who builds one against their own session.

use std::collections::{HashMap, HashSet, VecDeque};

use twox_hash::XxHash3_64;

/// The hash of nothing but what stands before the first item.
const SEED: u64 = 0x9e37_79b9_7f4a_7c15;

/// Running hashes of a conversation: `ends[n]` is that of its first `n` items.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chain {
    ends: Vec<u64>,
    start: Start,
}

/// What a conversation begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// With the first item: all of it is in the request.
    Whole,
    /// Behind a response of the server's, which keeps what was before.
    Response,
    /// Behind what else the server keeps of it.
    Conversation,
}

impl Chain {
    /// The chain of items by their hashes, in order, behind what stands before them (instructions,
    /// tools). Conversations with other instructions have nothing in common.
    #[must_use]
    pub fn of(prelude: u64, items: impl IntoIterator<Item = u64>) -> Self {
        Self::begin(Start::Whole, mix(SEED, prelude), items)
    }

    /// The chain of the items that come behind what the server keeps: a response, or a
    /// conversation, by its id. Instructions may be others each time.
    #[must_use]
    pub fn behind(start: Start, id: &str, items: impl IntoIterator<Item = u64>) -> Self {
        Self::begin(start, place_of(id), items)
    }

    fn begin(start: Start, seed: u64, items: impl IntoIterator<Item = u64>) -> Self {
        let items = items.into_iter();
        let mut ends = Vec::with_capacity(items.size_hint().0 + 1);
        let mut last = seed;
        ends.push(last);
        for item in items {
            last = mix(last, item);
            ends.push(last);
        }
        Self { ends, start }
    }

    /// What it begins with.
    #[must_use]
    pub const fn start(&self) -> Start {
        self.start
    }

    /// Whether most of the conversation is not in the request.
    #[must_use]
    pub fn is_rest(&self) -> bool {
        self.start != Start::Whole
    }

    /// Number of items.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len() - 1
    }

    /// Whether there is no item.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The hash of the first `items` items; `None` if there are fewer.
    #[must_use]
    pub fn at(&self, items: usize) -> Option<u64> {
        self.ends.get(items).copied()
    }

    /// The hash of all of it.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.ends.last().copied().unwrap_or(SEED)
    }
}

/// Where a conversation stands whose last response has this id.
#[must_use]
pub fn place_of(response: &str) -> u64 {
    mix(!SEED, XxHash3_64::oneshot(response.as_bytes()))
}

/// Order matters, and so does every bit of both.
const fn mix(above: u64, item: u64) -> u64 {
    let mut hash = above.rotate_left(23) ^ item.wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash ^= hash >> 33;
    hash = hash.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ (hash >> 29)
}

/// Which sessions have sent which beginnings last.
///
/// Bounded: beyond its capacity the session that was put in first is forgotten.
#[derive(Clone, Debug)]
pub struct Beginnings {
    sessions: HashMap<Place, Vec<u64>>,
    /// Every session and its place in the order in which they were put in; some have moved since.
    order: VecDeque<(Place, u64)>,
    held: usize,
    capacity: usize,
}

/// A scope and the hash of a beginning in it.
type Place = (u64, u64);

/// Most sessions that share one beginning and are kept apart; of more the oldest is forgotten.
const MAX_TWINS: usize = 64;

impl Beginnings {
    /// A table of at most that many sessions.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        let capacity = capacity.max(1);
        Self { sessions: HashMap::new(), order: VecDeque::new(), held: 0, capacity }
    }

    /// Sessions in the scope whose last request is the longest beginning of this one, with its
    /// number of items, the latest first. A conversation of no items is nobody's beginning, unless
    /// it comes behind a response.
    #[must_use]
    pub fn longest(&self, scope: u64, chain: &Chain) -> Option<(usize, &[u64])> {
        let least = usize::from(!chain.is_rest());
        (least..=chain.len()).rev().find_map(|items| {
            let found = self.sessions.get(&(scope, chain.at(items)?))?;
            Some((items, found.as_slice()))
        })
    }

    /// A session has sent a request that ends there, in the place of `before`.
    pub fn put(&mut self, scope: u64, end: u64, session: u64, before: Option<u64>) {
        if let Some(before) = before {
            self.take(scope, before, session);
        }
        self.take(scope, end, session);
        let twins = self.sessions.entry((scope, end)).or_default();
        twins.insert(0, session);
        self.held += 1;
        if twins.len() > MAX_TWINS {
            twins.pop();
            self.held -= 1;
        }
        self.order.push_back(((scope, end), session));
        self.shrink();
    }

    /// Forgets where a session stood.
    pub fn take(&mut self, scope: u64, end: u64, session: u64) {
        let Some(twins) = self.sessions.get_mut(&(scope, end)) else { return };
        let before = twins.len();
        twins.retain(|twin| *twin != session);
        self.held -= before - twins.len();
        if twins.is_empty() {
            self.sessions.remove(&(scope, end));
        }
    }

    /// Number of sessions.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.held
    }

    /// Whether nothing is known.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.held == 0
    }

    /// Forgets what is too much, and clears the order of what has moved once it is mostly that.
    fn shrink(&mut self) {
        while self.held > self.capacity {
            let Some(((scope, end), session)) = self.order.pop_front() else { return };
            self.take(scope, end, session);
        }
        if self.order.len() > self.capacity.saturating_mul(2) {
            let sessions = &self.sessions;
            let mut seen = HashSet::new();
            let mut latest: VecDeque<(Place, u64)> = VecDeque::new();
            for (place, session) in self.order.drain(..).rev() {
                let stands = sessions.get(&place).is_some_and(|it| it.contains(&session));
                if stands && seen.insert((place, session)) {
                    latest.push_front((place, session));
                }
            }
            self.order = latest;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Beginnings, Chain};

    #[test]
    fn the_longest_beginning_wins() {
        let mut known = Beginnings::new(8);
        let first = Chain::of(1, [1, 2]);
        let second = Chain::of(1, [1, 2, 3, 4]);
        known.put(0, first.end(), 10, None);
        known.put(0, second.end(), 20, None);
        let check = |items: &[u64], expected: Option<(usize, &[u64])>| {
            let chain = Chain::of(1, items.iter().copied());
            assert_eq!(known.longest(0, &chain), expected, "{items:?}");
        };
        check(&[1, 2, 3, 4, 5], Some((4, &[20])));
        check(&[1, 2, 3, 9], Some((2, &[10])));
        check(&[1, 2], Some((2, &[10])));
        check(&[1], None);
        check(&[], None);
        check(&[2, 1], None);
        let elsewhere = Chain::of(1, [1, 2]);
        assert_eq!(known.longest(7, &elsewhere), None);
        let instructed_otherwise = Chain::of(2, [1, 2]);
        assert_eq!(known.longest(0, &instructed_otherwise), None);
    }

    #[test]
    fn twins_are_kept_apart_and_one_that_goes_on_moves() {
        let mut known = Beginnings::new(8);
        let task = Chain::of(1, [1]);
        known.put(0, task.end(), 10, None);
        known.put(0, task.end(), 20, None);
        assert_eq!(known.longest(0, &task), Some((1, &[20, 10][..])));
        let on = Chain::of(1, [1, 5]);
        known.put(0, on.end(), 10, Some(task.end()));
        assert_eq!(known.longest(0, &task), Some((1, &[20][..])));
        assert_eq!(known.longest(0, &on), Some((2, &[10][..])));
    }

    proptest! {
        #[test]
        fn what_is_kept_is_bounded(ends in prop::collection::vec((0_u64..20, 0_u64..50), 0..400)) {
            let mut known = Beginnings::new(10);
            for (end, session) in ends {
                known.put(0, end, session, (session % 3 == 0).then_some(end / 2));
                prop_assert!(known.len() <= 10);
                prop_assert!(known.order.len() <= 20);
            }
        }

        #[test]
        fn a_chain_is_its_items_in_order(
            left in prop::collection::vec(any::<u64>(), 0..20),
            right in prop::collection::vec(any::<u64>(), 0..20),
        ) {
            let ends = (Chain::of(0, left.clone()).end(), Chain::of(0, right.clone()).end());
            prop_assert_eq!(left == right, ends.0 == ends.1);
        }
    }
}
