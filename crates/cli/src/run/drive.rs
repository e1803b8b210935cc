//! Driving a session from the terminal: beginning, taking up, leaving.

use std::future::Future;
use std::process::ExitCode;
use std::sync::Arc;

use steersman_agent::{
    Clock, Command, DriveError, Driver, Entry, Log, LogError, Opened, Session, SystemClock,
};
use steersman_gateway::api::NewMark;
use steersman_notify::{Door, Feed, QUEUE, Serving};
use steersman_store::{Head, News, SessionId, Store, StoreError};
use tokio::sync::{Notify, mpsc};

use super::args::{RunArgs, ShowArgs};
use super::attempts;
use super::face::{Face, Look};
use super::page::{self, Page};
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
    block_on(async {
        let door = door(&args.show).await?;
        let plan = Plan::read(args, &place, &id).await?;
        let servers = Arc::clone(&plan.servers);
        let done = begin_with(plan, args, &place, &id, (door, colour)).await;
        servers.close().await;
        done
    })
}

async fn begin_with(
    plan: Plan,
    args: &RunArgs,
    place: &Place,
    id: &SessionId,
    (door, colour): (Option<Door>, Colour),
) -> Result<ExitCode, String> {
    let opened = plan.opened()?;
    let Entry::Opened(about) = &opened else { return Err("the plan opens nothing".to_owned()) };
    let face = Face::new(Look::of(&args.show, colour), id, place);
    face.introduce(&plan.task, about, &plan.recall, &plan.notices);
    let store = place.open()?;
    let crew = crew(about, &plan.recall, plan.team(), face.watching(), place, id)?;
    face.confined(&crew.confinement, &crew.storage);
    let now_ms = SystemClock.now_ms();
    store.create(id, Head::default(), now_ms).await.map_err(|error| error.to_string())?;
    let log = Log::take(Arc::clone(&store), id.clone(), now_ms).await;
    let log = log.map_err(|error| error.to_string())?;
    let Crew { parts, commands, .. } = crew;
    attended((&store, place), id, commands, door, async {
        let begun = Driver::begin_task(log, opened.clone(), plan.task.clone(), parts).await;
        conclude(begun.map_err(|error| error.to_string())?, &face).await
    })
    .await
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
        let door = match door(show).await {
            Ok(door) => door,
            Err(why) => {
                log.release().await.map_err(|error| error.to_string())?;
                return Err(why);
            }
        };
        go_on(log, session, (&store, place), (&face, door), first).await
    })
}

/// Drives a session that was taken, once it is known that there is something to do.
async fn go_on(
    log: Log,
    session: Session,
    (store, place): (&Arc<dyn Store>, &Place),
    (face, door): (&Face, Option<Door>),
    first: First,
) -> Result<ExitCode, String> {
    let id = log.id().clone();
    let opened: Opened = session.opened().clone();
    let recall: Recall = serde_json::from_value(opened.extra.clone())
        .map_err(|error| format!("session {id} cannot be taken up again: {error}"))?;
    let mut notices = Vec::new();
    let stops = matches!(first, First::Stop(_));
    let acting = (!stops).then_some(session.agent().name.as_str());
    let team = plan::recalled(&opened, &recall, acting, &mut notices).await?;
    let servers = Arc::clone(&team.servers);
    let recall = if stops { recall.without_model() } else { recall };
    let crew = crew(&opened, &recall, team, face.watching(), place, &id)?;
    face.taken_up(&session, &notices);
    let Crew { parts, commands, .. } = crew;
    if let First::Stop(who) = &first {
        // Heard before the next step is taken.
        let _ = commands.try_send(Command::Stop { who: who.clone() });
    }
    let done = attended((store, place), &id, commands, door, async {
        let taken = Driver::take_up(log, session, parts).await;
        let mut driver = taken.map_err(|error| error.to_string())?;
        if let First::Say(said) = first {
            driver.hear(said).await.map_err(|error| error.to_string())?;
        }
        conclude(driver, face).await
    });
    let done = done.await;
    servers.close().await;
    done
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

/// Where progress is told, if anywhere.
async fn door(show: &ShowArgs) -> Result<Option<Door>, String> {
    let Some(address) = show.listen else { return Ok(None) };
    let door = Door::open(address).await.map_err(|error| error.to_string())?;
    crate::screen::say(&format!("progress is told at ws://{}", door.address()));
    Ok(Some(door))
}

/// Tells the progress of a session and shows the page of its folder.
fn serve(door: Door, store: &Arc<dyn Store>, place: &Place, id: &SessionId) -> Serving {
    let address = door.address();
    crate::screen::say(&format!("the dashboard is at http://{address}{}", page::home(id)));
    let page = Page::new(store, place.folder(), id, address);
    door.serve(Feed::follow(Arc::clone(store), id.clone(), QUEUE), Some(Arc::new(page)))
}

/// Drives a session while people and programs may listen, ask for its end, or leave it.
async fn attended(
    (store, place): (&Arc<dyn Store>, &Place),
    id: &SessionId,
    commands: mpsc::Sender<Command>,
    door: Option<Door>,
    work: impl Future<Output = Result<ExitCode, String>>,
) -> Result<ExitCode, String> {
    let serving = door.map(|door| serve(door, store, place, id));
    let listening = listen(Arc::clone(store), id.clone(), commands);
    let done = tokio::select! {
        done = work => done,
        // What runs is ended with the work that is dropped.
        () = listening.abandoned() => {
            end_commands();
            return Ok(ExitCode::from(LEFT));
        }
    };
    if let Some(serving) = serving {
        serving.close().await;
    }
    done
}

/// Drives to the end and says how it was.
async fn conclude(mut driver: Driver, face: &Face) -> Result<ExitCode, String> {
    let outcome = driver.run().await;
    face.settle();
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
pub(super) fn listen(store: Arc<dyn Store>, id: SessionId, to: mpsc::Sender<Command>) -> Listening {
    let abandon = Arc::new(Notify::new());
    let keys = tokio::spawn(hear_keys(to.clone(), Arc::clone(&abandon)));
    let controls = tokio::spawn(hear_controls(store, id, to));
    Listening { tasks: vec![keys, controls], abandon }
}

/// Whoever listens to people.
pub(super) struct Listening {
    tasks: Vec<tokio::task::JoinHandle<()>>,
    abandon: Arc<Notify>,
}

impl Listening {
    /// Returns when everything is to be dropped at once.
    pub(super) async fn abandoned(&self) {
        self.abandon.notified().await;
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.tasks.iter().for_each(tokio::task::JoinHandle::abort);
    }
}

/// The first Ctrl-C leaves the session as it is, the second drops everything at once, and the
/// third ends the program whatever it does.
async fn hear_keys(to: mpsc::Sender<Command>, abandon: Arc<Notify>) {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut interrupt), Ok(mut terminate)) =
        (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
    else {
        return;
    };
    for asked in 0_u32.. {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        match asked {
            0 => {
                let _ = to.send(Command::Leave).await;
            }
            1 => abandon.notify_one(),
            _ => {
                end_commands();
                std::process::exit(i32::from(LEFT));
            }
        }
    }
}

/// Ends the commands under way: nobody waits for them any more.
pub(super) fn end_commands() {
    steersman_workspace::end_commands_of(std::process::id());
}

/// What other processes ask for stands in the store.
pub(super) async fn hear_controls(store: Arc<dyn Store>, id: SessionId, to: mpsc::Sender<Command>) {
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
                "control" => match serde_json::from_value(body) {
                    Ok(wanted) => Command::Control { who: control.who, control: wanted },
                    // Of a later version of the program.
                    Err(_) => continue,
                },
                "mark" => match serde_json::from_value::<NewMark>(body) {
                    Ok(NewMark { seq, mark, note }) => {
                        Command::Mark { who: control.who, seq, mark, note }
                    }
                    Err(_) => continue,
                },
                "leave" => Command::Leave,
                _ => continue,
            };
            if to.send(command).await.is_err() {
                return;
            }
        }
    }
}
