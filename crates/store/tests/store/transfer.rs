//! Sessions as text files.

use std::fs;

use steersman_store::{Head, MemoryStore, NewEntry, Store, export, import};

use crate::stage::{append, entry, id, on_disk, quick, run, titled};

const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/journal-1.jsonl");

/// Files of this version must be read for ever, so this session never changes.
async fn fill(store: &dyn Store) {
    let a = id("2026-a");
    let head = Head {
        agent: Some("coder".to_owned()),
        cost_nanos: Some(12),
        turns: 2,
        extra: Some(r#"{"x":[1]}"#.to_owned()),
        ..titled("Fix \"it\"")
    };
    store.create(&a, head, 1_790_000_000_000).await.unwrap();
    let odd = NewEntry { at_ms: 9, kind: "note \"é\"".to_owned(), body: "1.50e3".into() };
    let mut first = append(0, &[r#"{"b": "é\n\u0000", "a":null}"#, "[ ]"]);
    first.entries.push(odd);
    store.append(&a, first).await.unwrap();
}

async fn text_of(store: &dyn Store, name: &str) -> String {
    let mut out = Vec::new();
    export(store, &id(name), &mut out).await.unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn the_format_stays() {
    run(async {
        let store = MemoryStore::new();
        fill(&store).await;
        let text = text_of(&store, "2026-a").await;
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            fs::write(GOLDEN, &text).unwrap();
        }
        let golden = fs::read_to_string(GOLDEN).unwrap();
        assert_eq!(text, golden, "set UPDATE_GOLDEN=1 for a change on purpose");
    });
}

#[test]
fn what_was_written_is_read_byte_by_byte() {
    run(async {
        let (_folder, store) = on_disk(&quick());
        let golden = fs::read_to_string(GOLDEN).unwrap();
        let name = import(&store, None, &mut golden.as_bytes()).await.unwrap();
        assert_eq!(name, id("2026-a"));
        assert_eq!(text_of(&store, "2026-a").await, golden);
        let other = MemoryStore::new();
        let name = import(&other, Some(id("b")), &mut golden.as_bytes()).await.unwrap();
        assert_eq!(text_of(&other, name.as_str()).await, golden.replace("2026-a", "b"));
    });
}

#[test]
fn long_journals_come_over_in_pieces() {
    run(async {
        let store = MemoryStore::new();
        store.create(&id("a"), titled("x"), 0).await.unwrap();
        for seq in 0..3 {
            let entries = (0..500).map(|n| entry(&n.to_string())).collect();
            let append = steersman_store::Append::new(seq * 500, entries);
            store.append(&id("a"), append).await.unwrap();
        }
        let text = text_of(&store, "a").await;
        import(&store, Some(id("b")), &mut text.as_bytes()).await.unwrap();
        let all = async |name| store.read(&id(name), 0, 2000).await.unwrap();
        assert_eq!(all("a").await.len(), 1500);
        assert_eq!(all("a").await, all("b").await);
    });
}

#[test]
fn a_file_with_a_fault_leaves_nothing_behind() {
    run(async {
        let store = MemoryStore::new();
        let golden = fs::read_to_string(GOLDEN).unwrap();
        let lines: Vec<&str> = golden.lines().collect();
        let check = async |text: String, expected: &str| {
            let error = import(&store, None, &mut text.as_bytes()).await.unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
            assert_eq!(store.session(&id("2026-a")).await, Ok(None), "{expected}");
        };
        check(String::new(), "line 1: the file is empty").await;
        check("{}".to_owned(), "line 1: not the first line of a journal").await;
        check(golden.replace("steersman-journal", "x"), "line 1: the format is \"x\"").await;
        check(golden.replace("\"version\":1", "\"version\":2"), "line 1: version 2 of").await;
        check(golden.replace("2026-a", "A"), "line 1: `A` does not name a session").await;
        check(golden.replace("\"seq\":2", "\"seq\":3"), "line 3: entry 3 where 2 follows").await;
        check(lines[..3].join("\n"), "line 3: the file ends after entry 2 of 3").await;
        check(golden[..golden.len() - 9].to_owned(), "line 4: EOF while parsing").await;
        check(format!("{golden}{}", lines[1]), "line 5: entry 1 where 4 follows").await;
        check(golden.replace("\"kind\":\"test\"", "\"kind\":\"\""), "the store refuses").await;
    });
}
