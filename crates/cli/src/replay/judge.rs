//! Judges runs as they are read: an engine per run and policy, folded to a report.

use std::sync::Arc;

use steersman_engine::{Action, Decision, Engine, Event, Timestamp};
use steersman_timeline::calls::{Calls, Mark};
use steersman_trace::{Flow, Problem, RunEnd, RunMeta, RunSink, Unit};

use super::report::{Kind, Made, Point, RunReport, Verdict};
use super::series::{Series, SeriesPoint};
use super::timeline::{Entry, Timeline};
use super::wanted::Wanted;
use crate::policy::Named;
use crate::reading::{BATCH_WEIGHT, Emit, Item, Judges, Source, pass_time, run_info};
use crate::text;

/// How runs are judged; the same for all of them.
#[derive(Debug)]
pub(crate) struct Setup {
    /// The policy.
    pub(crate) policy: Named,
    /// The policy to compare with.
    pub(crate) other: Option<Named>,
    /// What to keep besides the summary.
    pub(crate) detail: Detail,
}

/// What to keep besides the summary.
#[derive(Debug)]
pub(crate) enum Detail {
    /// Nothing.
    Summary,
    /// Numbers for a chart of every run.
    Series,
    /// The course of the wanted run, turn by turn.
    Timeline(Wanted),
}

impl Judges for Setup {
    type Run = RunReport;

    fn judge(&self, unit: Unit, source: &Arc<Source>, emit: &mut Emit<'_, RunReport>) {
        let mut emit = |item| emit(item);
        // Whether the reader broke off is known to whoever made it break off.
        let _ = unit.read(&mut Judge::new(self, source, &mut emit));
    }

    fn weight(report: &RunReport) -> usize {
        const RUN: usize = 1024;
        const DECISION: usize = 1024;
        if report.timeline.is_some() {
            return BATCH_WEIGHT;
        }
        let verdicts = std::iter::once(&report.verdict).chain(&report.other);
        let decisions: usize = verdicts.map(|verdict| verdict.decisions.len()).sum();
        let points = report.series.as_ref().map_or(0, |series| series.points.len());
        RUN + decisions * DECISION + points * size_of::<SeriesPoint>()
    }
}

/// Judges the runs of one input, or of a part of it.
pub(crate) struct Judge<'a> {
    setup: &'a Setup,
    source: &'a Arc<Source>,
    emit: &'a mut Emit<'a, RunReport>,
    current: Option<Judging>,
}

/// A run being judged.
struct Judging {
    report: RunReport,
    engine: Engine,
    other: Option<Engine>,
    calls: Calls,
}

impl<'a> Judge<'a> {
    /// A judge that passes on what it finds, in order.
    pub(crate) fn new(
        setup: &'a Setup,
        source: &'a Arc<Source>,
        emit: &'a mut Emit<'a, RunReport>,
    ) -> Self {
        Self { setup, source, emit, current: None }
    }

    fn begin(&self, meta: &RunMeta<'_>) -> Judging {
        let setup = self.setup;
        let mut report =
            RunReport::begin(Arc::clone(self.source), meta, Arc::clone(&setup.policy.name));
        report.other = setup.other.as_ref().map(|other| Verdict::new(Arc::clone(&other.name)));
        match &setup.detail {
            Detail::Summary => {}
            Detail::Series => report.series = Some(Box::default()),
            Detail::Timeline(wanted) => {
                if wanted.matches(&report).is_some() {
                    report.timeline = Some(Box::new(Timeline::begin(&meta.task)));
                }
            }
        }
        let engine = |policy: &Named| Engine::new(Arc::clone(&policy.policy), run_info(meta));
        Judging {
            report,
            engine: engine(&setup.policy),
            other: setup.other.as_ref().map(engine),
            calls: Calls::default(),
        }
    }
}

impl RunSink for Judge<'_> {
    fn run_started(&mut self, meta: &RunMeta<'_>) -> Flow {
        let flow = match self.current.take() {
            Some(unfinished) => {
                let end = RunEnd { truncated: true, ..RunEnd::default() };
                (self.emit)(Item::Run(Box::new(unfinished.finish(end))))
            }
            None => Flow::Continue,
        };
        self.current = Some(self.begin(meta));
        flow
    }

    fn event(&mut self, at: Timestamp, event: &Event<'_>, _line: u64) -> Flow {
        if let Some(current) = &mut self.current {
            current.take_in(at, event);
        }
        Flow::Continue
    }

    fn run_ended(&mut self, end: RunEnd) -> Flow {
        match self.current.take() {
            Some(current) => (self.emit)(Item::Run(Box::new(current.finish(end)))),
            None => Flow::Continue,
        }
    }

    fn problem(&mut self, problem: Problem) {
        let problem = problem.to_string();
        if let Some(current) = &mut self.current
            && current.report.problems.len() < RunReport::MAX_PROBLEMS
        {
            current.report.problems.push(text::bounded(&problem, RunReport::MAX_NAME));
        }
        // Whether more is wanted is told with the next run.
        let _ = (self.emit)(Item::Problem(problem));
    }
}

impl Judging {
    fn take_in(&mut self, at: Timestamp, event: &Event<'_>) {
        let before = self.point();
        let late = pass_time(&mut self.engine, at);
        let other_late = self.other.as_mut().map(|other| pass_time(other, at)).unwrap_or_default();
        late.iter().for_each(|decision| self.record(decision, before));
        other_late.iter().for_each(|decision| self.record_other(decision, before));

        self.observe(event);
        let now = self.point();
        let decision = self.engine.handle(at, event);
        self.detail(event, &decision);
        self.record(&decision, now);
        if let Some(decision) = self.other.as_mut().map(|other| other.handle(at, event)) {
            self.record_other(&decision, now);
        }
    }

    fn record(&mut self, decision: &Decision, now: Now) {
        if decision.action == Action::Continue {
            self.report.verdict.note_loop(decision);
        }
        if let Some(point) = now.point(decision) {
            self.report.verdict.record(decision, point);
            if let Some(timeline) = &mut self.report.timeline {
                timeline.push(Entry::Decided(Box::new(Made::keep(decision, point))));
            }
        }
    }

    fn record_other(&mut self, decision: &Decision, now: Now) {
        if let (Action::Continue, Some(verdict)) = (decision.action, &mut self.report.other) {
            verdict.note_loop(decision);
        }
        if let (Some(point), Some(verdict)) = (now.point(decision), &mut self.report.other) {
            verdict.record(decision, point);
            if let Some(timeline) = &mut self.report.timeline {
                timeline.push(Entry::OtherDecided(Box::new(Made::keep(decision, point))));
            }
        }
    }

    /// Counts turns, calls and tokens.
    fn observe(&mut self, event: &Event<'_>) {
        let Event::Replied(reply) = event else { return };
        let report = &mut self.report;
        let calls = u32::try_from(reply.tool_calls.len()).unwrap_or(u32::MAX);
        report.turns = report.turns.saturating_add(reply.messages.max(1));
        report.calls = report.calls.saturating_add(calls);
        let (sum, usage) = (&mut report.usage, &reply.usage);
        sum.input_tokens = sum.input_tokens.saturating_add(usage.input_tokens);
        sum.output_tokens = sum.output_tokens.saturating_add(usage.output_tokens);
        sum.cost_nanodollars = sum.cost_nanodollars.saturating_add(usage.cost_nanodollars);
    }

    /// Keeps what a chart or an explanation needs.
    fn detail(&mut self, event: &Event<'_>, decision: &Decision) {
        let report = &mut self.report;
        if report.series.is_none() && report.timeline.is_none() {
            return;
        }
        match event {
            Event::Replied(reply) => {
                count_unanswered(&self.calls, report.series.as_deref_mut());
                self.calls.begin_turn(reply);
                if let Some(series) = &mut report.series {
                    // A reply of several messages spans as many turns of the trace.
                    (0..reply.messages.clamp(1, 64)).for_each(|_| series.begin_turn());
                }
                if let Some(timeline) = &mut report.timeline {
                    timeline.begin_turn(report.turns, reply);
                }
            }
            Event::ToolReturned(result) => {
                if let Some((position, mark)) = self.calls.returned(result) {
                    if let Some(series) = &mut report.series {
                        series.count(mark);
                    }
                    if let Some(timeline) = &mut report.timeline {
                        timeline.returned(position, mark);
                    }
                }
            }
            _ => {}
        }
        if let Some(series) = &mut report.series {
            series.score(decision.score);
        }
        if let Some(timeline) = &mut report.timeline {
            timeline.note(event);
            timeline.measure(decision);
        }
    }

    fn point(&self) -> Now {
        Now { turn: self.report.turns, call: self.report.calls, tokens: self.report.tokens() }
    }

    fn finish(mut self, end: RunEnd) -> RunReport {
        count_unanswered(&self.calls, self.report.series.as_deref_mut());
        self.report.outcome = end.outcome.or(self.report.outcome);
        self.report.truncated = end.truncated;
        self.report
    }
}

/// The counts at the moment of an event.
#[derive(Clone, Copy)]
struct Now {
    turn: u32,
    call: u32,
    tokens: u64,
}

impl Now {
    /// The moment of a decision; `None` if it is to continue.
    fn point(self, decision: &Decision) -> Option<Point> {
        let Self { turn, call, tokens } = self;
        let kind = Kind { action: decision.action, reason: decision.reason.name() };
        (decision.action != Action::Continue).then_some(Point { turn, call, tokens, kind })
    }
}

fn count_unanswered(calls: &Calls, series: Option<&mut Series>) {
    if let (Some(series), Ok(unanswered)) = (series, u32::try_from(calls.unanswered())) {
        series.count_many(Mark::Empty, unanswered);
    }
}

#[cfg(test)]
mod tests;
