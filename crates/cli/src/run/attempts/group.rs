//! The group of attempts: its journal, its end.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use steersman_agent::{
    Checkpointed, Clock, Command, Ended, Ending, Entry, LEASE_MS, Log, Session, SideEnded, Sides,
    SystemClock, choose_side, head_of,
};
use steersman_store::SessionId;
use tokio::sync::{Semaphore, broadcast, mpsc};
use tokio::task::JoinSet;

use super::super::drive::{LEFT, end_commands, listen};
use super::super::face::Face;
use super::super::place::Place;
use super::super::recall::Recall;
use super::original::Original;
use super::side::{Bench, work};
use super::table;

/// A group of attempts.
pub(super) struct Group {
    log: Log,
    session: Session,
    face: Arc<Face>,
    watching: Box<dyn steersman_agent::Face>,
    place: Place,
    id: SessionId,
    /// Who wants all attempts stopped before they go on.
    stops: Option<String>,
}

/// How the attempts came to rest.
enum Rest {
    /// Each has ended.
    Ended,
    /// Some were left as they are.
    Left,
}

impl Group {
    /// Begins a group with the first entries of its journal, of which the session has the first.
    pub(super) async fn begin(
        log: Log,
        session: Session,
        face: Face,
        place: Place,
        entries: Vec<Entry>,
    ) -> Result<Self, String> {
        let mut group = Self::of(log, session, face, place);
        let now_ms = SystemClock.now_ms();
        for entry in entries.iter().skip(1) {
            group.session.fold(now_ms, entry).map_err(|error| error.to_string())?;
        }
        group.append(0, now_ms, &entries).await?;
        Ok(group)
    }

    /// Goes on with a group.
    pub(super) async fn take_up(
        log: Log,
        session: Session,
        face: Face,
        place: Place,
    ) -> Result<Self, String> {
        let mut group = Self::of(log, session, face, place);
        let program = env!("CARGO_PKG_VERSION").to_owned();
        let differing = group.session.differing();
        let taken = steersman_agent::TakenUp { program, differing };
        group.write(vec![Entry::TakenUp(taken)]).await?;
        Ok(group)
    }

    fn of(log: Log, session: Session, face: Face, place: Place) -> Self {
        let id = log.id().clone();
        let watching = face.watching_group();
        Self { log, session, face: Arc::new(face), watching, place, id, stops: None }
    }

    /// Stops all attempts as soon as they are taken up.
    pub(super) fn stop(&mut self, who: String) {
        self.stops = Some(who);
    }

    /// Folds entries and writes them down; they are durable when this returns.
    async fn write(&mut self, entries: Vec<Entry>) -> Result<(), String> {
        let now_ms = SystemClock.now_ms();
        let after = self.session.seq();
        for entry in &entries {
            self.session.fold(now_ms, entry).map_err(|error| error.to_string())?;
        }
        self.append(after, now_ms, &entries).await
    }

    async fn append(&mut self, after: u64, now_ms: u64, entries: &[Entry]) -> Result<(), String> {
        let head = Some(head_of(&self.session));
        let appended = self.log.append(after, now_ms, entries, head).await;
        appended.map_err(|error| error.to_string())?;
        for entry in entries {
            self.watching.entry(&self.session, now_ms, entry);
        }
        Ok(())
    }

    fn sides(&self) -> Sides {
        self.session.sides().cloned().unwrap_or_default()
    }

    /// Takes the group to its end, says how it was, and gives the session back.
    pub(super) async fn conclude(mut self) -> Result<ExitCode, String> {
        let outcome = self.finish().await;
        let released = self.log.release().await.map_err(|error| error.to_string());
        let code = outcome?;
        released.map(|()| code)
    }

    async fn finish(&mut self) -> Result<ExitCode, String> {
        let folder = self.session.opened().workspace.clone().unwrap_or_default();
        let (group, place) = (self.id.clone(), self.place.clone());
        let original = blocking(move || Original::open(Path::new(&folder), &group, &place)).await?;
        let original = Arc::new(original);
        let first = self.first(&original).await?;
        if let Rest::Left = self.work(&original, &first).await? {
            self.face.left("left as it is");
            return Ok(ExitCode::from(LEFT));
        }
        self.end(&original, &first).await
    }

    /// The state before the attempts, which is kept before anything else is done.
    async fn first(&mut self, original: &Arc<Original>) -> Result<Checkpointed, String> {
        if let Some(first) = self.session.checkpoints().first() {
            return Ok(first.clone());
        }
        let keeper = Arc::clone(original);
        let first = blocking(move || keeper.keep()).await?;
        self.write(vec![Entry::Checkpointed(first.clone())]).await?;
        Ok(first)
    }

    /// Takes the attempts to their ends.
    async fn work(
        &mut self,
        original: &Arc<Original>,
        first: &Checkpointed,
    ) -> Result<Rest, String> {
        let sides = self.sides();
        let open: Vec<_> = sides.open().cloned().collect();
        if open.is_empty() {
            return Ok(Rest::Ended);
        }
        let bench = Arc::new(self.bench(&sides, original, first)?);
        let (commands, mut asked) = mpsc::channel(64);
        let listening = listen(Arc::clone(self.log.store()), self.id.clone(), commands);
        let (orders, _) = broadcast::channel(64);
        let mut set = JoinSet::new();
        for side in open {
            set.spawn(work(Arc::clone(&bench), side, orders.subscribe()));
        }
        if let Some(who) = self.stops.take() {
            let _ = orders.send(Command::Stop { who });
        }
        let mut renewal = tokio::time::interval(Duration::from_millis(LEASE_MS / 3));
        let (mut rest, mut failed) = (Rest::Ended, None);
        loop {
            tokio::select! {
                ended = set.join_next() => match ended {
                    None => break,
                    Some(Ok(Ok(Some(end)))) => self.take_end(end, &bench, &orders).await?,
                    Some(Ok(Ok(None))) => rest = Rest::Left,
                    Some(Ok(Err(error))) => {
                        failed.get_or_insert(error);
                        let _ = orders.send(Command::Leave);
                    }
                    Some(Err(error)) => {
                        failed.get_or_insert(format!("an attempt broke: {error}"));
                        let _ = orders.send(Command::Leave);
                    }
                },
                Some(command) = asked.recv() => { let _ = orders.send(command); }
                _ = renewal.tick() => self.renew().await?,
                () = listening.abandoned() => {
                    set.shutdown().await;
                    end_commands();
                    return Ok(Rest::Left);
                }
            }
        }
        match failed {
            None => Ok(rest),
            Some(error) => {
                Err(format!("{error}; go on with: {}", self.place.hint("resume", &self.id)))
            }
        }
    }

    fn bench(
        &self,
        sides: &Sides,
        original: &Arc<Original>,
        first: &Checkpointed,
    ) -> Result<Bench, String> {
        let opened = self.session.opened().clone();
        let recall: Recall = serde_json::from_value(opened.extra.clone())
            .map_err(|error| format!("session {} cannot be taken up again: {error}", self.id))?;
        let proved = sides.ended.iter().any(|end| end.proved);
        Ok(Bench {
            store: Arc::clone(self.log.store()),
            place: self.place.clone(),
            group: self.id.clone(),
            opened,
            recall,
            task: self.session.outlook().task.clone(),
            all: u32::try_from(sides.begun.sides.len()).unwrap_or(u32::MAX),
            original: Arc::clone(original),
            first: first.clone(),
            slots: Semaphore::new(sides.begun.jobs.max(1) as usize),
            decided: AtomicBool::new(proved && !sides.begun.all),
            told: AtomicBool::new(false),
            face: Arc::clone(&self.face),
        })
    }

    /// Writes down how an attempt ended; a proved one ends the others.
    async fn take_end(
        &mut self,
        end: SideEnded,
        bench: &Bench,
        orders: &broadcast::Sender<Command>,
    ) -> Result<(), String> {
        let proved = end.proved.then_some(end.number);
        self.write(vec![Entry::SideEnded(Box::new(end))]).await?;
        if let Some(number) = proved
            && !self.sides().begun.all
            && !bench.decided.swap(true, Ordering::AcqRel)
        {
            let who = format!("attempt {number}, which is proved,");
            let _ = orders.send(Command::Stop { who });
        }
        Ok(())
    }

    async fn renew(&mut self) -> Result<(), String> {
        let now_ms = SystemClock.now_ms();
        if self.log.renewal_due(now_ms) {
            self.log.renew(now_ms).await.map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    /// Chooses, brings the folder to the chosen state, and says how it was.
    async fn end(
        &mut self,
        original: &Arc<Original>,
        first: &Checkpointed,
    ) -> Result<ExitCode, String> {
        let choice = choose_side(&self.sides().ended);
        let Some((number, why)) = choice else {
            let why = "the last state of no attempt could be kept".to_owned();
            return self.close(Ending::Failed, why, String::new(), None).await;
        };
        if self.sides().chosen != Some(number) {
            let why = why.clone();
            self.write(vec![Entry::SideChosen { number, why }]).await?;
        }
        let sides = self.sides();
        let Some(winner) = sides.winner().cloned() else {
            return Err(format!("attempt {number} is chosen and has not ended"));
        };
        if !sides.applied {
            let (at, state) = (first.clone(), winner.state.clone());
            let keeper = Arc::clone(original);
            if let Err(why) = blocking(move || keeper.apply(&at, &state)).await {
                let how = original.how_to_apply(first, &winner.kept);
                let entry = Entry::SideNotApplied { number, why: why.clone() };
                self.write(vec![entry]).await?;
                let why = format!("attempt {number} is chosen and not applied: {why}");
                return self.close(Ending::Waiting, why, String::new(), Some(how)).await;
            }
            self.write(vec![Entry::SideApplied { number }]).await?;
        }
        let ending = winner.ending().unwrap_or(Ending::Stopped);
        let told = format!("attempt {number} is taken: {why}; it ended because: {}", winner.why);
        self.close(ending, told, winner.answer, None).await
    }

    /// Ends the group; the copies are not needed any more.
    async fn close(
        &mut self,
        ending: Ending,
        why: String,
        answer: String,
        how_to_apply: Option<String>,
    ) -> Result<ExitCode, String> {
        let ended = Ended { ending, why, answer };
        self.write(vec![Entry::Ended(Box::new(ended.clone()))]).await?;
        let copies = self.place.attempts(&self.id);
        let shown = copies.display().to_string();
        let removed = blocking(move || {
            std::fs::remove_dir_all(&copies).map_err(|error| format!("{shown}: {error}"))
        });
        if let Err(why) = removed.await {
            crate::screen::say(&format!("the copies of the folder are still there: {why}"));
        }
        self.face.lines(&table::lines(&self.sides(), self.face.screen()));
        if let Some(how) = how_to_apply {
            let resume = self.place.hint("resume", &self.id);
            self.face.lines(&[
                String::new(),
                format!("nothing was changed in the folder; bring it there with: {resume}"),
                format!("or with plain git: {how}"),
            ]);
        }
        self.face.ended(&ended, &self.session);
        Ok(ExitCode::from(ending.exit_code()))
    }
}

/// Does something with files on a thread that may block.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, String> + Send + 'static,
) -> Result<T, String> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| Err(format!("working on files broke: {error}")))
}
