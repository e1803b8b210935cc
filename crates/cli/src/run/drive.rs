//! Driving a session from the terminal: beginning, taking up, leaving.

use std::future::Future;
use std::process::ExitCode;
use std::sync::Arc;

use steersman_agent::{Clock, Command, DriveError, Driver, Log, LogError, Opened, SystemClock};
use steersman_store::{Head, News, SessionId, Store, StoreError};
use tokio::sync::mpsc;

use super::args::{RunArgs, ShowArgs};
use super::attempts;
use super::face::{Face, Look};
use super::parts::{Crew, crew};
use super::place::{Place, new_id};
use super::plan::{self, Plan};
use super::recall::Recall;
use crate::screen::Colour;

/// Exit code of a run that was left with Ctrl-C.
pub(super) const LEFT: u8 = 130;

/// Runs a future on a runtime of its own.
pub(crate) fn block_on<T>(work: impl Future<Output = Result<T, String>>) -> Result<T, String> {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    let runtime = builder.worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(|error| format!("the runtime cannot start: {error}"))?;
    let done = runtime.block_on(work);
    // A thread that waits for the keyboard must not keep the program from ending.
    runtime.shutdown_background();
    done
}

/// Begins a session and drives it to its end.
pub(super) fn begin(args: &RunArgs, colour: Colour) -> Result<ExitCode, String> {
    if args.breadth.attempts > 1 {
        return attempts::begin(args, colour);
    }
    let place = Place::of(&args.store)?;
    let id = new_id(SystemClock.now_ms())?;
    let plan = Plan::read(args, &place, &id)?;
    let look = Look::of(&args.show, colour);
    let opened = plan.opened()?;
    let steersman_agent::Entry::Opened(about) = &opened else {
        return Err("the plan opens nothing".to_owned());
    };
    let face = Face::new(look, &id, &place);
    face.introduce(&plan.task, about, &plan.recall, &plan.notices);
    let store = place.open()?;
    block_on(async {
        let roster = Arc::clone(&plan.roster);
        let watching = face.watching(args.show.listen).await?;
        let crew = crew(about, &plan.recall, roster, watching, &place, &id)?;
        face.confined(&crew.confinement, &crew.storage);
        let now_ms = SystemClock.now_ms();
        store.create(&id, Head::default(), now_ms).await.map_err(|error| error.to_string())?;
        let log = Log::take(Arc::clone(&store), id.clone(), now_ms).await;
        let log = log.map_err(|error| error.to_string())?;
        let Crew { parts, commands, .. } = crew;
        let _listening = listen(Arc::clone(&store), id.clone(), commands);
        let begun = Driver::begin_task(log, opened.clone(), plan.task.clone(), parts).await;
        conclude(begun.map_err(|error| error.to_string())?, &face).await
    })
}

/// What comes first when a session is taken up again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum First {
    /// It goes on where it was.
    GoOn,
    /// The user says something.
    Say(String),
    /// It is stopped; who asks.
    Stop(String),
}

/// Takes a session up again and drives it to its end.
pub(crate) fn take_up(
    place: &Place,
    id: &SessionId,
    first: First,
    show: &ShowArgs,
    colour: Colour,
) -> Result<ExitCode, String> {
    let store = place.open()?;
    let face = Face::new(Look::of(show, colour), id, place);
    block_on(async {
        let log = Log::take(Arc::clone(&store), id.clone(), SystemClock.now_ms()).await;
        let log = log.map_err(|error| held_by(place, error))?;
        let session = steersman_agent::read(&*store, id, |_, _, _| ()).await;
        let session = session.map_err(|error| error.to_string())?;
        if session.sides().is_some() {
            return attempts::go_on(log, session, place, (show, colour), first).await;
        }
        if let Some(ended) = session.ended().filter(|_| !matches!(first, First::Say(_))) {
            let ending = ended.ending;
            log.release().await.map_err(|error| error.to_string())?;
            let resume = place.hint("resume", id);
            return Err(match first {
                First::Stop(_) => format!("session {id} has ended ({ending}): nothing to stop"),
                _ => format!(
                    "session {id} has ended ({ending}); say what comes next: {resume} \"…\""
                ),
            });
        }
        let opened: Opened = session.opened().clone();
        let recall: Recall = serde_json::from_value(opened.extra.clone())
            .map_err(|error| format!("session {id} cannot be taken up again: {error}"))?;
        let roster = Arc::new(plan::recalled(&opened, &recall)?);
        let watching = face.watching(show.listen).await?;
        let stops = matches!(first, First::Stop(_));
        let recall = if stops { recall.without_model() } else { recall };
        let crew = crew(&opened, &recall, roster, watching, place, id)?;
        face.taken_up(&session);
        let Crew { parts, commands, .. } = crew;
        if let First::Stop(who) = &first {
            // Heard before the next step is taken.
            let _ = commands.try_send(Command::Stop { who: who.clone() });
        }
        let _listening = listen(Arc::clone(&store), id.clone(), commands);
        let taken = Driver::take_up(log, session, parts).await;
        let mut driver = taken.map_err(|error| error.to_string())?;
        if let First::Say(said) = first {
            driver.hear(said).await.map_err(|error| error.to_string())?;
        }
        conclude(driver, &face).await
    })
}

/// Why a session cannot be taken, and what can be done about it.
fn held_by(place: &Place, error: LogError) -> String {
    match &error {
        LogError::Store(StoreError::Held { id, owner, .. }) => {
            let process = steersman_agent::process_of(owner)
                .map_or_else(|| "another process".to_owned(), |pid| format!("process {pid}"));
            format!(
                "session {id} is being driven by {process}; to end it: {}",
                place.hint("stop", id)
            )
        }
        _ => error.to_string(),
    }
}

/// Drives to the end and says how it was.
async fn conclude(mut driver: Driver, face: &Face) -> Result<ExitCode, String> {
    let outcome = driver.run().await;
    let code = match &outcome {
        Ok(Some(ended)) => {
            face.ended(ended, driver.session());
            ExitCode::from(ended.ending.exit_code())
        }
        Ok(None) => {
            face.left("nobody has said anything yet");
            ExitCode::from(steersman_agent::Ending::Waiting.exit_code())
        }
        Err(DriveError::Left) => {
            face.left("left as it is");
            ExitCode::from(LEFT)
        }
        Err(error) => return Err(error.to_string()),
    };
    driver.release().await.map_err(|error| error.to_string())?;
    Ok(code)
}

/// Passes on what people ask for: Ctrl-C here, `steersman sessions stop` elsewhere. Ends when
/// dropped.
pub(super) fn listen(
    store: Arc<dyn Store>,
    id: SessionId,
    to: mpsc::Sender<Command>,
) -> Listening {
    let keys = tokio::spawn(hear_keys(to.clone()));
    let controls = tokio::spawn(hear_controls(store, id, to));
    Listening(vec![keys, controls])
}

pub(super) struct Listening(Vec<tokio::task::JoinHandle<()>>);

impl Drop for Listening {
    fn drop(&mut self) {
        self.0.iter().for_each(tokio::task::JoinHandle::abort);
    }
}

/// The first Ctrl-C leaves the session as it is, the second ends the program at once.
async fn hear_keys(to: mpsc::Sender<Command>) {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut interrupt), Ok(mut terminate)) =
        (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
    else {
        return;
    };
    let mut asked = false;
    loop {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        if asked {
            // Nobody waits for the commands under way any more.
            steersman_workspace::end_commands_of(std::process::id());
            std::process::exit(i32::from(LEFT));
        }
        asked = true;
        let _ = to.send(Command::Leave).await;
    }
}

/// What other processes ask for stands in the store.
pub(super) async fn hear_controls(
    store: Arc<dyn Store>,
    id: SessionId,
    to: mpsc::Sender<Command>,
) {
    let mut news = store.subscribe();
    let mut after = match store.session(&id).await {
        Ok(Some(summary)) => summary.last_control,
        _ => 0,
    };
    loop {
        match news.next().await {
            None => return,
            Some(News::Changed(hint)) if hint.id != id || hint.last_control <= after => continue,
            Some(_) => {}
        }
        let Ok(controls) = store.controls(&id, after).await else { continue };
        for control in controls {
            after = control.number;
            let body: serde_json::Value = serde_json::from_str(&control.body).unwrap_or_default();
            let command = match control.kind.as_str() {
                "stop" => Command::Stop { who: control.who },
                "say" => {
                    Command::Say { text: body["text"].as_str().unwrap_or_default().to_owned() }
                }
                "leave" => Command::Leave,
                _ => continue,
            };
            if to.send(command).await.is_err() {
                return;
            }
        }
    }
}
