//! What people want of runs, handed to whoever drives them.

use std::sync::Arc;

use steersman_agent::{Ending, Entry, Log, Session, is_gone};
use steersman_gateway::api::{NewMark, Wish};
use steersman_gateway::control::{Control, ControlError, MAX_NOTE};
use steersman_store::{NewControl, Store, StoreError, Summary};

/// The controls of a run that is driven.
const CONTROLS: [&str; 10] = [
    "pause",
    "resume",
    "continuation",
    "aggressiveness",
    "limits",
    "note",
    "re_evaluate",
    "force_synthesis",
    "start_over",
    "stop",
];
/// Why nobody hears a control.
const NOT_DRIVEN: &str = "no process drives the session at the moment; take it up with \
                          `steersman sessions resume`";

/// Whether a process drives the session. A lease outlives a process that was killed.
pub(super) fn is_driven(summary: &Summary, now_ms: u64) -> bool {
    let holds = |owner: &str, until_ms: u64| until_ms > now_ms && !is_gone(owner);
    summary.lease.as_ref().is_some_and(|lease| holds(&lease.owner, lease.until_ms))
}

/// The controls that a session takes, or why it takes none.
pub(super) fn controls(
    summary: &Summary,
    session: &Session,
) -> (Vec<&'static str>, Option<&'static str>) {
    if session.ended().is_some() {
        return (Vec::new(), None);
    }
    // A lease that is over by its time alone is asked again when a control comes.
    if !is_driven(summary, 0) {
        return (Vec::new(), Some(NOT_DRIVEN));
    }
    let fits = |name: &&str| *name != "start_over" || session.opened().workspace.is_some();
    (CONTROLS.into_iter().filter(fits).collect(), None)
}

/// Hands a control to the process that drives the session.
pub(super) async fn control(
    store: &Arc<dyn Store>,
    summary: &Summary,
    wish: Wish<'_, Control>,
) -> Result<(), ControlError> {
    check(wish.what).map_err(ControlError::Invalid)?;
    let ended = Ending::ALL.iter().any(|ending| ending.name() == summary.head.state);
    if ended && !is_driven(summary, wish.at_ms) {
        return Err(ControlError::Deaf("the session has ended".to_owned()));
    }
    if !is_driven(summary, wish.at_ms) {
        return Err(ControlError::Deaf(NOT_DRIVEN.to_owned()));
    }
    let (kind, body) = match wish.what {
        Control::Stop => ("stop", "{}".to_owned()),
        control => ("control", serde_json::to_string(control).unwrap_or_default()),
    };
    send(store, summary, (wish.who, wish.at_ms), kind, body).await
}

fn check(control: &Control) -> Result<(), String> {
    match control {
        Control::Note { text } if text.trim().is_empty() || text.len() > MAX_NOTE => {
            Err(format!("a note has 1 to {MAX_NOTE} bytes that are not all blank"))
        }
        Control::Aggressiveness { preset }
            if !steersman_timeline::PRESETS.contains(&preset.as_str()) =>
        {
            let known = steersman_timeline::PRESETS.join(", ");
            Err(format!("the preset `{preset}` is not known; allowed are {known}"))
        }
        Control::Limits(limits) if limits.is_empty() => Err("no limit is given".to_owned()),
        _ => Ok(()),
    }
}

/// Has a mark journalled: by whoever drives the session, or here if nobody does.
pub(super) async fn mark(
    store: &Arc<dyn Store>,
    summary: &Summary,
    wish: Wish<'_, NewMark>,
) -> Result<(), ControlError> {
    let body = serde_json::to_string(wish.what).unwrap_or_default();
    if is_driven(summary, wish.at_ms) {
        return send(store, summary, (wish.who, wish.at_ms), "mark", body).await;
    }
    let deaf = |why: String| ControlError::Deaf(why);
    let log = Log::take(Arc::clone(store), summary.id.clone(), wish.at_ms).await;
    let log = log.map_err(|error| deaf(error.to_string()))?;
    let NewMark { seq, mark, note } = wish.what.clone();
    let entry = Entry::Marked { who: wish.who.to_owned(), seq, mark, note };
    let last = store.session(&summary.id).await.map(|now| now.map_or(0, |now| now.last_seq));
    let written = match last {
        Ok(last) => log.append(last, wish.at_ms, &[entry], None).await.map_err(|it| it.to_string()),
        Err(error) => Err(error.to_string()),
    };
    log.release().await.map_err(|error| deaf(error.to_string()))?;
    written.map(drop).map_err(deaf)
}

async fn send(
    store: &Arc<dyn Store>,
    summary: &Summary,
    (who, at_ms): (&str, u64),
    kind: &str,
    body: String,
) -> Result<(), ControlError> {
    let control =
        NewControl { at_ms, kind: kind.to_owned(), body: body.into(), who: who.to_owned() };
    let sent = store.control(&summary.id, control).await;
    sent.map(drop).map_err(|error| match error {
        StoreError::Unknown { .. } => ControlError::Unknown,
        error => ControlError::Deaf(error.to_string()),
    })
}
