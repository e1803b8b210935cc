//! What any store has to do.

use std::sync::Arc;

use steersman_store::{
    AskLease, Control, Filter, Head, Hint, Kept, Lease, MAX_BODY_BYTES, MAX_KEPT_BYTES, NewEntry,
    News, Standing, Store, StoreError, Summary, Timer,
};

use crate::stage::{append, control, entry, id, join_all, kept, over_all, state, titled};

fn summary(name: &str, created_ms: u64, title: &str) -> Summary {
    Summary {
        id: id(name),
        head: titled(title),
        created_ms,
        updated_ms: created_ms,
        last_seq: 0,
        last_control: 0,
        lease: None,
    }
}

#[test]
fn entries_are_numbered_from_one_without_gaps() {
    over_all(async |store: Arc<dyn Store>| {
        let a = id("a");
        store.create(&a, titled("x"), 3).await.unwrap();
        assert_eq!(store.append(&a, append(0, &["1", "{}"])).await, Ok(2));
        assert_eq!(store.append(&a, append(2, &[r#""é""#])).await, Ok(3));
        let all = [kept(1, "1"), kept(2, "{}"), kept(3, r#""é""#)];
        assert_eq!(store.read(&a, 0, 10).await.unwrap(), all);
        assert_eq!(store.read(&a, 1, 1).await.unwrap(), all[1..2]);
        assert_eq!(store.read(&a, 3, 10).await.unwrap(), []);
        assert_eq!(store.read(&a, u64::MAX, 10).await.unwrap(), []);
        let expected = Summary { last_seq: 3, updated_ms: 7, ..summary("a", 3, "x") };
        assert_eq!(store.session(&a).await.unwrap(), Some(expected));
    });
}

#[test]
fn a_writer_that_missed_an_entry_is_refused() {
    over_all(async |store: Arc<dyn Store>| {
        let a = id("a");
        store.create(&a, Head::default(), 0).await.unwrap();
        store.append(&a, append(0, &["1"])).await.unwrap();
        for expected in [0, 2, u64::MAX] {
            let conflict = StoreError::Conflict { id: a.clone(), expected, actual: 1 };
            assert_eq!(store.append(&a, append(expected, &["2"])).await, Err(conflict));
        }
        assert_eq!(store.read(&a, 0, 10).await.unwrap(), [kept(1, "1")]);
    });
}

#[test]
fn names_are_used_once_and_unknown_ones_are_named() {
    over_all(async |store: Arc<dyn Store>| {
        let a = id("a");
        let unknown = StoreError::Unknown { id: a.clone() };
        let lease = Lease { id: a.clone(), owner: "o".to_owned(), epoch: 1, until_ms: 9 };
        assert_eq!(store.append(&a, append(0, &["1"])).await, Err(unknown.clone()));
        assert_eq!(store.read(&a, 0, 1).await, Err(unknown.clone()));
        assert_eq!(store.lease(&a, AskLease::new("o", 1, 1)).await, Err(unknown.clone()));
        assert_eq!(store.renew(&lease, 1, 1).await, Err(unknown.clone()));
        assert_eq!(store.release(&lease).await, Ok(()));
        assert_eq!(store.control(&a, control("1")).await, Err(unknown.clone()));
        assert_eq!(store.controls(&a, 0).await, Err(unknown.clone()));
        assert_eq!(store.set_timer(&a, "t", 1).await, Err(unknown));
        assert_eq!(store.clear_timer(&a, "t").await, Ok(()));
        assert_eq!(store.session(&a).await, Ok(None));
        assert_eq!(store.delete(&a).await, Ok(false));
        store.create(&a, Head::default(), 0).await.unwrap();
        let exists = StoreError::Exists { id: a.clone() };
        assert_eq!(store.create(&a, Head::default(), 0).await, Err(exists));
    });
}

#[test]
fn what_is_beyond_its_bounds_is_refused_whole() {
    over_all(async |store: Arc<dyn Store>| {
        let a = id("a");
        store.create(&a, Head::default(), 0).await.unwrap();
        let refused = async |entries: Vec<NewEntry>, why: &str| {
            let answer = store.append(&a, steersman_store::Append::new(0, entries)).await;
            let Err(StoreError::Refused { what }) = answer else { panic!("{answer:?}") };
            assert!(what.contains(why), "{what}");
        };
        let of_kind = |kind: &str| NewEntry { kind: kind.to_owned(), ..entry("1") };
        refused(vec![entry("1"), of_kind("")], "a kind is 1 to 64 bytes").await;
        refused(vec![of_kind(&"k".repeat(65))], "a kind is 1 to 64 bytes").await;
        refused(vec![of_kind("a\nb")], "without control characters").await;
        refused(vec![entry("")], "not one line of JSON").await;
        refused(vec![entry("{} {}")], "not one line of JSON").await;
        refused(vec![entry(" {}")], "space around").await;
        refused(vec![entry("[1,\n2]")], "a line break").await;
        refused(vec![entry("1"); 4097], "an append of 4097 entries").await;
        let half = format!("{:?}", "x".repeat(MAX_BODY_BYTES / 2));
        refused(vec![entry(&half), entry(&half)], "an append of 67108868 bytes").await;
        refused(vec![entry(&format!("{half}{half}"))], "a body of 67108868 bytes").await;
        let head = Head { extra: Some("{".to_owned()), ..Head::default() };
        assert!(store.append(&a, append(0, &["1"]).with_head(head)).await.is_err());
        let head = Head { title: "t".repeat(4097), ..Head::default() };
        assert!(store.create(&id("b"), head, 0).await.is_err());
        assert_eq!(store.read(&a, 0, 10).await.unwrap(), []);
        assert_eq!(store.sessions(&Filter::default()).await.unwrap().len(), 1);
    });
}

#[test]
fn a_head_changes_with_its_append() {
    over_all(async |store: Arc<dyn Store>| {
        let a = id("a");
        store.create(&a, titled("before"), 0).await.unwrap();
        let head = Head {
            state: "done".to_owned(),
            title: "after".to_owned(),
            agent: Some("coder".to_owned()),
            model: Some("m".to_owned()),
            workspace: Some("/w".to_owned()),
            turns: 1,
            tool_calls: 2,
            tokens: Some(3),
            cost_nanos: Some(4),
            extra: Some(r#"{"x":1}"#.to_owned()),
        };
        let stale = append(9, &["1"]).with_head(head.clone());
        assert!(store.append(&a, stale).await.is_err());
        assert_eq!(store.session(&a).await.unwrap().unwrap().head, titled("before"));
        store.append(&a, append(0, &[]).with_head(head.clone())).await.unwrap();
        assert_eq!(store.session(&a).await.unwrap().unwrap().head, head);
    });
}

#[test]
fn lists_are_filtered_and_paged_latest_first() {
    over_all(async |store: Arc<dyn Store>| {
        for (name, at_ms, title) in [("a", 1, "Fix It"), ("b", 5, "x"), ("c", 5, "y")] {
            store.create(&id(name), titled(title), at_ms).await.unwrap();
        }
        let done =
            Head { state: "done".to_owned(), model: Some("GPT".to_owned()), ..Head::default() };
        store.create(&id("d-gp"), done, 2).await.unwrap();
        let names = async |filter: Filter| -> Vec<String> {
            let found = store.sessions(&filter).await.unwrap();
            found.into_iter().map(|session| session.id.into()).collect()
        };
        let all = Filter::default;
        assert_eq!(names(all()).await, ["c", "b", "d-gp", "a"]);
        let limit = 2;
        assert_eq!(names(Filter { limit, ..all() }).await, ["c", "b"]);
        let before = Some(summary("b", 5, "").position());
        assert_eq!(names(Filter { before, limit, ..all() }).await, ["d-gp", "a"]);
        let state = Some("done".to_owned());
        assert_eq!(names(Filter { state, ..all() }).await, ["d-gp"]);
        for (text, expected) in [("fix it", "a"), ("gPt", "d-gp"), ("D-G", "d-gp"), ("X", "a b")] {
            let text = Some(text.to_owned());
            let mut found = names(Filter { text, ..all() }).await;
            found.sort();
            assert_eq!(found.join(" "), expected);
        }
    });
}

#[test]
fn one_driver_holds_a_session_and_a_later_one_fences_it_off() {
    over_all(async |store: Arc<dyn Store>| {
        let a = id("a");
        store.create(&a, Head::default(), 0).await.unwrap();
        let first = store.lease(&a, AskLease::new("first", 10, 100)).await.unwrap();
        let expected = Lease { id: a.clone(), owner: "first".to_owned(), epoch: 1, until_ms: 110 };
        assert_eq!(first, expected);
        let (owner, until_ms) = ("first".to_owned(), 110);
        let held = StoreError::Held { id: a.clone(), owner, until_ms };
        assert_eq!(store.lease(&a, AskLease::new("first", 10, 109)).await, Err(held));
        let first = store.renew(&first, 10, 105).await.unwrap();
        assert_eq!(first.until_ms, 115);
        assert_eq!(store.session(&a).await.unwrap().unwrap().lease, Some(first.clone()));
        assert_eq!(store.append(&a, append(0, &["1"]).with_epoch(1)).await, Ok(1));

        let second = store.lease(&a, AskLease::new("second", 10, 115)).await.unwrap();
        assert_eq!(second.epoch, 2);
        let lost = StoreError::LeaseLost { id: a.clone(), epoch: 1 };
        assert_eq!(store.append(&a, append(1, &["2"]).with_epoch(1)).await, Err(lost.clone()));
        assert_eq!(store.renew(&first, 10, 116).await, Err(lost));
        store.release(&first).await.unwrap();
        assert_eq!(store.append(&a, append(1, &["2"]).with_epoch(2)).await, Ok(2));
        store.release(&second).await.unwrap();
        assert_eq!(store.session(&a).await.unwrap().unwrap().lease, None);
        let lost = StoreError::LeaseLost { id: a.clone(), epoch: 2 };
        assert_eq!(store.append(&a, append(2, &["3"]).with_epoch(2)).await, Err(lost));
        assert_eq!(store.lease(&a, AskLease::new("third", 1, 0)).await.unwrap().epoch, 3);
        assert!(store.lease(&a, AskLease::new("", 1, 9)).await.is_err());
    });
}

#[test]
fn controls_are_kept_in_order() {
    over_all(async |store: Arc<dyn Store>| {
        let a = id("a");
        store.create(&a, Head::default(), 0).await.unwrap();
        assert_eq!(store.control(&a, control("1")).await, Ok(1));
        assert_eq!(store.control(&a, control("2")).await, Ok(2));
        let second = Control {
            number: 2,
            at_ms: 5,
            kind: "note".to_owned(),
            body: "2".to_owned(),
            who: "a person".to_owned(),
        };
        assert_eq!(store.controls(&a, 1).await.unwrap(), [second]);
        assert_eq!(store.controls(&a, 0).await.unwrap().len(), 2);
        assert_eq!(store.session(&a).await.unwrap().unwrap().last_control, 2);
        assert!(store.control(&a, control("no")).await.is_err());
    });
}

#[test]
fn timers_are_due_until_they_are_cleared() {
    over_all(async |store: Arc<dyn Store>| {
        let timer = |name: &str, timer: &str, due_ms: u64| Timer {
            id: id(name),
            name: timer.to_owned(),
            due_ms,
        };
        for name in ["a", "b"] {
            store.create(&id(name), Head::default(), 0).await.unwrap();
        }
        store.set_timer(&id("a"), "x", 10).await.unwrap();
        store.set_timer(&id("a"), "y", u64::MAX).await.unwrap();
        store.set_timer(&id("b"), "x", 20).await.unwrap();
        assert_eq!(store.due(9, 10).await.unwrap(), []);
        assert_eq!(store.due(20, 10).await.unwrap(), [timer("a", "x", 10), timer("b", "x", 20)]);
        store.set_timer(&id("a"), "x", 30).await.unwrap();
        assert_eq!(store.due(u64::MAX, 1).await.unwrap(), [timer("b", "x", 20)]);
        store.clear_timer(&id("b"), "x").await.unwrap();
        store.delete(&id("a")).await.unwrap();
        assert_eq!(store.due(u64::MAX, 10).await.unwrap(), []);
    });
}

#[test]
fn the_latest_state_is_kept_beside_the_journal() {
    over_all(async |store: Arc<dyn Store>| {
        let (a, b) = (id("a"), id("b"));
        assert_eq!(store.kept(&a).await, Ok(None));
        let unknown = StoreError::Unknown { id: a.clone() };
        assert_eq!(store.keep(&a, state(1, "1")).await, Err(unknown));
        for name in [&a, &b] {
            store.create(name, titled("x"), 3).await.unwrap();
        }
        assert_eq!(store.kept(&a).await, Ok(None));
        let first = Kept { scope: u64::MAX, end: 1 << 63, ..state(9, r#"{"é":[]}"#) };
        store.keep(&a, first.clone()).await.unwrap();
        assert_eq!(store.kept(&a).await, Ok(Some(first)));
        store.keep(&b, state(8, "2")).await.unwrap();
        let second = Kept { scope: 5, end: 6, ..state(7, "3") };
        store.keep(&a, second.clone()).await.unwrap();
        assert_eq!(store.kept(&a).await, Ok(Some(second)));
        // The journal and its summary know nothing of it.
        assert_eq!(store.read(&a, 0, 10).await.unwrap(), []);
        assert_eq!(store.session(&a).await.unwrap(), Some(summary("a", 3, "x")));

        let of_b = Standing { id: b.clone(), scope: 8, end: 8, at_ms: 8 };
        let of_a = Standing { id: a.clone(), scope: 5, end: 6, at_ms: 7 };
        assert_eq!(store.standing(10).await.unwrap(), [of_b.clone(), of_a.clone()]);
        assert_eq!(store.standing(1).await.unwrap(), [of_b]);
        store.delete(&b).await.unwrap();
        assert_eq!(store.standing(10).await.unwrap(), [of_a]);
        store.create(&b, titled("x"), 3).await.unwrap();
        assert_eq!(store.kept(&b).await, Ok(None));
        store.keep(&b, state(u64::MAX, "4")).await.unwrap();
        assert_eq!(store.standing(1).await.unwrap()[0].at_ms, i64::MAX as u64);
    });
}

#[test]
fn a_state_beyond_its_bounds_is_refused() {
    over_all(async |store: Arc<dyn Store>| {
        let a = id("a");
        store.create(&a, Head::default(), 0).await.unwrap();
        let long = format!("{:?}", "x".repeat(MAX_KEPT_BYTES));
        let cases = [
            (long.as_str(), "a state of 1048578 bytes"),
            ("", "not one line of JSON"),
            ("{} ", "space around"),
            ("[1,\n2]", "a line break"),
        ];
        for (body, why) in cases {
            let answer = store.keep(&a, state(1, body)).await;
            let Err(StoreError::Refused { what }) = answer else { panic!("{answer:?}") };
            assert!(what.contains(why), "{what}");
        }
        assert_eq!(store.kept(&a).await, Ok(None));
        let most = format!("{:?}", "x".repeat(MAX_KEPT_BYTES - 2));
        assert_eq!(store.keep(&a, state(1, &most)).await, Ok(()));
    });
}

#[test]
fn what_is_deleted_is_gone_and_the_name_is_free() {
    over_all(async |store: Arc<dyn Store>| {
        let a = id("a");
        store.create(&a, Head::default(), 0).await.unwrap();
        store.append(&a, append(0, &["1"])).await.unwrap();
        store.control(&a, control("1")).await.unwrap();
        assert_eq!(store.delete(&a).await, Ok(true));
        assert_eq!(store.session(&a).await, Ok(None));
        store.create(&a, Head::default(), 0).await.unwrap();
        assert_eq!(store.read(&a, 0, 10).await.unwrap(), []);
        assert_eq!(store.controls(&a, 0).await.unwrap(), []);
        assert_eq!(store.control(&a, control("1")).await, Ok(1));
    });
}

#[test]
fn subscribers_hear_of_changes_after_they_are_durable() {
    over_all(async |store: Arc<dyn Store>| {
        let a = id("a");
        let mut news = store.subscribe();
        store.create(&a, Head::default(), 0).await.unwrap();
        store.append(&a, append(0, &["1", "2"])).await.unwrap();
        assert!(store.append(&a, append(0, &["1"])).await.is_err());
        store.control(&a, control("1")).await.unwrap();
        store.delete(&a).await.unwrap();
        for (last_seq, last_control) in [(0, 0), (2, 0), (2, 1), (0, 0)] {
            let hint = Hint { id: a.clone(), last_seq, last_control };
            assert_eq!(news.next().await, Some(News::Changed(hint)));
        }
        drop(store);
        assert_eq!(news.next().await, None);
    });
}

#[test]
fn a_slow_subscriber_learns_that_it_missed_something() {
    over_all(async |store: Arc<dyn Store>| {
        let a = id("a");
        let mut news = store.subscribe();
        store.create(&a, Head::default(), 0).await.unwrap();
        let sent = (0..1100).map(|_| store.append(&a, append(0, &[])));
        for answer in join_all(sent).await {
            answer.unwrap();
        }
        assert!(matches!(news.next().await, Some(News::Missed(missed)) if missed > 0));
    });
}

#[test]
fn a_large_read_comes_in_pieces() {
    over_all(async |store: Arc<dyn Store>| {
        let a = id("a");
        store.create(&a, Head::default(), 0).await.unwrap();
        let large = format!("{:?}", "x".repeat(MAX_BODY_BYTES * 2 / 3));
        for seq in 0..2 {
            store.append(&a, append(seq, &[&large])).await.unwrap();
        }
        let seqs = async |after| -> Vec<u64> {
            store.read(&a, after, 10).await.unwrap().iter().map(|entry| entry.seq).collect()
        };
        assert_eq!(seqs(0).await, [1]);
        assert_eq!(seqs(1).await, [2]);
    });
}
