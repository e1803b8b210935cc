//! The best few of very many.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Keeps the `limit` entries with the greatest keys; of equal ones the earlier.
#[derive(Debug)]
pub(crate) struct Top<K, T> {
    limit: usize,
    seen: u64,
    heap: BinaryHeap<Reverse<Ranked<K, T>>>,
}

#[derive(Debug)]
struct Ranked<K, T> {
    rank: (K, Reverse<u64>),
    entry: T,
}

impl<K: Ord, T> PartialEq for Ranked<K, T> {
    fn eq(&self, other: &Self) -> bool {
        self.rank == other.rank
    }
}

impl<K: Ord, T> Eq for Ranked<K, T> {}

impl<K: Ord, T> PartialOrd for Ranked<K, T> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<K: Ord, T> Ord for Ranked<K, T> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.rank.cmp(&other.rank)
    }
}

impl<K: Ord, T> Top<K, T> {
    /// Keeps at most `limit` entries.
    pub(crate) const fn new(limit: usize) -> Self {
        Self { limit, seen: 0, heap: BinaryHeap::new() }
    }

    /// Offers an entry, which is only made if it is kept.
    pub(crate) fn offer(&mut self, key: K, entry: impl FnOnce() -> T) {
        self.seen += 1;
        let rank = (key, Reverse(self.seen));
        if self.heap.len() >= self.limit {
            match self.heap.peek() {
                Some(Reverse(least)) if least.rank < rank => drop(self.heap.pop()),
                _ => return,
            }
        }
        self.heap.push(Reverse(Ranked { rank, entry: entry() }));
    }

    /// How many were offered and not kept.
    pub(crate) fn left_out(&self) -> u64 {
        self.seen - self.heap.len() as u64
    }

    /// The kept entries, the greatest first.
    pub(crate) fn into_sorted(self) -> Vec<T> {
        self.heap.into_sorted_vec().into_iter().map(|ranked| ranked.0.entry).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Top;

    #[test]
    fn keeps_the_greatest_and_the_earlier_of_equals() {
        let cases = [
            (2, vec![(1, 'a'), (3, 'b'), (2, 'c')], "bc", 1),
            (2, vec![(1, 'a'), (1, 'b'), (1, 'c')], "ab", 1),
            (0, vec![(1, 'a')], "", 1),
            (9, vec![(1, 'a'), (2, 'b')], "ba", 0),
        ];
        for (limit, offers, expected, left_out) in cases {
            let mut top = Top::new(limit);
            for (key, entry) in offers {
                top.offer(key, || entry);
            }
            assert_eq!(top.left_out(), left_out);
            assert_eq!(top.into_sorted().into_iter().collect::<String>(), expected);
        }
    }
}
