//! The story of a session, entry by entry.

use serde_json::Value;
use steersman_agent::{Entry, Session};
use steersman_engine::{Action, Decision};
use steersman_wire::Part;

use crate::run::Lines;
use crate::screen::{Screen, Tone};
use crate::text::{harmless, plain};

/// Tells the story of a session.
pub(super) struct Story {
    lines: Lines,
    screen: Screen,
    full: bool,
}

impl Story {
    pub(super) const fn new(screen: Screen, full: bool) -> Self {
        Self { lines: Lines::new(screen), screen, full }
    }

    /// What an entry is to a person; empty if it is nothing.
    pub(super) fn tell(&mut self, session: &Session, at_ms: u64, entry: &Entry) -> Vec<String> {
        match entry {
            Entry::TakenUp(taken) => {
                let what = format!("▶ taken up by steersman {}", plain(&taken.program));
                vec![self.screen.paint(Tone::Heading, &what)]
            }
            // The task stands above.
            Entry::Spoke { .. } if session.conversation().len() <= 1 => Vec::new(),
            Entry::Spoke { text } => self.quote("user", text),
            Entry::Said { text, .. } => self.quote("said to the agent", text),
            Entry::Decided { decision } if decision.action != Action::Continue => {
                let mut lines = self.lines.tell(session, at_ms, entry);
                lines.extend(self.evidence(decision));
                lines
            }
            Entry::Replied(replied) if self.full => {
                // The first line says which turn it is.
                let mut lines = self.lines.tell(session, at_ms, entry);
                lines.truncate(1);
                for part in &replied.message.parts {
                    lines.extend(self.part(part));
                }
                lines
            }
            Entry::ToolFinished(result) if self.full => {
                let mut lines = self.lines.tell(session, at_ms, entry);
                lines.extend(self.body(&result.content));
                lines
            }
            Entry::CheckFinished(check) if self.full => {
                let mut lines = self.lines.tell(session, at_ms, entry);
                lines.extend(self.body(&check.excerpt));
                lines
            }
            _ => self.lines.tell(session, at_ms, entry),
        }
    }

    /// A part of a reply in full.
    fn part(&self, part: &Part) -> Vec<String> {
        match part {
            Part::Text(text) => text.lines().map(|line| format!("  {}", harmless(line))).collect(),
            Part::Reasoning { text, .. } => self.body(text),
            Part::ToolCall { name, arguments, .. } => {
                let mut lines = vec![format!("  → {}", plain(name))];
                match serde_json::from_str(arguments) {
                    Ok(Value::Object(fields)) => {
                        for (key, value) in &fields {
                            lines.extend(self.argument(key, value));
                        }
                    }
                    _ => lines.extend(self.body(arguments)),
                }
                lines
            }
            Part::ToolResult { .. } | Part::Other { .. } => Vec::new(),
        }
    }

    fn argument(&self, key: &str, value: &Value) -> Vec<String> {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        if text.lines().count() <= 1 {
            return vec![format!("      {}: {}", plain(key), harmless(text.trim_end()))];
        }
        let mut lines = vec![format!("      {}:", plain(key))];
        lines.extend(self.body(&text));
        lines
    }

    /// Where the reason of a decision can be seen.
    fn evidence(&self, decision: &Decision) -> Vec<String> {
        let mut parts = vec![format!("score {:.2}", decision.score)];
        if !decision.evidence.excerpt.is_empty() {
            parts.insert(0, format!("evidence: {}", plain(&decision.evidence.excerpt)));
        }
        vec![self.screen.paint(Tone::Dim, &format!("    {}", parts.join("; ")))]
    }

    /// A text of several lines, word for word, and whose it is.
    fn quote(&self, whose: &str, text: &str) -> Vec<String> {
        let mut lines = vec![self.screen.paint(Tone::Warn, &format!("    {whose}:"))];
        lines.extend(text.lines().map(|line| format!("    │ {}", harmless(line))));
        lines
    }

    fn body(&self, text: &str) -> Vec<String> {
        let line = |line: &str| self.screen.paint(Tone::Dim, &format!("      {}", harmless(line)));
        text.lines().map(line).collect()
    }
}
