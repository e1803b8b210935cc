//! A run on a terminal: lines that scroll, and one below them that shows how it stands.

use std::io::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use steersman_agent::{Entry, Session};
use steersman_wire::Delta;

use super::lines::{Lines, call, runs};
use super::status::{self, Part};
use super::{money, tokens};
use crate::screen::{Screen, Tone};
use crate::text::plain;

/// How often the line is drawn while nothing happens.
const TICK: Duration = Duration::from_secs(1);

/// How often it is drawn at most while a reply comes in.
const FRAME: Duration = Duration::from_millis(50);

/// Clears the rest of the line. The text is written over the old one, so that nothing flickers.
const CLEAR_REST: &str = "\x1b[K";

/// Most bytes of a reply's last words that are kept to be shown.
const WORDS: usize = 400;

/// The line below the others, and whether it may be there now.
pub(crate) struct Below {
    screen: Screen,
    begun: Instant,
    inside: Mutex<Inside>,
}

#[derive(Default)]
struct Inside {
    parts: Vec<Part>,
    /// What stands there now; empty if nothing does.
    drawn: String,
    drawn_at: Option<Instant>,
    /// Somebody is asked something: nothing may be written until then.
    asking: bool,
    /// Lines that came meanwhile.
    held: Vec<String>,
}

impl Below {
    fn new(screen: Screen) -> Arc<Self> {
        let below = Arc::new(Self { screen, begun: Instant::now(), inside: Mutex::default() });
        tokio::spawn(tick(Arc::downgrade(&below)));
        below
    }

    fn inside(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes lines above, and how it stands below.
    fn show(&self, above: Vec<String>, parts: Vec<Part>) {
        let mut inside = self.inside();
        inside.parts = parts;
        inside.held.extend(above);
        self.draw(&mut inside);
    }

    /// Shows what is done in place of what was, unless something was drawn just now.
    fn doing(&self, words: &str) {
        let mut inside = self.inside();
        status::set_doing(&mut inside.parts, words);
        if inside.drawn_at.is_none_or(|at| at.elapsed() >= FRAME) {
            self.draw(&mut inside);
        }
    }

    /// Takes the line away, and leaves it away while somebody is asked.
    pub(crate) fn ask(&self) {
        let mut inside = self.inside();
        self.clear(&mut inside);
        inside.asking = true;
    }

    /// The answer is there.
    pub(crate) fn answered(&self) {
        let mut inside = self.inside();
        inside.asking = false;
        self.draw(&mut inside);
    }

    /// Leaves a clean screen behind.
    pub(super) fn settle(&self) {
        let mut inside = self.inside();
        inside.asking = false;
        inside.parts.clear();
        self.draw(&mut inside);
    }

    fn clear(&self, inside: &mut Inside) {
        if !std::mem::take(&mut inside.drawn).is_empty() {
            put(&format!("\r{CLEAR_REST}"));
        }
    }

    fn draw(&self, inside: &mut Inside) {
        if inside.asking {
            return;
        }
        let held = std::mem::take(&mut inside.held);
        let room = Screen::columns_now().unwrap_or(80).saturating_sub(1);
        let line = status::line(&inside.parts, self.begun.elapsed(), room);
        if held.is_empty() && line == inside.drawn {
            return;
        }
        let mut out = String::new();
        if !inside.drawn.is_empty() {
            out.push('\r');
            if !held.is_empty() || line.is_empty() {
                out.push_str(CLEAR_REST);
            }
        }
        for above in held {
            out.push_str(&above);
            out.push('\n');
        }
        if !line.is_empty() {
            out.push_str(&self.screen.paint(Tone::Dim, &line));
            out.push_str(CLEAR_REST);
        }
        put(&out);
        inside.drawn = line;
        inside.drawn_at = Some(Instant::now());
    }
}

/// Writes in one piece; who closed standard output does not want it.
fn put(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes());
    let _ = out.flush();
}

/// Lets the clock go on while nothing happens.
async fn tick(below: Weak<Below>) {
    let mut ticks = tokio::time::interval(TICK);
    loop {
        ticks.tick().await;
        let Some(below) = below.upgrade() else { return };
        let mut inside = below.inside();
        below.draw(&mut inside);
    }
}

/// A run on a terminal.
pub(super) struct Live {
    lines: Lines,
    below: Arc<Below>,
    /// The last words of the reply that comes in.
    words: String,
}

impl Live {
    pub(super) fn new(screen: Screen) -> Self {
        Self { lines: Lines::new(screen), below: Below::new(screen), words: String::new() }
    }

    pub(super) fn below(&self) -> Arc<Below> {
        Arc::clone(&self.below)
    }
}

/// How a session stands, most important first.
fn stand(session: &Session, doing: &str) -> Vec<Part> {
    let outlook = session.outlook();
    let mut parts = vec![Part::Text(format!("▸ turn {}", outlook.turns))];
    parts.push(Part::Time);
    parts.push(Part::Doing(doing.to_owned()));
    if let Some((failed, passed)) = outlook.tests {
        parts.push(Part::Text(format!("{failed} failing, {passed} passing")));
    }
    let all = outlook.input_tokens.saturating_add(outlook.output_tokens);
    parts.push(Part::Text(format!("{} tokens", tokens(all))));
    if outlook.cost_nanodollars > 0 {
        parts.push(Part::Text(money(outlook.cost_nanodollars)));
    }
    if let Some(score) = outlook.score {
        parts.push(Part::Text(format!("score {score:.2}")));
    }
    if let Some((step, of)) = outlook.step {
        parts.push(Part::Text(format!("says step {step} of {of}")));
    } else if let Some(percent) = outlook.percent {
        parts.push(Part::Text(format!("says {percent:.0} %")));
    }
    if let Some(action) = &outlook.last_action {
        parts.push(Part::Text(format!("⚑ {action}")));
    }
    parts
}

impl steersman_agent::Face for Live {
    fn entry(&mut self, session: &Session, at_ms: u64, entry: &Entry) {
        self.words.clear();
        let running = session.calls().iter().find(|call| runs(call));
        let doing = match (entry, running) {
            (_, Some(open)) => plain(&call(&open.name, &open.arguments)),
            (Entry::CallStarted, _) => "the model thinks".to_owned(),
            (Entry::CheckStarted { .. }, _) => "the check runs".to_owned(),
            (Entry::WaitStarted { .. }, _) => "waits to try again".to_owned(),
            (Entry::RestoreStarted { .. }, _) => "restores the folder".to_owned(),
            _ => "goes on".to_owned(),
        };
        let over = matches!(entry, Entry::Ended(_));
        let parts = if over { Vec::new() } else { stand(session, &doing) };
        self.below.show(self.lines.tell(session, at_ms, entry), parts);
    }

    fn delta(&mut self, delta: &Delta) {
        let words = match delta {
            Delta::Text(text) | Delta::Reasoning(text) => text.clone(),
            Delta::ToolCallStarted { name, .. } => format!(" → {name} "),
            Delta::Arguments { .. } => return,
        };
        self.words.push_str(&words);
        let from = self.words.ceil_char_boundary(self.words.len().saturating_sub(WORDS));
        self.words.drain(..from);
        self.below.doing(&plain(&self.words));
    }
}
