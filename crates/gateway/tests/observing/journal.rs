//! What is told of sessions reaches the store, and a store in trouble holds nobody up.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;
use steersman_engine::Action;
use steersman_gateway::govern::Course;
use steersman_gateway::journal::QUEUE;
use steersman_gateway::record::{Entry, Recorder, Standing};
use steersman_store::{
    Append, Head, MemoryStore, NewEntry, Options, SessionId, SqliteStore, Store,
};

use crate::stage::{AT_MS, asked, decided, id, journal, kinds, opened, replied, snapshot, tell};

fn in_memory() -> Arc<dyn Store> {
    Arc::new(MemoryStore::new())
}

async fn told(store: &Arc<dyn Store>, session: &SessionId) -> Vec<String> {
    let entries = store.read(session, 0, 10_000).await.unwrap();
    kinds(&entries).into_iter().map(str::to_owned).collect()
}

#[tokio::test]
async fn entries_are_written_in_order_and_the_head_sums_them_up() {
    let store = in_memory();
    let journal = journal(&store);
    tell(&*journal, "gw-1", AT_MS);
    journal.record("gw-2", AT_MS + 1, &opened("Another."));
    journal.close().await;
    let expected =
        "opened asked decided steered replied asked decided replied".split(' ').collect::<Vec<_>>();
    assert_eq!(told(&store, &id("gw-1")).await, expected);
    assert_eq!(told(&store, &id("gw-2")).await, ["opened"]);
    let summary = store.session(&id("gw-1")).await.unwrap().unwrap();
    let extra = json!({
        "glance": {
            "scores": [0.92, 0.92],
            "last": {
                "action": "nudge", "reason": "finished", "turn": 0, "shadow": false,
                "is_over": true,
            },
        },
        "kind": "gateway", "name": "ses_1", "source": "x-session-id", "parent": null,
        "format": "openai-responses", "mode": "govern", "key": "alice",
    });
    let head = Head {
        state: "open".to_owned(),
        title: "Fix the test.".to_owned(),
        agent: Some("codex".to_owned()),
        model: Some("some-model-1".to_owned()),
        workspace: None,
        turns: 2,
        tool_calls: 2,
        tokens: Some(220),
        cost_nanos: Some(14),
        extra: None,
    };
    let mut found = summary.head;
    let told: serde_json::Value = serde_json::from_str(&found.extra.take().unwrap()).unwrap();
    assert_eq!((found, told, summary.created_ms), (head, extra, AT_MS));
    let health = journal.health();
    assert_eq!((health.written(), health.lost(), health.fault()), (9, 0, None));
}

#[tokio::test]
async fn a_session_is_gone_on_with_where_it_was_left() {
    let store = in_memory();
    for run in 0..3 {
        let journal = journal(&store);
        journal.record("gw-1", AT_MS, &opened("x"));
        journal.record("gw-1", AT_MS, &replied(&["read"]));
        // Somebody else writes to it as well.
        journal.close().await;
        let last = store.session(&id("gw-1")).await.unwrap().unwrap().last_seq;
        let body = "1".into();
        let entry = NewEntry { at_ms: AT_MS, kind: "other".to_owned(), body };
        store.append(&id("gw-1"), Append::new(last, vec![entry])).await.unwrap();
        assert_eq!(last, 2 + 3 * run);
    }
    let head = store.session(&id("gw-1")).await.unwrap().unwrap().head;
    assert_eq!((head.turns, head.state.as_str()), (3, "open"));
}

#[tokio::test]
async fn the_state_says_what_was_done_last() {
    for (course, expected) in
        [(Course::Force, "forced"), (Course::Answer, "capped"), (Course::Pass, "open")]
    {
        let store = in_memory();
        let journal = journal(&store);
        journal.record("gw-1", AT_MS, &opened("x"));
        journal.record("gw-1", AT_MS, &Entry::Steered { course });
        journal.close().await;
        let head = store.session(&id("gw-1")).await.unwrap().unwrap().head;
        assert_eq!(head.state, expected);
    }
}

#[tokio::test(start_paused = true)]
async fn what_does_not_fit_is_counted_and_told() {
    let store = in_memory();
    let journal = journal(&store);
    // The writer runs on this thread, too, and nothing is awaited: the queue fills.
    for _ in 0..QUEUE + 10 {
        journal.record("gw-1", AT_MS, &asked(1));
    }
    assert_eq!(journal.health().lost(), 10);
    tokio::time::sleep(Duration::from_secs(1)).await;
    journal.record("gw-1", AT_MS, &decided(Action::Continue));
    journal.close().await;
    let told = store.read(&id("gw-1"), QUEUE as u64 - 1, 10).await.unwrap();
    assert_eq!(kinds(&told), ["asked", "lost", "decided"]);
    assert_eq!(told[1].body, r#"{"entry":"lost","entries":10}"#);
    assert_eq!(journal.health().written(), QUEUE as u64 + 1);

    // Closed: nothing is written any more, and nobody is held up.
    journal.record("gw-1", AT_MS, &asked(1));
    journal.record("Not an id", AT_MS, &asked(1));
    assert_eq!(journal.health().lost(), 12);
}

#[tokio::test(start_paused = true)]
async fn only_the_latest_snapshot_is_made_and_written() {
    let store = in_memory();
    let journal = journal(&store);
    let made = Arc::new(AtomicU64::new(0));
    let keep = |end: u64| {
        let made = Arc::clone(&made);
        let make = move || {
            made.fetch_add(1, Ordering::SeqCst);
            snapshot(end)
        };
        journal.keep("gw-1", 3, Box::new(make));
    };
    journal.record("gw-1", AT_MS, &opened("x"));
    (1..=50).for_each(keep);
    // What waits is what is recalled.
    assert_eq!(journal.recall("gw-1").map(|kept| kept.0), Some(snapshot(50)));
    assert_eq!(made.load(Ordering::SeqCst), 1);
    tokio::time::sleep(Duration::from_secs(1)).await;
    let kept = store.kept(&id("gw-1")).await.unwrap().unwrap();
    assert_eq!((kept.scope, kept.end), (3, 50));
    assert_eq!(journal.recall("gw-1").map(|kept| kept.0), Some(snapshot(50)));
    let standing = Standing { id: "gw-1".to_owned(), scope: 3, end: 50 };
    assert_eq!(journal.standing(10), [standing]);

    keep(51);
    journal.close().await;
    assert_eq!(store.kept(&id("gw-1")).await.unwrap().unwrap().end, 51);
    assert_eq!(made.load(Ordering::SeqCst), 2);
    assert_eq!((journal.health().kept(), journal.health().not_kept()), (2, 0));
    assert_eq!(journal.recall("gw-2"), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_kept_is_recalled_on_any_thread() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path().join("journal.db"), &Options::default()).unwrap();
    let store: Arc<dyn Store> = Arc::new(store);
    let first = journal(&store);
    first.record("gw-1", AT_MS, &opened("x"));
    first.keep("gw-1", 3, Box::new(|| snapshot(7)));
    first.close().await;
    let second = journal(&store);
    let recall = |journal: &dyn Recorder| {
        // More often than a task may ask tokio for something in one go.
        for _ in 0..300 {
            assert_eq!(journal.recall("gw-1").map(|kept| kept.0), Some(snapshot(7)));
        }
        assert_eq!(journal.standing(1).len(), 1);
    };
    let on_worker = Arc::clone(&second);
    tokio::spawn(async move { recall(&*on_worker) }).await.unwrap();
    let on_thread = Arc::clone(&second);
    std::thread::spawn(move || recall(&*on_thread)).join().unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_full_disk_costs_entries_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let options = Options { max_bytes: Some(512 << 10), ..Options::default() };
    let store = SqliteStore::open(folder.path().join("journal.db"), &options).unwrap();
    let store: Arc<dyn Store> = Arc::new(store);
    fill(&store).await;
    let journal = journal(&store);
    let health = journal.health();
    let long = Entry::Said { text: "x".repeat(60_000), template: "t".to_owned() };
    // Few enough to fit once there is room again, whatever waits in the queue by then.
    (0..4).for_each(|_| journal.record("gw-1", AT_MS, &long));
    until(|| health.fault().is_some()).await;
    assert!(health.fault().unwrap().contains("no space left"), "{:?}", health.fault());
    assert!(health.lost() > 0);

    store.delete(&id("filler")).await.unwrap();
    until(|| health.fault().is_none()).await;
    journal.record("gw-1", AT_MS, &asked(1));
    journal.close().await;
    let entries = store.read(&id("gw-1"), 0, 10_000).await.unwrap();
    assert!(kinds(&entries).contains(&"asked"));
    let told: u64 = entries
        .iter()
        .filter_map(|entry| match serde_json::from_str(&entry.body).unwrap() {
            Entry::Lost { entries } => Some(entries),
            _ => None,
        })
        .sum();
    assert_eq!(told, health.lost());
}

/// Fills a store up but for a little.
async fn fill(store: &Arc<dyn Store>) {
    let filler = id("filler");
    store.create(&filler, Head::default(), 0).await.unwrap();
    let body = format!("{:?}", "x".repeat(20_000));
    for seq in 0.. {
        let entry = NewEntry { at_ms: 0, kind: "x".to_owned(), body: body.clone().into() };
        if store.append(&filler, Append::new(seq, vec![entry])).await.is_err() {
            break;
        }
    }
}

/// Lets the writer run until something holds; the clock of the test does not wait.
async fn until(mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        tokio::time::sleep(Duration::from_millis(250)).await;
        assert!(begun.elapsed() < Duration::from_secs(60), "it does not come to hold");
    }
}
