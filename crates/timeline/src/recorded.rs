//! Timelines of recorded runs, judged as they are read.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use steersman_engine::{Action, Decision, Engine, Event, Policy, Reply, Timestamp, ToolResult};
use steersman_trace::{Flow, OpenError, Outcome, Problem, RunEnd, RunMeta, RunSink, reports};

use crate::bound::{MAX_EXCERPT, MAX_TEXT, beginning};
use crate::call::{TestNames, call_of, file_of, outcome_of};
use crate::calls::Calls;
use crate::draft::{About, Back, Draft, Place, Wanted};
use crate::drive::{pass_time, run_info};
use crate::timeline::{Concluded, Source, Timeline};
use crate::turn::{CheckRun, Spent, Turn};
use crate::whole::Attempt;

/// Most runs of a file that are listed; further ones are counted.
pub const MAX_RUNS: usize = 1000;
/// Most events of a file that are read.
const MAX_EVENTS: u64 = 2_000_000;
/// Most problems that are told.
const MAX_PROBLEMS: usize = 20;
/// Most turns of a run.
const MAX_TURNS: usize = 2000;
/// Most bytes of a run's id.
const MAX_ID: usize = 400;

/// The runs of a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recorded {
    /// The format of its content.
    pub format: String,
    /// Its runs in order, at most [`MAX_RUNS`].
    pub runs: Vec<RunLine>,
    /// Runs that are left out of the list.
    pub more_runs: u64,
    /// The run that was asked for, or the first; `None` if there is none of that id.
    pub timeline: Option<Timeline>,
    /// What could not be read, at most 20 sentences.
    pub problems: Vec<String>,
}

/// A recorded run in short.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RunLine {
    /// Its id, to ask for it with `run`; at most 400 bytes.
    pub id: String,
    /// The agent; empty if it is not known.
    pub agent: String,
    /// The model; empty if it is not known.
    pub model: String,
    /// `solved` or `unsolved`; null if it was not graded.
    pub outcome: Option<String>,
    /// Turns.
    pub turns: u32,
    /// Calls of tools.
    pub calls: u32,
    /// Decisions other than to go on.
    pub decisions: u32,
    /// The first of them, as an action; null if there was none.
    pub first_action: Option<String>,
}

/// Judges the runs of a file in memory and tells one of them; `run` is its id, `None` the first.
///
/// # Errors
/// The content is empty, binary, or of no known format.
pub fn read_runs(
    name: &str,
    content: Vec<u8>,
    policy: &Arc<Policy>,
    run: Option<&str>,
) -> Result<Recorded, OpenError> {
    let mut units = steersman_trace::open_reader(name, std::io::Cursor::new(content))?;
    let format = units.format().to_string();
    let mut judge = Judge {
        found: Recorded { format, ..Recorded::default() },
        policy,
        run,
        events: 0,
        now: None,
    };
    while let Some(unit) = units.next_unit() {
        if unit.read(&mut judge) == Flow::Break {
            break;
        }
    }
    judge.end(RunEnd { truncated: true, ..RunEnd::default() });
    Ok(judge.found)
}

struct Judge<'a> {
    found: Recorded,
    policy: &'a Arc<Policy>,
    run: Option<&'a str>,
    events: u64,
    now: Option<Judging>,
}

/// A run being judged.
struct Judging {
    line: RunLine,
    engine: Engine,
    calls: Calls,
    /// `None`: it is only listed.
    draft: Option<Draft>,
}

impl RunSink for Judge<'_> {
    fn run_started(&mut self, meta: &RunMeta<'_>) -> Flow {
        self.end(RunEnd { truncated: true, ..RunEnd::default() });
        if self.found.runs.len() >= MAX_RUNS {
            self.found.more_runs += 1;
            return Flow::Continue;
        }
        let line = RunLine {
            id: beginning(&meta.id, MAX_ID),
            agent: beginning(&meta.agent, MAX_ID),
            model: beginning(&meta.model, MAX_ID),
            outcome: outcome(meta.outcome),
            ..RunLine::default()
        };
        let is_wanted = self.run.map_or(self.found.runs.is_empty(), |run| run == line.id);
        let draft = (is_wanted && self.found.timeline.is_none()).then(|| {
            let wanted = Wanted { after_turn: 0, limit: MAX_TURNS };
            let mut draft = Draft::new(Source::Recorded, &line.id, wanted);
            draft.about(&About {
                task: meta.task.to_string(),
                agent: line.agent.clone(),
                model: line.model.clone(),
            });
            draft
        });
        let engine = Engine::new(Arc::clone(self.policy), run_info(meta));
        self.now = Some(Judging { line, engine, calls: Calls::default(), draft });
        Flow::Continue
    }

    fn event(&mut self, at: Timestamp, event: &Event<'_>, _line: u64) -> Flow {
        self.events += 1;
        if let Some(now) = &mut self.now {
            now.take_in(at, event);
        }
        if self.events < MAX_EVENTS {
            return Flow::Continue;
        }
        self.tell(format!("only the first {MAX_EVENTS} events were read"));
        Flow::Break
    }

    fn run_ended(&mut self, end: RunEnd) -> Flow {
        self.end(end);
        Flow::Continue
    }

    fn problem(&mut self, problem: Problem) {
        self.tell(problem.to_string());
    }
}

impl Judge<'_> {
    fn tell(&mut self, problem: String) {
        if self.found.problems.len() < MAX_PROBLEMS {
            self.found.problems.push(beginning(&problem, MAX_TEXT));
        }
    }

    /// The run under way is over, if there is one.
    fn end(&mut self, end: RunEnd) {
        let Some(Judging { mut line, engine, draft, .. }) = self.now.take() else { return };
        line.outcome = outcome(end.outcome).or(line.outcome);
        if let Some(mut draft) = draft {
            draft.stands(&engine);
            draft.takes(&[], Some("a recorded run is over"));
            let why = if end.truncated { "the recording breaks off" } else { "" };
            draft.ended(line.outcome.clone().map(|ending| Concluded {
                ending,
                why: why.to_owned(),
                answer: String::new(),
            }));
            self.found.timeline = Some(draft.finish());
        }
        self.found.runs.push(line);
    }
}

impl Judging {
    fn take_in(&mut self, at: Timestamp, event: &Event<'_>) {
        let place = Place { seq: None, at_ms: (at != Timestamp::UNKNOWN).then_some(at.0) };
        for late in pass_time(&mut self.engine, at) {
            self.decided(place, &late);
        }
        if matches!(event, Event::Replied(_) | Event::UserSpoke(_)) {
            // The engine ends a turn by itself that nobody ended.
            self.see_calls();
        }
        let decision = self.engine.handle(at, event);
        match event {
            Event::Replied(reply) => self.begin_turn(place, reply),
            Event::ToolReturned(result) => self.returned(result),
            Event::TurnEnded => self.see_calls(),
            _ => {
                if let Some(draft) = &mut self.draft {
                    happened(draft, place, event, self.engine.state().attempt);
                }
            }
        }
        if matches!(event, Event::ToolReturned(_)) && decision.action == Action::Continue {
            return;
        }
        self.decided(place, &decision);
    }

    fn decided(&mut self, place: Place, decision: &Decision) {
        if decision.action != Action::Continue {
            self.line.decisions = self.line.decisions.saturating_add(1);
            self.line.first_action.get_or_insert_with(|| decision.action.name().to_owned());
        }
        if let Some(draft) = &mut self.draft {
            draft.decided(place, decision);
        }
    }

    fn begin_turn(&mut self, place: Place, reply: &Reply<'_>) {
        let state = self.engine.state();
        self.line.turns = state.turns;
        self.line.calls = state.tool_calls;
        let Some(draft) = &mut self.draft else { return };
        self.calls.begin_turn(reply);
        let text = if reply.text.trim().is_empty() { &reply.reasoning } else { &reply.text };
        let mut seen = state.seen_calls();
        let calls = reply.tool_calls.iter().map(|call| {
            let seen = seen.next();
            call_of(&call.name, &call.arguments, seen.as_ref())
        });
        let (usage, cost) = (reply.usage, reply.usage.cost_nanodollars);
        let is_known = usage != steersman_engine::Usage::default();
        draft.begin_turn(Turn {
            number: state.turns,
            at_ms: place.at_ms,
            text: beginning(text, MAX_TEXT),
            stop: reply.stop.map(|stop| stop.name().to_owned()),
            calls: calls.collect(),
            spent: is_known.then_some(Spent {
                input_tokens: usage.input_tokens,
                cached_tokens: None,
                output_tokens: usage.output_tokens,
                cost_nanodollars: (cost > 0).then_some(cost),
            }),
            ..Turn::default()
        });
    }

    fn returned(&mut self, result: &ToolResult<'_>) {
        let Some(draft) = &mut self.draft else { return };
        let Some((position, _)) = self.calls.returned(result) else { return };
        if let Some(call) = draft.call(position) {
            call.exit_code = result.exit_code;
            call.excerpt = beginning(&result.content, MAX_EXCERPT);
        }
        let names = result.tests.as_ref().map(|report| names(&result.content, report));
        let seen = self.engine.state().seen_calls().nth(position);
        let file = seen.and_then(|seen| file_of(seen.facts()));
        let back = Back { position, file, tests: result.tests.as_ref() };
        draft.returned(&back, &names.unwrap_or_default());
    }

    /// What the engine makes of the calls of the turn.
    fn see_calls(&mut self) {
        let Some(draft) = &mut self.draft else { return };
        for (position, seen) in self.engine.state().seen_calls().enumerate() {
            let Some(call) = draft.call(position) else { break };
            (call.outcome, call.error) = outcome_of(&seen);
            call.times = seen.times();
            call.novel = call.outcome.is_some() && call.times <= 1;
        }
    }
}

/// The names of the failing tests, as far as an output tells them.
fn names(output: &str, report: &steersman_engine::TestReport) -> TestNames {
    reports::failing_names(output, report).into_iter().collect()
}

fn happened(draft: &mut Draft, place: Place, event: &Event<'_>, attempt: u32) {
    match event {
        Event::UserSpoke(message) if !draft.has_task() => {
            draft.about(&About { task: message.text.to_string(), ..About::default() });
        }
        Event::UserSpoke(message) => draft.note(place, "user", &message.text, None),
        Event::CallFailed(failure) => {
            let status = failure.status.map(|status| format!("{status}: ")).unwrap_or_default();
            draft.note(place, "call_failed", &format!("{status}{}", failure.message), None);
        }
        Event::CheckReported(report) => {
            let names = report.tests.as_ref().map(|tests| names(&report.excerpt, tests));
            let names = names.unwrap_or_default();
            let check = CheckRun {
                cause: beginning(&report.name, MAX_ID),
                passed: report.passed,
                excerpt: beginning(&report.excerpt, 1 << 10),
                tests: report.tests.as_ref().map(|tests| crate::call::results(tests, &names)),
                ..CheckRun::default()
            };
            draft.check(check, report.tests.as_ref(), &names);
        }
        Event::StartedOver => {
            let number = attempt.saturating_sub(1);
            draft.note(place, "started_over", "a new attempt began", None);
            draft.started_over(Attempt { number, ..Attempt::default() });
        }
        Event::ContextCompacted { tokens_after } => {
            let left = tokens_after.map(|tokens| format!(": {tokens} tokens left"));
            let text = format!("the conversation was shortened{}", left.unwrap_or_default());
            draft.note(place, "compacted", &text, None);
        }
        Event::StopRequested => draft.note(place, "control", "a person asked for the stop", None),
        Event::Replied(_) | Event::ToolReturned(_) | Event::TurnEnded | Event::TimePassed => {}
    }
}

fn outcome(outcome: Option<Outcome>) -> Option<String> {
    let word = match outcome? {
        Outcome::Solved => "solved",
        Outcome::Unsolved => "unsolved",
    };
    Some(word.to_owned())
}
