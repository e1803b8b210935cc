//! A session survives the end of its process at any moment.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot set up its case must fail"
)]

mod stage;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use stage::{BEGIN_MS, Stage, play};
use steersman_agent::{DriveError, Driver, Entry, Log, TimerClock, read};
use steersman_store::{
    Append, AskLease, Control, Entry as Stored, Filter, Head, Kept, Lease, NewControl, Pending,
    SessionId, Standing, Store, StoreError, Subscription, Summary, Timer,
};

/// A store that is cut off from its driver at an append, as if the process had ended there.
struct Mortal {
    inner: Arc<dyn Store>,
    /// Appends that are still answered.
    left: AtomicI64,
    /// Whether the one that is not answered is written all the same.
    writes_last: bool,
}

impl Store for Mortal {
    fn append(&self, id: &SessionId, append: Append) -> Pending<'_, u64> {
        let left = self.left.fetch_sub(1, Ordering::SeqCst);
        if left > 0 {
            return self.inner.append(id, append);
        }
        let written = (left == 0 && self.writes_last).then(|| self.inner.append(id, append));
        Box::pin(async move {
            if let Some(written) = written {
                written.await?;
            }
            Err(StoreError::Closed)
        })
    }

    fn create(&self, id: &SessionId, head: Head, at_ms: u64) -> Pending<'_, ()> {
        self.inner.create(id, head, at_ms)
    }
    fn read(&self, id: &SessionId, after: u64, limit: usize) -> Pending<'_, Vec<Stored>> {
        self.inner.read(id, after, limit)
    }
    fn session(&self, id: &SessionId) -> Pending<'_, Option<Summary>> {
        self.inner.session(id)
    }
    fn sessions(&self, filter: &Filter) -> Pending<'_, Vec<Summary>> {
        self.inner.sessions(filter)
    }
    fn lease(&self, id: &SessionId, ask: AskLease) -> Pending<'_, Lease> {
        self.inner.lease(id, ask)
    }
    fn renew(&self, lease: &Lease, ttl_ms: u64, now_ms: u64) -> Pending<'_, Lease> {
        self.inner.renew(lease, ttl_ms, now_ms)
    }
    fn release(&self, lease: &Lease) -> Pending<'_, ()> {
        self.inner.release(lease)
    }
    fn control(&self, id: &SessionId, control: NewControl) -> Pending<'_, u64> {
        self.inner.control(id, control)
    }
    fn controls(&self, id: &SessionId, after: u64) -> Pending<'_, Vec<Control>> {
        self.inner.controls(id, after)
    }
    fn set_timer(&self, id: &SessionId, name: &str, due_ms: u64) -> Pending<'_, ()> {
        self.inner.set_timer(id, name, due_ms)
    }
    fn clear_timer(&self, id: &SessionId, name: &str) -> Pending<'_, ()> {
        self.inner.clear_timer(id, name)
    }
    fn due(&self, now_ms: u64, limit: usize) -> Pending<'_, Vec<Timer>> {
        self.inner.due(now_ms, limit)
    }
    fn subscribe(&self) -> Subscription {
        self.inner.subscribe()
    }
    fn keep(&self, id: &SessionId, state: Kept) -> Pending<'_, ()> {
        self.inner.keep(id, state)
    }
    fn kept(&self, id: &SessionId) -> Pending<'_, Option<Kept>> {
        self.inner.kept(id)
    }
    fn standing(&self, limit: usize) -> Pending<'_, Vec<Standing>> {
        self.inner.standing(limit)
    }
    fn delete(&self, id: &SessionId) -> Pending<'_, bool> {
        self.inner.delete(id)
    }
}

const SCRIPT: &str = r#"
task: Make the tests pass.
check: run
attempts:
  - replies:
      - calls: [{name: read, arguments: {path: a}}, {name: read, arguments: {path: b}}]
      - calls: [{name: run_check}]
      - text: The call will fail twice before this is said.
        fails: {times: 2, status: 503}
        calls: [{name: write, arguments: {path: tests, content: 1/7}}, {name: run_check}]
      - calls: [{name: finish, arguments: {summary: "Done, all tests pass."}}]
      - calls: [{name: write, arguments: {path: notes, content: two}}, {name: run_check}]
      - calls: [{name: start_over, arguments: {reason: wrong design, next: rewrite}}]
  - replies:
      - calls: [{name: write, arguments: {path: tests, content: 0/8}}]
      - calls: [{name: finish, arguments: {summary: It works.}}]
"#;

fn stage() -> Stage {
    Stage::new(SCRIPT, &[("tests", "2/6"), ("a", "1"), ("b", "2")])
}

/// Drives a session until its process "ends" after so many appends; `None` if it came to its end.
async fn die_after(stage: &Stage, appends: i64, writes_last: bool) -> Option<()> {
    stage.store.create(&stage.id, Head::default(), BEGIN_MS).await.unwrap();
    let left = AtomicI64::new(appends);
    let store: Arc<dyn Store> =
        Arc::new(Mortal { inner: Arc::clone(&stage.store), left, writes_last });
    let log = Log::take(store, stage.id.clone(), BEGIN_MS).await.unwrap();
    let (parts, _sender) = stage.parts(TimerClock::starting_at(BEGIN_MS));
    let mut driver = Driver::begin(log, stage.opened(), parts).await.ok()?;
    driver.hear(stage.script.task.clone()).await.ok()?;
    driver.run().await.ok().flatten().map(drop)
}

/// Takes the session up in a "new process" and brings it to its end; tells it in a few words.
async fn take_up(stage: &Stage) -> Result<String, DriveError> {
    let lease = stage.store.session(&stage.id).await.unwrap().unwrap().lease.unwrap();
    stage.store.release(&lease).await.unwrap();
    let clock = TimerClock::starting_at(BEGIN_MS + 3_600_000);
    let (parts, _sender) = stage.parts(clock);
    let log = Log::take(Arc::clone(&stage.store), stage.id.clone(), BEGIN_MS).await?;
    let mut driver = if stage.store.read(&stage.id, 0, 1).await.unwrap().is_empty() {
        Driver::begin(log, stage.opened(), parts).await?
    } else {
        let session = read(&*stage.store, &stage.id, |_, _, _| ()).await?;
        assert_eq!(session.differing(), 0, "the journal gives the same decisions again");
        Driver::take_up(log, session, parts).await?
    };
    if driver.session().outlook().task.is_empty() {
        driver.hear(stage.script.task.clone()).await?;
    }
    let ended = driver.run().await?.unwrap();
    let session = driver.session();
    Ok(format!(
        "{} attempts {} tests {:?} notes {:?}",
        ended.ending,
        session.attempts().len(),
        stage.folder.text("tests"),
        stage.folder.text("notes"),
    ))
}

/// Entries of the journal, as they are read back.
async fn journal(stage: &Stage) -> Vec<Entry> {
    let mut entries = Vec::new();
    read(&*stage.store, &stage.id, |_, _, entry| entries.push(entry.clone())).await.unwrap();
    entries
}

#[test]
fn a_session_ends_the_same_way_whenever_its_process_ended() {
    let expected = "complete attempts 1 tests Some(\"0/8\") notes None";
    let mut moments = 0;
    for appends in 0.. {
        let mut finished = false;
        for writes_last in [false, true] {
            let stage = stage();
            play(async {
                if die_after(&stage, appends, writes_last).await.is_some() {
                    finished = true;
                    return;
                }
                moments += 1;
                let told = take_up(&stage).await.unwrap();
                assert_eq!(told, expected, "after {appends} appends, last written {writes_last}");
                no_call_ran_twice_unnoticed(&stage, &journal(&stage).await);
            });
        }
        if finished {
            break;
        }
    }
    assert!(moments > 80, "{moments} moments");
}

/// A call runs once; where it ran again, the model had been told that it was interrupted.
fn no_call_ran_twice_unnoticed(stage: &Stage, entries: &[Entry]) {
    let ran = stage.folder.calls.lock().unwrap();
    let writes = ran.iter().filter(|call| call.starts_with("write")).count();
    let interrupted = entries
        .iter()
        .filter(|entry| matches!(entry, Entry::ToolFinished(result) if result.interrupted))
        .count();
    assert!(writes <= 3 + interrupted, "{writes} writes, {interrupted} told as interrupted");
    let mut started = std::collections::BTreeSet::new();
    for entry in entries {
        if let Entry::ToolStarted { call_id } = entry {
            assert!(started.insert(call_id.clone()), "{call_id} was started twice");
        }
    }
}

#[test]
fn another_process_may_not_drive_a_session_that_is_driven() {
    let stage = stage();
    play(async {
        let (_driver, _sender) = stage.begin().await;
        let second = Log::take(Arc::clone(&stage.store), stage.id.clone(), BEGIN_MS + 1).await;
        let error = second.unwrap_err().to_string();
        assert!(error.contains("test"), "{error}");
    });
}
