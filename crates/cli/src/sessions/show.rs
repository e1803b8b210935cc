//! `steersman sessions show`.

use std::path::Path;
use std::process::ExitCode;

use steersman_agent::{Attempt, Session};
use steersman_store::Summary;

use super::args::OneArgs;
use super::find;
use super::standing::Standing;
use super::story::Story;
use super::watched;
use crate::run::{
    Place, block_on, count, date_and_time, ending_line, json_line, money, tokens, write,
};
use crate::screen::{Screen, Tone};
use crate::text::plain;

pub(super) fn show(args: &OneArgs, screen: Screen) -> Result<ExitCode, String> {
    let place = Place::of(&args.store)?;
    let store = find::open_there(&place)?;
    block_on(async {
        let summary = find::find(&*store, &args.id).await?;
        if watched::is_watched(&summary) {
            return watched::show(&*store, &summary, args, screen).await;
        }
        let mut told = Vec::new();
        let mut story = Story::new(screen, args.full || args.turn.is_some());
        let session = steersman_agent::read(&*store, &summary.id, |session, stored, entry| {
            let turn = session.outlook().turns;
            if args.turn.is_some_and(|wanted| wanted != turn) {
                return;
            }
            if args.json {
                told.push(json_line(&summary.id, stored.seq, stored.at_ms, entry));
            } else {
                told.extend(story.tell(session, stored.at_ms, entry));
            }
        })
        .await
        .map_err(|error| error.to_string())?;
        if let Some(turn) = args.turn.filter(|turn| *turn > session.outlook().turns) {
            let turns = session.outlook().turns;
            return Err(format!("--turn {turn}: session {} has {turns} turns", summary.id));
        }
        if !args.json && args.turn.is_none() {
            let mut lines = head(&summary, &session, screen);
            lines.append(&mut told);
            lines.extend(tail(&place, &summary, &session, screen));
            told = lines;
        }
        write(&told);
        Ok(ExitCode::SUCCESS)
    })
}

/// What the session is about.
fn head(summary: &Summary, session: &Session, screen: Screen) -> Vec<String> {
    let (opened, standing) = (session.opened(), Standing::of(summary));
    let line =
        |name: &str, value: &str| format!("{} {}", screen.paint(Tone::Heading, name), plain(value));
    let mut lines = vec![
        format!(
            "{} {} {}",
            screen.paint(Tone::Heading, "session"),
            summary.id,
            screen.paint(standing.tone(), standing.name())
        ),
        line("task", &session.outlook().task),
        line("agent", &format!("{} with {}", opened.agent.name, opened.agent.model)),
        line("folder", opened.workspace.as_deref().unwrap_or("none")),
        line("check", opened.check.as_deref().unwrap_or("none")),
        line("policy", &opened.policy.name),
        line(
            "time",
            &format!(
                "{} to {} UTC",
                date_and_time(summary.created_ms),
                date_and_time(summary.updated_ms)
            ),
        ),
    ];
    if session.differing() > 0 {
        let what = format!(
            "{} of its journal would be made otherwise by this version; the recorded ones hold",
            count(session.differing().into(), "decision")
        );
        lines.push(screen.paint(Tone::Warn, &what));
    }
    lines.push(String::new());
    lines
}

/// What came of it.
fn tail(place: &Place, summary: &Summary, session: &Session, screen: Screen) -> Vec<String> {
    let mut lines = Vec::new();
    let heading = |lines: &mut Vec<String>, text: &str| {
        lines.push(String::new());
        lines.push(screen.paint(Tone::Heading, text));
    };
    if !session.attempts().is_empty() {
        heading(&mut lines, "attempts that were given up");
        session.attempts().iter().for_each(|attempt| lines.extend(ledger(attempt)));
    }
    if !session.checkpoints().is_empty() {
        heading(&mut lines, "kept states of the folder");
        for kept in session.checkpoints() {
            let short = kept.id.get(..12).unwrap_or(&kept.id);
            lines.push(format!("  {:>3}  {short}  {}", kept.number, plain(&kept.label)));
        }
        lines.push(screen.paint(Tone::Dim, &whereabouts(place, summary, session)));
    }
    lines.push(String::new());
    match session.ended() {
        Some(ended) => {
            lines.extend(ended.answer.lines().map(plain));
            lines.push(ending_line(ended, session, screen));
        }
        None => lines.push(open_line(place, summary, session)),
    }
    lines
}

fn ledger(attempt: &Attempt) -> Vec<String> {
    let mut lines = vec![format!(
        "  {}: {}, {}",
        attempt.number,
        count(attempt.turns.into(), "turn"),
        plain(&attempt.reason)
    )];
    let mut say = |name: &str, text: &str| {
        if !text.is_empty() {
            lines.push(format!("     {name}: {}", plain(text)));
        }
    };
    say("tried", &attempt.tried);
    say("next", &attempt.next);
    if let (Some(failed), Some(passed)) = (attempt.failed, attempt.passed) {
        say("tests", &format!("{failed} failing, {passed} passing"));
    }
    let changed = format!("+{} −{} lines", attempt.insertions, attempt.deletions);
    if !attempt.files.is_empty() {
        say("changed", &format!("{} ({changed})", attempt.files.join(", ")));
    }
    say("kept as", &attempt.kept);
    say("restored", &format!("state {}", attempt.restored));
    lines
}

/// Where the states are and how to look at one.
fn whereabouts(place: &Place, summary: &Summary, session: &Session) -> String {
    let private = place.checkpoints(&summary.id).join("checkpoints.git");
    let last = session.checkpoints().last().map_or("", |kept| kept.id.as_str());
    let at = if private.is_dir() {
        format!("--git-dir={}", private.display())
    } else {
        let folder = session.opened().workspace.clone().unwrap_or_default();
        format!("-C {}", Path::new(&folder).display())
    };
    format!("  git {at} show --stat {}", last.get(..12).unwrap_or(last))
}

/// The last line of a session that has not ended.
fn open_line(place: &Place, summary: &Summary, session: &Session) -> String {
    let outlook = session.outlook();
    let standing = Standing::of(summary);
    let all = outlook.input_tokens.saturating_add(outlook.output_tokens);
    let mut took = vec![
        count(outlook.turns.into(), "turn"),
        count(outlook.calls.into(), "call"),
        format!("{} tokens", tokens(all)),
    ];
    if outlook.cost_nanodollars > 0 {
        took.push(money(outlook.cost_nanodollars));
    }
    let next = match standing {
        Standing::Running => place.hint("stop", &summary.id),
        _ => place.hint("resume", &summary.id),
    };
    format!("{} so far ({}); {next}", standing.name(), took.join(", "))
}
