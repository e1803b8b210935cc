//! `steersman sessions marks`: what was said to agents, what people thought of it, what followed.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::process::ExitCode;

use steersman_dashboard::RunSessions;
use steersman_engine::policy::RuleId;
use steersman_engine::{Action, Decision};
use steersman_evaluation::journal::{Entry, Opinion};
use steersman_gateway::api::{Fact, facts};
use steersman_store::{Filter, Store, Summary};
use steersman_timeline::Mark;

use super::args::MarksArgs;
use super::find;
use crate::run::{Place, block_on};
use crate::screen::say;
use crate::text::counted;

/// Sessions and entries that are read at a time.
const PAGE: usize = 500;

/// Turns without a further intervention after which a run counts as recovered: two more than
/// Steersman keeps silent after each by default.
const RECOVERED_AFTER: u32 = 5;

pub(super) fn write(args: &MarksArgs) -> Result<ExitCode, String> {
    let place = Place::of(&args.store)?;
    let store = find::open_there(&place)?;
    let runs = RunSessions::new(place.folder().to_owned());
    let told = block_on(async { told(&*store, args, &runs).await })?;
    let lines: Vec<String> =
        told.iter().filter_map(|entry| serde_json::to_string(entry).ok()).collect();
    put(args, &lines)?;
    let marked = told.iter().filter(|entry| entry.mark.is_some()).count();
    let known = told.iter().filter(|entry| entry.recovered.is_some()).count();
    say(&format!(
        "{}, {marked} marked by people, {known} of which it is known what followed",
        counted(told.len() as u64, "intervention")
    ));
    Ok(ExitCode::SUCCESS)
}

fn put(args: &MarksArgs, lines: &[String]) -> Result<(), String> {
    let write = |to: &mut dyn Write| -> io::Result<()> {
        lines.iter().try_for_each(|line| writeln!(to, "{line}"))?;
        to.flush()
    };
    let Some(path) = &args.out else {
        return match write(&mut BufWriter::new(io::stdout())) {
            // Whoever read it has seen enough.
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(format!("standard output: {error}"))
            }
            _ => Ok(()),
        };
    };
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    let written = file.and_then(|file| write(&mut BufWriter::new(file)));
    written.map_err(|error| format!("{}: {error}", path.display()))
}

/// The interventions of all sessions that are wanted, those of the latest session first.
async fn told(
    store: &dyn Store,
    args: &MarksArgs,
    runs: &RunSessions,
) -> Result<Vec<Entry>, String> {
    let mut filter = Filter { text: args.text.clone(), limit: PAGE, ..Filter::default() };
    let mut told = Vec::new();
    loop {
        let page = store.sessions(&filter).await.map_err(|error| error.to_string())?;
        let Some(last) = page.last() else { return Ok(told) };
        filter.before = Some(last.position());
        for summary in page {
            told.extend(of_session(store, &summary, runs).await?);
        }
    }
}

async fn of_session(
    store: &dyn Store,
    summary: &Summary,
    runs: &RunSessions,
) -> Result<Vec<Entry>, String> {
    let mut course = Course { run: summary.id.to_string(), ..Course::default() };
    let mut after = 0;
    loop {
        let page = store.read(&summary.id, after, PAGE).await.map_err(|error| error.to_string())?;
        let Some(last) = page.last() else { return Ok(course.end()) };
        after = last.seq;
        for stored in &page {
            for fact in facts(summary, stored, Some(runs)) {
                course.take_in(stored.seq, fact);
            }
        }
    }
}

/// A session while its journal is read.
#[derive(Debug, Default)]
struct Course {
    run: String,
    model: String,
    /// Interventions by entry.
    told: BTreeMap<u64, Told>,
    /// Those of which it is not known yet what followed.
    open: Vec<u64>,
}

#[derive(Debug)]
struct Told {
    entry: Entry,
    /// Nobody acted on it.
    is_shadow: bool,
}

impl Course {
    fn take_in(&mut self, seq: u64, fact: Fact) {
        match fact {
            Fact::Opened { model, .. } => self.model = model,
            Fact::Decided(decision) => self.decided(seq, &decision),
            Fact::Marked { seq, mark } => {
                if let Some(told) = self.told.get_mut(&seq) {
                    told.entry.mark = match mark {
                        Mark::None => None,
                        Mark::Helpful => Some(Opinion::Helpful),
                        Mark::Harmful => Some(Opinion::Harmful),
                    };
                }
            }
            Fact::StartedOver => self.settle(false),
            Fact::Ended { ending: "complete" } => self.settle(true),
            // How else it ended says nothing of what was said before.
            Fact::Ended { .. } => self.open.clear(),
            _ => {}
        }
    }

    fn decided(&mut self, seq: u64, decision: &Decision) {
        let told = &self.told;
        let lasted = |seq: &u64| {
            told.get(seq).is_some_and(|it| decision.turn >= it.entry.turn + RECOVERED_AFTER)
        };
        let (lasted, open) = self.open.drain(..).partition::<Vec<u64>, _>(lasted);
        self.open = open;
        self.found(&lasted, true);
        let Some(reason) = rule_of(decision) else { return };
        if !decision.shadow {
            self.settle(false);
        }
        let words = decision.intervention.as_ref();
        let entry = Entry {
            run: self.run.clone(),
            turn: decision.turn,
            model: self.model.clone(),
            reason,
            template: words.map(|words| words.template.clone()).unwrap_or_default(),
            variant: words.map(|words| words.variant).unwrap_or_default(),
            mark: None,
            recovered: None,
        };
        // Of what ends a run nobody expects that it goes on.
        if !decision.shadow && !decision.action.ends_run() {
            self.open.push(seq);
        }
        self.told.insert(seq, Told { entry, is_shadow: decision.shadow });
    }

    /// What followed all that are open.
    fn settle(&mut self, recovered: bool) {
        let open = std::mem::take(&mut self.open);
        self.found(&open, recovered);
    }

    fn found(&mut self, of: &[u64], recovered: bool) {
        for seq in of {
            if let Some(told) = self.told.get_mut(seq) {
                told.entry.recovered = Some(recovered);
            }
        }
    }

    /// What nobody said counts where a person marked it.
    fn end(self) -> Vec<Entry> {
        let told = self.told.into_values();
        told.filter(|it| !it.is_shadow || it.entry.mark.is_some()).map(|it| it.entry).collect()
    }
}

/// The rule that spoke; `None` if none did: it goes on, or a call is made again.
fn rule_of(decision: &Decision) -> Option<RuleId> {
    if matches!(decision.action, Action::Continue | Action::Retry) {
        return None;
    }
    let name = decision.reason.name();
    RuleId::ALL.iter().copied().find(|rule| rule.key() == name)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use steersman_engine::{
        Engine, Event, Policy, Reply, RunInfo, Timestamp, ToolCall, ToolResult,
    };

    use super::*;

    /// Decisions of the engine itself: a call with the same outcome over and over.
    fn looped() -> Vec<Decision> {
        let mut engine = Engine::new(Arc::new(Policy::default()), RunInfo::default());
        let call = ToolCall { id: "1".into(), name: "read".into(), ..ToolCall::default() };
        let turn = |turn: u64| {
            let reply = Reply { tool_calls: vec![call.clone()], ..Reply::default() };
            engine.handle(Timestamp(turn), &Event::Replied(reply));
            let result = ToolResult { call_id: "1".into(), ..ToolResult::default() };
            engine.handle(Timestamp(turn), &Event::ToolReturned(result));
            engine.handle(Timestamp(turn), &Event::TurnEnded)
        };
        (1..=3).map(turn).collect()
    }

    fn nudge(turn: u32) -> Fact {
        let nudge = looped().pop().unwrap();
        assert_eq!(nudge.action, Action::Nudge);
        Fact::Decided(Box::new(Decision { turn, ..nudge }))
    }

    fn goes_on(turn: u32) -> Fact {
        Fact::Decided(Box::new(Decision { turn, ..looped().remove(0) }))
    }

    /// What followed the interventions of a course.
    fn check(facts: Vec<Fact>, expected: &[Option<bool>]) {
        let mut course = Course { run: "r".to_owned(), ..Course::default() };
        for (seq, fact) in (1..).zip(facts.clone()) {
            course.take_in(seq, fact);
        }
        let followed: Vec<Option<bool>> =
            course.end().into_iter().map(|entry| entry.recovered).collect();
        assert_eq!(followed, expected, "{facts:?}");
    }

    #[test]
    fn what_followed_is_told_once_it_is_known() {
        let ended = |ending| Fact::Ended { ending };
        check(vec![nudge(3)], &[None]);
        check(vec![nudge(3), goes_on(4), goes_on(7)], &[None]);
        check(vec![nudge(3), goes_on(4), goes_on(8)], &[Some(true)]);
        check(vec![nudge(3), nudge(7)], &[Some(false), None]);
        check(vec![nudge(3), nudge(8)], &[Some(true), None]);
        check(vec![nudge(3), Fact::StartedOver], &[Some(false)]);
        check(vec![nudge(3), ended("complete")], &[Some(true)]);
        check(vec![nudge(3), ended("stopped"), goes_on(20)], &[None]);
    }

    #[test]
    fn a_mark_counts_where_nothing_was_said_too() {
        let shadow = |turn| match nudge(turn) {
            Fact::Decided(decision) => Fact::Decided(Box::new(decision.in_shadow_unless(false))),
            other => other,
        };
        check(vec![shadow(3), goes_on(9)], &[]);
        check(vec![shadow(3), Fact::Marked { seq: 1, mark: Mark::Harmful }], &[None]);
        let taken_back = Fact::Marked { seq: 1, mark: Mark::None };
        check(vec![shadow(3), Fact::Marked { seq: 1, mark: Mark::Helpful }, taken_back], &[]);
    }
}
