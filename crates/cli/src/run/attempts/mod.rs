//! `--attempts N`: several attempts side by side, judged by the check.
//!
//! The group is a session of its own whose journal says what was begun, how each attempt ended,
//! which one was chosen, and that the workspace holds it. Each attempt is a session, too.

mod group;
mod original;
mod side;
mod stance;
mod table;

use std::process::ExitCode;
use std::sync::Arc;

use steersman_agent::{Clock, Entry, Log, Session, Side, SidesBegun, SystemClock};
use steersman_store::{Head, SessionId};

use super::args::{RunArgs, ShowArgs};
use super::drive::{First, block_on};
use super::face::{Face, Look};
use super::place::{Place, new_id};
use super::plan::Plan;
use crate::screen::Colour;
use group::Group;

pub(super) use original::beside;

/// How many attempts work at a time if nothing is said.
const JOBS: u32 = 4;

/// Begins attempts side by side and takes them to their end.
pub(super) fn begin(args: &RunArgs, colour: Colour) -> Result<ExitCode, String> {
    let look = look(&args.show, colour)?;
    let place = Place::of(&args.store)?;
    let id = new_id(SystemClock.now_ms())?;
    block_on(async {
        let plan = Plan::read(args, &place, &id).await?;
        // They were asked what they offer; each attempt starts its own.
        plan.servers.close().await;
        begin_with(plan, args, &place, &id, look).await
    })
}

async fn begin_with(
    plan: Plan,
    args: &RunArgs,
    place: &Place,
    id: &SessionId,
    look: Look,
) -> Result<ExitCode, String> {
    if plan.check.is_none() {
        return Err(
            "--attempts needs a check to judge by, and there is none: name one with --check \
                    COMMAND"
                .to_owned(),
        );
    }
    let copies = apart(place, id, &plan)?;
    let opened = plan.opened()?;
    let Entry::Opened(about) = &opened else {
        return Err("the plan opens nothing".to_owned());
    };
    let begun = begun(args, id, &copies);
    let face = Face::new(look, id, place);
    face.introduce(&plan.task, about, &plan.recall, &plan.notices);
    let store = place.open()?;
    let now_ms = SystemClock.now_ms();
    store.create(id, Head::default(), now_ms).await.map_err(|error| error.to_string())?;
    let log = Log::take(Arc::clone(&store), id.clone(), now_ms).await;
    let log = log.map_err(|error| error.to_string())?;
    let session = Session::open(id.as_str(), opened.clone());
    let session = session.map_err(|error| error.to_string())?;
    let first = vec![opened, Entry::Spoke { text: plan.task.clone() }, Entry::SidesBegun(begun)];
    let group = Group::begin(log, session, face, place.clone(), first).await?;
    group.conclude().await
}

/// Goes on with those attempts of a group that have not ended, and judges again.
pub(super) async fn go_on(
    log: Log,
    session: Session,
    place: &Place,
    (show, colour): (&ShowArgs, Colour),
    begins: First,
) -> Result<ExitCode, String> {
    let id = log.id().clone();
    let refused = match session.sides() {
        Some(sides) if sides.applied && session.ended().is_some() => {
            let chosen = sides.chosen.unwrap_or_default();
            Some(format!(
                "session {id} was a group of attempts and is over: the folder holds what attempt \
                 {chosen} left; begin a new run for what comes next"
            ))
        }
        _ if matches!(begins, First::Say(_)) => Some(format!(
            "session {id} is a group of attempts, which hear nothing but their task: {}",
            place.hint("resume", &id)
        )),
        _ => None,
    };
    if let Some(refused) = refused {
        log.release().await.map_err(|error| error.to_string())?;
        return Err(refused);
    }
    let look = match look(show, colour) {
        Ok(look) => look,
        Err(why) => {
            log.release().await.map_err(|error| error.to_string())?;
            return Err(why);
        }
    };
    let face = Face::new(look, &id, place);
    face.taken_up(&session, &[]);
    let mut group = Group::take_up(log, session, face, place.clone()).await?;
    if let First::Stop(who) = begins {
        group.stop(who);
    }
    group.conclude().await
}

/// How the group is shown: attempts side by side are told in lines.
fn look(show: &ShowArgs, colour: Colour) -> Result<Look, String> {
    if show.listen.is_some() {
        return Err("--listen tells of one run: it cannot be used with --attempts".to_owned());
    }
    Ok(Look::of(show, colour))
}

/// Where the copies go: outside of the folder they are copies of.
fn apart(place: &Place, id: &SessionId, plan: &Plan) -> Result<std::path::PathBuf, String> {
    let copies = place.attempts(id);
    let fail = |error| format!("{}: {error}", copies.display());
    std::fs::create_dir_all(&copies).map_err(fail)?;
    let copies = copies.canonicalize().map_err(fail)?;
    if copies.starts_with(&plan.workspace) {
        let _ = std::fs::remove_dir(&copies);
        return Err(format!(
            "the copies for --attempts would lie inside of the folder they are copies of: {}; name \
             a folder elsewhere with --state DIR",
            copies.display()
        ));
    }
    Ok(copies)
}

fn begun(args: &RunArgs, id: &SessionId, copies: &std::path::Path) -> SidesBegun {
    let side = |number| Side {
        number,
        session: format!("{id}-{number}"),
        folder: copies.join(u32::to_string(&number)).display().to_string(),
        stance: stance::stance(number).to_owned(),
    };
    let breadth = &args.breadth;
    SidesBegun {
        sides: (1..=breadth.attempts).map(side).collect(),
        jobs: breadth.jobs.unwrap_or(JOBS).min(breadth.attempts),
        all: breadth.all,
    }
}
