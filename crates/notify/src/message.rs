//! What clients are sent. Fields are added, never changed: a golden file holds them.

use serde::Serialize;
use serde_json::{Value, json};
use steersman_agent::{CallState, Entry, Session};
use steersman_engine::Decision;

/// Version of the messages.
pub const VERSION: u32 = 1;

/// Most bytes of a text in a message; what is longer ends with `…`.
pub const MAX_TEXT_BYTES: usize = 4096;

/// A message to a client.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Message {
    /// The first one.
    Hello(Hello),
    /// Something happened.
    Event(Told),
}

/// Where the session stands when a client comes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Hello {
    /// [`VERSION`].
    pub version: u32,
    /// The session.
    pub session: String,
    /// The last entry of the journal that is part of `progress`; 0 before the first.
    pub seq: u64,
    /// The task, in the user's words.
    pub task: String,
    /// How it stands.
    pub progress: Progress,
}

/// An entry of the journal, and how the session stands with it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Told {
    /// The session.
    pub session: String,
    /// The entry's number in the journal.
    pub seq: u64,
    /// When it was written, in milliseconds since 1970.
    pub at_ms: u64,
    /// What kind of entry it is.
    pub event: &'static str,
    /// What matters of it.
    pub detail: Value,
    /// How the session stands.
    pub progress: Progress,
}

/// How a session stands.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Progress {
    /// What it does: `starting`, `thinking`, `tools`, `checking`, `restoring`, `waiting`,
    /// `deciding` or `ended`.
    pub status: &'static str,
    /// The agent that acts.
    pub agent: String,
    /// Model replies so far.
    pub turn: u32,
    /// The attempt under way, from 1; 0 before the first decision.
    pub attempt: u32,
    /// Tool calls so far.
    pub calls: u32,
    /// Tools that run at this moment.
    pub running: Vec<String>,
    /// What the agent says of its progress. Only a claim: no decision rests on it.
    pub claimed: Claimed,
    /// The score of the last decision, 0 to 1, rounded to three places; `None` before the first.
    pub score: Option<f32>,
    /// The last decision other than to go on; `None` if there was none.
    pub last_action: Option<String>,
    /// Test results seen last; `None` if none were.
    pub tests: Option<Tests>,
    /// Whether the last check passed; `None` if none ran.
    pub check_passed: Option<bool>,
    /// Tokens over all calls.
    pub tokens: Tokens,
    /// Nano-dollars over all calls.
    pub cost_nanodollars: u64,
    /// How the run ended; `None` while it goes on.
    pub ending: Option<String>,
}

/// What an agent says of its progress.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Claimed {
    /// In percent; `None` if it does not say.
    pub percent: Option<f32>,
    /// The step it is at; `None` if it does not say.
    pub step: Option<u32>,
    /// How many steps there are; `None` if it does not say.
    pub steps: Option<u32>,
}

/// Numbers of tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Tests {
    /// Tests that fail.
    pub failed: u32,
    /// Tests that pass.
    pub passed: u32,
}

/// Numbers of tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tokens {
    /// Sent.
    pub input: u64,
    /// Of these, from the server's cache.
    pub cached: u64,
    /// Generated.
    pub output: u64,
}

impl Message {
    /// As it is sent.
    #[must_use]
    pub fn text(&self) -> String {
        // Plain data: writing it cannot fail.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// How a session stands; `status` is what its last entry made it do.
pub(crate) fn progress(session: &Session, status: &'static str) -> Progress {
    let outlook = session.outlook();
    let running = session.calls().iter().filter(|call| call.state == CallState::Started);
    Progress {
        status,
        agent: session.agent().name.clone(),
        turn: outlook.turns,
        attempt: outlook.attempt,
        calls: outlook.calls,
        running: running.map(|call| bounded(&call.name)).collect(),
        claimed: Claimed {
            percent: outlook.percent,
            step: outlook.step.map(|(step, _)| step),
            steps: outlook.step.map(|(_, steps)| steps),
        },
        score: outlook.score.map(rounded),
        last_action: outlook.last_action.clone(),
        tests: outlook.tests.map(|(failed, passed)| Tests { failed, passed }),
        check_passed: outlook.check_passed,
        tokens: Tokens {
            input: outlook.input_tokens,
            cached: outlook.cached_tokens,
            output: outlook.output_tokens,
        },
        cost_nanodollars: outlook.cost_nanodollars,
        ending: outlook.ending.clone(),
    }
}

/// What a session does after an entry.
pub(crate) const fn status_after(before: &'static str, entry: &Entry) -> &'static str {
    match entry {
        Entry::Opened(_) | Entry::TakenUp(_) => "starting",
        Entry::CallStarted => "thinking",
        Entry::Replied(_) | Entry::ToolStarted { .. } | Entry::ToolFinished(_) => "tools",
        Entry::CheckStarted { .. } => "checking",
        Entry::RestoreStarted { .. } => "restoring",
        Entry::WaitStarted { .. } => "waiting",
        Entry::TurnEnded
        | Entry::CheckFinished(_)
        | Entry::CallFailed(_)
        | Entry::Decided { .. }
        | Entry::StartedOver(_)
        | Entry::StopRequested { .. }
        | Entry::TimePassed
        | Entry::WaitEnded => "deciding",
        Entry::Ended(_) => "ended",
        _ => before,
    }
}

/// What matters of an entry; `None` if clients are not told of it.
pub(crate) fn detail(session: &Session, entry: &Entry) -> Option<Value> {
    Some(match entry {
        Entry::Opened(opened) => json!({
            "agent": bounded(&opened.agent.name),
            "model": bounded(&opened.agent.model),
            "check": opened.check.as_deref().map(bounded),
        }),
        Entry::TakenUp(_) | Entry::CallStarted | Entry::WaitEnded | Entry::TimePassed => json!({}),
        Entry::Spoke { text } => json!({"text": bounded(text)}),
        Entry::Replied(replied) => json!({
            "text": bounded(&replied.message.text()),
            "tools": session.calls().iter().map(|call| bounded(&call.name)).collect::<Vec<_>>(),
        }),
        Entry::CallFailed(failed) => json!({
            "http_status": failed.status,
            "message": bounded(&failed.message),
        }),
        Entry::ToolStarted { call_id } => json!({"tool": tool(session, call_id)}),
        Entry::ToolFinished(result) => json!({
            "tool": tool(session, &result.call_id),
            "failed": result.is_error == Some(true) || result.interrupted,
            "took_ms": result.took_ms,
        }),
        Entry::CheckStarted { cause } => json!({"cause": cause}),
        Entry::CheckFinished(check) => json!({
            "cause": check.cause,
            "passed": check.passed,
            "took_ms": check.took_ms,
        }),
        Entry::Decided { decision } => decided(decision),
        Entry::Said { text, .. } => json!({"text": bounded(text)}),
        Entry::StartedOver(attempt) => json!({
            "attempt": attempt.number,
            "reason": bounded(&attempt.reason),
            "next": bounded(&attempt.next),
            "kept": bounded(&attempt.kept),
        }),
        Entry::StartOverRefused { why } | Entry::BestLost { why, .. } => {
            json!({"why": bounded(why)})
        }
        Entry::WaitStarted { until_ms } => json!({"until_ms": until_ms}),
        Entry::StopRequested { who } => json!({"who": bounded(who)}),
        Entry::HandedOver(handed) => json!({
            "from": bounded(&handed.from),
            "to": bounded(&handed.to.name),
        }),
        Entry::BestRestored { number } => json!({"checkpoint": number}),
        Entry::Pruned { tokens_after, .. } => json!({"tokens_after": tokens_after}),
        Entry::Ended(ended) => json!({
            "ending": ended.ending.name(),
            "why": bounded(&ended.why),
            "answer": bounded(&ended.answer),
        }),
        Entry::SideEnded(end) => json!({
            "attempt": end.number,
            "ending": end.ending().map(steersman_agent::Ending::name),
            "proved": end.proved,
        }),
        Entry::SideChosen { number, why } => json!({"attempt": number, "why": bounded(why)}),
        Entry::SideNotApplied { number, why } => json!({"attempt": number, "why": bounded(why)}),
        Entry::SideApplied { number } => json!({"attempt": number}),
        Entry::Controlled { who, control } => json!({"who": bounded(who), "control": control}),
        Entry::TurnEnded
        | Entry::Marked { .. }
        | Entry::SidesBegun(_)
        | Entry::Checkpointed(_)
        | Entry::CheckpointFailed { .. }
        | Entry::RestoreStarted { .. }
        | Entry::Mailed { .. } => return None,
    })
}

fn decided(decision: &Decision) -> Value {
    json!({
        "action": decision.action.name(),
        "reason": decision.reason.to_string(),
        "evidence": {
            "turns": decision.evidence.turns,
            "excerpt": decision.evidence.excerpt.as_str(),
        },
        "score": (f64::from(decision.score) * 1000.0).round() / 1000.0,
        "shadow": decision.shadow,
    })
}

/// A score as people read it, to three places.
fn rounded(score: f32) -> f32 {
    (score * 1000.0).round() / 1000.0
}

fn tool(session: &Session, call_id: &str) -> Option<String> {
    let call = session.calls().iter().find(|call| call.id == call_id);
    call.map(|call| bounded(&call.name))
}

/// A text of at most [`MAX_TEXT_BYTES`].
pub(crate) fn bounded(text: &str) -> String {
    if text.len() <= MAX_TEXT_BYTES {
        return text.to_owned();
    }
    let mark = "…";
    format!("{}{mark}", &text[..text.floor_char_boundary(MAX_TEXT_BYTES - mark.len())])
}
