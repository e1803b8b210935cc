//! A stage for sessions: a scripted model, tools and a folder that live in memory, virtual time.
#![allow(dead_code, reason = "each test file uses its part")]

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use steersman_agent::rehearsal::{Script, ScriptedModel};
use steersman_agent::{
    AgentSetup, Agents, CheckOutcome, Checkpointed, Command, Driver, Ended, Entry, Face, GivenUp,
    Log, Opened, Parts, Session, Site, TimerClock, ToolOutcome, ToolRun, Toolbox, VERSION, Work,
    control,
};
use steersman_engine::{Policy, TestReport};
use steersman_store::{MemoryStore, SessionId, Store};
use steersman_wire::ToolSpec;
use tokio::sync::mpsc;

/// When every session of the tests begins.
pub(crate) const BEGIN_MS: u64 = 1_700_000_000_000;

/// A folder in memory: named texts. The text `tests` says how many tests fail and pass: `2/6`.
#[derive(Clone, Default)]
pub(crate) struct Folder {
    pub(crate) files: Arc<Mutex<BTreeMap<String, String>>>,
    kept: Arc<Mutex<Vec<BTreeMap<String, String>>>>,
    pub(crate) calls: Arc<Mutex<Vec<String>>>,
}

impl Folder {
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        let folder = Self::default();
        let files = files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
        *folder.files.lock().unwrap() = files.collect();
        folder
    }

    pub(crate) fn text(&self, name: &str) -> Option<String> {
        self.files.lock().unwrap().get(name).cloned()
    }

    fn run(&self, run: &ToolRun) -> ToolOutcome {
        self.calls.lock().unwrap().push(format!("{} {}", run.name, run.arguments));
        let Ok(arguments) = serde_json::from_str::<Value>(&run.arguments) else {
            return ToolOutcome::error("the arguments are not JSON");
        };
        let text = |key: &str| arguments[key].as_str().unwrap_or_default().to_owned();
        let mut files = self.files.lock().unwrap();
        match run.name.as_str() {
            "read" => match files.get(&text("path")) {
                Some(found) => ToolOutcome::ok(found.clone()),
                None => ToolOutcome::error(format!("{}: not found", text("path"))),
            },
            "write" => {
                files.insert(text("path"), text("content"));
                ToolOutcome::ok("written")
            }
            "big" => ToolOutcome::ok("x".repeat(40_000)),
            other => ToolOutcome::error(format!("no {other} here")),
        }
    }

    fn report(&self) -> CheckOutcome {
        let files = self.files.lock().unwrap();
        let (failed, passed) = files
            .get("tests")
            .and_then(|text| text.split_once('/'))
            .map_or((0, 0), |(failed, passed)| (failed.parse().unwrap(), passed.parse().unwrap()));
        let mut tests = TestReport { passed, failed, ..TestReport::default() };
        (0..failed).for_each(|at| tests.add_failing(&format!("test {at}")));
        let exit_code = Some(i32::from(failed > 0));
        let output = format!("{passed} passed, {failed} failed");
        CheckOutcome { passed: failed == 0, exit_code, tests: Some(tests), output }
    }
}

impl Toolbox for Folder {
    fn call<'a>(&'a self, run: &'a ToolRun) -> Work<'a, ToolOutcome> {
        Box::pin(async move {
            if run.name == "sleep" {
                tokio::time::sleep(std::time::Duration::from_secs(3600)).await;
            }
            self.run(run)
        })
    }
}

impl Site for Folder {
    fn check<'a>(&'a self, _: &'a str) -> Work<'a, CheckOutcome> {
        Box::pin(async move { self.report() })
    }

    fn keep<'a>(&'a self, label: &'a str) -> Work<'a, Result<Checkpointed, String>> {
        Box::pin(async move {
            let mut kept = self.kept.lock().unwrap();
            kept.push(self.files.lock().unwrap().clone());
            let number = u32::try_from(kept.len()).unwrap();
            let (id, label) = (format!("state-{number}"), label.to_owned());
            Ok(Checkpointed { number, id, label, skipped: Vec::new() })
        })
    }

    fn go_back<'a>(
        &'a self,
        _: &'a Checkpointed,
        to: &'a Checkpointed,
        attempt: u32,
    ) -> Work<'a, Result<GivenUp, String>> {
        Box::pin(async move {
            let wanted = self.kept.lock().unwrap()[to.number as usize - 1].clone();
            let mut files = self.files.lock().unwrap();
            let changed = files.iter().filter(|(name, text)| wanted.get(*name) != Some(text));
            let changed: Vec<String> = changed.map(|(name, _)| name.clone()).collect();
            *files = wanted;
            Ok(GivenUp { kept: format!("attempt-{attempt}"), files: changed, ..GivenUp::default() })
        })
    }
}

/// A second agent, and nobody else.
pub(crate) struct Two;

impl Agents for Two {
    fn setup(&self, _: &str, to: &str) -> Result<AgentSetup, String> {
        if to == "reviewer" {
            Ok(AgentSetup { name: "reviewer".to_owned(), ..agent() })
        } else {
            Err(format!("There is no agent {to:?}."))
        }
    }
}

/// The agent of the tests.
pub(crate) fn agent() -> AgentSetup {
    let tool = |name: &str| ToolSpec {
        name: name.to_owned(),
        description: String::new(),
        parameters: json!({"type": "object"}),
    };
    let mut tools: Vec<ToolSpec> = ["read", "write", "big", "sleep"].map(tool).into();
    tools.extend(control::specs());
    let (name, model) = ("coder".to_owned(), "rehearsal".to_owned());
    AgentSetup { name, model, system: "You are a test.".to_owned(), tools, ..AgentSetup::default() }
}

/// Remembers every entry.
#[derive(Clone, Default)]
pub(crate) struct Seen(pub(crate) Arc<Mutex<Vec<Entry>>>);

impl Face for Seen {
    fn entry(&mut self, _: &Session, _: u64, entry: &Entry) {
        self.0.lock().unwrap().push(entry.clone());
    }
}

/// Everything a session of the tests needs, and what it leaves behind.
#[derive(Clone)]
pub(crate) struct Stage {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) folder: Folder,
    pub(crate) script: Script,
    pub(crate) policy: Policy,
    pub(crate) seen: Seen,
    pub(crate) id: SessionId,
}

impl Stage {
    pub(crate) fn new(script: &str, files: &[(&str, &str)]) -> Self {
        let script = Script::parse("test", script).unwrap_or_else(|error| panic!("{error}"));
        Self {
            store: Arc::new(MemoryStore::default()),
            folder: Folder::of(files),
            script,
            policy: Policy::default(),
            seen: Seen::default(),
            id: "test".parse().unwrap(),
        }
    }

    pub(crate) fn opened(&self) -> Entry {
        Entry::Opened(Box::new(Opened {
            version: VERSION,
            program: "test".to_owned(),
            agent: agent(),
            workspace: Some("/project".to_owned()),
            check: self.script.check.clone(),
            policy: Box::new(self.policy.clone()),
            interactive: false,
            others: vec!["coder".to_owned(), "reviewer".to_owned()],
            extra: Value::Null,
        }))
    }

    pub(crate) fn parts(&self, clock: TimerClock) -> (Parts, mpsc::Sender<Command>) {
        let (sender, commands) = mpsc::channel(8);
        let parts = Parts {
            model: Arc::new(ScriptedModel::new(self.script.clone())),
            tools: Arc::new(self.folder.clone()),
            site: Some(Arc::new(self.folder.clone())),
            agents: Arc::new(Two),
            clock: Arc::new(clock),
            face: Box::new(self.seen.clone()),
            commands,
            stream: false,
        };
        (parts, sender)
    }

    /// A driver at the beginning of a new session.
    pub(crate) async fn begin(&self) -> (Driver, mpsc::Sender<Command>) {
        let clock = TimerClock::starting_at(BEGIN_MS);
        let (parts, sender) = self.parts(clock);
        self.store.create(&self.id, Default::default(), BEGIN_MS).await.unwrap();
        let log = Log::take(Arc::clone(&self.store), self.id.clone(), BEGIN_MS).await.unwrap();
        (Driver::begin(log, self.opened(), parts).await.unwrap(), sender)
    }

    /// The whole run, from the task to its end.
    pub(crate) async fn run(&self) -> (Ended, Session) {
        let (mut driver, _sender) = self.begin().await;
        driver.hear(self.script.task.clone()).await.unwrap();
        let ended = driver.run().await.unwrap().expect("the run ends");
        (ended, driver.release().await.unwrap())
    }

    /// The kinds of the entries seen, without those of a turn's inside.
    pub(crate) fn story(&self) -> Vec<String> {
        let seen = self.seen.0.lock().unwrap();
        let tell = |entry: &Entry| match entry {
            Entry::Decided { decision } => Some(decision.action.name().to_owned()),
            Entry::Ended(ended) => Some(format!("ended {}", ended.ending)),
            Entry::StartedOver(_) => Some("started_over".to_owned()),
            Entry::CheckFinished(check) if check.passed => Some("check passes".to_owned()),
            Entry::CheckFinished(_) => Some("check fails".to_owned()),
            Entry::BestRestored { .. } | Entry::Pruned { .. } => Some(entry.kind().to_owned()),
            _ => None,
        };
        seen.iter().filter_map(tell).collect()
    }
}

/// Runs a future on a clock that jumps ahead whenever nothing else is to be done.
pub(crate) fn play<T>(future: impl Future<Output = T>) -> T {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_time().start_paused(true).build().unwrap().block_on(future)
}
