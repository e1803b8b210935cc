//! `steersman sessions stop` and `say`: what the process that drives a session is told.

use std::process::ExitCode;

use serde_json::json;
use steersman_agent::{Clock, SystemClock, process_of};
use steersman_store::{NewControl, Store, StoreError, Summary};

use super::args::{SayArgs, StopArgs};
use super::find;
use super::standing::{Standing, driver};
use crate::run::{First, Place, ShowArgs, block_on, take_up};
use crate::screen::{Colour, say as tell};

pub(super) fn stop(args: &StopArgs, colour: Colour) -> Result<ExitCode, String> {
    let place = Place::of(&args.store)?;
    let store = find::open_there(&place)?;
    let (summary, asked) = block_on(async {
        let summary = find::find(&*store, &args.id).await?;
        let asked = if driver(&summary).is_some() {
            send(&*store, &summary, "stop", "{}".to_owned()).await.map(|()| true)
        } else {
            Ok(false)
        };
        asked.map(|asked| (summary, asked)).map_err(|error| error.to_string())
    })?;
    drop(store);
    if asked {
        tell(&format!("session {}: {} is asked to stop it", summary.id, whom(&summary)));
        return Ok(ExitCode::SUCCESS);
    }
    // Nobody hears it: the session is taken up to write down that it is over.
    let show = ShowArgs { json: false, plain: true, listen: None };
    take_up(&place, &summary.id, First::Stop(who()), &show, colour)
}

pub(super) fn say(args: &SayArgs) -> Result<ExitCode, String> {
    if args.text.trim().is_empty() {
        return Err("the text is empty".to_owned());
    }
    let place = Place::of(&args.store)?;
    let store = find::open_there(&place)?;
    block_on(async {
        let summary = find::find(&*store, &args.id).await?;
        let id = &summary.id;
        if driver(&summary).is_none() {
            let standing = Standing::of(&summary);
            let resume = place.hint("resume", id);
            return Err(format!(
                "nobody drives session {id} ({}), so nobody would hear it; say it when taking the \
                 session up: {resume} \"…\"",
                standing.name()
            ));
        }
        let body = json!({"text": args.text}).to_string();
        send(&*store, &summary, "say", body).await.map_err(|error| error.to_string())?;
        tell(&format!("session {id}: the agent is told before its next reply"));
        Ok(ExitCode::SUCCESS)
    })
}

async fn send(
    store: &dyn Store,
    summary: &Summary,
    kind: &str,
    body: String,
) -> Result<(), StoreError> {
    let at_ms = SystemClock.now_ms();
    let control = NewControl { at_ms, kind: kind.to_owned(), body: body.into(), who: who() };
    store.control(&summary.id, control).await.map(drop)
}

/// Who asks, for people to read.
fn who() -> String {
    match std::env::var("USER") {
        Ok(user) if !user.is_empty() && user.len() <= 64 => user,
        _ => "a person".to_owned(),
    }
}

fn whom(summary: &Summary) -> String {
    let process = driver(summary).and_then(|lease| process_of(&lease.owner));
    process.map_or_else(|| "its driver".to_owned(), |pid| format!("process {pid}"))
}
