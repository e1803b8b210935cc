//! What the tests share.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use steersman_engine::{Action, Decision, Engine, Event, Policy, RunInfo, Timestamp, Usage};
use steersman_gateway::api::{Access, Api, NewMark, Parts};
use steersman_gateway::control::{Control, ControlError, Helm};
use steersman_gateway::figures::Figures;
use steersman_gateway::govern::Course;
use steersman_gateway::journal::Journal;
use steersman_gateway::record::{Entry, Opened, Recorder, Replied};
use steersman_gateway::session::{Session, Snapshot};
use steersman_store::{Entry as Stored, MemoryStore, SessionId, Store};
use steersman_timeline::Mark;

/// The time of everything that happens.
pub(crate) const AT_MS: u64 = 1_700_000_000_000;

pub(crate) fn id(text: &str) -> SessionId {
    SessionId::new(text).unwrap()
}

pub(crate) fn clock() -> Arc<dyn Fn() -> u64 + Send + Sync> {
    let now = AtomicU64::new(AT_MS);
    Arc::new(move || now.fetch_add(1, Ordering::SeqCst))
}

pub(crate) fn journal(store: &Arc<dyn Store>) -> Arc<Journal> {
    Arc::new(Journal::new(Arc::clone(store), clock()))
}

/// A snapshot of a session that stands at `end`.
pub(crate) fn snapshot(end: u64) -> Snapshot {
    let session = Session::begin(Arc::new(Policy::default()), RunInfo::default());
    let mut snapshot = session.snapshot();
    snapshot.memory.end = end;
    snapshot.memory.items = 5;
    snapshot.memory.last_text = "I will look.".to_owned();
    snapshot.memory.last = Some(Box::new(decision(Action::Nudge)));
    snapshot
}

/// A decision of the engine's with another action.
pub(crate) fn decision(action: Action) -> Decision {
    let mut engine = Engine::new(Arc::new(Policy::default()), RunInfo::default());
    let decision = engine.handle(Timestamp(AT_MS), &Event::TurnEnded);
    Decision { action, ..decision }
}

pub(crate) fn opened(task: &str) -> Entry {
    Entry::Opened(Box::new(Opened {
        name: "ses_1".to_owned(),
        source: "x-session-id".to_owned(),
        parent: None,
        client: "codex".to_owned(),
        key: "alice".to_owned(),
        model: "some-model".to_owned(),
        format: "openai-responses".to_owned(),
        mode: "govern".to_owned(),
        task: task.to_owned(),
        taken_up: false,
    }))
}

pub(crate) fn replied(calls: &[&str]) -> Entry {
    Entry::Replied(Box::new(Replied {
        text: "Now.".to_owned(),
        calls: calls.iter().map(|call| (*call).to_owned()).collect(),
        usage: Usage { input_tokens: 100, output_tokens: 10, cost_nanodollars: 7 },
        model: "some-model-1".to_owned(),
        took_ms: 5,
        ..Replied::default()
    }))
}

pub(crate) const fn asked(items: usize) -> Entry {
    Entry::Asked { items, resent: false }
}

pub(crate) fn decided(action: Action) -> Entry {
    Entry::Decided(Box::new(decision(action)))
}

/// A session that is nudged once and ends by itself.
pub(crate) fn tell(recorder: &dyn Recorder, session: &str, at_ms: u64) {
    for entry in [
        opened("Fix the test.\nAll of it."),
        asked(1),
        decided(Action::Nudge),
        Entry::Steered { course: Course::Say },
        replied(&["read", "shell"]),
        asked(4),
        decided(Action::Continue),
        replied(&[]),
    ] {
        recorder.record(session, at_ms, &entry);
    }
}

pub(crate) fn kinds(entries: &[Stored]) -> Vec<&str> {
    entries.iter().map(|entry| entry.kind.as_str()).collect()
}

/// Holds one session and remembers what it was told.
#[derive(Default)]
pub(crate) struct Holder(Mutex<Vec<(String, Control)>>, Mutex<Vec<(u64, Mark)>>);

impl Holder {
    pub(crate) fn told(&self) -> Vec<(String, Control)> {
        self.0.lock().unwrap().clone()
    }

    pub(crate) fn marks(&self) -> Vec<(u64, Mark)> {
        self.1.lock().unwrap().clone()
    }
}

impl Helm for Holder {
    fn control(&self, session: &str, who: &str, control: Control) -> Result<(), ControlError> {
        match &control {
            _ if session != "gw-1" => return Err(ControlError::Unknown),
            Control::Aggressiveness { preset } if preset != "lenient" => {
                return Err(ControlError::Invalid(format!("no preset is called {preset:?}")));
            }
            _ => {}
        }
        self.0.lock().unwrap().push((who.to_owned(), control));
        Ok(())
    }

    fn mark(&self, _: &str, _: &str, mark: &NewMark) -> Result<(), ControlError> {
        self.1.lock().unwrap().push((mark.seq, mark.mark));
        Ok(())
    }

    fn open_sessions(&self) -> Option<usize> {
        Some(1)
    }
}

/// An API over a store in memory, with a journal and a holder of sessions.
pub(crate) struct Stage {
    pub(crate) api: Api,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) journal: Arc<Journal>,
    pub(crate) holder: Arc<Holder>,
}

impl Stage {
    pub(crate) fn new(token: Option<&str>) -> Self {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let journal = journal(&store);
        let holder = Arc::new(Holder::default());
        let helm: Arc<dyn Helm> = Arc::clone(&holder) as Arc<dyn Helm>;
        let api = Api::new(Parts {
            store: Arc::clone(&store),
            runs: None,
            helm: Some(helm),
            figures: Arc::new(Figures::default()),
            journal: journal.health(),
            access: Access::new([127, 0, 0, 1].into(), token.map(str::to_owned)),
            clock: clock(),
        });
        Self { api, store, journal, holder }
    }
}
