//! All sessions that are open, and which of them a request belongs to.

use std::collections::{HashMap, HashSet};
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use steersman_wire::{Received, Speaker};
use twox_hash::XxHash3_64;

use crate::chain::{Beginnings, Chain};
use crate::identity::Named;
use crate::session::{Print, Session};

/// A session that requests of different connections can reach.
pub type Shared = Arc<Mutex<Session>>;

/// Sessions beyond so many leave the memory once they rest: an agent at work asks again soon, and
/// what has ended would stay for good.
pub const ROOM: usize = 500;
/// How long a session rests before it leaves. Milliseconds.
const REST_MS: u64 = 30_000;
/// How often it is looked for those. Milliseconds.
const SWEEP_MS: u64 = 5_000;
/// The share of sessions that leave where there is no more room at all.
const EVICTED_SHARE: usize = 16;

/// The session a request belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    id: u64,
}

impl Key {
    /// The session's id in journals, headers and the API.
    #[must_use]
    pub fn id(&self) -> String {
        format!("gw-{:016x}", self.id)
    }
}

/// The sessions that are open, at most so many. Those that left are known by where they stood, and
/// taken up from the recorder.
#[derive(Debug)]
pub struct Sessions {
    open: HashMap<u64, Slot>,
    beginnings: Beginnings,
    capacity: usize,
    made: u64,
    /// When it was looked for sessions at rest. Milliseconds since 1970.
    swept_ms: u64,
    /// Those that left the memory, at most as many as there is room for.
    rested: HashSet<u64>,
}

#[derive(Debug)]
struct Slot {
    session: Shared,
    scope: u64,
    end: Option<u64>,
    /// Where its last response stands.
    response: Option<u64>,
    used_ms: u64,
}

impl Slot {
    fn new(session: Session, scope: u64, used_ms: u64) -> Self {
        let end = session.stands_at();
        Self { session: Arc::new(Mutex::new(session)), scope, end, response: None, used_ms }
    }

    /// Whether a request is under way or waits, or the session is to be written down: taken up
    /// anew it would be there twice.
    fn is_held(&self) -> bool {
        Arc::strong_count(&self.session) > 1 || lock(&self.session).is_awaited()
    }
}

/// What is known of a session that is not in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Past {
    /// Its id is new, so that nothing can be known of it anywhere.
    None,
    /// It was in memory and left it.
    Rested,
    /// Nothing; an earlier run of the program may know it.
    Unknown,
}

/// A request, as far as it tells which session is its own.
#[derive(Debug)]
pub struct Caller<'a> {
    /// The name of the virtual key; empty without one. Sessions of different keys never meet.
    pub key: &'a str,
    /// The name the client gives to the session.
    pub named: Option<&'a Named>,
    /// The request.
    pub received: &'a Received<'a>,
    /// The running hashes of its items.
    pub chain: &'a Chain,
    /// When it came. Milliseconds since 1970.
    pub at_ms: u64,
}

impl Sessions {
    /// Room for at most so many sessions.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        let capacity = capacity.max(EVICTED_SHARE);
        // A session can be gone on with behind its last request, and from its last response.
        let beginnings = Beginnings::new(capacity.saturating_mul(2));
        Self {
            open: HashMap::new(),
            beginnings,
            capacity,
            made: 0,
            swept_ms: 0,
            rested: HashSet::new(),
        }
    }

    /// Number of open sessions.
    #[must_use]
    pub fn len(&self) -> usize {
        self.open.len()
    }

    /// Whether none is open.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// A session by its id, with its scope; one that is not open is taken up. `None` if it is not
    /// known.
    pub fn by_id(
        &mut self,
        id: &str,
        at_ms: u64,
        take_up: impl FnOnce() -> Option<(Session, u64)>,
    ) -> Option<(Shared, u64)> {
        let id = number_of(id)?;
        if !self.open.contains_key(&id) {
            let (session, scope) = take_up()?;
            self.make_room();
            self.open.insert(id, Slot::new(session, scope, at_ms));
        }
        let slot = self.open.get(&id)?;
        Some((Arc::clone(&slot.session), slot.scope))
    }

    /// A session that is open; `None` if it is not in memory.
    #[must_use]
    pub fn open(&self, id: &str) -> Option<Shared> {
        let id = number_of(id)?;
        self.open.get(&id).map(|slot| Arc::clone(&slot.session))
    }

    /// A session that was kept by an earlier run of the program stood there.
    pub fn seed(&mut self, id: &str, scope: u64, end: u64) {
        if let Some(id) = number_of(id) {
            self.beginnings.put(scope, end, id, None);
        }
    }

    /// The session that a request goes on with, or one made by `make`.
    pub fn of(
        &mut self,
        caller: &Caller<'_>,
        make: impl FnOnce(&Key, Past) -> Session,
    ) -> (Key, Shared) {
        self.sweep(caller.at_ms);
        let (key, is_new) = self.key_of(caller);
        if let Some(slot) = self.open.get_mut(&key.id) {
            slot.used_ms = caller.at_ms;
            return (key, Arc::clone(&slot.session));
        }
        self.make_room();
        let scope = scope_of(caller.key, caller.named);
        let past = match (is_new, self.rested.remove(&key.id)) {
            (true, _) => Past::None,
            (false, true) => Past::Rested,
            (false, false) => Past::Unknown,
        };
        let slot = Slot::new(make(&key, past), scope, caller.at_ms);
        let session = Arc::clone(&slot.session);
        self.open.insert(key.id, slot);
        (key, session)
    }

    /// A session was asked up to the end of this chain: it is looked for there from now on.
    pub fn stands(&mut self, key: &Key, chain: &Chain) {
        let Some(slot) = self.open.get_mut(&key.id) else { return };
        let before = slot.end.replace(chain.end()).filter(|end| *end != chain.end());
        self.beginnings.put(slot.scope, chain.end(), key.id, before);
    }

    /// A session's client has got the response that stands there, and may go on from it.
    pub fn answered(&mut self, id: &str, place: u64) {
        let Some(id) = number_of(id) else { return };
        let Some(slot) = self.open.get_mut(&id) else { return };
        let before = slot.response.replace(place).filter(|before| *before != place);
        self.beginnings.put(slot.scope, place, id, before);
    }

    /// The key, and whether it is new.
    fn key_of(&mut self, caller: &Caller<'_>) -> (Key, bool) {
        if let Some(named) = caller.named.filter(|named| named.is_exact) {
            let name = (named.source, &named.name);
            // Ids from before there were keys stay as they are.
            let id = if caller.key.is_empty() { hash(&name) } else { hash(&(caller.key, name)) };
            return (Key { id }, false);
        }
        let scope = scope_of(caller.key, caller.named);
        let found = self.beginnings.longest(scope, caller.chain);
        let found = found.map(|(items, sessions)| (items, sessions.to_vec()));
        let known = found.and_then(|(items, sessions)| self.choose(caller, items, &sessions));
        let id = known.unwrap_or_else(|| self.new_id(caller, scope));
        (Key { id }, known.is_none())
    }

    /// Which of the sessions that have sent this beginning goes on with this request.
    fn choose(&self, caller: &Caller<'_>, items: usize, sessions: &[u64]) -> Option<u64> {
        let open = |id: &u64| self.open.get(id).map(|slot| (*id, lock(&slot.session)));
        if items == caller.chain.len() {
            let has_reply = caller.chain.is_rest()
                || caller
                    .received
                    .turns(0)
                    .is_ok_and(|heard| heard.iter().any(|one| one.speaker == Speaker::Assistant));
            // The first request of a task that another run is at, or has been given an answer to,
            // is a run of its own; one that got no answer is sent again.
            let mut open = sessions.iter().filter_map(open);
            return open.find(|(_, session)| has_reply || session.broke_off()).map(|(id, _)| id);
        }
        if caller.chain.is_rest() {
            // Whoever goes on from a response while another does so is a run of its own.
            let is_free = |id: &&u64| open(id).is_none_or(|(_, own)| !own.memory.in_flight);
            return sessions.iter().find(is_free).copied();
        }
        if let [one] = sessions {
            return Some(*one);
        }
        let heard = caller.received.turns(items).ok()?;
        let reply = heard.iter().find(|one| one.speaker == Speaker::Assistant)?;
        let print = Print::of(&reply.message);
        let told = |id: &u64| open(id).and_then(|(_, session)| session.memory.told);
        let first = |fits: fn(Print, Print) -> bool| {
            sessions.iter().find(|id| told(id).is_some_and(|it| fits(it, print))).copied()
        };
        let alike = || first(Print::is_alike);
        first(Print::is_certainly).or_else(alike).or_else(|| first(Print::may_be))
    }

    fn new_id(&mut self, caller: &Caller<'_>, scope: u64) -> u64 {
        self.made += 1;
        hash(&(scope, caller.chain.end(), caller.at_ms, self.made))
    }

    /// Lets sessions at rest go that nobody holds, now and then.
    fn sweep(&mut self, at_ms: u64) {
        if self.open.len() < ROOM || at_ms < self.swept_ms.saturating_add(SWEEP_MS) {
            return;
        }
        self.swept_ms = at_ms;
        let rests = |slot: &Slot| slot.used_ms.saturating_add(REST_MS) <= at_ms;
        let left = self.open.extract_if(|_, slot| rests(slot) && !slot.is_held());
        let left: Vec<u64> = left.map(|(id, _)| id).collect();
        left.into_iter().for_each(|id| self.rests(id));
    }

    /// A session has left the memory.
    fn rests(&mut self, id: u64) {
        if self.rested.len() >= self.capacity {
            self.rested.clear();
        }
        self.rested.insert(id);
    }

    /// Where there is no room left, lets those go that were used longest ago.
    fn make_room(&mut self) {
        if self.open.len() < self.capacity {
            return;
        }
        let free = self.open.iter().filter(|(_, slot)| !slot.is_held());
        let mut ages: Vec<(u64, u64)> = free.map(|(id, slot)| (slot.used_ms, *id)).collect();
        ages.sort_unstable();
        for (_, id) in ages.into_iter().take(self.capacity / EVICTED_SHARE) {
            self.open.remove(&id);
            self.rests(id);
        }
    }
}

/// The number in a session's id, as [`Key::id`] writes it; `None` if it is no id of ours.
fn number_of(id: &str) -> Option<u64> {
    u64::from_str_radix(id.strip_prefix("gw-")?, 16).ok()
}

/// The lock of a session. What a panic could leave behind is a state that lacks an event.
pub fn lock(session: &Shared) -> MutexGuard<'_, Session> {
    session.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What narrows where a conversation is looked for.
///
/// Conversations without exact names are looked for among those with the same inexact one, and of
/// the same virtual key.
pub fn scope_of(key: &str, named: Option<&Named>) -> u64 {
    let name = named.map(|named| (named.source, &named.name));
    if key.is_empty() { name.map_or(0, |name| hash(&name)) } else { hash(&(key, name)) }
}

/// The same in every run of the program: ids are found again after a restart.
fn hash(value: &impl Hash) -> u64 {
    let mut hasher = XxHash3_64::default();
    value.hash(&mut hasher);
    hasher.finish()
}
