//! What the benches share: tools without effect, a folder without files, the built-in rehearsal.
#![allow(dead_code, clippy::unwrap_used, reason = "each bench uses its part")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use steersman_agent::rehearsal::{Sample, Script, ScriptedModel};
use steersman_agent::{
    CheckOutcome, Checkpointed, Circumstances, Clock, Command, Driver, Entry, GivenUp, Log, Opened,
    Parts, Roster, Site, SystemClock, ToolOutcome, ToolRun, Toolbox, Unwatched, VERSION, Work,
};
use steersman_engine::{Policy, TestReport};
use steersman_prompt::{PromptSystem, Registry};
use steersman_store::{SessionId, Store};
use tokio::sync::mpsc;

/// The built-in rehearsal: an agent that gets stuck, starts over and solves the task.
pub(crate) fn script() -> Script {
    Script::parse("built-in", Sample::text(Sample::DEFAULT).unwrap()).unwrap()
}

/// Tools and a folder in which nothing happens: the check passes in the second attempt.
#[derive(Default)]
pub(crate) struct Nothing {
    checkpoints: AtomicU32,
    restored: AtomicU32,
}

impl Toolbox for Nothing {
    fn call<'a>(&'a self, run: &'a ToolRun) -> Work<'a, ToolOutcome> {
        let line =
            format!("{} of {}: a line as long as those of a program are\n", run.name, run.call_id);
        Box::pin(std::future::ready(ToolOutcome::ok(line.repeat(40))))
    }
}

impl Site for Nothing {
    fn check<'a>(&'a self, _: &'a str) -> Work<'a, CheckOutcome> {
        let failed = if self.restored.load(Ordering::Relaxed) == 0 { 2 } else { 0 };
        let mut tests = TestReport { passed: 6 - failed, failed, ..TestReport::default() };
        (0..failed).for_each(|at| tests.add_failing(&format!("cells::test_{at}")));
        Box::pin(std::future::ready(CheckOutcome {
            passed: failed == 0,
            exit_code: Some(i32::from(failed > 0)),
            tests: Some(tests),
            output: "assertion failed: left == right\n".repeat(20),
        }))
    }

    fn keep<'a>(&'a self, label: &'a str) -> Work<'a, Result<Checkpointed, String>> {
        let number = self.checkpoints.fetch_add(1, Ordering::Relaxed) + 1;
        let (id, label) = (format!("state-{number}"), label.to_owned());
        Box::pin(std::future::ready(Ok(Checkpointed { number, id, label, skipped: Vec::new() })))
    }

    fn go_back<'a>(
        &'a self,
        _: &'a Checkpointed,
        _: &'a Checkpointed,
        _: u32,
    ) -> Work<'a, Result<GivenUp, String>> {
        self.restored.fetch_add(1, Ordering::Relaxed);
        Box::pin(std::future::ready(Ok(GivenUp::default())))
    }
}

/// The agents of a rehearsal.
pub(crate) fn roster(script: &Script, workspace: &str) -> Arc<Roster> {
    let around = Circumstances {
        model: "rehearsal".to_owned(),
        check: script.check.clone(),
        workspace: Some(workspace.to_owned()),
        ..Circumstances::default()
    };
    Arc::new(Roster::new(Registry::built_in().unwrap(), PromptSystem::built_in(), around))
}

/// The entry that opens a session.
pub(crate) fn opened(script: &Script, roster: &Roster, workspace: &str) -> Entry {
    Entry::Opened(Box::new(Opened {
        version: VERSION,
        program: "bench".to_owned(),
        agent: roster.setup_of("coder").unwrap(),
        workspace: Some(workspace.to_owned()),
        check: script.check.clone(),
        policy: Box::new(Policy::default()),
        interactive: false,
        others: roster.names(),
        extra: serde_json::Value::Null,
    }))
}

/// Plays a rehearsal and gives the number of its turns.
pub(crate) async fn play(
    store: Arc<dyn Store>,
    id: SessionId,
    script: Script,
    tools: Arc<dyn Toolbox>,
    site: Arc<dyn Site>,
    (roster, opened): (Arc<Roster>, Entry),
) -> (String, u32) {
    let (_sender, commands): (mpsc::Sender<Command>, _) = mpsc::channel(1);
    let task = script.task.clone();
    let parts = Parts {
        model: Arc::new(ScriptedModel::new(script)),
        tools,
        site: Some(site),
        agents: roster,
        clock: Arc::new(SystemClock),
        face: Box::new(Unwatched),
        commands,
        stream: false,
    };
    let now_ms = SystemClock.now_ms();
    store.create(&id, Default::default(), now_ms).await.unwrap();
    let log = Log::take(store, id, now_ms).await.unwrap();
    let mut driver = Driver::begin(log, opened, parts).await.unwrap();
    driver.hear(task).await.unwrap();
    let ended = driver.run().await.unwrap().unwrap();
    let session = driver.release().await.unwrap();
    (ended.ending.to_string(), session.outlook().turns)
}
