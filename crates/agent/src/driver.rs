//! The loop: ask the session what is next, write it down, do it, write down what came of it.

mod perform;
mod watch;

use std::sync::Arc;

use steersman_config::control::Control;
use steersman_store::Head;
use steersman_timeline::Mark;
use tokio::sync::mpsc;

use crate::clock::Clock;
use crate::entry::{Ended, Entry, TakenUp};
use crate::log::{Log, LogError};
use crate::seam::{Agents, Face, Model, Site, Toolbox};
use crate::session::{FoldError, Session, Step};

/// What a driver needs besides the session.
pub struct Parts {
    /// The model.
    pub model: Arc<dyn Model>,
    /// The tools.
    pub tools: Arc<dyn Toolbox>,
    /// The folder the run changes; `None` for a run without one.
    pub site: Option<Arc<dyn Site>>,
    /// Agents that may take over.
    pub agents: Arc<dyn Agents>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// Whoever watches.
    pub face: Box<dyn Face>,
    /// What people ask for while the run goes on.
    pub commands: mpsc::Receiver<Command>,
    /// Whether replies are asked for as streams.
    pub stream: bool,
}

/// What a person asks of a run while it goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// End the run.
    Stop {
        /// Who asks.
        who: String,
    },
    /// Tell the agent something, before its next reply.
    Say {
        /// What.
        text: String,
    },
    /// Do what a person wants of the run, at the next step.
    Control {
        /// Who asks.
        who: String,
        /// What.
        control: Control,
    },
    /// Write down what a person makes of an intervention.
    Mark {
        /// Who.
        who: String,
        /// The journal's entry of it.
        seq: u64,
        /// The mark.
        mark: Mark,
        /// Why; `None` if nothing was said.
        note: Option<String>,
    },
    /// Let go of the session as it is: it can be taken up again.
    Leave,
}

/// Why a run could not be driven on. The journal holds everything up to there.
#[derive(Debug, thiserror::Error)]
pub enum DriveError {
    /// The journal failed.
    #[error(transparent)]
    Log(#[from] LogError),
    /// An entry could not follow the others.
    #[error(transparent)]
    Fold(#[from] FoldError),
    /// The session was left as it is.
    #[error("the session was left as it is")]
    Left,
}

/// Drives one session.
pub struct Driver {
    session: Session,
    log: Log,
    parts: Parts,
    /// What people said and is to be told to the agent before its next reply.
    notes: Vec<String>,
    /// What people wanted in the middle of a step, in order.
    wishes: Vec<Entry>,
}

impl std::fmt::Debug for Driver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Driver").field("session", self.log.id()).finish_non_exhaustive()
    }
}

impl Driver {
    /// Begins a session whose journal is still empty.
    ///
    /// # Errors
    /// The journal fails.
    pub async fn begin(log: Log, opened: Entry, parts: Parts) -> Result<Self, DriveError> {
        Self::begin_with(log, vec![opened], parts).await
    }

    /// The same with a task, which becomes durable together with the session: there is no moment
    /// at which a session has begun and its task could be lost.
    ///
    /// # Errors
    /// The journal fails.
    pub async fn begin_task(
        log: Log,
        opened: Entry,
        task: String,
        parts: Parts,
    ) -> Result<Self, DriveError> {
        Self::begin_with(log, vec![opened, Entry::Spoke { text: task }], parts).await
    }

    async fn begin_with(log: Log, first: Vec<Entry>, parts: Parts) -> Result<Self, DriveError> {
        let opened = first.first().ok_or(FoldError::NotOpened)?;
        let mut session = Session::open(log.id().as_str(), opened.clone())?;
        let at_ms = parts.clock.now_ms();
        for entry in first.iter().skip(1) {
            session.fold(at_ms, entry)?;
        }
        let mut driver = Self { session, log, parts, notes: Vec::new(), wishes: Vec::new() };
        let head = head_of(&driver.session);
        driver.log.append(0, at_ms, &first, Some(head)).await?;
        for entry in &first {
            driver.parts.face.entry(&driver.session, at_ms, entry);
        }
        Ok(driver)
    }

    /// Goes on with a session that was read from its journal.
    ///
    /// # Errors
    /// The journal fails.
    pub async fn take_up(log: Log, session: Session, parts: Parts) -> Result<Self, DriveError> {
        let program = env!("CARGO_PKG_VERSION").to_owned();
        let differing = session.differing();
        let mut driver = Self { session, log, parts, notes: Vec::new(), wishes: Vec::new() };
        driver.write(vec![Entry::TakenUp(TakenUp { program, differing })]).await?;
        Ok(driver)
    }

    /// The session as it is now.
    #[must_use]
    pub const fn session(&self) -> &Session {
        &self.session
    }

    /// The user says something: the task, an answer, a correction.
    ///
    /// # Errors
    /// The journal fails.
    pub async fn hear(&mut self, text: String) -> Result<(), DriveError> {
        self.write(vec![Entry::Spoke { text }]).await
    }

    /// Takes the run to its end, or to where the turn is the user's; `None` if nobody has said
    /// anything yet.
    ///
    /// # Errors
    /// The journal fails, or the session was left as it is.
    pub async fn run(&mut self) -> Result<Option<Ended>, DriveError> {
        loop {
            // A workspace between two states comes to one of them first.
            if !self.session.is_restoring() {
                self.listen().await?;
            }
            match self.session.next() {
                Step::CallModel(_) if self.session.paused().is_some() => self.rest().await?,
                // What was said before the run closed is heard before it does.
                Step::Close { .. } if !self.notes.is_empty() => self.tell_notes().await?,
                Step::Done => return Ok(self.session.ended().cloned()),
                Step::AwaitUser => return Ok(None),
                step => self.perform(step).await?,
            }
        }
    }

    /// Gives the session back.
    ///
    /// # Errors
    /// The journal fails.
    pub async fn release(self) -> Result<Session, DriveError> {
        self.log.release().await?;
        Ok(self.session)
    }

    /// Folds entries and writes them down. They are durable when this returns; if it fails, this
    /// driver is not to be used any more.
    async fn write(&mut self, entries: Vec<Entry>) -> Result<(), DriveError> {
        let at_ms = self.parts.clock.now_ms();
        if self.log.renewal_due(at_ms) {
            self.log.renew(at_ms).await?;
        }
        let after = self.session.seq();
        for entry in &entries {
            self.session.fold(at_ms, entry)?;
        }
        let head = entries.iter().any(moves_head).then(|| head_of(&self.session));
        self.log.append(after, at_ms, &entries, head).await?;
        for entry in &entries {
            self.parts.face.entry(&self.session, at_ms, entry);
        }
        Ok(())
    }
}

/// Whether lists of sessions should show something new after this entry.
const fn moves_head(entry: &Entry) -> bool {
    matches!(
        entry,
        Entry::Spoke { .. }
            | Entry::Replied(_)
            | Entry::Decided { .. }
            | Entry::HandedOver(_)
            | Entry::TakenUp(_)
            | Entry::Controlled { .. }
            | Entry::Ended(_)
    )
}

/// What lists of sessions show.
#[must_use]
pub fn head_of(session: &Session) -> Head {
    let outlook = session.outlook();
    let opened = session.opened();
    let goes_on = if session.paused().is_some() { "paused" } else { "running" };
    let side = opened.extra.get("side").filter(|side| !side.is_null());
    let mut extra = serde_json::json!({ "glance": outlook.glance.to_value() });
    if let Some(side) = side {
        extra["side"] = side.clone();
    }
    let cut = |text: &str| text[..text.floor_char_boundary(HEAD_TEXT)].to_owned();
    Head {
        state: outlook.ending.clone().unwrap_or_else(|| goes_on.to_owned()),
        title: cut(outlook.task.lines().next().unwrap_or_default()),
        agent: Some(cut(&session.agent().name)),
        model: Some(cut(&session.agent().model)),
        workspace: opened.workspace.as_deref().map(cut),
        turns: outlook.turns.into(),
        tool_calls: outlook.calls.into(),
        tokens: Some(outlook.input_tokens.saturating_add(outlook.output_tokens)),
        cost_nanos: Some(outlook.cost_nanodollars),
        extra: Some(extra.to_string()),
    }
}

/// Bytes of a text in lists of sessions.
const HEAD_TEXT: usize = 1000;
