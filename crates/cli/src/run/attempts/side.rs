//! One of several attempts, from its copy of the workspace to its judgement.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use steersman_agent::{
    CheckOutcome, Checkpointed, Clock, Command, DriveError, Driver, Ended, Ending, Entry, Log,
    Opened, Outlook, Session, Side, SideEnded, Site, SystemClock,
};
use steersman_store::{Head, SessionId, Store};
use tokio::sync::{Semaphore, broadcast, mpsc};

use super::super::drive::hear_controls;
use super::super::face::Face;
use super::super::mcp::Servers;
use super::super::parts::{Crew, Team, crew};
use super::super::place::Place;
use super::super::plan;
use super::super::recall::{Beside, Recall};
use super::original::Original;
use super::stance::told;

/// What the attempts of a group share.
pub(super) struct Bench {
    pub(super) store: Arc<dyn Store>,
    pub(super) place: Place,
    pub(super) group: SessionId,
    /// How the group began: agent, policy, check.
    pub(super) opened: Opened,
    pub(super) recall: Recall,
    pub(super) task: String,
    pub(super) all: u32,
    pub(super) original: Arc<Original>,
    /// The state before the attempts.
    pub(super) first: Checkpointed,
    pub(super) slots: Semaphore,
    /// One is proved, and the others need not go on.
    pub(super) decided: AtomicBool,
    /// How commands are held was told.
    pub(super) told: AtomicBool,
    pub(super) face: Arc<Face>,
}

/// What is asked of all attempts.
pub(super) type Orders = broadcast::Receiver<Command>;

/// A side that is driven.
struct Driving {
    driver: Driver,
    site: Arc<dyn Site>,
    commands: mpsc::Sender<Command>,
    servers: Arc<Servers>,
}

/// How driving a side ended.
enum Driven {
    /// It came to its end.
    Ended(Ended),
    /// It was left as it is.
    Left,
}

/// Works on one attempt; `None` if it was left as it is.
pub(super) async fn work(
    bench: Arc<Bench>,
    side: Side,
    mut orders: Orders,
) -> Result<Option<SideEnded>, String> {
    let mut asked = None;
    let _slot = loop {
        let order = tokio::select! {
            biased;
            order = next(&mut orders) => order,
            slot = bench.slots.acquire() => break slot.map_err(|error| error.to_string())?,
        };
        match order {
            Command::Leave => return Ok(None),
            Command::Stop { .. } => asked = Some(order),
            Command::Say { .. } | Command::Control { .. } | Command::Mark { .. } => {}
        }
    };
    if bench.decided.load(Ordering::Acquire) {
        asked.get_or_insert(Command::Stop { who: "another attempt, which is proved,".to_owned() });
    }
    if asked.is_some() && bench.is_new(&side).await? {
        return Ok(Some(never_begun(&side)));
    }
    let result = bench.attempt(&side, &mut orders, asked).await;
    result.map_err(|error| format!("attempt {}: {error}", side.number))
}

/// The next thing that is asked; for ever if nobody is left to ask.
async fn next(orders: &mut Orders) -> Command {
    loop {
        match orders.recv().await {
            Ok(order) => return order,
            Err(broadcast::error::RecvError::Lagged(_)) => {}
            Err(broadcast::error::RecvError::Closed) => std::future::pending().await,
        }
    }
}

fn never_begun(side: &Side) -> SideEnded {
    SideEnded { number: side.number, why: "it was not begun".to_owned(), ..SideEnded::default() }
}

/// What drives a side, its folder, and how it is told something.
type Unpacked = (steersman_agent::Parts, Arc<dyn Site>, mpsc::Sender<Command>);

impl Bench {
    /// Whether a side has no journal yet.
    async fn is_new(&self, side: &Side) -> Result<bool, String> {
        let known = self.store.session(&id_of(side)?).await.map_err(|error| error.to_string())?;
        Ok(known.is_none_or(|summary| summary.last_seq == 0))
    }

    async fn attempt(
        self: &Arc<Self>,
        side: &Side,
        orders: &mut Orders,
        asked: Option<Command>,
    ) -> Result<Option<SideEnded>, String> {
        let stops = matches!(asked, Some(Command::Stop { .. }));
        let Driving { mut driver, site, commands, servers } = if self.is_new(side).await? {
            self.begin(side).await?
        } else {
            self.take_up(side, stops).await?
        };
        if let Some(asked) = asked {
            // Heard before the next step is taken.
            let _ = commands.try_send(asked);
        }
        let controls = hear_controls(Arc::clone(&self.store), id_of(side)?, commands.clone());
        let controls = tokio::spawn(controls);
        let driven = drive(&mut driver, orders, &commands).await;
        controls.abort();
        let session = driver.release().await.map_err(|error| error.to_string())?;
        servers.close().await;
        match driven? {
            Driven::Left => Ok(None),
            Driven::Ended(ended) => self.judge(side, &session, ended, &*site, orders).await,
        }
    }

    /// Makes the copy and begins the session.
    async fn begin(self: &Arc<Self>, side: &Side) -> Result<Driving, String> {
        let folder = side.folder.clone();
        self.blocking(move |bench| bench.original.copy(&bench.first, Path::new(&folder))).await?;
        let recall = Recall {
            side: Some(Beside {
                group: self.group.to_string(),
                number: side.number,
                of: self.all,
                original: self.opened.workspace.clone().unwrap_or_default(),
            }),
            ..self.recall.clone()
        };
        let extra = serde_json::to_value(&recall).map_err(|error| error.to_string())?;
        let mut opened =
            Opened { workspace: Some(side.folder.clone()), extra, ..self.opened.clone() };
        let name = &self.opened.agent.name;
        let team = self.team(side, &opened, &recall, Some(name)).await?;
        let agent = team.roster.setup_of(name);
        opened.agent = agent.map_err(|error| error.to_string())?;
        let servers = Arc::clone(&team.servers);
        let id = id_of(side)?;
        let watching = self.face.watching_side(&id, side.number);
        let crew = crew(&opened, &recall, team, watching, &self.place, &id)?;
        let now_ms = SystemClock.now_ms();
        let known = self.store.session(&id).await.map_err(|error| error.to_string())?;
        if known.is_none() {
            let created = self.store.create(&id, Head::default(), now_ms).await;
            created.map_err(|error| error.to_string())?;
        }
        let log = Log::take(Arc::clone(&self.store), id, now_ms).await;
        let log = log.map_err(|error| error.to_string())?;
        let (parts, site, commands) = self.unpack(crew)?;
        let opened = Entry::Opened(Box::new(opened));
        let task = told(&self.task, side.number, self.all);
        let driver = Driver::begin_task(log, opened, task, parts).await;
        let driver = driver.map_err(|error| error.to_string())?;
        Ok(Driving { driver, site, commands, servers })
    }

    /// Goes on with a session that was left, be it to stop it at once.
    async fn take_up(&self, side: &Side, stops: bool) -> Result<Driving, String> {
        let id = id_of(side)?;
        let log = Log::take(Arc::clone(&self.store), id.clone(), SystemClock.now_ms()).await;
        let log = log.map_err(|error| error.to_string())?;
        let session = steersman_agent::read(&*self.store, &id, |_, _, _| ()).await;
        let session = session.map_err(|error| error.to_string())?;
        let opened = session.opened().clone();
        let recall: Recall = serde_json::from_value(opened.extra.clone())
            .map_err(|error| format!("session {id} cannot be taken up again: {error}"))?;
        let acting = (!stops).then_some(session.agent().name.as_str());
        let team = self.team(side, &opened, &recall, acting).await?;
        let recall = if stops { recall.without_model() } else { recall };
        let servers = Arc::clone(&team.servers);
        let watching = self.face.watching_side(&id, side.number);
        let crew = crew(&opened, &recall, team, watching, &self.place, &id)?;
        let (parts, site, commands) = self.unpack(crew)?;
        let driver = Driver::take_up(log, session, parts).await;
        let driver = driver.map_err(|error| error.to_string())?;
        Ok(Driving { driver, site, commands, servers })
    }

    /// Who acts in a side; servers of tools run in its copy of the workspace.
    async fn team(
        &self,
        side: &Side,
        opened: &Opened,
        recall: &Recall,
        acting: Option<&str>,
    ) -> Result<Team, String> {
        let mut notices = Vec::new();
        let team = plan::recalled(opened, recall, acting, &mut notices).await?;
        self.face.noticed(side.number, &notices);
        Ok(team)
    }

    /// What drives a side; how it is held is told once for all.
    fn unpack(&self, crew: Crew) -> Result<Unpacked, String> {
        if !self.told.swap(true, Ordering::AcqRel) {
            self.face.confined(&crew.confinement, &crew.storage);
        }
        let site = crew.parts.site.clone().ok_or("there is no folder to work in")?;
        Ok((crew.parts, site, crew.commands))
    }

    /// Keeps the last state and runs the check on it once more.
    async fn judge(
        self: &Arc<Self>,
        side: &Side,
        session: &Session,
        ended: Ended,
        site: &dyn Site,
        orders: &mut Orders,
    ) -> Result<Option<SideEnded>, String> {
        let mut end = measured(side, session.outlook(), ended);
        let last = match site.keep("end of the attempt").await {
            Ok(last) => last,
            Err(why) => {
                end.why = format!("{}; its last state could not be kept: {why}", end.why);
                return Ok(Some(end));
            }
        };
        end.state.clone_from(&last.id);
        let number = side.number;
        let keep = move |bench: &Self| {
            let kept = bench.original.keep_result(&bench.first, &last, number);
            kept.map_err(|error| error.to_string())
        };
        let outcome = self.blocking(keep).await?;
        let small = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        end.files = small(outcome.changed.files.len());
        end.insertions = small(outcome.changed.insertions);
        end.deletions = small(outcome.changed.deletions);
        (end.kept, end.patch) = (outcome.kept, outcome.patch);
        let check = self.opened.check.clone().unwrap_or_default();
        if self.decided.load(Ordering::Acquire) {
            return Ok(Some(end));
        }
        loop {
            let order = tokio::select! {
                biased;
                order = next(orders) => order,
                outcome = site.check(&check) => {
                    take_check(&mut end, &outcome);
                    return Ok(Some(end));
                }
            };
            match order {
                Command::Leave => return Ok(None),
                Command::Stop { .. } => return Ok(Some(end)),
                Command::Say { .. } | Command::Control { .. } | Command::Mark { .. } => {}
            }
        }
    }

    /// Does something with files on a thread that may block.
    async fn blocking<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self) -> Result<T, String> + Send + 'static,
    ) -> Result<T, String> {
        let bench = Arc::clone(self);
        let work = tokio::task::spawn_blocking(move || work(&bench));
        work.await.unwrap_or_else(|error| Err(format!("keeping checkpoints broke: {error}")))
    }
}

/// Drives to the end, passing on what is asked of all.
async fn drive(
    driver: &mut Driver,
    orders: &mut Orders,
    commands: &mpsc::Sender<Command>,
) -> Result<Driven, String> {
    let outcome = {
        let run = driver.run();
        tokio::pin!(run);
        loop {
            tokio::select! {
                biased;
                outcome = &mut run => break outcome,
                order = next(orders) => { let _ = commands.try_send(order); }
            }
        }
    };
    match outcome {
        Ok(Some(ended)) => Ok(Driven::Ended(ended)),
        Ok(None) => Err("nobody has said anything yet".to_owned()),
        Err(DriveError::Left) => Ok(Driven::Left),
        Err(error) => Err(error.to_string()),
    }
}

fn measured(side: &Side, outlook: &Outlook, ended: Ended) -> SideEnded {
    SideEnded {
        number: side.number,
        ending: Some(ended.ending),
        why: ended.why,
        answer: ended.answer,
        tests: outlook.tests,
        turns: outlook.turns,
        calls: outlook.calls,
        input_tokens: outlook.input_tokens,
        output_tokens: outlook.output_tokens,
        cost_nanodollars: outlook.cost_nanodollars,
        ..SideEnded::default()
    }
}

fn take_check(end: &mut SideEnded, outcome: &CheckOutcome) {
    end.checked = true;
    end.proved = outcome.passed;
    let tests = outcome.tests.as_ref().filter(|tests| !tests.broken);
    end.tests = tests.map(|tests| (tests.failed, tests.passed));
    if !outcome.passed && end.ending == Some(Ending::Complete) {
        end.why = "the check passed, and does not any more".to_owned();
    }
}

/// The session of a side.
fn id_of(side: &Side) -> Result<SessionId, String> {
    side.session.parse().map_err(|error: steersman_store::SessionIdError| error.to_string())
}
