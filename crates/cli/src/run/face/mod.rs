//! What a person sees of a run.

mod lines;
mod live;
mod record;
mod side;
mod status;

use std::collections::BTreeSet;
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use steersman_agent::{Ended, Ending, Opened, Session};
use steersman_store::SessionId;
use steersman_workspace::Confinement;

use super::args::ShowArgs;
use super::place::{Place, shown};
use super::recall::Recall;
use crate::screen::{Colour, Screen, Tone};
use crate::text::{cut_end, hang, plain};

use live::Live;

pub(crate) use lines::Lines;
pub(super) use live::Below;
pub(crate) use record::line as json_line;

/// How a run is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Every entry as a line of JSON.
    Json,
    /// Lines, and a line below them that changes.
    Live,
    /// Lines.
    Plain,
}

/// How a run is shown, and where.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    kind: Kind,
    screen: Screen,
}

impl Look {
    /// As the arguments and the terminal have it.
    pub(super) fn of(args: &ShowArgs, colour: Colour) -> Self {
        let terminal = std::io::stdout().is_terminal();
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let kind = match (args.json, args.plain) {
            (true, _) => Kind::Json,
            (false, false) if terminal && !dumb => Kind::Live,
            _ => Kind::Plain,
        };
        Self { kind, screen: Screen::stdout(colour) }
    }
}

/// Whoever watches a session.
pub(super) struct Watching {
    pub(super) face: Box<dyn steersman_agent::Face>,
    /// The line that has to go while somebody is asked something; `None` if there is none.
    pub(super) below: Option<Arc<Below>>,
}

impl Watching {
    fn lines(face: impl steersman_agent::Face + 'static) -> Self {
        Self { face: Box::new(face), below: None }
    }
}

/// What a person sees of one run.
pub(super) struct Face {
    look: Look,
    id: SessionId,
    place: Place,
    below: OnceLock<Arc<Below>>,
    /// Notices that were told.
    told: Mutex<BTreeSet<String>>,
}

impl Drop for Face {
    fn drop(&mut self) {
        self.settle();
    }
}

impl Face {
    pub(super) fn new(look: Look, id: &SessionId, place: &Place) -> Self {
        let (id, place) = (id.clone(), place.clone());
        Self { look, id, place, below: OnceLock::new(), told: Mutex::default() }
    }

    /// What begins, before it does.
    pub(super) fn introduce(
        &self,
        task: &str,
        opened: &Opened,
        recall: &Recall,
        notices: &[String],
    ) {
        if self.look.kind == Kind::Json {
            return;
        }
        let screen = self.look.screen;
        let mut lines = Vec::new();
        if recall.rehearsal.is_some() {
            lines.push(screen.paint(
                Tone::Warn,
                "Rehearsal: the model is scripted. Tools, tests, checkpoints and decisions are \
                 real.",
            ));
        }
        lines.push(format!("{} {}", screen.paint(Tone::Heading, "session"), self.id));
        let heading = |name: &str, value: &str| {
            format!("{} {}", screen.paint(Tone::Heading, name), plain(value))
        };
        lines.push(heading("task", &cut_end(task, 300)));
        let agent = format!("{} with {}", opened.agent.name, opened.agent.model);
        lines.push(heading("agent", &agent));
        lines.push(heading(
            "folder",
            &opened.workspace.as_deref().map_or_else(String::new, |path| shown(Path::new(path))),
        ));
        let check = opened.check.as_deref().unwrap_or("none: the agent's word will be enough");
        lines.push(heading("check", check));
        lines.push(heading("policy", &opened.policy.name));
        lines.extend(self.news("", notices));
        write(&lines);
    }

    /// How commands are held, and where states of the folder are kept.
    pub(super) fn confined(&self, confinement: &Confinement, storage: &str) {
        if self.look.kind == Kind::Json {
            return;
        }
        let tone = match confinement {
            Confinement::Landlock { .. } => Tone::Dim,
            Confinement::Unavailable { .. } => Tone::Warn,
        };
        let screen = self.look.screen;
        let held = screen.paint(tone, &plain(&confinement.to_string()));
        write(&[held, screen.paint(Tone::Dim, &plain(storage)), String::new()]);
    }

    /// A session goes on.
    pub(super) fn taken_up(&self, session: &Session, notices: &[String]) {
        if self.look.kind == Kind::Json {
            return;
        }
        let outlook = session.outlook();
        let screen = self.look.screen;
        let mut lines = vec![format!(
            "{} {} after turn {}: {}",
            screen.paint(Tone::Heading, "session"),
            self.id,
            outlook.turns,
            cut_end(&plain(&outlook.task), 200)
        )];
        if session.differing() > 0 {
            let what = format!(
                "{} decisions of its journal would be made otherwise by this version; the recorded \
                 ones hold",
                session.differing()
            );
            lines.push(screen.paint(Tone::Warn, &what));
        }
        lines.extend(self.news("", notices));
        write(&lines);
    }

    /// What is to be known of one of several attempts, unless it was told of another.
    pub(super) fn noticed(&self, number: u32, notices: &[String]) {
        self.lines(&self.news(&format!("[{number}] "), notices));
    }

    /// Notices as lines, each once.
    fn news(&self, mark: &str, notices: &[String]) -> Vec<String> {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let new = notices.iter().filter(|notice| told.insert((*notice).clone()));
        new.map(|notice| self.look.screen.paint(Tone::Dim, &format!("{mark}{}", plain(notice))))
            .collect()
    }

    /// Whoever watches the run. Needs a tokio runtime.
    pub(super) fn watching(&self) -> Watching {
        match self.look.kind {
            Kind::Json => Watching::lines(record::Record::new(self.id.clone())),
            Kind::Plain => Watching::lines(Lines::new(self.look.screen)),
            Kind::Live => {
                let live = Live::new(self.look.screen);
                let below = live.below();
                // There is one run for each face.
                let _ = self.below.set(Arc::clone(&below));
                Watching { face: Box::new(live), below: Some(below) }
            }
        }
    }

    /// Leaves a clean screen behind.
    pub(super) fn settle(&self) {
        if let Some(below) = self.below.get() {
            below.settle();
        }
    }

    /// Whoever watches one of several attempts side by side.
    pub(super) fn watching_side(&self, id: &SessionId, number: u32) -> Watching {
        match self.look.kind {
            Kind::Json => Watching::lines(record::Record::new(id.clone())),
            Kind::Plain | Kind::Live => {
                Watching::lines(side::SideLines::new(self.look.screen, number))
            }
        }
    }

    /// Whoever watches the group of several attempts.
    pub(super) fn watching_group(&self) -> Box<dyn steersman_agent::Face> {
        match self.look.kind {
            Kind::Json => Box::new(record::Record::new(self.id.clone())),
            Kind::Plain | Kind::Live => Box::new(Lines::new(self.look.screen)),
        }
    }

    /// Where it is shown.
    pub(super) const fn screen(&self) -> Screen {
        self.look.screen
    }

    /// Lines for people.
    pub(super) fn lines(&self, lines: &[String]) {
        if self.look.kind != Kind::Json {
            write(lines);
        }
    }

    /// The run ended.
    pub(super) fn ended(&self, ended: &Ended, session: &Session) {
        if self.look.kind == Kind::Json {
            return;
        }
        let screen = self.look.screen;
        let mut lines = vec![String::new()];
        if !ended.answer.trim().is_empty() {
            lines.extend(ended.answer.lines().flat_map(|line| wrapped(&plain(line), screen)));
            lines.push(String::new());
        }
        lines.push(ending_line(ended, session, screen));
        lines.push(screen.paint(Tone::Dim, &self.place.hint("show", &self.id)));
        write(&lines);
    }

    /// The session was left as it is.
    pub(super) fn left(&self, why: &str) {
        let resume = self.place.hint("resume", &self.id);
        crate::screen::say(&format!("session {} {why}; go on with: {resume}", self.id));
    }
}

/// A line of an answer, broken at blanks where there is a terminal.
fn wrapped(line: &str, screen: Screen) -> Vec<String> {
    match screen.width {
        Some(width) if !line.is_empty() => hang("", line, width),
        _ => vec![line.to_owned()],
    }
}

/// The last line of a run: how it ended, why, and what it took.
pub(crate) fn ending_line(ended: &Ended, session: &Session, screen: Screen) -> String {
    let tone = match ended.ending {
        Ending::Complete => Tone::Good,
        Ending::Claimed | Ending::Capped | Ending::Waiting => Tone::Warn,
        Ending::Refuted | Ending::Stopped | Ending::Failed => Tone::Bad,
    };
    let outlook = session.outlook();
    let mut took = vec![
        count(u64::from(outlook.turns), "turn"),
        count(u64::from(outlook.calls), "call"),
        count(u64::from(outlook.attempt.max(1)), "attempt"),
        format!("{} tokens", tokens(outlook.input_tokens.saturating_add(outlook.output_tokens))),
    ];
    if outlook.cost_nanodollars > 0 {
        took.push(money(outlook.cost_nanodollars));
    }
    if outlook.best_restored.is_some() {
        took.push("the best state was restored".to_owned());
    }
    format!(
        "{}: {} ({})",
        screen.paint(tone, ended.ending.name()),
        plain(&ended.why),
        took.join(", ")
    )
}

/// A number with its noun.
pub(crate) fn count(number: u64, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// Tokens, short: `12.3k`.
pub(crate) fn tokens(number: u64) -> String {
    match number {
        0..1000 => number.to_string(),
        1000..1_000_000 => format!("{:.1}k", number as f64 / 1e3),
        _ => format!("{:.1}M", number as f64 / 1e6),
    }
}

/// Nano-dollars as dollars.
pub(crate) fn money(nanodollars: u64) -> String {
    format!("${:.4}", nanodollars as f64 / 1e9)
}

/// Writes lines to standard output; who closed it does not want them.
pub(crate) fn write(lines: &[String]) {
    let mut out = std::io::stdout().lock();
    for line in lines {
        if writeln!(out, "{line}").is_err() {
            return;
        }
    }
    let _ = out.flush();
}
