//! A bounded map by hash.

use alloc::vec::Vec;
use core::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// How many entries share a place; the one unused for longest makes room.
const WAYS: usize = 4;

/// A bounded map from hashes to values: `SETS` × 4 entries, constant work per use whatever it
/// holds.
#[derive(Clone)]
pub(crate) struct Cache<V, const SETS: usize> {
    entries: Vec<Entry<V>>,
    tick: u32,
}

#[derive(Clone)]
struct Entry<V> {
    key: u64,
    /// Tick of the last use; 0 marks a free entry.
    used: u32,
    value: V,
}

impl<V, const SETS: usize> Default for Cache<V, SETS> {
    fn default() -> Self {
        Self { entries: Vec::new(), tick: 0 }
    }
}

impl<V: Clone + Default, const SETS: usize> Cache<V, SETS> {
    /// Forgets everything. Keeps the room.
    pub(crate) fn clear(&mut self) {
        for entry in &mut self.entries {
            entry.used = 0;
        }
    }

    /// The value of `key`, if it is known.
    pub(crate) fn look(&self, key: u64) -> Option<&V> {
        if self.entries.is_empty() {
            return None;
        }
        let set = &self.entries[Self::place(key)];
        set.iter().find(|entry| entry.used != 0 && entry.key == key).map(|entry| &entry.value)
    }

    /// The value of `key`, and whether it was known; a new one takes the place of the one unused
    /// for longest.
    pub(crate) fn touch(&mut self, key: u64) -> (&mut V, bool) {
        if self.entries.is_empty() {
            let free = Entry { key: 0, used: 0, value: V::default() };
            self.entries.resize(SETS * WAYS, free);
        }
        self.tick += 1;
        let tick = self.tick;
        let set = &mut self.entries[Self::place(key)];
        let known = set.iter().position(|entry| entry.used != 0 && entry.key == key);
        let at = known.unwrap_or_else(|| {
            let oldest = set.iter().enumerate().min_by_key(|(_, entry)| entry.used);
            oldest.map_or(0, |(at, _)| at)
        });
        let entry = &mut set[at];
        if known.is_none() {
            (entry.key, entry.value) = (key, V::default());
        }
        entry.used = tick;
        (&mut entry.value, known.is_some())
    }

    fn place(key: u64) -> core::ops::Range<usize> {
        let set = (key % SETS as u64) as usize * WAYS;
        set..set + WAYS
    }
}

impl<V, const SETS: usize> Cache<V, SETS> {
    /// What is held, in the order of last use.
    fn held(&self) -> Vec<(u64, &V)> {
        let mut held: Vec<_> = self.entries.iter().filter(|entry| entry.used != 0).collect();
        held.sort_unstable_by_key(|entry| entry.used);
        held.into_iter().map(|entry| (entry.key, &entry.value)).collect()
    }
}

/// Two caches are equal if they hold the same and would make room in the same order.
impl<V: PartialEq, const SETS: usize> PartialEq for Cache<V, SETS> {
    fn eq(&self, other: &Self) -> bool {
        self.held() == other.held()
    }
}

impl<V: fmt::Debug, const SETS: usize> fmt::Debug for Cache<V, SETS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.held()).finish()
    }
}

impl<V: Serialize, const SETS: usize> Serialize for Cache<V, SETS> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let held = self.entries.iter().filter(|entry| entry.used != 0);
        serializer.collect_seq(held.map(|entry| (entry.key, entry.used, &entry.value)))
    }
}

impl<'de, V: Clone + Default + Deserialize<'de>, const SETS: usize> Deserialize<'de>
    for Cache<V, SETS>
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let stored: Vec<(u64, u32, V)> = Vec::deserialize(deserializer)?;
        let mut cache = Self::default();
        for (key, used, stored) in stored.into_iter().take(SETS * WAYS) {
            *cache.touch(key).0 = stored;
            let set = &mut cache.entries[Self::place(key)];
            if let Some(entry) = set.iter_mut().find(|entry| entry.key == key) {
                entry.used = used;
            }
        }
        cache.tick = cache.entries.iter().map(|entry| entry.used).max().unwrap_or(0);
        Ok(cache)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_entry_unused_for_longest_makes_room() {
        let mut cache = Cache::<u8, 2>::default();
        for key in [0, 2, 4, 6] {
            *cache.touch(key).0 = key as u8;
        }
        cache.touch(0);
        cache.touch(8);
        let known = [0, 2, 4, 6, 8].map(|key| cache.look(key).is_some());
        assert_eq!(known, [true, false, true, true, true]);
    }

    #[test]
    fn stored_caches_go_on_alike() -> Result<(), serde_json::Error> {
        let mut cache = Cache::<u8, 2>::default();
        for key in [9, 1, 3, 5, 7, 1, 0, 2] {
            *cache.touch(key).0 = key as u8;
        }
        let mut stored: Cache<u8, 2> = serde_json::from_str(&serde_json::to_string(&cache)?)?;
        for key in [11, 4, 1, 13, 0, 3] {
            assert_eq!(cache.touch(key), stored.touch(key));
        }
        Ok(())
    }
}
