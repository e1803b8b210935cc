//! The story of a session of the gateway, entry by entry.

use std::process::ExitCode;

use serde_json::{Value, json};
use steersman_engine::Action;
use steersman_gateway::record::Entry;
use steersman_store::{Entry as Stored, Store, Summary};

use super::args::OneArgs;
use super::standing::Standing;
use crate::run::{date_and_time, write};
use crate::screen::{Screen, Tone};
use crate::text::{harmless, plain};

/// Entries that are read at a time.
const PAGE: usize = 500;

/// Whether the session is one of the gateway's.
pub(super) fn is_watched(summary: &Summary) -> bool {
    let extra = summary.head.extra.as_deref().and_then(|extra| serde_json::from_str(extra).ok());
    extra.is_some_and(|extra: Value| extra["kind"] == "gateway")
}

/// Tells the story.
pub(super) async fn show(
    store: &dyn Store,
    summary: &Summary,
    args: &OneArgs,
    screen: Screen,
) -> Result<ExitCode, String> {
    let mut lines =
        if args.json || args.turn.is_some() { Vec::new() } else { head(summary, screen) };
    let (mut after, mut turn) = (0, 0);
    loop {
        let page = store.read(&summary.id, after, PAGE).await.map_err(|error| error.to_string())?;
        let Some(last) = page.last() else { break };
        after = last.seq;
        for stored in &page {
            turn += u32::from(stored.kind == "replied");
            if args.turn.is_some_and(|wanted| wanted != turn) {
                continue;
            }
            if args.json {
                lines.push(as_json(summary, stored));
            } else {
                lines.extend(tell(stored, turn, screen));
            }
        }
    }
    if let Some(wanted) = args.turn.filter(|wanted| *wanted > turn) {
        return Err(format!("--turn {wanted}: session {} has {turn} turns", summary.id));
    }
    write(&lines);
    Ok(ExitCode::SUCCESS)
}

fn as_json(summary: &Summary, stored: &Stored) -> String {
    let body: Value = serde_json::from_str(&stored.body).unwrap_or_default();
    json!({
        "session": summary.id.as_str(),
        "seq": stored.seq,
        "at_ms": stored.at_ms,
        "kind": stored.kind,
        "entry": body,
    })
    .to_string()
}

fn head(summary: &Summary, screen: Screen) -> Vec<String> {
    let standing = Standing::of(summary);
    let line =
        |name: &str, value: &str| format!("{} {}", screen.paint(Tone::Heading, name), plain(value));
    let of = |text: &Option<String>| text.clone().unwrap_or_else(|| "unknown".to_owned());
    let (began, last) = (summary.created_ms, summary.updated_ms);
    vec![
        format!(
            "{} {} {}",
            screen.paint(Tone::Heading, "session"),
            summary.id,
            screen.paint(standing.tone(), standing.name())
        ),
        line("task", &summary.head.title),
        line("agent", &format!("{} with {}", of(&summary.head.agent), of(&summary.head.model))),
        line("time", &format!("{} to {} UTC", date_and_time(began), date_and_time(last))),
        String::new(),
    ]
}

/// What an entry is to a person; empty if it is nothing.
fn tell(stored: &Stored, turn: u32, screen: Screen) -> Vec<String> {
    let Ok(entry) = serde_json::from_str::<Entry>(&stored.body) else {
        // Of a later version of the program.
        return vec![format!("    {}", plain(&stored.kind))];
    };
    let note = |tone: Tone, text: &str| vec![screen.paint(tone, &format!("    {}", plain(text)))];
    match entry {
        Entry::Opened(opened) => {
            let how = if opened.taken_up { "taken up" } else { "seen first" };
            note(Tone::Heading, &format!("▶ {how}, mode {}", opened.mode))
        }
        Entry::Asked { .. } | Entry::Steered { .. } | Entry::Returned(_) => Vec::new(),
        Entry::Decided(decision) if decision.action == Action::Continue => Vec::new(),
        Entry::Decided(decision) => {
            let shadow = if decision.shadow { " (only told)" } else { "" };
            note(Tone::Warn, &format!("{}{shadow}: {}", decision.action, decision.reason))
        }
        Entry::Said { text, .. } => quote("said to the agent", &text, screen),
        Entry::Rescued { text } => quote("asked again", &text, screen),
        Entry::Replied(replied) => {
            let calls = replied.calls.iter().map(|call| plain(call)).collect::<Vec<_>>().join(", ");
            let text = replied.text.lines().next().unwrap_or_default();
            let what =
                if calls.is_empty() { text.to_owned() } else { format!("{text} → {calls}") };
            vec![format!("{turn:>3} {}", plain(what.trim()))]
        }
        Entry::CallFailed { status, message, retry_ms } => {
            let status = status.map_or_else(|| "no answer".to_owned(), |it| it.to_string());
            let then = retry_ms.map_or_else(String::new, |ms| format!("; again in {ms} ms"));
            note(Tone::Bad, &format!("call failed: {status} {message}{then}"))
        }
        Entry::FellBack { model } => note(Tone::Bad, &format!("asked instead: {model}")),
        Entry::BrokeOff { how } => note(Tone::Bad, &format!("the answer broke off: {how}")),
        Entry::Held => note(Tone::Warn, "a request waits: the session is paused"),
        Entry::Controlled { who, control } => {
            let control = serde_json::to_string(&control).unwrap_or_default();
            note(Tone::Heading, &format!("{who} took the helm: {control}"))
        }
        Entry::Marked { who, seq, mark, .. } => {
            note(Tone::Heading, &format!("{who} marked entry {seq}: {mark}"))
        }
        Entry::FailedOpen { why } => note(Tone::Bad, &format!("passed as it came: {why}")),
        Entry::Lost { entries } => note(Tone::Bad, &format!("{entries} entries are missing here")),
    }
}

/// A text of several lines, word for word, and what it is.
fn quote(what: &str, text: &str, screen: Screen) -> Vec<String> {
    let mut lines = vec![screen.paint(Tone::Warn, &format!("    {what}:"))];
    lines.extend(text.lines().map(|line| format!("    │ {}", harmless(line))));
    lines
}
