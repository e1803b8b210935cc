//! A run on a terminal: lines that scroll, and one below them that shows how it stands.

use std::io::Write;
use std::time::Instant;

use steersman_agent::{Entry, Session};
use steersman_wire::Delta;

use super::lines::{Lines, call, runs};
use super::{money, tokens};
use crate::screen::{Screen, Tone};
use crate::text::{cut_end, plain};

/// Goes to the beginning of the line and clears it.
const CLEAR: &str = "\r\x1b[2K";

/// A run on a terminal.
pub(super) struct Live {
    lines: Lines,
    screen: Screen,
    begun: Instant,
    drawn: bool,
    /// The last words of the reply that comes in.
    words: String,
    status: String,
}

impl Live {
    pub(super) fn new(screen: Screen) -> Self {
        let lines = Lines::new(screen);
        let (words, status) = (String::new(), String::new());
        Self { lines, screen, begun: Instant::now(), drawn: false, words, status }
    }

    fn draw(&mut self, above: &[String]) {
        let mut out = std::io::stdout().lock();
        if self.drawn {
            let _ = write!(out, "{CLEAR}");
        }
        for line in above {
            let _ = writeln!(out, "{line}");
        }
        self.drawn = !self.status.is_empty();
        if self.drawn {
            let room = self.screen.width.unwrap_or(80).saturating_sub(1);
            let status = cut_end(&self.status, room);
            let _ = write!(out, "{}", self.screen.paint(Tone::Dim, &status));
        }
        let _ = out.flush();
    }

    fn stand(&self, session: &Session, doing: &str) -> String {
        let outlook = session.outlook();
        let seconds = self.begun.elapsed().as_secs();
        let mut parts = vec![format!("▸ turn {}", outlook.turns), doing.to_owned()];
        if let Some(score) = outlook.score {
            parts.push(format!("score {score:.2}"));
        }
        if let Some((failed, passed)) = outlook.tests {
            parts.push(format!("tests {failed} failing, {passed} passing"));
        }
        if let Some((step, of)) = outlook.step {
            parts.push(format!("step {step} of {of}"));
        }
        let all = outlook.input_tokens.saturating_add(outlook.output_tokens);
        parts.push(format!("{} tokens", tokens(all)));
        if outlook.cost_nanodollars > 0 {
            parts.push(money(outlook.cost_nanodollars));
        }
        parts.push(format!("{}:{:02}", seconds / 60, seconds % 60));
        parts.join(" · ")
    }
}

impl steersman_agent::Face for Live {
    fn entry(&mut self, session: &Session, at_ms: u64, entry: &Entry) {
        let above = self.lines.tell(session, at_ms, entry);
        self.words.clear();
        let running = session.calls().iter().find(|call| runs(call));
        let doing = match (entry, running) {
            (Entry::Ended(_), _) => String::new(),
            (_, Some(open)) => plain(&call(&open.name, &open.arguments)),
            (Entry::CallStarted, _) => "the model thinks".to_owned(),
            (Entry::CheckStarted { .. }, _) => "the check runs".to_owned(),
            (Entry::WaitStarted { .. }, _) => "waits to try again".to_owned(),
            _ => "goes on".to_owned(),
        };
        let over = matches!(entry, Entry::Ended(_));
        self.status = if over { String::new() } else { self.stand(session, &cut_end(&doing, 48)) };
        self.draw(&above);
    }

    fn delta(&mut self, delta: &Delta) {
        let words = match delta {
            Delta::Text(text) | Delta::Reasoning(text) => text.clone(),
            Delta::ToolCallStarted { name, .. } => format!(" → {name} "),
            Delta::Arguments { .. } => return,
        };
        self.words.push_str(&words);
        let from = self.words.len().saturating_sub(400);
        let from = self.words.ceil_char_boundary(from);
        let words: String = plain(&self.words[from..]);
        let room = self.screen.width.unwrap_or(80).saturating_sub(4);
        let shown: String = {
            let all: Vec<char> = words.chars().collect();
            all[all.len().saturating_sub(room)..].iter().collect()
        };
        self.status = format!("▸ {shown}");
        self.draw(&[]);
    }
}
