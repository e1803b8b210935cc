//! Keys, and what was used under them.

use std::sync::Arc;

use rusqlite::Connection;
use steersman_store::{
    Accounts, KeyRecord, MAX_ACCOUNT_BYTES, MAX_KEY_BODY_BYTES, MemoryStore, Spending, SqliteStore,
    StoreError,
};

use crate::stage::{on_disk, quick, run};

/// Runs the same over every kind of store.
fn over_all<F: Future<Output = ()>>(check: impl Fn(Arc<dyn Accounts>) -> F) {
    run(check(Arc::new(MemoryStore::new())));
    let (_folder, store) = on_disk(&quick());
    run(check(Arc::new(store)));
}

fn key(name: &str, hash: u8) -> KeyRecord {
    KeyRecord {
        name: name.to_owned(),
        hash: [hash; 32],
        created_ms: u64::from(hash),
        expires_ms: hash.is_multiple_of(2).then_some(u64::MAX),
        revoked_ms: None,
        body: format!("{{\"n\":{hash}}}"),
    }
}

/// The key as it is kept: times end at `i64::MAX`.
fn kept(name: &str, hash: u8) -> KeyRecord {
    let most = i64::MAX.cast_unsigned();
    KeyRecord { expires_ms: key(name, hash).expires_ms.map(|_| most), ..key(name, hash) }
}

fn used(account: &str, day: u64, counts: [u64; 6]) -> Spending {
    let [calls, input_tokens, output_tokens, cost_nanodollars, untold_calls, unpriced_calls] =
        counts;
    Spending {
        account: account.to_owned(),
        day,
        calls,
        input_tokens,
        output_tokens,
        cost_nanodollars,
        untold_calls,
        unpriced_calls,
    }
}

#[test]
fn keys_are_added_and_taken_back() {
    over_all(async |store: Arc<dyn Accounts>| {
        assert_eq!(store.keys().await, Ok(Vec::new()));
        let mut versions = vec![store.keys_version().await.unwrap()];
        store.add_key(key("a", 1)).await.unwrap();
        versions.push(store.keys_version().await.unwrap());
        store.add_key(key("b.c-D_9", 2)).await.unwrap();
        assert_eq!(store.keys().await.unwrap(), [kept("b.c-D_9", 2), kept("a", 1)]);
        versions.push(store.keys_version().await.unwrap());

        assert_eq!(store.revoke_key("a", 7).await, Ok(7));
        assert_eq!(store.revoke_key("a", 8).await, Ok(7));
        let revoked = KeyRecord { revoked_ms: Some(7), ..kept("a", 1) };
        assert_eq!(store.keys().await.unwrap()[1], revoked);
        versions.push(store.keys_version().await.unwrap());
        versions.dedup();
        assert_eq!(versions.len(), 4, "{versions:?}");

        let unknown = StoreError::UnknownKey { name: "x".to_owned() };
        assert_eq!(store.revoke_key("x", 1).await, Err(unknown));
        let taken = StoreError::NameTaken { name: "a".to_owned() };
        assert_eq!(store.add_key(key("a", 3)).await, Err(taken));
        let refused = store.add_key(key("same-key", 2)).await;
        assert!(matches!(refused, Err(StoreError::Refused { .. })), "{refused:?}");
        assert_eq!(store.keys().await.unwrap().len(), 2);
    });
}

#[test]
fn what_is_no_key_is_refused() {
    over_all(async |store: Arc<dyn Accounts>| {
        let long = "x".repeat(65);
        let names = ["", "a b", "ä", "a/b", "a\n", long.as_str()].map(|name| key(name, 1));
        let bodies = ["", "{", "{}\n", &format!("\"{}\"", "x".repeat(MAX_KEY_BODY_BYTES))]
            .map(|body| KeyRecord { body: body.to_owned(), ..key("a", 1) });
        for wrong in names.into_iter().chain(bodies) {
            let refused = store.add_key(wrong.clone()).await;
            assert!(matches!(refused, Err(StoreError::Refused { .. })), "{wrong:?}: {refused:?}");
        }
        store.add_key(key(&"x".repeat(64), 1)).await.unwrap();
    });
}

#[test]
fn what_was_used_is_added_up_by_account_and_day() {
    over_all(async |store: Arc<dyn Accounts>| {
        let most = i64::MAX.cast_unsigned();
        store.spend(Vec::new()).await.unwrap();
        assert_eq!(store.spent(0).await, Ok(Vec::new()));
        let spendings = vec![
            used("b", 10, [1, 2, 3, 4, 5, 6]),
            used("a", 10, [1, 0, 0, 0, 0, 0]),
            used("b", 10, [1, 1, 1, 1, 1, 1]),
        ];
        store.spend(spendings).await.unwrap();
        store.spend(vec![used("b", 11, [0, 0, 0, 9, 0, 0])]).await.unwrap();
        let all = [used("a", 0, [1, 0, 0, 0, 0, 0]), used("b", 0, [2, 3, 4, 14, 6, 7])];
        assert_eq!(store.spent(0).await.unwrap(), all);
        assert_eq!(store.spent(11).await.unwrap(), [used("b", 11, [0, 0, 0, 9, 0, 0])]);
        assert_eq!(store.spent(12).await, Ok(Vec::new()));

        for _ in 0..2 {
            store.spend(vec![used("c", 12, [u64::MAX, 1, 0, 0, 0, 0])]).await.unwrap();
        }
        assert_eq!(store.spent(12).await.unwrap(), [used("c", 12, [most, 2, 0, 0, 0, 0])]);

        let long = used(&"x".repeat(MAX_ACCOUNT_BYTES + 1), 12, [1; 6]);
        let refused = store.spend(vec![used("d", 12, [1; 6]), long]).await;
        assert!(matches!(refused, Err(StoreError::Refused { .. })), "{refused:?}");
        assert_eq!(store.spent(12).await.unwrap().len(), 1);
    });
}

#[test]
fn another_process_sees_keys_and_no_key_itself_is_in_the_file() {
    let (folder, store) = on_disk(&quick());
    let path = folder.path().join("new/journal.db");
    let other = SqliteStore::open(&path, &quick()).unwrap();
    run(async {
        let before = other.keys_version().await.unwrap();
        store.add_key(key("a", 1)).await.unwrap();
        store.spend(vec![used("a", 1, [1; 6])]).await.unwrap();
        assert_ne!(other.keys_version().await.unwrap(), before);
        assert_eq!(other.keys().await.unwrap(), [kept("a", 1)]);
        assert_eq!(other.spent(0).await.unwrap(), [used("a", 0, [1; 6])]);
    });
    let columns: String = Connection::open(&path)
        .unwrap()
        .query_row("SELECT group_concat(name) FROM pragma_table_info('keys')", [], |row| row.get(0))
        .unwrap();
    assert_eq!(columns, "num,name,hash,created_ms,expires_ms,revoked_ms,body");
}
