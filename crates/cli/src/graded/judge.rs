//! Lets all policies and rules see runs as they are read, and folds each run to an episode.

use std::sync::Arc;

use steersman_engine::{Decision, Engine, Event, Timestamp, risk};
use steersman_evaluation::compare::{Comparison, Watch};
use steersman_evaluation::learn::{Moment, Record};
use steersman_evaluation::{Counts, Course, Decided, Episode, Label};
use steersman_trace::{Flow, Problem, RunEnd, RunMeta, RunSink, Unit};

use super::names::Filter;
use crate::policy::Named;
use crate::reading::{Emit, GroupBy, Item, Judges, Source, outcome, pass_time, run_info};
use crate::text;

/// How runs are judged; the same for all of them.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    /// The policies.
    pub(crate) policies: Vec<Named>,
    /// The rules to compare with.
    pub(crate) comparisons: Vec<Comparison>,
    /// What counts as a source.
    pub(crate) by: GroupBy,
    /// Which sources are wanted.
    pub(crate) filter: Filter,
    /// Whether to keep what every turn looked like to the first policy.
    pub(crate) moments: bool,
}

/// What judging gives.
#[derive(Debug)]
pub(crate) enum Judged {
    /// A judged run.
    Kept(Box<Record>),
    /// A run of a source that is not wanted.
    LeftOut(Arc<str>),
}

impl Judges for Setup {
    type Run = Judged;

    fn judge(&self, unit: Unit, source: &Arc<Source>, emit: &mut Emit<'_, Judged>) {
        let mut emit = |item| emit(item);
        // Whether the reader broke off is known to whoever made it break off.
        let _ = unit.read(&mut Judge { setup: self, source, emit: &mut emit, current: None });
    }

    fn weight(run: &Judged) -> usize {
        const RUN: usize = 1024;
        match run {
            Judged::LeftOut(_) => RUN / 8,
            Judged::Kept(record) => {
                let episode = &record.episode;
                let courses = episode.courses.iter();
                let decisions: usize = courses.map(|course| course.decisions().len()).sum();
                let turns = episode.counts.turns as usize;
                let moments = record.moments.len() * size_of::<Moment>();
                RUN + moments + decisions * size_of::<Decided>() + turns.min(Counts::MAX_TURNS) * 4
            }
        }
    }
}

/// Judges the runs of one input, or of a part of it.
struct Judge<'a> {
    setup: &'a Setup,
    source: &'a Arc<Source>,
    emit: &'a mut Emit<'a, Judged>,
    current: Option<Judging>,
}

/// A run being judged.
enum Judging {
    Wanted(Box<Run>),
    Unwanted(Arc<str>),
}

struct Run {
    episode: Episode,
    engines: Vec<(Engine, Course)>,
    watch: Watch,
    moments: Option<Vec<Moment>>,
}

impl Judge<'_> {
    /// Bytes of an id or another name.
    const MAX_NAME: usize = 512;

    fn begin(&self, meta: &RunMeta<'_>) -> Judging {
        let setup = self.setup;
        let source = setup.by.key(self.source, &meta.agent, &meta.model);
        if !setup.filter.wants(source) {
            return Judging::Unwanted(source.into());
        }
        let name = |text: &str| text::bounded(text, Self::MAX_NAME);
        let engine = |policy: &Named| {
            (Engine::new(Arc::clone(&policy.policy), run_info(meta)), Course::default())
        };
        Judging::Wanted(Box::new(Run {
            episode: Episode {
                source: name(source).into(),
                id: name(&meta.id),
                instance: name(&meta.instance),
                agent: name(&meta.agent),
                model: name(&meta.model),
                solved: outcome(meta.outcome),
                ..Episode::default()
            },
            engines: setup.policies.iter().map(engine).collect(),
            watch: Watch::new(&setup.comparisons),
            moments: setup.moments.then(Vec::new),
        }))
    }

    fn finish(&mut self, judging: Judging, end: RunEnd) -> Flow {
        let judged = match judging {
            Judging::Unwanted(source) => Judged::LeftOut(source),
            Judging::Wanted(run) => Judged::Kept(Box::new(run.finish(end))),
        };
        (self.emit)(Item::Run(Box::new(judged)))
    }
}

impl RunSink for Judge<'_> {
    fn run_started(&mut self, meta: &RunMeta<'_>) -> Flow {
        let flow = match self.current.take() {
            Some(unfinished) => {
                self.finish(unfinished, RunEnd { truncated: true, ..RunEnd::default() })
            }
            None => Flow::Continue,
        };
        self.current = Some(self.begin(meta));
        flow
    }

    fn event(&mut self, at: Timestamp, event: &Event<'_>, _line: u64) -> Flow {
        if let Some(Judging::Wanted(run)) = &mut self.current {
            run.take_in(at, event);
        }
        Flow::Continue
    }

    fn run_ended(&mut self, end: RunEnd) -> Flow {
        match self.current.take() {
            Some(current) => self.finish(current, end),
            None => Flow::Continue,
        }
    }

    fn problem(&mut self, problem: Problem) {
        // Whether more is wanted is told with the next run.
        let _ = (self.emit)(Item::Problem(problem.to_string()));
    }
}

impl Run {
    fn take_in(&mut self, at: Timestamp, event: &Event<'_>) {
        let counts = &mut self.episode.counts;
        for (engine, course) in &mut self.engines {
            for late in pass_time(engine, at) {
                course.push(decided(&late, counts));
            }
        }
        counts.observe(event);
        for (place, (engine, course)) in self.engines.iter_mut().enumerate() {
            let decision = engine.handle(at, event);
            course.push(decided(&decision, counts));
            if let Some(moments) = self.moments.as_mut().filter(|_| place == 0) {
                note(moments, engine, &decision, event, counts);
            }
        }
        self.watch.handle(event, counts.turns, counts.calls);
    }

    fn finish(self, end: RunEnd) -> Record {
        let mut episode = self.episode;
        episode.solved = outcome(end.outcome).or(episode.solved);
        let labels = end.labels.into_iter();
        episode.labels = labels
            .map(|label| Label { kind: label.kind, turn: label.turn, by: label.by })
            .collect();
        episode.courses = self.engines.into_iter().map(|(_, course)| course).collect();
        episode.courses.extend(self.watch.finish());
        let mut moments = self.moments.unwrap_or_default();
        // Nothing lies after the last turn.
        moments.retain(|moment| episode.is_in_time(moment.turn));
        Record { episode, moments }
    }
}

/// Notes what the end of a turn looks like.
fn note(
    moments: &mut Vec<Moment>,
    engine: &Engine,
    decision: &Decision,
    event: &Event<'_>,
    counts: &Counts,
) {
    let new = moments.last().is_none_or(|last| last.turn < counts.turns);
    if !matches!(event, Event::TurnEnded) || !new || counts.turns == 0 {
        return;
    }
    if moments.len() >= Record::MAX_MOMENTS {
        return;
    }
    let signals = &decision.signals;
    moments.push(Moment {
        turn: counts.turns,
        calls: counts.calls,
        values: risk::measure(engine.state()),
        signals: [
            signals.progress_velocity,
            signals.stuck_loop,
            signals.token_budget,
            signals.intervention_ratio,
            signals.complexity,
        ],
    });
}

/// A decision at this moment of the run.
fn decided(decision: &Decision, counts: &Counts) -> Decided {
    Decided {
        turn: counts.turns,
        call: counts.calls,
        action: decision.action,
        reason: decision.reason.name(),
    }
}
