//! A store for as long as the program runs: for tests, and for sessions nobody wants kept.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::broadcast;

use crate::entry::MAX_BODY_BYTES;
use crate::memory_accounts::Book;
use crate::store::cap_time;
use crate::{
    Append, AskLease, Control, Entry, Filter, Head, Hint, Kept, Lease, MAX_LIMIT, NewControl,
    Pending, SessionId, Standing, Store, StoreError, Subscription, Summary, Timer, control, lease,
};

/// Hints a slow subscriber may be behind before it misses some.
const HINTS: usize = 1024;

/// Keeps sessions in memory. Nothing outlives it.
#[derive(Debug)]
pub struct MemoryStore {
    sessions: Mutex<BTreeMap<SessionId, Held>>,
    hints: broadcast::Sender<Hint>,
    pub(crate) book: Book,
}

#[derive(Debug)]
struct Held {
    summary: Summary,
    epoch: u64,
    entries: Vec<Entry>,
    controls: Vec<Control>,
    timers: BTreeMap<String, u64>,
    kept: Option<Kept>,
}

type Sessions = BTreeMap<SessionId, Held>;

fn find<'a>(sessions: &'a mut Sessions, id: &SessionId) -> Result<&'a mut Held, StoreError> {
    sessions.get_mut(id).ok_or_else(|| StoreError::Unknown { id: id.clone() })
}

fn ready<'a, T: Send + 'a>(answer: Result<T, StoreError>) -> Pending<'a, T> {
    Box::pin(std::future::ready(answer))
}

/// What stands after place `after` in a list whose places count from 1.
fn rest<T>(list: &[T], after: u64) -> &[T] {
    usize::try_from(after).ok().and_then(|after| list.get(after..)).unwrap_or_default()
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self {
            sessions: Mutex::default(),
            hints: broadcast::channel(HINTS).0,
            book: Book::default(),
        }
    }
}

impl MemoryStore {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Every change is made by code that cannot panic half-way, so a poisoned lock is sound.
    fn lock(&self) -> MutexGuard<'_, Sessions> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, summary: &Summary) {
        // Without subscribers there is nobody to tell.
        let _ = self.hints.send(Hint {
            id: summary.id.clone(),
            last_seq: summary.last_seq,
            last_control: summary.last_control,
        });
    }

    fn do_create(&self, id: &SessionId, head: Head, at_ms: u64) -> Result<(), StoreError> {
        head.check()?;
        let at_ms = cap_time(at_ms);
        let mut sessions = self.lock();
        if sessions.contains_key(id) {
            return Err(StoreError::Exists { id: id.clone() });
        }
        let summary = Summary {
            id: id.clone(),
            head,
            created_ms: at_ms,
            updated_ms: at_ms,
            last_seq: 0,
            last_control: 0,
            lease: None,
        };
        self.tell(&summary);
        let (entries, controls, timers) = (Vec::new(), Vec::new(), BTreeMap::new());
        let (epoch, kept) = (0, None);
        sessions.insert(id.clone(), Held { summary, epoch, entries, controls, timers, kept });
        Ok(())
    }

    fn do_append(&self, id: &SessionId, append: Append) -> Result<u64, StoreError> {
        append.check()?;
        let mut sessions = self.lock();
        let held = find(&mut sessions, id)?;
        if let Some(epoch) = append.epoch
            && held.summary.lease.as_ref().is_none_or(|lease| lease.epoch != epoch)
        {
            return Err(StoreError::LeaseLost { id: id.clone(), epoch });
        }
        let (expected, actual) = (append.expected_seq, held.summary.last_seq);
        if expected != actual {
            return Err(StoreError::Conflict { id: id.clone(), expected, actual });
        }
        for entry in append.entries {
            held.summary.last_seq += 1;
            let (at_ms, kind, body) = (cap_time(entry.at_ms), entry.kind, entry.body.into_string());
            held.summary.updated_ms = at_ms;
            held.entries.push(Entry { seq: held.summary.last_seq, at_ms, kind, body });
        }
        if let Some(head) = append.head {
            held.summary.head = head;
        }
        self.tell(&held.summary);
        Ok(held.summary.last_seq)
    }

    fn do_lease(&self, id: &SessionId, ask: AskLease) -> Result<Lease, StoreError> {
        lease::check_owner(&ask.owner)?;
        let mut sessions = self.lock();
        let held = find(&mut sessions, id)?;
        if let Some(held) = &held.summary.lease
            && held.until_ms > ask.now_ms
        {
            let (owner, until_ms) = (held.owner.clone(), held.until_ms);
            return Err(StoreError::Held { id: id.clone(), owner, until_ms });
        }
        held.epoch += 1;
        let until_ms = ask.until_ms();
        let lease = Lease { id: id.clone(), owner: ask.owner, epoch: held.epoch, until_ms };
        held.summary.lease = Some(lease.clone());
        Ok(lease)
    }

    fn do_renew(&self, lease: &Lease, until_ms: u64) -> Result<Lease, StoreError> {
        let mut sessions = self.lock();
        match &mut find(&mut sessions, &lease.id)?.summary.lease {
            Some(held) if held.epoch == lease.epoch => {
                held.until_ms = until_ms;
                Ok(held.clone())
            }
            _ => Err(StoreError::LeaseLost { id: lease.id.clone(), epoch: lease.epoch }),
        }
    }

    fn do_control(&self, id: &SessionId, control: NewControl) -> Result<u64, StoreError> {
        control.check()?;
        let mut sessions = self.lock();
        let held = find(&mut sessions, id)?;
        held.summary.last_control += 1;
        let number = held.summary.last_control;
        let NewControl { at_ms, kind, body, who } = control;
        let (at_ms, body) = (cap_time(at_ms), body.into_string());
        held.controls.push(Control { number, at_ms, kind, body, who });
        self.tell(&held.summary);
        Ok(number)
    }

    fn do_set_timer(&self, id: &SessionId, name: &str, due_ms: u64) -> Result<(), StoreError> {
        control::check_name("the name of a timer", name)?;
        find(&mut self.lock(), id)?.timers.insert(name.to_owned(), cap_time(due_ms));
        Ok(())
    }
}

impl Store for MemoryStore {
    fn create(&self, id: &SessionId, head: Head, at_ms: u64) -> Pending<'_, ()> {
        ready(self.do_create(id, head, at_ms))
    }

    fn append(&self, id: &SessionId, append: Append) -> Pending<'_, u64> {
        ready(self.do_append(id, append))
    }

    fn read(&self, id: &SessionId, after_seq: u64, limit: usize) -> Pending<'_, Vec<Entry>> {
        let mut bytes = 0;
        ready(find(&mut self.lock(), id).map(|held| {
            let entries = rest(&held.entries, after_seq).iter().take(limit.min(MAX_LIMIT));
            let fits = |entry: &&Entry| {
                let first = bytes == 0;
                bytes += entry.body.len();
                first || bytes <= MAX_BODY_BYTES
            };
            entries.take_while(fits).cloned().collect()
        }))
    }

    fn session(&self, id: &SessionId) -> Pending<'_, Option<Summary>> {
        ready(Ok(self.lock().get(id).map(|held| held.summary.clone())))
    }

    fn sessions(&self, filter: &Filter) -> Pending<'_, Vec<Summary>> {
        let lets_through = |summary: &&Summary| {
            let Filter { state, text, before, .. } = filter;
            let text_fits = |text: &String| {
                summary.id.as_str().contains(&text.to_ascii_lowercase())
                    || summary.head.mentions(text)
            };
            state.as_ref().is_none_or(|state| *state == summary.head.state)
                && text.as_ref().is_none_or(text_fits)
                && before.as_ref().is_none_or(|before| summary.position() < *before)
        };
        let sessions = self.lock();
        let mut found: Vec<&Summary> =
            sessions.values().map(|held| &held.summary).filter(lets_through).collect();
        found.sort_unstable_by_key(|summary| std::cmp::Reverse(summary.position()));
        found.truncate(filter.limit.min(MAX_LIMIT));
        ready(Ok(found.into_iter().cloned().collect()))
    }

    fn lease(&self, id: &SessionId, ask: AskLease) -> Pending<'_, Lease> {
        ready(self.do_lease(id, ask))
    }

    fn renew(&self, lease: &Lease, ttl_ms: u64, now_ms: u64) -> Pending<'_, Lease> {
        ready(self.do_renew(lease, cap_time(now_ms.saturating_add(ttl_ms))))
    }

    fn release(&self, lease: &Lease) -> Pending<'_, ()> {
        if let Some(held) = self.lock().get_mut(&lease.id) {
            held.summary.lease.take_if(|held| held.epoch == lease.epoch);
        }
        ready(Ok(()))
    }

    fn control(&self, id: &SessionId, control: NewControl) -> Pending<'_, u64> {
        ready(self.do_control(id, control))
    }

    fn controls(&self, id: &SessionId, after: u64) -> Pending<'_, Vec<Control>> {
        let latest =
            |held: &mut Held| rest(&held.controls, after).iter().take(MAX_LIMIT).cloned().collect();
        ready(find(&mut self.lock(), id).map(latest))
    }

    fn set_timer(&self, id: &SessionId, name: &str, due_ms: u64) -> Pending<'_, ()> {
        ready(self.do_set_timer(id, name, due_ms))
    }

    fn clear_timer(&self, id: &SessionId, name: &str) -> Pending<'_, ()> {
        if let Some(held) = self.lock().get_mut(id) {
            held.timers.remove(name);
        }
        ready(Ok(()))
    }

    fn due(&self, now_ms: u64, limit: usize) -> Pending<'_, Vec<Timer>> {
        let mut due = Vec::new();
        for (id, held) in self.lock().iter() {
            for (name, &due_ms) in held.timers.iter().filter(|(_, due_ms)| **due_ms <= now_ms) {
                due.push(Timer { id: id.clone(), name: name.clone(), due_ms });
            }
        }
        due.sort_unstable_by(|a, b| (a.due_ms, &a.id, &a.name).cmp(&(b.due_ms, &b.id, &b.name)));
        due.truncate(limit.min(MAX_LIMIT));
        ready(Ok(due))
    }

    fn keep(&self, id: &SessionId, state: Kept) -> Pending<'_, ()> {
        let state = Kept { at_ms: cap_time(state.at_ms), ..state };
        ready(state.check().and_then(|()| {
            find(&mut self.lock(), id)?.kept = Some(state);
            Ok(())
        }))
    }

    fn kept(&self, id: &SessionId) -> Pending<'_, Option<Kept>> {
        ready(Ok(self.lock().get(id).and_then(|held| held.kept.clone())))
    }

    fn standing(&self, limit: usize) -> Pending<'_, Vec<Standing>> {
        let sessions = self.lock();
        let standing = |(id, held): (&SessionId, &Held)| {
            let Kept { scope, end, at_ms, .. } = *held.kept.as_ref()?;
            Some(Standing { id: id.clone(), scope, end, at_ms })
        };
        let mut found: Vec<Standing> = sessions.iter().filter_map(standing).collect();
        found.sort_unstable_by(|a, b| (b.at_ms, &b.id).cmp(&(a.at_ms, &a.id)));
        found.truncate(limit.min(MAX_LIMIT));
        ready(Ok(found))
    }

    fn subscribe(&self) -> Subscription {
        Subscription::new(self.hints.subscribe())
    }

    fn delete(&self, id: &SessionId) -> Pending<'_, bool> {
        let removed = self.lock().remove(id);
        if removed.is_some() {
            let _ = self.hints.send(Hint { id: id.clone(), last_seq: 0, last_control: 0 });
        }
        ready(Ok(removed.is_some()))
    }
}
