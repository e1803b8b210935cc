//! What can be wrong with the file, and what is lost then: nothing.

use std::fs::{self, OpenOptions, Permissions};
use std::io::{Seek, SeekFrom, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::pin::Pin;
use std::task::{Context, Waker};

use rusqlite::Connection;
use steersman_store::{
    FileFault, Head, Hint, News, Options, SqliteStore, Store, StoreError, Subscription,
};

use crate::stage::{append, fault_of, id, join_all, kept, on_disk, quick, run, state, titled};

fn open(path: &Path) -> Result<SqliteStore, StoreError> {
    SqliteStore::open(path, &Options { busy_timeout_ms: 50, ..quick() })
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).map_or(0, |found| found.permissions().mode() & 0o777)
}

#[test]
fn files_are_for_the_user_alone() {
    let (folder, store) = on_disk(&quick());
    run(store.create(&id("a"), Head::default(), 0)).unwrap();
    assert_eq!(mode(&folder.path().join("new")), 0o700);
    for file in ["journal.db", "journal.db-wal", "journal.db-shm"] {
        assert_eq!(mode(&folder.path().join("new").join(file)), 0o600, "{file}");
    }
}

#[test]
fn other_files_are_refused_and_left_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let check = |expected: FileFault| {
        let before = fs::read(&path).unwrap();
        assert_eq!(fault_of(open(&path)), expected);
        assert_eq!(fs::read(&path).unwrap(), before);
        fs::remove_file(&path).unwrap();
    };
    for text in ["hello".to_owned(), "x".repeat(5000)] {
        fs::write(&path, text).unwrap();
        check(FileFault::NotADatabase);
    }
    let database = |sql: &str| Connection::open(&path).unwrap().execute_batch(sql).unwrap();
    database("PRAGMA application_id = 42; CREATE TABLE t (x)");
    check(FileFault::Foreign { application_id: 42 });
    database("CREATE TABLE t (x)");
    check(FileFault::Foreign { application_id: 0 });
    drop(open(&path).unwrap());
    database("PRAGMA user_version = 99");
    check(FileFault::Newer { found: 99, known: 3 });
    drop(open(&path).unwrap());
    fs::set_permissions(&path, Permissions::from_mode(0o400)).unwrap();
    check(FileFault::ReadOnly);
}

#[test]
fn a_database_of_the_first_layout_is_taken_over() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let old = Connection::open(&path).unwrap();
    old.execute_batch(include_str!("../../src/sqlite/layout_1.sql")).unwrap();
    old.execute_batch(
        "PRAGMA application_id = 0x53747273; PRAGMA user_version = 1;
         INSERT INTO sessions (num, id, created_ms, updated_ms, last_seq, last_control, change,
           changed_by, lease_epoch, lease_until_ms, state, title, turns, tool_calls)
         VALUES (1, 'a', 0, 7, 1, 0, 0, 'x', 0, 0, 'running', 'old', 0, 0);
         INSERT INTO entries VALUES (1, 1, 7, 'test', '1')",
    )
    .unwrap();
    drop(old);
    for _ in 0..2 {
        let store = open(&path).unwrap();
        run(async {
            let a = id("a");
            assert_eq!(store.session(&a).await.unwrap().unwrap().head, titled("old"));
            assert_eq!(store.read(&a, 0, 9).await.unwrap(), [kept(1, "1")]);
            store.keep(&a, state(2, "2")).await.unwrap();
            assert_eq!(store.kept(&a).await, Ok(Some(state(2, "2"))));
        });
    }
}

#[test]
fn a_folder_or_a_file_in_the_way_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    for path in [folder.path().to_owned(), file.join("journal.db")] {
        assert!(matches!(fault_of(open(&path)), FileFault::Io { .. }), "{path:?}");
        let message = open(&path).unwrap_err().to_string();
        assert!(message.starts_with(&path.display().to_string()), "{message}");
    }
}

#[test]
fn a_damaged_page_is_reported_where_it_is_read() {
    let (folder, store) = on_disk(&quick());
    let (a, body) = (id("a"), format!("{:?}", "x".repeat(1000)));
    run(async {
        store.create(&a, Head::default(), 0).await.unwrap();
        let bodies = vec![body.as_str(); 500];
        store.append(&a, append(0, &bodies)).await.unwrap();
        store.create(&id("b"), titled("healthy"), 0).await.unwrap();
    });
    drop(store);
    let path = folder.path().join("new/journal.db");
    // Pages that are still in the log would hide the damage; which connection closes last, and
    // whether it may empty the log, is a matter of chance.
    let emptied = rusqlite::Connection::open(&path).unwrap();
    emptied.pragma_update(None, "wal_checkpoint", "TRUNCATE").unwrap();
    drop(emptied);
    let mut file = OpenOptions::new().write(true).open(&path).unwrap();
    let length = file.metadata().unwrap().len();
    file.seek(SeekFrom::Start(length / 2)).unwrap();
    file.write_all(&vec![0xff; 64 << 10]).unwrap();
    let store = open(&path).unwrap();
    run(async {
        let fault = fault_of(store.read(&a, 0, 1000).await);
        assert!(matches!(fault, FileFault::Damaged { .. }), "{fault:?}");
        assert_eq!(store.read(&a, 0, 10).await.unwrap().len(), 10);
        let b = store.session(&id("b")).await.unwrap().unwrap();
        assert_eq!(b.head, titled("healthy"));
    });
}

#[test]
fn a_writer_that_does_not_let_go_is_an_error_and_passes() {
    let (_folder, store) = on_disk(&Options { busy_timeout_ms: 50, ..quick() });
    let a = id("a");
    run(async {
        store.create(&a, Head::default(), 0).await.unwrap();
        let other = Connection::open(store.path()).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        let error = store.append(&a, append(0, &["1"])).await.unwrap_err();
        assert!(error.is_passing());
        assert_eq!(fault_of::<()>(Err(error)), FileFault::Locked { waited_ms: 50 });
        assert_eq!(store.read(&a, 0, 1).await.unwrap(), []);
        other.execute_batch("ROLLBACK").unwrap();
        assert_eq!(store.append(&a, append(0, &["1"])).await, Ok(1));
    });
}

#[test]
fn a_full_disk_loses_nothing_and_appends_go_on_when_there_is_space() {
    let (folder, store) = on_disk(&Options { max_bytes: Some(1 << 20), ..quick() });
    let (a, b) = (id("a"), id("b"));
    let body = format!("{:?}", "x".repeat(60_000));
    run(async {
        store.create(&a, Head::default(), 0).await.unwrap();
        store.create(&b, Head::default(), 0).await.unwrap();
        store.append(&b, append(0, &[body.as_str(); 8])).await.unwrap();
        let mut last = 0;
        let error = loop {
            match store.append(&a, append(last, &[&body, "1"])).await {
                Ok(seq) => last = seq,
                Err(error) => break error,
            }
            assert!(last < 100);
        };
        assert!(last >= 10, "{last}");
        assert!(error.is_passing());
        assert_eq!(fault_of::<()>(Err(error)), FileFault::Full);
        assert_eq!(fault_of(store.append(&a, append(last, &["1"])).await), FileFault::Full);
        assert_eq!(store.read(&a, 0, 100).await.unwrap().len() as u64, last);

        let again = SqliteStore::open(folder.path().join("new/journal.db"), &quick()).unwrap();
        assert_eq!(again.read(&a, 0, 100).await.unwrap().len() as u64, last);
        store.delete(&b).await.unwrap();
        assert_eq!(store.append(&a, append(last, &[&body, "1"])).await, Ok(last + 2));
    });
}

/// Starts it, and leaves before it is done.
fn abandon(mut future: Pin<Box<dyn Future<Output = Result<u64, StoreError>> + Send + '_>>) {
    let mut context = Context::from_waker(Waker::noop());
    assert!(future.as_mut().poll(&mut context).is_pending());
}

#[test]
fn an_append_that_nobody_waits_for_is_written_whole() {
    let (folder, store) = on_disk(&quick());
    let a = id("a");
    run(store.create(&a, Head::default(), 0)).unwrap();
    abandon(store.append(&a, append(0, &["1", "2"])));
    drop(store.append(&a, append(2, &["never asked for"])));
    drop(store);
    let store = open(&folder.path().join("new/journal.db")).unwrap();
    assert_eq!(run(store.read(&a, 0, 9)).unwrap(), [kept(1, "1"), kept(2, "2")]);
}

#[test]
fn a_full_queue_makes_writers_wait() {
    let (_folder, store) = on_disk(&Options { queue_bytes: 2048, ..quick() });
    let names: Vec<_> = (0..50).map(|n| id(&format!("s{n}"))).collect();
    let body = format!("{:?}", "x".repeat(10_000));
    run(async {
        let all = names.iter().map(|id| store.create(id, Head::default(), 0));
        join_all(all).await.into_iter().for_each(|done| done.unwrap());
        let all = names.iter().map(|id| store.append(id, append(0, &[&body])));
        assert!(join_all(all).await.iter().all(|done| *done == Ok(1)));
    });
}

async fn hears_of(news: &mut Subscription, expected: Hint) -> bool {
    loop {
        match news.next().await {
            Some(News::Changed(hint)) if hint == expected => return true,
            Some(_) => {}
            None => return false,
        }
    }
}

#[test]
fn what_another_process_stores_is_noticed() {
    let (_folder, ours) = on_disk(&quick());
    let theirs = SqliteStore::open(ours.path(), &quick()).unwrap();
    let a = id("a");
    run(async {
        let mut news = ours.subscribe();
        theirs.create(&a, Head::default(), 0).await.unwrap();
        theirs.append(&a, append(0, &["1"])).await.unwrap();
        assert!(hears_of(&mut news, Hint { id: a.clone(), last_seq: 1, last_control: 0 }).await);
        theirs.control(&a, crate::stage::control("1")).await.unwrap();
        assert!(hears_of(&mut news, Hint { id: a.clone(), last_seq: 1, last_control: 1 }).await);
    });
}

#[test]
fn two_may_create_the_same_file_at_once() {
    for _ in 0..10 {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.db");
        let open = || SqliteStore::open(&path, &quick()).map(drop);
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(open)).collect();
            for thread in threads {
                assert_eq!(thread.join().unwrap(), Ok(()));
            }
        });
    }
}
