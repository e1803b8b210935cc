//! Explains one run, turn by turn.

use std::io::{self, Write};

use steersman_engine::{Signals, TestReport};
use steersman_timeline::calls::Mark;

use super::report::{Kind, Made, RunReport};
use super::table::tone;
use super::timeline::{Entry, Timeline, Turn};
use super::wanted::{Fit, Wanted, place};
use crate::screen::{Screen, Tone};
use crate::text;

/// Looks for the run to explain among all runs.
pub(crate) struct Explain {
    wanted: Wanted,
    exact: Option<Box<RunReport>>,
    partial: Option<Box<RunReport>>,
    fitting: Vec<String>,
    fits: u64,
    seen: u64,
    near: Vec<(u64, String)>,
}

impl Explain {
    /// Ids shown where the one that was asked for is not clear.
    const SUGGESTIONS: usize = 5;

    /// Nothing seen yet.
    pub(crate) const fn new(wanted: Wanted) -> Self {
        Self {
            wanted,
            exact: None,
            partial: None,
            fitting: Vec::new(),
            fits: 0,
            seen: 0,
            near: Vec::new(),
        }
    }

    /// Takes in a run; true if no more runs are needed to know what to say.
    pub(crate) fn add(&mut self, report: Box<RunReport>) -> bool {
        self.seen += 1;
        match self.wanted.matches(&report) {
            Some(Fit::Exact) => {
                self.exact.get_or_insert(report);
                return true;
            }
            Some(Fit::Partial) => {
                self.fits += 1;
                if self.fitting.len() < Self::SUGGESTIONS {
                    self.fitting.push(describe(&report));
                }
                self.partial.get_or_insert(report);
                let clear = matches!(self.wanted, Wanted::Named(_));
                return !clear && self.fits > Self::SUGGESTIONS as u64;
            }
            None => self.remember_near(&report),
        }
        false
    }

    fn remember_near(&mut self, report: &RunReport) {
        let Wanted::Named(name) = &self.wanted else { return };
        let likeness = likeness(name, &report.id);
        let distance = ((1.0 - likeness) * 1e9) as u64;
        let full = self.near.len() >= Self::SUGGESTIONS;
        if full && self.near.last().is_none_or(|(farthest, _)| *farthest <= distance) {
            return;
        }
        let at = self.near.partition_point(|(other, _)| *other <= distance);
        self.near.insert(at, (distance, describe(report)));
        self.near.truncate(Self::SUGGESTIONS);
    }

    /// The run to explain, or why it is not clear which; `None` if there were no runs at all.
    pub(crate) fn found(self) -> Option<Result<Box<RunReport>, String>> {
        if self.seen == 0 {
            return None;
        }
        if let Some(report) = self.exact {
            return Some(Ok(report));
        }
        Some(match (self.partial, self.wanted) {
            (Some(report), _) if self.fits == 1 => Ok(report),
            (Some(_), Wanted::TheOnly) => Err(format!(
                "there is more than one run: say with --run ID which to explain, for example\n{}",
                self.fitting.join("\n"),
            )),
            (Some(_), Wanted::Named(name)) => Err(format!(
                "{} begin or end with {name:?}, for example\n{}",
                text::counted(self.fits, "run id"),
                self.fitting.join("\n"),
            )),
            (None, Wanted::Named(name)) => {
                let near: Vec<&str> = self.near.iter().map(|(_, text)| text.as_str()).collect();
                Err(format!("no run is called {name:?}; the nearest are\n{}", near.join("\n")))
            }
            (None, Wanted::TheOnly) => Err("there is no run".to_owned()),
        })
    }
}

/// How alike a name and an id are, 0 to 1: the whole id, or as much of its beginning or end.
fn likeness(name: &str, id: &str) -> f64 {
    let length = name.chars().count();
    let beginning: String = id.chars().take(length).collect();
    let end: String = id.chars().skip(id.chars().count().saturating_sub(length)).collect();
    let parts = [id, &beginning, &end];
    parts.iter().map(|part| strsim::jaro_winkler(name, part)).fold(0.0, f64::max)
}

fn describe(report: &RunReport) -> String {
    format!("  {}  ({})", text::plain(&report.id), text::plain(&place(report)))
}

/// Writes the course of a run.
pub(crate) fn write_timeline(
    report: &RunReport,
    screen: Screen,
    out: &mut dyn Write,
) -> io::Result<()> {
    let page = Page { screen, width: screen.width.unwrap_or(120) };
    let Some(timeline) = &report.timeline else { return Ok(()) };
    page.head(report, timeline, out)?;
    let mut last = None;
    page.entries(&timeline.before, &mut last, out)?;
    for turn in &timeline.turns {
        page.turn(turn, &mut last, out)?;
    }
    if timeline.left_out > 0 {
        let more = text::counted(u64::from(timeline.left_out), "more turn");
        writeln!(out, "{}", screen.paint(Tone::Dim, &format!("… and {more}")))?;
    }
    page.end(report, out)
}

struct Page {
    screen: Screen,
    width: usize,
}

/// A signal's name, and how to read it.
type Signal = (&'static str, fn(&Signals) -> f32);

/// What is shown of the signals, in order.
const SIGNALS: [Signal; 9] = [
    ("velocity", |it| it.progress_velocity),
    ("novelty", |it| it.novelty),
    ("no loop", |it| it.stuck_loop),
    ("tokens", |it| it.token_budget),
    ("budget", |it| it.budget_left),
    ("interventions", |it| it.intervention_ratio),
    ("complexity", |it| it.complexity),
    ("tests", |it| it.test_trend),
    ("errors", |it| it.error_rate),
];

impl Page {
    const INDENT: usize = 6;

    fn head(&self, report: &RunReport, timeline: &Timeline, out: &mut dyn Write) -> io::Result<()> {
        let title = text::plain(&report.id);
        writeln!(out, "{}", self.screen.paint(Tone::Heading, &title))?;
        let mut facts = vec![place(report), report.source.format.clone()];
        facts.extend([&report.agent, &report.model, &report.instance].map(Clone::clone));
        facts.extend(super::json::outcome_name(report.outcome).map(str::to_owned));
        facts.push(format!("policy {}", report.verdict.policy));
        let facts: Vec<String> =
            facts.iter().filter(|fact| !fact.is_empty()).map(|fact| text::plain(fact)).collect();
        self.wrapped(Tone::Dim, &facts.join(" · "), 0, out)?;
        if !timeline.task.is_empty() {
            let task = text::cut_end(&timeline.task, self.width * 2 - 8);
            self.wrapped(Tone::Plain, &format!("task: {task}"), 0, out)?;
        }
        let names: Vec<&str> = SIGNALS.iter().map(|(name, _)| *name).collect();
        let legend = format!(
            "marks: ✓ new output, ✗ error, ∅ no output, ↻ same call and output as before, · no \
             result; bars from ▁ 0 to █ 1: {} (the last is the share of errors)",
            names.join(", ")
        );
        self.wrapped(Tone::Dim, &legend, 0, out)?;
        writeln!(out, "\n{}", self.screen.paint(Tone::Dim, " TURN  SCORE  SIGNALS"))
    }

    fn turn(&self, turn: &Turn, last: &mut Option<Kind>, out: &mut dyn Write) -> io::Result<()> {
        let (score, bars) = turn.measured.map_or_else(
            || ("     ".to_owned(), " ".repeat(SIGNALS.len())),
            |(score, signals)| (format!("{score:5.2}"), bars(&signals)),
        );
        let number = text::right(&text::grouped(u64::from(turn.number)), 5);
        let lead = format!("{number}  {score}  {bars}  ");
        let room = self.width.saturating_sub(text::width(&lead));
        let said = text::cut_end(&turn.text, room);
        writeln!(out, "{}", format!("{lead}{}", self.screen.paint(Tone::Dim, &said)).trim_end())?;
        for call in &turn.calls {
            let (mark, tone) = look(call.mark);
            let label = text::cut_end(&call.label, self.width.saturating_sub(Self::INDENT + 3));
            writeln!(out, "{}{} {label}", " ".repeat(Self::INDENT), self.screen.paint(tone, mark))?;
        }
        if turn.more_calls > 0 {
            let more = text::counted(u64::from(turn.more_calls), "more call");
            self.wrapped(Tone::Dim, &format!("… and {more}"), Self::INDENT, out)?;
        }
        if let Some(tests) = &turn.tests {
            let tone = if tests.failed > 0 || tests.broken { Tone::Bad } else { Tone::Good };
            self.wrapped(tone, &test_line(tests), Self::INDENT, out)?;
        }
        let decided = self.entries(&turn.entries, last, out)?;
        if !decided {
            *last = None;
        }
        Ok(())
    }

    /// Writes notes and decisions; true if there was a decision.
    fn entries(
        &self,
        entries: &[Entry],
        last: &mut Option<Kind>,
        out: &mut dyn Write,
    ) -> io::Result<bool> {
        let mut decided = false;
        for entry in entries {
            match entry {
                Entry::Note(note) => self.wrapped(Tone::Dim, note, Self::INDENT, out)?,
                Entry::Decided(made) => {
                    decided = true;
                    let again = *last == Some(made.point.kind);
                    *last = Some(made.point.kind);
                    self.decision("→", made, again, out)?;
                }
                Entry::OtherDecided(made) => self.decision("⇢ other policy:", made, false, out)?,
            }
        }
        Ok(decided)
    }

    fn decision(
        &self,
        lead: &str,
        made: &Made,
        again: bool,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let kind = made.point.kind;
        if again {
            let line = format!("{lead} {} still ({})", kind.action, kind.reason);
            return self.wrapped(Tone::Dim, &line, Self::INDENT, out);
        }
        let turns = match made.turns.as_slice() {
            [] => String::new(),
            [turn] => format!("; turn {turn}"),
            turns => format!("; turns {}", text::ranges(turns)),
        };
        let message = text::plain(&made.message);
        let line = format!("{lead} {}: {message} ({}{turns})", kind.action, kind.reason);
        self.wrapped(tone(&made.point), &line, Self::INDENT, out)?;
        if !made.excerpt.is_empty() {
            let room = self.width.saturating_sub(Self::INDENT + 4);
            let excerpt = text::cut_end(&text::plain(&made.excerpt), room);
            self.wrapped(Tone::Dim, &excerpt, Self::INDENT + 2, out)?;
        }
        Ok(())
    }

    fn end(&self, report: &RunReport, out: &mut dyn Write) -> io::Result<()> {
        let tokens = match report.tokens() {
            0 => String::new(),
            tokens => format!(", {} tokens", text::compact(tokens)),
        };
        let size = format!(
            "{}, {}{tokens}{}",
            text::counted(u64::from(report.turns), "turn"),
            text::counted(u64::from(report.calls), "call"),
            if report.truncated { ", broken off" } else { "" },
        );
        writeln!(out)?;
        self.wrapped(Tone::Heading, &size, 0, out)?;
        let verdict = &report.verdict;
        let Some(first) = &verdict.first else {
            return self.wrapped(Tone::Plain, "every decision was to continue", 0, out);
        };
        for (name, point) in
            [("first decision", Some(first)), ("first end", verdict.ending.as_ref())]
        {
            let Some(point) = point else { continue };
            let after = report.after(point);
            let tokens = match after.tokens {
                0 => String::new(),
                tokens => format!(", {} tokens", text::compact(tokens)),
            };
            let line = format!(
                "{name}: {} in turn {} ({}); {}{tokens} lay after it",
                point.kind.action,
                point.turn,
                point.kind.reason,
                text::counted(u64::from(after.calls), "call"),
            );
            self.wrapped(Tone::Plain, &line, 0, out)?;
        }
        report.problems.iter().try_for_each(|it| self.wrapped(Tone::Warn, &text::plain(it), 0, out))
    }

    fn wrapped(
        &self,
        tone: Tone,
        line: &str,
        indent: usize,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let margin = " ".repeat(indent);
        for part in text::wrap(line, self.width.saturating_sub(indent), 2) {
            writeln!(out, "{margin}{}", self.screen.paint(tone, &part))?;
        }
        Ok(())
    }
}

fn look(mark: Option<Mark>) -> (&'static str, Tone) {
    match mark {
        Some(Mark::Ok) => ("✓", Tone::Good),
        Some(Mark::Error) => ("✗", Tone::Bad),
        Some(Mark::Empty) => ("∅", Tone::Warn),
        Some(Mark::Repeat) => ("↻", Tone::Warn),
        None => ("·", Tone::Dim),
    }
}

fn test_line(tests: &TestReport) -> String {
    if tests.broken {
        return "tests: did not get as far as testing".to_owned();
    }
    let TestReport { passed, failed, skipped, .. } = tests;
    let skipped = if *skipped > 0 { format!(", {skipped} skipped") } else { String::new() };
    format!("tests: {passed} passed, {failed} failed{skipped}")
}

fn bars(signals: &Signals) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let bar = |value: f32| {
        let step = (value.clamp(0.0, 1.0) * 7.0).round() as usize;
        BARS.get(step).copied().unwrap_or('?')
    };
    SIGNALS.iter().map(|(_, of)| bar(of(signals))).collect()
}
