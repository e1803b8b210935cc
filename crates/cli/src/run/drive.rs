//! Driving a session from the terminal: beginning, taking up, leaving.

use std::future::Future;
use std::process::ExitCode;
use std::sync::Arc;

use steersman_agent::{
    Clock, Command, DriveError, Driver, Ended, Entry, Log, Opened, Session, SystemClock,
};
use steersman_notify::{Door, Feed, QUEUE};
use steersman_store::{Head, News, SessionId, Store};
use tokio::sync::{Notify, mpsc};

use super::args::{RunArgs, ShowArgs};
use super::face::{Face, Look};
use super::parts::{Crew, crew};
use super::place::{Place, new_id, shown};
use super::plan::{self, Plan};
use super::recall::Recall;
use crate::screen::{Colour, Screen};

/// Exit code of a run that was left with Ctrl-C.
const LEFT: u8 = 130;

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
    let face = Face::new(Look::of(&args.show, colour), id);
    face.introduce(&plan.task, about, &plan.recall, &plan.notices);
    let store = place.open()?;
    let crew = crew(about, &plan.recall, plan.team(), &face, place, id)?;
    face.confined(&crew.confinement, &crew.storage);
    let now_ms = SystemClock.now_ms();
    store.create(id, Head::default(), now_ms).await.map_err(|error| error.to_string())?;
    let log = Log::take(Arc::clone(&store), id.clone(), now_ms).await;
    let log = log.map_err(|error| error.to_string())?;
    let Crew { parts, commands, .. } = crew;
    attended(&store, id, commands, door, async {
        let begun = Driver::begin(log, opened.clone(), parts).await;
        let mut driver = begun.map_err(|error| error.to_string())?;
        driver.hear(plan.task.clone()).await.map_err(|error| error.to_string())?;
        conclude(driver, &face).await
    })
    .await
}

/// Takes a session up again and drives it to its end; `said` is what the user says first.
pub(crate) fn take_up(
    place: &Place,
    id: &SessionId,
    said: Option<String>,
    show: &ShowArgs,
    colour: Colour,
) -> Result<ExitCode, String> {
    let store = place.open()?;
    let face = Face::new(Look::of(show, colour), id);
    block_on(async {
        let door = door(show).await?;
        let log = Log::take(Arc::clone(&store), id.clone(), SystemClock.now_ms()).await;
        let log = log.map_err(|error| error.to_string())?;
        let session = steersman_agent::read(&*store, id, |_, _, _| ()).await;
        let session = session.map_err(|error| error.to_string())?;
        if session.ended().is_some() && said.is_none() {
            let ended = session.ended().map(|ended| ended.ending.to_string()).unwrap_or_default();
            log.release().await.map_err(|error| error.to_string())?;
            return Err(format!(
                "session {id} has ended ({ended}); say what comes next: steersman sessions resume \
                 {id} \"…\""
            ));
        }
        let opened: Opened = session.opened().clone();
        let recall: Recall = serde_json::from_value(opened.extra.clone())
            .map_err(|error| format!("session {id} cannot be taken up again: {error}"))?;
        let mut notices = Vec::new();
        let acting = session.agent().name.clone();
        let team = plan::recalled(&opened, &recall, &acting, &mut notices).await?;
        let servers = Arc::clone(&team.servers);
        let crew = crew(&opened, &recall, team, &face, place, id)?;
        face.taken_up(&session, &notices);
        let Crew { parts, commands, .. } = crew;
        let done = attended(&store, id, commands, door, async {
            let taken = Driver::take_up(log, session, parts).await;
            let mut driver = taken.map_err(|error| error.to_string())?;
            if let Some(said) = said {
                driver.hear(said).await.map_err(|error| error.to_string())?;
            }
            conclude(driver, &face).await
        });
        let done = done.await;
        servers.close().await;
        done
    })
}

/// Where progress is told, if anywhere.
async fn door(show: &ShowArgs) -> Result<Option<Door>, String> {
    let Some(address) = show.listen else { return Ok(None) };
    let door = Door::open(address).await.map_err(|error| error.to_string())?;
    crate::screen::say(&format!("progress is told at ws://{}", door.address()));
    Ok(Some(door))
}

/// Drives a session while people and programs may listen, ask for its end, or leave it.
async fn attended(
    store: &Arc<dyn Store>,
    id: &SessionId,
    commands: mpsc::Sender<Command>,
    door: Option<Door>,
    work: impl Future<Output = Result<ExitCode, String>>,
) -> Result<ExitCode, String> {
    let serving = door.map(|door| door.serve(Feed::follow(Arc::clone(store), id.clone(), QUEUE)));
    let abandon = Arc::new(Notify::new());
    let keys = tokio::spawn(hear_keys(commands.clone(), Arc::clone(&abandon)));
    let controls = tokio::spawn(hear_controls(Arc::clone(store), id.clone(), commands));
    let _listening = Listening(vec![keys, controls]);
    let done = tokio::select! {
        done = work => done,
        // What runs is ended with the work that is dropped.
        () = abandon.notified() => return Ok(ExitCode::from(LEFT)),
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

/// Ends tasks when dropped.
struct Listening(Vec<tokio::task::JoinHandle<()>>);

impl Drop for Listening {
    fn drop(&mut self) {
        self.0.iter().for_each(tokio::task::JoinHandle::abort);
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
            _ => std::process::exit(i32::from(LEFT)),
        }
    }
}

/// What other processes ask for stands in the store.
async fn hear_controls(store: Arc<dyn Store>, id: SessionId, to: mpsc::Sender<Command>) {
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

/// How a session is taken up again, for people.
pub(super) fn how_to_resume(id: &SessionId, place: Option<&str>) -> String {
    match place {
        Some(state) => format!("steersman sessions resume {id} --state {state}"),
        None => format!("steersman sessions resume {id}"),
    }
}

/// Used by faces that show where a session works.
pub(super) fn where_at(opened: &Opened) -> String {
    opened.workspace.as_deref().map_or_else(String::new, |path| shown(std::path::Path::new(path)))
}

/// The last line of a run.
pub(super) fn last_line(ended: &Ended, session: &Session, screen: Screen) -> String {
    super::face::ending_line(ended, session, screen)
}
