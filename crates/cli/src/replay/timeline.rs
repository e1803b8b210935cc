//! The course of one run, turn by turn, for an explanation.

use steersman_engine::{Decision, Event, Reply, Signals, TestReport};
use steersman_timeline::calls::Mark;

use super::report::Made;
use crate::text;

/// The course of one run.
#[derive(Debug, Default)]
pub(crate) struct Timeline {
    /// The task in the user's words, shortened; may be empty.
    pub(crate) task: String,
    /// What happened before the first turn.
    pub(crate) before: Vec<Entry>,
    /// The turns, at most [`Timeline::MAX_TURNS`], the first ones kept.
    pub(crate) turns: Vec<Turn>,
    /// Turns left out.
    pub(crate) left_out: u32,
}

/// One turn.
#[derive(Debug, Default)]
pub(crate) struct Turn {
    /// Its number, from 1.
    pub(crate) number: u32,
    /// The reply's text, shortened.
    pub(crate) text: String,
    /// The calls, at most [`Timeline::MAX_CALLS`].
    pub(crate) calls: Vec<Call>,
    /// Calls left out.
    pub(crate) more_calls: u32,
    /// The latest test results.
    pub(crate) tests: Option<TestReport>,
    /// Score and signals at its end; `None` if nothing was decided.
    pub(crate) measured: Option<(f32, Signals)>,
    /// What else happened, and what was decided.
    pub(crate) entries: Vec<Entry>,
}

/// A call of a turn.
#[derive(Debug)]
pub(crate) struct Call {
    /// Tool name and arguments, shortened.
    pub(crate) label: String,
    /// How it went; `None` if there is no result.
    pub(crate) mark: Option<Mark>,
}

/// Something besides calls.
#[derive(Debug)]
pub(crate) enum Entry {
    /// What happened, in one line.
    Note(String),
    /// What the policy decided.
    Decided(Box<Made>),
    /// What the policy to compare with decided.
    OtherDecided(Box<Made>),
}

impl Timeline {
    /// Turns kept.
    pub(crate) const MAX_TURNS: usize = 20_000;
    /// Calls kept per turn.
    pub(crate) const MAX_CALLS: usize = 40;
    /// Notes and decisions kept per turn.
    const MAX_ENTRIES: usize = 40;
    /// Bytes of a text that are kept.
    const MAX_TEXT: usize = 600;

    /// The course of a run of which nothing has happened yet.
    pub(crate) fn begin(task: &str) -> Self {
        Self { task: one_line(task), ..Self::default() }
    }

    /// A reply begins a turn.
    pub(crate) fn begin_turn(&mut self, number: u32, reply: &Reply<'_>) {
        if self.turns.len() == Self::MAX_TURNS {
            self.left_out = self.left_out.saturating_add(1);
            return;
        }
        let text = if reply.text.trim().is_empty() { &reply.reasoning } else { &reply.text };
        let calls = reply
            .tool_calls
            .iter()
            .take(Self::MAX_CALLS)
            .map(|call| Call { label: label(&call.name, &call.arguments), mark: None });
        self.turns.push(Turn {
            number,
            text: one_line(text),
            calls: calls.collect(),
            more_calls: saturate(reply.tool_calls.len().saturating_sub(Self::MAX_CALLS)),
            ..Turn::default()
        });
    }

    /// A call of the current turn returned.
    pub(crate) fn returned(&mut self, position: usize, mark: Mark) {
        if let Some(call) = self.current().and_then(|turn| turn.calls.get_mut(position)) {
            call.mark = Some(mark);
        }
    }

    /// Notes an event that is neither a reply nor a plain result.
    pub(crate) fn note(&mut self, event: &Event<'_>) {
        match event {
            Event::UserSpoke(message) if self.turns.is_empty() => {
                let text = one_line(&message.text);
                if self.task.is_empty() {
                    self.task = text;
                } else if self.task != text {
                    self.push(Entry::Note(format!("user: {text}")));
                }
            }
            Event::ToolReturned(result) => {
                if let (Some(turn), Some(tests)) = (self.current(), &result.tests) {
                    turn.tests = Some(tests.clone());
                }
            }
            _ => {
                if let Some(note) = sentence(event) {
                    self.push(Entry::Note(note));
                }
            }
        }
    }

    /// Score and signals after an event.
    pub(crate) fn measure(&mut self, decision: &Decision) {
        if let Some(turn) = self.current() {
            turn.measured = Some((decision.score, decision.signals));
        }
    }

    /// Adds an entry to the current turn.
    pub(crate) fn push(&mut self, entry: Entry) {
        let entries = match self.turns.last_mut() {
            _ if self.left_out > 0 => return,
            Some(turn) => &mut turn.entries,
            None => &mut self.before,
        };
        if entries.len() < Self::MAX_ENTRIES {
            entries.push(entry);
        }
    }

    fn current(&mut self) -> Option<&mut Turn> {
        if self.left_out > 0 { None } else { self.turns.last_mut() }
    }
}

fn one_line(text: &str) -> String {
    text::plain(&text::bounded(text, Timeline::MAX_TEXT))
}

fn saturate(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Tool name and arguments: of a JSON object only the values, if they are short.
fn label(name: &str, arguments: &str) -> String {
    let bounded = text::bounded(arguments, Timeline::MAX_TEXT);
    let shown = match serde_json::from_str::<serde_json::Value>(&bounded) {
        Ok(serde_json::Value::Object(fields)) => {
            let parts: Vec<String> = fields.iter().map(|(key, value)| pair(key, value)).collect();
            parts.join(" ")
        }
        _ => bounded,
    };
    text::plain(&format!("{name} {shown}"))
}

fn pair(key: &str, value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::String(text) => format!("{key}={text}"),
        other => format!("{key}={other}"),
    }
}

fn sentence(event: &Event<'_>) -> Option<String> {
    Some(match event {
        Event::UserSpoke(message) => format!("user: {}", one_line(&message.text)),
        Event::CallFailed(failure) => {
            let status = failure.status.map(|status| format!(" ({status})")).unwrap_or_default();
            format!("model call failed{status}: {}", one_line(&failure.message))
        }
        Event::CheckReported(report) => {
            let passed = if report.passed { "passed" } else { "failed" };
            format!("check {} {passed}", one_line(&report.name))
        }
        Event::StartedOver => "started over".to_owned(),
        Event::ContextCompacted { tokens_after } => {
            let left =
                tokens_after.map(|tokens| format!(", {} tokens left", text::compact(tokens)));
            format!("conversation compacted{}", left.unwrap_or_default())
        }
        Event::StopRequested => "stop requested by a person".to_owned(),
        Event::Replied(_) | Event::ToolReturned(_) | Event::TurnEnded | Event::TimePassed => {
            return None;
        }
    })
}
