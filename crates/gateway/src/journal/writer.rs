//! The task that writes.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures::future::join_all;
use steersman_store::{Append, Body, Head, Kept, NewEntry, SessionId, Store, StoreError};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep};

use super::head::{Folded, STATE_OPEN};
use super::pending::{Losses, Pending};
use super::{Health, QUEUE, Told};
use crate::record::Entry;
use crate::session::Snapshot;
use crate::steering::Clock;

/// Most entries that are written in one go.
const GROUP: usize = 512;
/// How long entries are gathered before they are written. Each writing waits for the disk, which
/// costs more than all else that is done with a request; a turn has five entries. Snapshots wait
/// about as long.
const GATHER: Duration = Duration::from_millis(200);
/// How often it is looked meanwhile whether they fill a group. Being woken by each entry instead
/// would cost more than writing it.
const LOOK: Duration = Duration::from_millis(20);
/// After so many entries were made into text whoever waits for the processor is let by: there can
/// be hundreds of them, and a request would wait for them all.
const ENTRIES_IN_A_ROW: usize = 16;
/// How often snapshots are written, and the store is tried again.
const TICK: Duration = Duration::from_millis(250);
/// Most sessions whose last entry and head are remembered; of others the store is asked.
const MAX_KNOWN: usize = 1_000;
/// Most sessions that are told of lost entries in one go.
const MAX_TOLD: usize = 256;
/// Most snapshots that are written at once.
const MAX_KEPT: usize = 256;

/// What the writer works with.
pub(super) struct Parts {
    pub(super) store: Arc<dyn Store>,
    pub(super) clock: Clock,
    pub(super) pending: Arc<Pending>,
    pub(super) losses: Arc<Losses>,
    pub(super) health: Arc<Health>,
}

/// A session as it stands in the store.
#[derive(Debug)]
struct Known {
    seq: u64,
    head: Folded,
}

/// Entries of one session.
struct Group {
    id: SessionId,
    /// With the time of each.
    entries: Vec<(u64, Entry)>,
    /// How many of them were told to the journal: all, or none if they tell of losses.
    told: u64,
    /// How many lost entries they tell of.
    lost_before: u64,
    known: Option<Known>,
}

pub(super) struct Writer {
    with: Parts,
    known: HashMap<SessionId, Known>,
}

impl Writer {
    pub(super) fn new(with: Parts) -> Self {
        Self { with, known: HashMap::new() }
    }

    pub(super) async fn run(mut self, mut told: mpsc::Receiver<Told>, stop: watch::Receiver<bool>) {
        let mut stop = stop;
        let mut tick = interval(TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut batch = Vec::with_capacity(GROUP);
        loop {
            tokio::select! {
                biased;
                // Also when the journal was dropped.
                () = stopped(&mut stop) => told.close(),
                _ = tick.tick() => {
                    // A snapshot needs its session, whose first entry may still wait.
                    self.drain(&mut told, &mut batch).await;
                    self.keep().await;
                    self.tell_losses().await;
                    continue;
                }
                _ = told.recv_many(&mut batch, GROUP) => {}
            }
            if told.is_closed() {
                break;
            }
            gather(&mut told, &mut batch).await;
            self.write(&mut batch).await;
        }
        self.drain(&mut told, &mut batch).await;
        self.keep().await;
        self.tell_losses().await;
    }

    /// Writes what is in the queue, at most as much as fits into it.
    async fn drain(&mut self, told: &mut mpsc::Receiver<Told>, batch: &mut Vec<Told>) {
        for _ in 0..QUEUE {
            match told.try_recv() {
                Ok(entry) => batch.push(entry),
                Err(_) => break,
            }
            if batch.len() == GROUP {
                self.write(batch).await;
            }
        }
        self.write(batch).await;
    }

    /// Writes entries, those of each session in one piece, all sessions at once.
    async fn write(&mut self, batch: &mut Vec<Told>) {
        if batch.is_empty() {
            return;
        }
        let mut groups: Vec<Group> = Vec::new();
        let mut places: HashMap<SessionId, usize> = HashMap::new();
        for Told { session, at_ms, entry } in batch.drain(..) {
            let place = *places.entry(session.clone()).or_insert_with(|| {
                groups.push(self.group(session));
                groups.len() - 1
            });
            if let Some(group) = groups.get_mut(place) {
                group.entries.push((at_ms, entry));
                group.told += 1;
            }
        }
        self.append_all(groups).await;
    }

    /// What is known of the session goes with it, and comes back once it is written.
    fn group(&mut self, id: SessionId) -> Group {
        let known = self.known.remove(&id);
        Group { id, entries: Vec::new(), told: 0, lost_before: 0, known }
    }

    async fn append_all(&mut self, groups: Vec<Group>) {
        let store = &*self.with.store;
        let done = join_all(groups.into_iter().map(|group| append(store, group))).await;
        for (group, result) in done {
            match result {
                Ok(known) => {
                    self.with.health.written.fetch_add(group.told, Ordering::Relaxed);
                    self.with.health.works();
                    if self.known.len() >= MAX_KNOWN && !self.known.contains_key(&group.id) {
                        self.known.clear();
                    }
                    self.known.insert(group.id, known);
                }
                Err(error) => {
                    self.with.health.lost.fetch_add(group.told, Ordering::Relaxed);
                    self.with.health.fails(error.to_string());
                    self.with.losses.add(group.id, group.told + group.lost_before);
                }
            }
        }
    }

    /// Tells sessions of the entries that they lack, once what was in the queue is written.
    async fn tell_losses(&mut self) {
        let at_ms = (self.with.clock)();
        let mut groups = Vec::new();
        for id in self.with.losses.sessions(MAX_TOLD) {
            let lost_before = self.with.losses.take(&id);
            let entries = vec![(at_ms, Entry::Lost { entries: lost_before })];
            groups.push(Group { entries, lost_before, ..self.group(id) });
        }
        self.append_all(groups).await;
    }

    /// Writes the snapshots that wait, a few at a time because each is made then.
    async fn keep(&mut self) {
        let mut left = self.with.pending.len();
        while left > 0 {
            let some = self.with.pending.take(left.min(MAX_KEPT));
            left = left.saturating_sub(some.len().max(1));
            let at_ms = (self.with.clock)();
            let store = &*self.with.store;
            let kept = some.into_iter().map(|(id, scope, snapshot)| async move {
                let done = keep(store, &id, scope, &snapshot, at_ms).await;
                (id, scope, snapshot, done)
            });
            for (id, scope, snapshot, done) in join_all(kept).await {
                if !self.kept(id, (scope, snapshot), done) {
                    // The others would not fare better: they wait, too.
                    left = 0;
                }
            }
        }
    }

    /// Takes in what came of a snapshot; false if it has to wait.
    fn kept(&self, id: SessionId, state: (u64, Snapshot), done: Result<(), StoreError>) -> bool {
        let health = &self.with.health;
        match done {
            Ok(()) => {
                health.kept.fetch_add(1, Ordering::Relaxed);
                health.works();
                true
            }
            Err(error) if error.is_passing() => {
                health.fails(error.to_string());
                self.with.pending.put_back(id, state.0, state.1);
                false
            }
            Err(_) => {
                health.not_kept.fetch_add(1, Ordering::Relaxed);
                true
            }
        }
    }
}

/// Waits for more entries, for a moment at most and for no more than are written in one go.
async fn gather(told: &mut mpsc::Receiver<Told>, batch: &mut Vec<Told>) {
    let due = Instant::now() + GATHER;
    while batch.len() + told.len() < GROUP && Instant::now() < due {
        sleep(LOOK).await;
    }
    while batch.len() < GROUP
        && let Ok(entry) = told.try_recv()
    {
        batch.push(entry);
    }
}

async fn keep(
    store: &dyn Store,
    id: &SessionId,
    scope: u64,
    snapshot: &Snapshot,
    at_ms: u64,
) -> Result<(), StoreError> {
    // Plain data: writing it cannot fail; what is no JSON is refused by the store.
    let body = Body::of(snapshot).unwrap_or_else(|_| "".into());
    store.keep(id, Kept { scope, end: snapshot.memory.stands_at(), at_ms, body }).await
}

fn stored(at_ms: u64, entry: &Entry) -> NewEntry {
    let body = Body::of(entry).unwrap_or_else(|_| "".into());
    NewEntry { at_ms, kind: entry.kind().to_owned(), body }
}

/// Waits for the end; also the end of whoever tells of it.
async fn stopped(stop: &mut watch::Receiver<bool>) {
    // The guard of the value must not live on in the caller.
    let _ = stop.wait_for(|stop| *stop).await;
}

/// Appends a group; once more if the session is not as it was known.
async fn append(store: &dyn Store, mut group: Group) -> (Group, Result<Known, StoreError>) {
    for is_last in [false, true] {
        let result = try_append(store, &mut group).await;
        match result {
            // Another process wrote to it, or deleted it.
            Err(StoreError::Conflict { .. } | StoreError::Unknown { .. }) if !is_last => {
                group.known = None;
            }
            result => return (group, result),
        }
    }
    (group, Err(StoreError::Closed))
}

async fn try_append(store: &dyn Store, group: &mut Group) -> Result<Known, StoreError> {
    let mut known = match group.known.take() {
        Some(known) => known,
        None => look_up(store, group).await?,
    };
    for (_, entry) in &group.entries {
        known.head.fold(entry);
    }
    let mut entries = Vec::with_capacity(group.entries.len());
    for some in group.entries.chunks(ENTRIES_IN_A_ROW) {
        entries.extend(some.iter().map(|(at_ms, entry)| stored(*at_ms, entry)));
        std::thread::yield_now();
    }
    let append = Append::new(known.seq, entries).with_head(known.head.head());
    known.seq = store.append(&group.id, append).await?;
    Ok(known)
}

/// The session as the store has it; it is made if it is not there.
async fn look_up(store: &dyn Store, group: &Group) -> Result<Known, StoreError> {
    if let Some(summary) = store.session(&group.id).await? {
        return Ok(Known { seq: summary.last_seq, head: Folded::new(summary.head) });
    }
    let at_ms = group.entries.first().map_or(0, |(at_ms, _)| *at_ms);
    let head = Head { state: STATE_OPEN.to_owned(), ..Head::default() };
    store.create(&group.id, head.clone(), at_ms).await?;
    Ok(Known { seq: 0, head: Folded::new(head) })
}
