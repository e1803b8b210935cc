//! One of several attempts side by side: its lines, each with the number of the attempt.

use steersman_agent::{Entry, Session};

use super::Lines;
use crate::screen::{Screen, Tone};

/// One of several attempts, as lines.
pub(super) struct SideLines {
    lines: Lines,
    prefix: String,
}

impl SideLines {
    pub(super) fn new(screen: Screen, number: u32) -> Self {
        let prefix = format!("[{number}] ");
        let mut narrower = screen;
        narrower.width = screen.width.map(|width| width.saturating_sub(prefix.len()));
        Self { lines: Lines::new(narrower), prefix: screen.paint(Tone::Heading, &prefix) }
    }
}

impl steersman_agent::Face for SideLines {
    fn entry(&mut self, session: &Session, at_ms: u64, entry: &Entry) {
        let mut lines = self.lines.tell(session, at_ms, entry);
        if let Entry::Ended(ended) = entry {
            lines.push(format!("{}: {}", ended.ending, crate::text::plain(&ended.why)));
        }
        lines.retain(|line| !line.is_empty());
        let lines: Vec<String> =
            lines.iter().map(|line| format!("{}{line}", self.prefix)).collect();
        super::write(&lines);
    }
}
