//! A folder on disk, tools and checkpoints in it, a journal, and a clock that runs fast.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::Value;
use steersman_agent::tools::{WorkSite, WorkTools, specs};
use steersman_agent::{
    AgentSetup, Agents, Clock, Driver, Ended, Entry, Log, Model, ModelCall, Opened, Parts,
    ServedModel, Session, Unwatched, VERSION, Work, control, read,
};
use steersman_engine::{Action, Policy};
use steersman_prompt::{Approval, ApprovalMode};
use steersman_store::{MemoryStore, SessionId, Store};
use steersman_upstream::{Client, Deadlines, Endpoint, Format, Options};
use steersman_wire::{Answer, Delta, Failure, Message, Part, Role};
use steersman_workspace::{Checkpoints, Shell, ShellOptions, Workspace};
use tempfile::TempDir;
use tokio::sync::mpsc;

/// The key that no journal and no message may hold.
pub(crate) const KEY: &str = "sk-0123456789abcdefghijklmnopqrstuv";

/// When every session begins.
const BEGIN_MS: u64 = 1_700_000_000_000;

/// How many times faster than the machine's the clock of the tests runs.
const SPEED: u64 = 5_000;

/// A clock that runs fast, so that real connections and long waits go together.
pub(crate) struct FastClock(Instant);

impl FastClock {
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }
}

impl Clock for FastClock {
    fn now_ms(&self) -> u64 {
        let passed = u64::try_from(self.0.elapsed().as_micros()).unwrap();
        BEGIN_MS + passed * SPEED / 1000
    }

    fn until(&self, at_ms: u64) -> Work<'_, ()> {
        Box::pin(async move {
            while self.now_ms() < at_ms {
                let left = Duration::from_micros((at_ms - self.now_ms().min(at_ms)) * 1000 / SPEED);
                tokio::time::sleep(left).await;
            }
        })
    }
}

/// Nobody else is there.
pub(crate) struct Alone;

impl Agents for Alone {
    fn setup(&self, _: &str, to: &str) -> Result<AgentSetup, String> {
        Err(format!("There is no agent {to:?}."))
    }
}

/// A model that says what it is told to, one answer after the other, then that it is done.
#[derive(Default)]
pub(crate) struct Says(Mutex<VecDeque<Answer>>);

impl Says {
    pub(crate) fn these(messages: impl IntoIterator<Item = Message>) -> Arc<Self> {
        Arc::new(Self(Mutex::new(messages.into_iter().map(answer).collect())))
    }
}

impl Model for Says {
    fn reply<'a>(
        &'a self,
        _: ModelCall<'a>,
        _: &'a mut (dyn FnMut(&Delta) + Send),
    ) -> Work<'a, Result<Answer, Failure>> {
        let next = self.0.lock().unwrap().pop_front();
        let next = next.unwrap_or_else(|| answer(Message::assistant("Done.")));
        Box::pin(async { Ok(next) })
    }
}

fn answer(message: Message) -> Answer {
    serde_json::from_value(serde_json::json!({"message": message, "stop": "stop"})).unwrap()
}

/// A reply of nothing but calls: id, tool, arguments.
pub(crate) fn calls(calls: &[(&str, &str, &str)]) -> Message {
    let call = |(id, name, arguments): &(&str, &str, &str)| Part::ToolCall {
        id: (*id).to_owned(),
        name: (*name).to_owned(),
        arguments: (*arguments).to_owned(),
        raw: None,
    };
    Message { role: Role::Assistant, parts: calls.iter().map(call).collect() }
}

/// A run in a folder of its own.
pub(crate) struct Place {
    pub(crate) dir: TempDir,
    pub(crate) policy: Policy,
    pub(crate) check: Option<String>,
    pub(crate) agent: AgentSetup,
    pub(crate) stream: bool,
    pub(crate) approval: Approval,
    store: Arc<dyn Store>,
    id: SessionId,
}

/// What a run leaves behind.
pub(crate) struct Left {
    pub(crate) ended: Ended,
    pub(crate) session: Session,
    pub(crate) entries: Vec<(u64, Entry)>,
    /// Every entry as it is stored.
    pub(crate) journal: String,
}

impl Left {
    /// The actions decided.
    pub(crate) fn actions(&self) -> Vec<Action> {
        let decided = self.entries.iter().filter_map(|(_, entry)| match entry {
            Entry::Decided { decision } => Some(decision.action),
            _ => None,
        });
        decided.collect()
    }

    /// The waits before retries, as decided; each was waited for in full.
    pub(crate) fn waits_ms(&self) -> Vec<u64> {
        let mut waits = Vec::new();
        let mut until = 0;
        for (at, entry) in &self.entries {
            match entry {
                Entry::Decided { decision } if decision.action == Action::Retry => {
                    waits.push(decision.delay_ms.unwrap());
                }
                Entry::WaitStarted { until_ms } => until = *until_ms,
                Entry::WaitEnded => assert!(*at >= until, "waited until {at}, not {until}"),
                _ => {}
            }
        }
        waits
    }

    /// The results of tools: whether each failed, and what it says.
    pub(crate) fn results(&self) -> Vec<(bool, String)> {
        let parts = self.session.conversation().iter().flat_map(|message| &message.parts);
        let results = parts.filter_map(|part| match part {
            Part::ToolResult { content, is_error, .. } => Some((*is_error, content.clone())),
            _ => None,
        });
        results.collect()
    }

    /// What Steersman said, by the names of its texts.
    pub(crate) fn said(&self) -> Vec<&str> {
        let said = self.entries.iter().filter_map(|(_, entry)| match entry {
            Entry::Said { template, .. } => Some(template.as_str()),
            _ => None,
        });
        said.collect()
    }
}

impl Place {
    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = dir.path().join("project").join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        std::fs::create_dir_all(dir.path().join("project")).unwrap();
        let mut tools = specs();
        tools.extend(control::specs());
        let agent = AgentSetup {
            name: "coder".to_owned(),
            model: "a-model".to_owned(),
            system: "You are a test.".to_owned(),
            tools,
            ..AgentSetup::default()
        };
        Self {
            dir,
            policy: Policy::default(),
            check: None,
            agent,
            stream: false,
            approval: Approval { mode: ApprovalMode::Auto, ..Approval::default() },
            store: Arc::new(MemoryStore::default()),
            id: "served".parse().unwrap(),
        }
    }

    pub(crate) fn path(&self, name: &str) -> std::path::PathBuf {
        self.dir.path().join("project").join(name)
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    /// The model behind a server, with the key.
    pub(crate) fn served(format: Format, url: &str, deadlines: Deadlines) -> Arc<dyn Model> {
        let endpoint = Endpoint::new(format, url).unwrap().with_key(KEY).unwrap();
        Arc::new(ServedModel::new(Client::new(&Options::default()).unwrap(), endpoint, deadlines))
    }

    fn opened(&self, root: &Path) -> Entry {
        Entry::Opened(Box::new(Opened {
            version: VERSION,
            program: "test".to_owned(),
            agent: self.agent.clone(),
            workspace: Some(root.display().to_string()),
            check: self.check.clone(),
            policy: Box::new(self.policy.clone()),
            interactive: false,
            others: vec!["coder".to_owned()],
            extra: Value::Null,
        }))
    }

    /// Takes the agent to its end.
    pub(crate) async fn run(&self, model: Arc<dyn Model>, task: &str) -> Left {
        let workspace = Arc::new(Workspace::open(self.dir.path().join("project")).unwrap());
        let shell = Arc::new(Shell::new(&workspace, ShellOptions::default()).unwrap());
        let kept = self.dir.path().join("kept");
        let kept = Checkpoints::open(&workspace, self.id.as_str(), &kept).unwrap();
        let approval = self.approval.clone();
        let root = workspace.root().to_owned();
        let site = Arc::new(WorkSite::new(Arc::clone(&shell), Arc::new(kept)));
        let tools = WorkTools::new(workspace, shell, Arc::new(approval), Vec::new());
        let (_sender, commands) = mpsc::channel(1);
        let parts = Parts {
            model,
            tools: Arc::new(tools),
            site: Some(site),
            agents: Arc::new(Alone),
            clock: Arc::new(FastClock::start()),
            face: Box::new(Unwatched),
            commands,
            stream: self.stream,
        };
        self.store.create(&self.id, Default::default(), BEGIN_MS).await.unwrap();
        let log = Log::take(Arc::clone(&self.store), self.id.clone(), BEGIN_MS).await.unwrap();
        let mut driver = Driver::begin(log, self.opened(&root), parts).await.unwrap();
        driver.hear(task.to_owned()).await.unwrap();
        let ended = driver.run().await.unwrap().expect("the run ends");
        driver.release().await.unwrap();
        let (mut entries, mut journal) = (Vec::new(), String::new());
        let session = read(&*self.store, &self.id, |_, stored, entry| {
            entries.push((stored.at_ms, entry.clone()));
            journal.push_str(&format!("{stored:?}\n"));
        });
        let session = session.await.unwrap();
        assert_eq!(session.differing(), 0, "read again, the journal gives the same decisions");
        Left { ended, session, entries, journal }
    }
}
