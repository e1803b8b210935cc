//! Whatever is asked of them in whatever order, both stores answer the same.

use proptest::prelude::*;
use steersman_store::{
    AskLease, Entry, Filter, Lease, MemoryStore, Position, SqliteStore, Store, StoreError,
};

use crate::stage::{append, control, id, on_disk, quick, run, state, titled};

#[derive(Debug, Clone)]
enum Ask {
    Create(u8, u8),
    Append { session: u8, expected: u64, bodies: Vec<u8>, epoch: Option<u64> },
    Read(u8, u64, usize),
    List { text: Option<char>, before: Option<(u64, u8)>, limit: usize },
    Lease(u8, u64),
    Renew(u8, u64),
    Release(u8, u64),
    Control(u8),
    Controls(u8, u64),
    SetTimer(u8, u8, u64),
    ClearTimer(u8, u8),
    Due(u64, usize),
    Keep(u8, u64),
    Kept(u8),
    Standing(usize),
    Delete(u8),
}

fn asks() -> impl Strategy<Value = Ask> {
    let session = 0..3_u8;
    let small = 0..6_u64;
    let appends = (session.clone(), small.clone(), prop::collection::vec(0..9_u8, 0..4))
        .prop_flat_map(|(session, expected, bodies)| {
            prop::option::weighted(0.3, 0..3_u64).prop_map(move |epoch| Ask::Append {
                session,
                expected,
                bodies: bodies.clone(),
                epoch,
            })
        });
    prop_oneof![
        3 => (session.clone(), any::<u8>()).prop_map(|(s, at)| Ask::Create(s, at)),
        8 => appends,
        2 => (session.clone(), small.clone(), 0..9_usize).prop_map(|(s, a, l)| Ask::Read(s, a, l)),
        2 => (
            prop::option::of(prop::char::range('a', 'f')),
            prop::option::of((small.clone(), session.clone())),
            0..4_usize,
        )
            .prop_map(|(text, before, limit)| Ask::List { text, before, limit }),
        2 => (session.clone(), small.clone()).prop_map(|(s, now)| Ask::Lease(s, now)),
        1 => (session.clone(), small.clone()).prop_map(|(s, epoch)| Ask::Renew(s, epoch)),
        1 => (session.clone(), small.clone()).prop_map(|(s, epoch)| Ask::Release(s, epoch)),
        1 => session.clone().prop_map(Ask::Control),
        1 => (session.clone(), small.clone()).prop_map(|(s, after)| Ask::Controls(s, after)),
        1 => (session.clone(), 0..2_u8, any::<u64>())
            .prop_map(|(s, n, at)| Ask::SetTimer(s, n, at)),
        1 => (session.clone(), 0..2_u8).prop_map(|(s, n)| Ask::ClearTimer(s, n)),
        1 => (any::<u64>(), 0..4_usize).prop_map(|(now, limit)| Ask::Due(now, limit)),
        2 => (session.clone(), any::<u64>()).prop_map(|(s, at)| Ask::Keep(s, at)),
        1 => session.clone().prop_map(Ask::Kept),
        1 => (0..4_usize).prop_map(Ask::Standing),
        1 => session.prop_map(Ask::Delete),
    ]
}

fn name(session: u8) -> steersman_store::SessionId {
    id(["ab", "cd", "ef"][usize::from(session)])
}

async fn answer(store: &dyn Store, ask: &Ask) -> String {
    let lease = |session: &u8, epoch: &u64| Lease {
        id: name(*session),
        owner: "o".to_owned(),
        epoch: *epoch,
        until_ms: 0,
    };
    match ask {
        Ask::Create(s, at) => {
            let head = titled(["Alpha", "beta", "x"][usize::from(*at) % 3]);
            format!("{:?}", store.create(&name(*s), head, u64::from(*at) % 4).await)
        }
        Ask::Append { session, expected, bodies, epoch } => {
            let bodies: Vec<String> = bodies.iter().map(u8::to_string).collect();
            let bodies: Vec<&str> = bodies.iter().map(String::as_str).collect();
            let append = steersman_store::Append { epoch: *epoch, ..append(*expected, &bodies) };
            format!("{:?}", store.append(&name(*session), append).await)
        }
        Ask::Read(s, after, limit) => {
            format!("{:?}", store.read(&name(*s), *after, *limit).await)
        }
        Ask::List { text, before, limit } => {
            let filter = Filter {
                text: text.map(String::from),
                before: before.map(|(created_ms, s)| Position { created_ms, id: name(s) }),
                limit: *limit,
                state: None,
            };
            format!("{:?}", store.sessions(&filter).await)
        }
        Ask::Lease(s, now) => {
            format!("{:?}", store.lease(&name(*s), AskLease::new("o", 2, *now)).await)
        }
        Ask::Renew(s, epoch) => format!("{:?}", store.renew(&lease(s, epoch), 3, 1).await),
        Ask::Release(s, epoch) => format!("{:?}", store.release(&lease(s, epoch)).await),
        Ask::Control(s) => format!("{:?}", store.control(&name(*s), control("0")).await),
        Ask::Controls(s, after) => format!("{:?}", store.controls(&name(*s), *after).await),
        Ask::SetTimer(s, n, at) => {
            format!("{:?}", store.set_timer(&name(*s), &n.to_string(), *at).await)
        }
        Ask::ClearTimer(s, n) => {
            format!("{:?}", store.clear_timer(&name(*s), &n.to_string()).await)
        }
        Ask::Due(now, limit) => format!("{:?}", store.due(*now, *limit).await),
        Ask::Keep(s, at) => {
            format!("{:?}", store.keep(&name(*s), state(*at, &at.to_string())).await)
        }
        Ask::Kept(s) => format!("{:?}", store.kept(&name(*s)).await),
        Ask::Standing(limit) => format!("{:?}", store.standing(*limit).await),
        Ask::Delete(s) => format!("{:?}", store.delete(&name(*s)).await),
    }
}

async fn clear(store: &SqliteStore) -> Result<(), StoreError> {
    for session in 0..3 {
        store.delete(&name(session)).await?;
    }
    Ok(())
}

#[test]
fn both_stores_answer_the_same() {
    let (_folder, disk) = on_disk(&quick());
    let mut config = ProptestConfig::with_cases(64);
    config.failure_persistence = None;
    proptest!(config, |(asks in prop::collection::vec(asks(), 1..40))| {
        run(async {
            let memory = MemoryStore::new();
            clear(&disk).await.unwrap();
            for ask in &asks {
                assert_eq!(answer(&disk, ask).await, answer(&memory, ask).await, "{ask:?}");
            }
        });
    });
}

#[test]
fn what_was_appended_is_read_in_order_and_nothing_else() {
    let mut config = ProptestConfig::with_cases(32);
    config.failure_persistence = None;
    let attempts = prop::collection::vec((0..8_u64, prop::collection::vec(0..9_u8, 0..5)), 0..30);
    proptest!(config, |(attempts in attempts)| {
        run(async {
            let store = MemoryStore::new();
            store.create(&id("a"), titled("x"), 0).await.unwrap();
            let mut expected: Vec<Entry> = Vec::new();
            for (known, bodies) in &attempts {
                let bodies: Vec<String> = bodies.iter().map(u8::to_string).collect();
                let bodies: Vec<&str> = bodies.iter().map(String::as_str).collect();
                let last = expected.len() as u64;
                let answer = store.append(&id("a"), append(*known, &bodies)).await;
                if *known == last {
                    let next = bodies.iter().zip(last + 1..);
                    expected.extend(next.map(|(body, seq)| crate::stage::kept(seq, body)));
                    assert_eq!(answer, Ok(expected.len() as u64));
                } else {
                    let conflict =
                        StoreError::Conflict { id: id("a"), expected: *known, actual: last };
                    assert_eq!(answer, Err(conflict));
                }
            }
            assert_eq!(store.read(&id("a"), 0, 1000).await.unwrap(), expected);
        });
    });
}
