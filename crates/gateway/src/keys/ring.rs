//! The keys that are known, kept in memory so that requests do not read the store.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use steersman_store::{Accounts, StoreError};
use tokio::sync::Mutex;
use tokio::time::{Duration, Instant, sleep, sleep_until};

use super::{Key, KeyHash};

/// How often is looked whether keys were made or revoked: a revoked key holds so long at most.
pub const LOOK: Duration = Duration::from_secs(1);
/// The shortest time between two looks because of keys that are not known. Who sends one waits so
/// long at most, and the store is not read more often, however many come.
pub const MISS_PAUSE: Duration = Duration::from_millis(200);

type Known = HashMap<KeyHash, Arc<Key>>;

/// All keys. A key that is made while the gateway runs is known to every request that comes after.
pub struct Ring {
    accounts: Arc<dyn Accounts>,
    known: RwLock<Arc<Known>>,
    read: Mutex<Read>,
}

/// The last look into the store.
#[derive(Default)]
struct Read {
    version: Option<u64>,
    begun: Option<Instant>,
    /// What the store said, if it could not be read.
    fault: Option<StoreError>,
}

impl std::fmt::Debug for Ring {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ring").finish_non_exhaustive()
    }
}

impl Ring {
    /// Reads the keys, and goes on looking for changes until it is dropped. Needs a tokio runtime.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn begin(accounts: Arc<dyn Accounts>) -> Result<Arc<Self>, StoreError> {
        let ring = Arc::new(Self { accounts, known: RwLock::default(), read: Mutex::default() });
        if let Some(fault) = ring.look().await {
            return Err(fault);
        }
        let weak = Arc::downgrade(&ring);
        tokio::spawn(async move {
            loop {
                sleep(LOOK).await;
                let Some(ring) = weak.upgrade() else { return };
                ring.look().await;
            }
        });
        Ok(ring)
    }

    fn known(&self, hash: &KeyHash) -> Option<Arc<Key>> {
        self.known.read().unwrap_or_else(PoisonError::into_inner).get(hash).cloned()
    }

    /// The key of a hash, revoked and expired ones included; `None` if there is none.
    ///
    /// # Errors
    /// It is not known here, and the store cannot be asked.
    pub async fn find(&self, hash: &KeyHash) -> Result<Option<Arc<Key>>, StoreError> {
        if let Some(key) = self.known(hash) {
            return Ok(Some(key));
        }
        let asked = Instant::now();
        let mut read = self.read.lock().await;
        // One look serves all who came before it began.
        if read.begun.is_none_or(|begun| begun <= asked) {
            if let Some(begun) = read.begun {
                sleep_until(begun + MISS_PAUSE).await;
            }
            self.read(&mut read).await;
        }
        match (self.known(hash), read.fault.clone()) {
            (Some(key), _) => Ok(Some(key)),
            (None, None) => Ok(None),
            (None, Some(fault)) => Err(fault),
        }
    }

    /// Looks for changes; what is wrong if the store cannot be read. Then what was known holds.
    async fn look(&self) -> Option<StoreError> {
        let mut read = self.read.lock().await;
        self.read(&mut read).await;
        read.fault.clone()
    }

    async fn read(&self, read: &mut Read) {
        read.begun = Some(Instant::now());
        read.fault = self.take_in(read).await.err();
    }

    async fn take_in(&self, read: &mut Read) -> Result<(), StoreError> {
        // The number first: a change in between is read once more the next time.
        let version = self.accounts.keys_version().await?;
        if read.version == Some(version) {
            return Ok(());
        }
        let records = self.accounts.keys().await?;
        let known: Known =
            records.iter().map(|record| (record.hash, Arc::new(Key::from(record)))).collect();
        *self.known.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(known);
        read.version = Some(version);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use steersman_store::{KeyRecord, MemoryStore};

    use super::*;

    fn record(name: &str, hash: u8) -> KeyRecord {
        KeyRecord {
            name: name.to_owned(),
            hash: [hash; 32],
            created_ms: 1,
            expires_ms: None,
            revoked_ms: None,
            body: "{}".to_owned(),
        }
    }

    async fn name_of(ring: &Ring, hash: u8) -> Option<String> {
        ring.find(&[hash; 32]).await.unwrap().map(|key| key.name.clone())
    }

    #[tokio::test(start_paused = true)]
    async fn a_key_is_known_to_whoever_comes_after_it_was_made() {
        let store = Arc::new(MemoryStore::new());
        let ring = Ring::begin(Arc::clone(&store) as Arc<dyn Accounts>).await.unwrap();
        assert_eq!(name_of(&ring, 1).await, None);
        store.add_key(record("a", 1)).await.unwrap();
        let before = Instant::now();
        assert_eq!(name_of(&ring, 1).await.as_deref(), Some("a"));
        assert_eq!(before.elapsed(), MISS_PAUSE);
        let before = Instant::now();
        assert_eq!(name_of(&ring, 1).await.as_deref(), Some("a"));
        assert_eq!(before.elapsed(), Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn keys_that_are_not_known_share_their_looks() {
        let store = Arc::new(MemoryStore::new());
        let ring = Ring::begin(Arc::clone(&store) as Arc<dyn Accounts>).await.unwrap();
        let before = Instant::now();
        let asking = (0..100).map(|hash| name_of(&ring, hash));
        let found = futures::future::join_all(asking).await;
        assert!(found.iter().all(Option::is_none));
        assert!(before.elapsed() <= 2 * MISS_PAUSE, "{:?}", before.elapsed());
    }

    #[tokio::test(start_paused = true)]
    async fn a_revoked_key_holds_a_second_at_most() {
        let store = Arc::new(MemoryStore::new());
        store.add_key(record("a", 1)).await.unwrap();
        let ring = Ring::begin(Arc::clone(&store) as Arc<dyn Accounts>).await.unwrap();
        store.revoke_key("a", 7).await.unwrap();
        sleep(LOOK + Duration::from_millis(1)).await;
        let found = ring.find(&[1; 32]).await.unwrap().unwrap();
        assert_eq!(found.revoked_ms, Some(7));
    }
}
