//! Keys and what was used under them, for as long as the program runs.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::accounts::MAX_KEYS;
use crate::store::cap_time;
use crate::{Accounts, KeyRecord, MemoryStore, Pending, Spending, StoreError};

/// What a [`MemoryStore`] knows of keys.
#[derive(Debug, Default)]
pub(crate) struct Book(Mutex<Pages>);

#[derive(Debug, Default)]
struct Pages {
    keys: Vec<KeyRecord>,
    version: u64,
    spent: BTreeMap<(String, u64), Spending>,
}

impl Book {
    fn lock(&self) -> MutexGuard<'_, Pages> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pages {
    fn add_key(&mut self, key: KeyRecord) -> Result<(), StoreError> {
        key.check()?;
        if self.keys.len() >= MAX_KEYS {
            let what = format!("another key: there are {MAX_KEYS} already, and no more at most");
            return Err(StoreError::refused(what));
        }
        if self.keys.iter().any(|known| known.name == key.name) {
            return Err(StoreError::NameTaken { name: key.name });
        }
        if self.keys.iter().any(|known| known.hash == key.hash) {
            return Err(StoreError::refused("a key that is there already".to_owned()));
        }
        self.keys.push(KeyRecord {
            created_ms: cap_time(key.created_ms),
            expires_ms: key.expires_ms.map(cap_time),
            revoked_ms: key.revoked_ms.map(cap_time),
            ..key
        });
        self.version += 1;
        Ok(())
    }

    fn revoke_key(&mut self, name: &str, at_ms: u64) -> Result<u64, StoreError> {
        let unknown = || StoreError::UnknownKey { name: name.to_owned() };
        let key = self.keys.iter_mut().find(|key| key.name == name).ok_or_else(unknown)?;
        self.version += 1;
        Ok(*key.revoked_ms.get_or_insert(cap_time(at_ms)))
    }

    fn spend(&mut self, spendings: Vec<Spending>) -> Result<(), StoreError> {
        spendings.iter().try_for_each(Spending::check)?;
        for one in spendings {
            let none =
                || Spending { account: one.account.clone(), day: one.day, ..Spending::default() };
            let sum = self.spent.entry((one.account.clone(), one.day)).or_insert_with(none);
            sum.add(&one);
            for count in sum.counts() {
                *count = cap_time(*count);
            }
        }
        Ok(())
    }
}

fn ready<'a, T: Send + 'a>(answer: Result<T, StoreError>) -> Pending<'a, T> {
    Box::pin(std::future::ready(answer))
}

impl Accounts for MemoryStore {
    fn add_key(&self, key: KeyRecord) -> Pending<'_, ()> {
        ready(self.book.lock().add_key(key))
    }

    fn revoke_key(&self, name: &str, at_ms: u64) -> Pending<'_, u64> {
        ready(self.book.lock().revoke_key(name, at_ms))
    }

    fn keys(&self) -> Pending<'_, Vec<KeyRecord>> {
        ready(Ok(self.book.lock().keys.iter().rev().cloned().collect()))
    }

    fn keys_version(&self) -> Pending<'_, u64> {
        ready(Ok(self.book.lock().version))
    }

    fn spend(&self, spendings: Vec<Spending>) -> Pending<'_, ()> {
        ready(self.book.lock().spend(spendings))
    }

    fn spent(&self, from_day: u64) -> Pending<'_, Vec<Spending>> {
        let mut sums: Vec<Spending> = Vec::new();
        for ((account, _), one) in
            self.book.lock().spent.iter().filter(|((_, day), _)| *day >= from_day)
        {
            match sums.last_mut().filter(|last| last.account == *account) {
                Some(last) => last.add(one),
                None => sums.push(Spending { day: from_day, ..one.clone() }),
            }
        }
        ready(Ok(sums))
    }
}
