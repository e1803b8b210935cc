//! The timeline of a run, from its journal.

use std::path::Path;
use std::sync::Arc;

use steersman_agent::{CheckCause, CheckFinished, Entry, Replied, Session, ToolFinished};
use steersman_engine::TestReport;
use steersman_gateway::control::Control;
use steersman_prompt::MailEntry;
use steersman_store::{Entry as Stored, Store, Summary};
use steersman_timeline::bound::{MAX_EXCERPT, MAX_TEXT, beginning};
use steersman_timeline::{
    About, Attempt, Back, CheckRun, Claimed, Concluded, Draft, Letter, Outcome, Place, Source,
    Spent, TestNames, Timeline, Turn, Wanted, call_of, file_of, outcome_of, results,
};
use steersman_trace::reports;

use super::diff::{self, Span};
use super::helm;

/// Most bytes of the last lines of a check's output.
const MAX_CHECK: usize = 1 << 10;

/// Tells a session turn by turn.
pub(super) async fn timeline(
    store: &Arc<dyn Store>,
    folder: &Path,
    summary: &Summary,
    wanted: Wanted,
) -> Result<Timeline, String> {
    let mut fold = Fold {
        draft: Draft::new(Source::Run, summary.id.as_str(), wanted),
        claimed: Claimed::default(),
        spans: Vec::new(),
    };
    let each = |session: &Session, stored: &Stored, entry: &Entry| {
        fold.take_in(session, stored, entry);
    };
    let session = steersman_agent::read(&**store, &summary.id, each).await;
    let session = session.map_err(|error| error.to_string())?;
    let Fold { mut draft, spans, claimed } = fold;
    draft.stands(session.engine());
    if let Some(standing) = draft.standing() {
        standing.paused = session.paused().map(str::to_owned);
        standing.is_left_alone = session.is_left_alone();
        standing.preset = session.preset().map(str::to_owned);
        standing.claimed = (claimed != Claimed::default()).then_some(claimed);
    }
    let (controls, why) = helm::controls(summary, &session);
    draft.takes(&controls, why);
    let mut told = draft.finish();
    // They are long, and do not change: who asks for later turns has those of earlier attempts.
    let news = spans.into_iter().filter(|span| span.ended_at >= wanted.after_turn);
    let news: Vec<Span> = news.collect();
    if !news.is_empty() {
        let diffs = diffs(&session, summary.id.as_str(), folder, news).await;
        for (number, text) in diffs {
            let attempts = told.whole.attempts.iter_mut();
            attempts.filter(|it| it.number == number).for_each(|it| it.diff = Some(text.clone()));
        }
    }
    Ok(told)
}

/// What the attempts of a session had changed.
async fn diffs(session: &Session, id: &str, folder: &Path, spans: Vec<Span>) -> Vec<(u32, String)> {
    let opened = session.opened();
    // A copy of the folder for one of several attempts is not there any more.
    let is_side = opened.extra.get("side").is_some_and(|side| !side.is_null());
    let Some(workspace) = opened.workspace.clone().filter(|_| !is_side) else {
        return Vec::new();
    };
    let kept = folder.join("checkpoints").join(id);
    let id = id.to_owned();
    let read =
        tokio::task::spawn_blocking(move || diff::diffs(&id, Path::new(&workspace), &kept, &spans));
    read.await.unwrap_or_default()
}

struct Fold {
    draft: Draft,
    claimed: Claimed,
    /// The attempts that were given up.
    spans: Vec<Span>,
}

impl Fold {
    /// Takes in an entry that the session has folded.
    fn take_in(&mut self, session: &Session, stored: &Stored, entry: &Entry) {
        self.draft.told(stored.seq);
        let place = Place { seq: Some(stored.seq), at_ms: Some(stored.at_ms) };
        let draft = &mut self.draft;
        match entry {
            Entry::Opened(opened) => draft.about(&About {
                task: String::new(),
                agent: opened.agent.name.clone(),
                model: opened.agent.model.clone(),
            }),
            Entry::Spoke { text } if !draft.has_task() => {
                draft.about(&About { task: text.clone(), ..About::default() });
            }
            Entry::Spoke { text } => {
                draft.ended(None);
                draft.note(place, "user", text, None);
            }
            Entry::Replied(replied) => self.replied(place, session, replied),
            Entry::ToolFinished(result) => self.returned(session, result),
            Entry::TurnEnded => self.see_calls(session),
            Entry::CheckFinished(check) => self.checked(place, check),
            Entry::Decided { decision } => draft.decided(place, decision),
            Entry::Said { text, template, .. } => draft.said(place, text, template),
            Entry::StartedOver(attempt) => {
                draft.note(place, "started_over", &attempt.reason, None);
                draft.started_over(given_up(place, attempt));
                let kept = session.checkpoints();
                let from = kept.iter().find(|kept| kept.number == attempt.restored);
                // The state that was left is the last one that was kept.
                if let (Some(from), Some(to)) = (from.cloned(), kept.last().cloned()) {
                    let ended_at = session.engine().state().turns;
                    self.spans.push(Span { number: attempt.number, ended_at, from, to });
                }
            }
            Entry::Mailed { mail } => posted(draft, place, mail),
            Entry::Ended(ended) => {
                draft.note(place, "ended", &format!("{}: {}", ended.ending, ended.why), None);
                draft.ended(Some(Concluded {
                    ending: ended.ending.name().to_owned(),
                    why: ended.why.clone(),
                    answer: ended.answer.clone(),
                }));
            }
            Entry::Marked { who, seq, mark, note } => {
                draft.marked(*seq, *mark, note.as_deref());
                draft.note(place, "marked", &format!("entry {seq}: {mark}"), Some(who));
            }
            Entry::Controlled { who, control } => {
                draft.note(place, "control", &control.to_string(), Some(who));
            }
            Entry::StopRequested { who } => {
                draft.note(place, "control", &Control::Stop.to_string(), Some(who));
            }
            other => {
                if let Some((kind, text)) = note_of(other) {
                    draft.note(place, kind, &text, None);
                }
            }
        }
    }

    fn replied(&mut self, place: Place, session: &Session, replied: &Replied) {
        let state = session.engine().state();
        let outlook = session.outlook();
        let mut seen = state.seen_calls();
        let calls = session.calls().iter().map(|call| {
            let seen = seen.next();
            call_of(&call.name, &call.arguments, seen.as_ref())
        });
        let (usage, cost) = (replied.usage, replied.usage.cost_nanodollars);
        let turn = Turn {
            number: state.turns,
            seq: place.seq,
            at_ms: place.at_ms,
            text: beginning(&replied.message.text(), MAX_TEXT),
            model: replied.model.clone(),
            stop: replied.stop.map(|stop| stop.name().to_owned()),
            calls: calls.collect(),
            spent: Some(Spent {
                input_tokens: usage.input_tokens,
                cached_tokens: Some(replied.cached_tokens),
                output_tokens: usage.output_tokens,
                cost_nanodollars: (cost > 0).then_some(cost),
            }),
            ..Turn::default()
        };
        self.draft.begin_turn(turn);
        let claimed = Claimed {
            percent: outlook.percent,
            step: outlook.step.map(|(step, _)| step),
            steps: outlook.step.map(|(_, steps)| steps),
        };
        // What was said once is not said again with every reply.
        if claimed != self.claimed {
            self.claimed = claimed;
            self.draft.claims(claimed);
        }
    }

    fn returned(&mut self, session: &Session, result: &ToolFinished) {
        let Some(position) = session.calls().iter().position(|call| call.id == result.call_id)
        else {
            return;
        };
        if let Some(call) = self.draft.call(position) {
            call.exit_code = result.exit_code;
            call.excerpt = beginning(&result.content, MAX_EXCERPT);
            call.took_ms = Some(result.took_ms);
            // Of calls that the runtime answers itself the engine is not told.
            call.outcome = match result.is_error {
                Some(true) => Some(Outcome::Error),
                Some(false) => Some(Outcome::Ok),
                None => None,
            };
        }
        let seen = session.engine().state().seen_calls().nth(position);
        let file = seen.and_then(|seen| file_of(seen.facts()));
        let names = names(&result.content, result.tests.as_ref());
        let back = Back { position, file, tests: result.tests.as_ref() };
        self.draft.returned(&back, &names);
    }

    /// What the engine makes of the calls of the turn that ended.
    fn see_calls(&mut self, session: &Session) {
        for (position, seen) in session.engine().state().seen_calls().enumerate() {
            let Some(call) = self.draft.call(position) else { break };
            let (outcome, error) = outcome_of(&seen);
            call.outcome = outcome.or(call.outcome);
            call.error = error;
            call.times = seen.times();
            call.novel = call.outcome.is_some() && call.times <= 1;
        }
    }

    fn checked(&mut self, place: Place, check: &CheckFinished) {
        let names = names(&check.excerpt, check.tests.as_ref());
        let run = CheckRun {
            seq: place.seq,
            cause: cause(check.cause).to_owned(),
            passed: check.passed,
            took_ms: Some(check.took_ms),
            excerpt: beginning(&check.excerpt, MAX_CHECK),
            tests: check.tests.as_ref().map(|report| results(report, &names)),
        };
        self.draft.check(run, check.tests.as_ref(), &names);
    }
}

/// The names of failing tests, as far as an output tells them.
fn names(output: &str, report: Option<&TestReport>) -> TestNames {
    let names = report.map(|report| reports::failing_names(output, report));
    names.into_iter().flatten().collect()
}

const fn cause(cause: CheckCause) -> &'static str {
    match cause {
        CheckCause::Due => "due",
        CheckCause::Claim => "claim",
        CheckCause::Asked => "asked",
        CheckCause::Closing => "closing",
    }
}

fn given_up(place: Place, attempt: &steersman_agent::Attempt) -> Attempt {
    Attempt {
        number: attempt.number,
        seq: place.seq,
        turns: attempt.turns,
        reason: beginning(&attempt.reason, MAX_TEXT),
        tried: beginning(&attempt.tried, MAX_TEXT),
        next: beginning(&attempt.next, MAX_TEXT),
        failed: attempt.failed,
        passed: attempt.passed,
        files: attempt.files.clone(),
        insertions: attempt.insertions,
        deletions: attempt.deletions,
        kept: attempt.kept.clone(),
        diff: None,
    }
}

fn posted(draft: &mut Draft, place: Place, mail: &MailEntry) {
    match mail {
        MailEntry::Posted { id, from, draft: letter } => {
            let text = format!("{from} to {}: {}", letter.to, letter.subject);
            draft.note(place, "mail", &text, None);
            draft.posted(Letter {
                id: *id,
                at_ms: place.at_ms.unwrap_or_default(),
                from: from.clone(),
                to: letter.to.clone(),
                subject: letter.subject.clone(),
                text: beginning(&letter.text, MAX_TEXT),
                in_reply_to: letter.in_reply_to,
                read: false,
            });
        }
        MailEntry::Read { agent, ids } => draft.read(agent, ids),
    }
}

/// What else happened, in words; `None`: nothing that a person wants to know.
fn note_of(entry: &Entry) -> Option<(&'static str, String)> {
    Some(match entry {
        Entry::TakenUp(taken) => ("taken_up", format!("taken up by steersman {}", taken.program)),
        Entry::CallFailed(failed) => {
            let status = failed.status.map_or_else(|| "no answer".to_owned(), |it| it.to_string());
            ("call_failed", format!("{status}: {}", failed.message))
        }
        Entry::Checkpointed(kept) => {
            ("checkpoint", format!("state {}: {}", kept.number, kept.label))
        }
        Entry::CheckpointFailed { why } => {
            ("checkpoint", format!("the state could not be kept: {why}"))
        }
        Entry::StartOverRefused { why } => ("start_over_refused", why.clone()),
        Entry::Pruned { tokens_after, .. } => {
            ("compacted", format!("old results were cut: {tokens_after} tokens are left"))
        }
        Entry::WaitStarted { until_ms } => ("waiting", format!("a retry is due at {until_ms}")),
        Entry::TimePassed => ("waiting", "a deadline was reached".to_owned()),
        Entry::HandedOver(handed) => {
            ("handed_over", format!("{} to {}: {}", handed.from, handed.to.name, handed.note))
        }
        Entry::BestRestored { number } => {
            ("checkpoint", format!("the folder was put back to its best state, {number}"))
        }
        Entry::BestLost { number, why } => {
            ("checkpoint", format!("the best state, {number}, could not be restored: {why}"))
        }
        Entry::SidesBegun(_) => ("sides", "attempts side by side begin".to_owned()),
        Entry::SideEnded(end) => ("sides", format!("attempt {} came to its end", end.number)),
        Entry::SideChosen { number, why } => {
            ("sides", format!("attempt {number} was chosen: {why}"))
        }
        Entry::SideApplied { number } => ("sides", format!("attempt {number} was applied")),
        Entry::SideNotApplied { number, why } => {
            ("sides", format!("attempt {number} could not be applied: {why}"))
        }
        _ => return None,
    })
}
