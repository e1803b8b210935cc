//! A run as lines: one for each thing that matters.

use steersman_agent::control::{FINISH, RUN_CHECK};
use steersman_agent::{CallState, CheckCause, CheckFinished, Entry, OpenCall, Replied, Session, ToolFinished};
use steersman_engine::{Action, Decision};
use steersman_wire::Part;

use super::{count, tokens};
use crate::screen::{Screen, Tone};
use crate::text::{cut_end, hang, plain};

/// Columns of a line where there is no terminal.
const WIDE: usize = 160;

/// Columns at which a text that is shown whole is broken into lines, at most.
const READABLE: usize = 100;

/// Arguments that say most of a call: they are shown first, and without their names.
const MAIN: [&str; 7] = ["path", "command", "pattern", "url", "reason", "summary", "question"];

/// Columns of a call in front of its result.
const CALL: usize = 48;

/// A run as lines.
pub(crate) struct Lines {
    screen: Screen,
}

impl Lines {
    pub(crate) const fn new(screen: Screen) -> Self {
        Self { screen }
    }

    /// What an entry is to a person; empty if it is nothing.
    pub(crate) fn tell(&self, session: &Session, at_ms: u64, entry: &Entry) -> Vec<String> {
        match entry {
            Entry::Replied(replied) => self.reply(session, replied),
            Entry::ToolFinished(result) => self.result(session, result),
            Entry::CallFailed(failed) => {
                let status = failed.status.map_or(String::new(), |code| format!("HTTP {code} "));
                vec![self.line(
                    "  ✗ ",
                    Tone::Bad,
                    &format!("model call: {status}{}", failed.message),
                )]
            }
            Entry::WaitStarted { until_ms } => {
                let seconds = until_ms.saturating_sub(at_ms).div_ceil(1000);
                vec![self.line("  … ", Tone::Dim, &format!("waits {seconds} s, then tries again"))]
            }
            Entry::CheckStarted { cause: CheckCause::Claim } => {
                vec![self.line("  ? ", Tone::Dim, "says it is done: the check runs")]
            }
            Entry::CheckFinished(check) => {
                let (tone, word) =
                    if check.passed { (Tone::Good, "passes") } else { (Tone::Bad, "fails") };
                vec![self.line("  check ", tone, &format!("{word}{}", findings(check)))]
            }
            Entry::Decided { decision } => self.decided(decision),
            Entry::Controlled { who, control } => {
                let control = serde_json::to_string(control).unwrap_or_default();
                vec![self.line("  ▶ ", Tone::Heading, &format!("{who} took the helm: {control}"))]
            }
            Entry::Said { text, .. } => {
                self.whole("    “", Tone::Warn, &format!("{}”", text.trim()))
            }
            Entry::StopRequested { who } => {
                vec![self.line("■ ", Tone::Bad, &format!("{who} stops the run"))]
            }
            entry => self.folder(entry),
        }
    }

    /// What became of the folder and the conversation.
    fn folder(&self, entry: &Entry) -> Vec<String> {
        match entry {
            Entry::StartedOver(attempt) => {
                let changed = match attempt.files.len() {
                    0 => "nothing was changed".to_owned(),
                    files => format!(
                        "{} taken back (+{} −{} lines)",
                        count(files as u64, "file"),
                        attempt.insertions,
                        attempt.deletions
                    ),
                };
                let what = format!(
                    "attempt {} is given up: {}; {changed}; kept as {}",
                    attempt.number, attempt.reason, attempt.kept
                );
                let mut lines = vec![String::new()];
                lines.extend(self.whole("↺ ", Tone::Warn, &what));
                lines
            }
            Entry::StartOverRefused { why } => {
                self.whole("↺ ", Tone::Bad, &format!("could not start over: {why}"))
            }
            Entry::CheckpointFailed { why } => {
                vec![self.line(
                    "  ! ",
                    Tone::Warn,
                    &format!("the folder's state is not kept: {why}"),
                )]
            }
            Entry::Checkpointed(kept) if !kept.skipped.is_empty() => {
                let what = format!("not covered by checkpoints: {}", kept.skipped.join(", "));
                vec![self.line("  ! ", Tone::Dim, &what)]
            }
            Entry::Pruned { tokens_after, .. } => {
                let what =
                    format!("old results are cut; {} tokens are left", tokens(*tokens_after));
                vec![self.line("  ", Tone::Dim, &what)]
            }
            Entry::HandedOver(handed) => {
                vec![self.line("⇄ ", Tone::Heading, &format!("{} takes over", handed.to.name))]
            }
            Entry::BestRestored { .. } => {
                vec![self.line("↺ ", Tone::Warn, "the folder is back in its best state of the run")]
            }
            Entry::BestLost { why, .. } => {
                vec![self.line("! ", Tone::Bad, &format!("the best state is not restored: {why}"))]
            }
            entry => self.side(entry),
        }
    }

    /// What became of attempts side by side.
    fn side(&self, entry: &Entry) -> Vec<String> {
        match entry {
            Entry::SidesBegun(begun) => {
                let what = format!(
                    "{} side by side, {} at a time",
                    count(begun.sides.len() as u64, "attempt"),
                    begun.jobs
                );
                let mut lines = vec![self.line("⇉ ", Tone::Heading, &what)];
                lines.extend(begun.sides.iter().map(|side| {
                    let what = format!("[{}] {}: {}", side.number, side.session, side.stance);
                    self.line("  ", Tone::Dim, &what)
                }));
                lines
            }
            Entry::SideEnded(end) => {
                let tone = if end.proved { Tone::Good } else { Tone::Dim };
                let ending = end.ending().map_or("not begun", steersman_agent::Ending::name);
                let proof = if end.proved { ", proved by the check" } else { "" };
                vec![self.line(
                    "⇉ ",
                    tone,
                    &format!("attempt {} ended: {ending}{proof}", end.number),
                )]
            }
            Entry::SideChosen { number, why } => {
                vec![self.line("⇉ ", Tone::Heading, &format!("attempt {number} is chosen: {why}"))]
            }
            Entry::SideApplied { number } => {
                vec![self.line(
                    "⇉ ",
                    Tone::Good,
                    &format!("the folder is as attempt {number} left it"),
                )]
            }
            Entry::SideNotApplied { number, why } => {
                let what = format!("the folder is not as attempt {number} left it: {why}");
                vec![self.line("⇉ ", Tone::Bad, &what)]
            }
            _ => Vec::new(),
        }
    }

    fn reply(&self, session: &Session, replied: &Replied) -> Vec<String> {
        let text = replied.message.text();
        let mut lines = vec![self.turn(session)];
        if !text.trim().is_empty() {
            lines.push(self.line("  ", Tone::Plain, &text));
        }
        for part in &replied.message.parts {
            if let Part::ToolCall { name, arguments, .. } = part {
                lines.push(self.line("  → ", Tone::Plain, &call(name, arguments)));
            }
        }
        lines
    }

    fn turn(&self, session: &Session) -> String {
        let outlook = session.outlook();
        let attempt = if outlook.attempt > 1 {
            format!(" · attempt {}", outlook.attempt)
        } else {
            String::new()
        };
        let head = format!(
            "turn {}{attempt} · {} tokens",
            outlook.turns,
            tokens(session.engine().state().used.context_tokens)
        );
        self.screen.paint(Tone::Dim, &head)
    }

    fn result(&self, session: &Session, result: &ToolFinished) -> Vec<String> {
        let open = session.calls().iter().find(|call| call.id == result.call_id);
        let failed = result.is_error == Some(true) || result.interrupted;
        // The check has a line of its own, and so has what follows from the end of the work.
        let told = open.is_some_and(|call| matches!(&*call.name, RUN_CHECK | FINISH));
        if told && (!failed || session.outlook().check_passed == Some(false)) {
            return Vec::new();
        }
        let (mark, tone) = if failed { ("  ✗ ", Tone::Bad) } else { ("  ✓ ", Tone::Dim) };
        let name = open.map_or_else(String::new, |open: &OpenCall| {
            cut_end(&plain(&brief(&open.name, &open.arguments)), CALL)
        });
        let first = result.content.lines().find(|line| !line.trim().is_empty()).unwrap_or("");
        let more = result.content.lines().count().saturating_sub(1);
        let more =
            if more > 0 { format!(" (+{})", count(more as u64, "line")) } else { String::new() };
        vec![self.line(mark, tone, &format!("{name}: {first}{more}"))]
    }

    fn decided(&self, decision: &Decision) -> Vec<String> {
        if decision.action == Action::Continue {
            return Vec::new();
        }
        let tone = if decision.action.ends_run() { Tone::Bad } else { Tone::Warn };
        let shadow = if decision.shadow { " (shadow: not acted on)" } else { "" };
        let turns = match decision.evidence.turns.as_slice() {
            [] => String::new(),
            turns => {
                let turns: Vec<String> = turns.iter().map(ToString::to_string).collect();
                format!(" [turns {}]", turns.join(", "))
            }
        };
        let what = format!("{}{shadow}: {}{turns}", decision.action, decision.reason);
        self.whole("⚑ ", tone, &what)
    }

    /// A text that is always shown whole.
    fn whole(&self, mark: &str, tone: Tone, text: &str) -> Vec<String> {
        let columns = self.screen.width.map_or(READABLE, |width| width.min(READABLE));
        let below = " ".repeat(crate::text::width(mark));
        let mut lines = Vec::new();
        for part in text.lines().map(plain).filter(|part| !part.is_empty()) {
            let mark = if lines.is_empty() { mark } else { &below };
            lines.extend(hang(mark, &part, columns));
        }
        lines.iter().map(|line| self.screen.paint(tone, line)).collect()
    }

    fn line(&self, mark: &str, tone: Tone, text: &str) -> String {
        let width = self.screen.width.unwrap_or(WIDE);
        let room = width.saturating_sub(crate::text::width(mark));
        format!("{mark}{}", self.screen.paint(tone, &cut_end(&plain(text), room)))
    }
}

impl steersman_agent::Face for Lines {
    fn entry(&mut self, session: &Session, at_ms: u64, entry: &Entry) {
        super::write(&self.tell(session, at_ms, entry));
    }
}

/// A call in a line: its name and what matters of its arguments.
pub(crate) fn call(name: &str, arguments: &str) -> String {
    let Ok(serde_json::Value::Object(fields)) = serde_json::from_str(arguments) else {
        return format!("{name} {arguments}");
    };
    let mut text = name.to_owned();
    for value in main(&fields) {
        text.push_str(&format!(" {}", short(value)));
    }
    for (key, value) in fields.iter().filter(|(key, _)| !MAIN.contains(&key.as_str())) {
        text.push_str(&format!(" {key}={}", short(value)));
    }
    text
}

/// A call's name and its main argument.
fn brief(name: &str, arguments: &str) -> String {
    let fields = match serde_json::from_str(arguments) {
        Ok(serde_json::Value::Object(fields)) => fields,
        _ => serde_json::Map::new(),
    };
    match main(&fields).next() {
        Some(value) => format!("{name} {}", short(value)),
        None => name.to_owned(),
    }
}

fn main(
    fields: &serde_json::Map<String, serde_json::Value>,
) -> impl Iterator<Item = &serde_json::Value> {
    MAIN.iter().filter_map(|key| fields.get(*key))
}

fn short(value: &serde_json::Value) -> String {
    let value = match value {
        serde_json::Value::String(value) => value.clone(),
        value => value.to_string(),
    };
    let lines = value.lines().count();
    if lines > 1 { format!("({lines} lines)") } else { value }
}

/// Whether a call is under way.
pub(crate) fn runs(call: &OpenCall) -> bool {
    call.state == CallState::Started
}

/// What a check found: its tests, or of one that failed before there were any its last words.
fn findings(check: &CheckFinished) -> String {
    if let Some(tests) = &check.tests {
        return format!(": {} failing, {} passing", tests.failed, tests.passed);
    }
    let words = check.excerpt.lines().map(str::trim).rev();
    let mut words = words.filter(|line| !line.is_empty() && !line.starts_with("[exit code"));
    match words.next() {
        Some(line) if !check.passed => format!(": {line}"),
        _ => String::new(),
    }
}
