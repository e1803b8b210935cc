//! A timeline in the making: told what happened, in order.

use std::collections::HashMap;

use steersman_engine::{Action, Decision, Engine, TestReport};

use crate::bound::{MAX_NAME, MAX_SAID, MAX_TEXT, beginning, push, push_latest};
use crate::call::{TestNames, results};
use crate::decided::{Decided, Evidence, Mark, Note, Put, Said};
use crate::thresholds::thresholds;
use crate::timeline::{Concluded, Source, Timeline};
use crate::turn::{Call, CheckRun, Claimed, Spent, Turn};
use crate::whole::{Attempt, Budget, FileSeen, Letter, Standing, TestPoint, TestSeen};

/// Most calls of a turn.
pub const MAX_CALLS: usize = 64;
/// Most decisions, texts and notes of a turn, and notes before the first.
const MAX_OF_ONE: usize = 40;
/// Most checks of a turn.
const MAX_CHECKS: usize = 16;
/// Most files, tests and letters.
const MAX_SEEN: usize = 500;
/// Most results of tests.
const MAX_RESULTS: usize = 1000;
/// Most turns in which a test failed.
const MAX_FAILED_IN: usize = 200;
/// Most problems.
const MAX_PROBLEMS: usize = 20;
/// Most attempts.
const MAX_ATTEMPTS: usize = 64;
/// Most marks.
const MAX_MARKS: usize = 10_000;

/// Which turns are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Only turns after this number.
    pub after_turn: u32,
    /// At most so many.
    pub limit: usize,
}

/// Where in a journal something stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The entry; `None` in recordings.
    pub seq: Option<u64>,
    /// When, in milliseconds since 1970; `None` if that is not known.
    pub at_ms: Option<u64>,
}

/// What is known of a session at its beginning.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct About {
    /// The task; empty if it is not known.
    pub task: String,
    /// The agent; empty if it is not known.
    pub agent: String,
    /// The model; empty if it is not known.
    pub model: String,
}

/// What a call came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Back<'a> {
    /// Its place in the turn.
    pub position: usize,
    /// The file that it reads or changes; `None` if it shows none.
    pub file: Option<String>,
    /// Test results that it gave; `None` if it gave none.
    pub tests: Option<&'a TestReport>,
}

/// A timeline in the making.
#[derive(Debug, Default)]
pub struct Draft {
    made: Timeline,
    after_turn: u32,
    limit: usize,
    /// Turns after the wanted ones are counted and left out.
    is_full: bool,
    /// The turn under way, wanted or not.
    turn: Turn,
    has_turn: bool,
    attempt: u32,
    files: HashMap<String, usize>,
    tests: HashMap<u64, usize>,
    marks: HashMap<u64, (Mark, Option<String>)>,
}

impl Draft {
    /// Nothing told yet.
    #[must_use]
    pub fn new(source: Source, session: &str, wanted: Wanted) -> Self {
        let made = Timeline { source, session: session.to_owned(), ..Timeline::default() };
        let (after_turn, limit) = (wanted.after_turn, wanted.limit);
        Self { made, after_turn, limit, attempt: 1, ..Self::default() }
    }

    /// What is known of the session.
    pub fn about(&mut self, about: &About) {
        let fill = |own: &mut String, given: &str, max| {
            if !given.is_empty() {
                *own = beginning(given, max);
            }
        };
        fill(&mut self.made.task, &about.task, MAX_TEXT);
        fill(&mut self.made.agent, &about.agent, MAX_NAME);
        fill(&mut self.made.model, &about.model, MAX_NAME);
    }

    /// Whether the task is known.
    #[must_use]
    pub fn has_task(&self) -> bool {
        !self.made.task.is_empty()
    }

    /// Everything up to this entry was told.
    pub fn told(&mut self, seq: u64) {
        self.made.seq = self.made.seq.max(seq);
    }

    /// A reply begins a turn. Number 0: the one after the last. Its attempt is filled in here.
    pub fn begin_turn(&mut self, turn: Turn) {
        self.close_turn();
        let number = if turn.number == 0 { self.turn.number + 1 } else { turn.number };
        let mut turn = Turn { number, attempt: self.attempt, ..turn };
        let more = turn.calls.len().saturating_sub(MAX_CALLS);
        turn.more_calls = turn.more_calls.saturating_add(u32::try_from(more).unwrap_or(u32::MAX));
        turn.calls.truncate(MAX_CALLS);
        self.made.turn_count = self.made.turn_count.max(number);
        if let Some(spent) = &turn.spent {
            add(&mut self.made.whole.spent, spent);
        }
        self.turn = turn;
        self.has_turn = true;
    }

    /// The turn under way goes to the others, if it is wanted.
    fn close_turn(&mut self) {
        if !self.has_turn || self.turn.number <= self.after_turn {
            return;
        }
        if self.made.turns.len() >= self.limit {
            self.is_full = true;
            return;
        }
        let number = self.turn.number;
        let turn = std::mem::take(&mut self.turn);
        self.turn.number = number;
        self.made.turns.push(turn);
    }

    /// The number of the turn under way; 0 before the first.
    #[must_use]
    pub const fn turn_number(&self) -> u32 {
        self.turn.number
    }

    /// A call of the turn under way, to be filled in.
    pub fn call(&mut self, position: usize) -> Option<&mut Call> {
        self.turn.calls.get_mut(position)
    }

    /// A call of the turn under way returned; its own fields are [filled in](Self::call) by whoever
    /// knows them.
    pub fn returned(&mut self, back: &Back<'_>, names: &TestNames) {
        let turn = self.turn.number;
        let changes = self.turn.calls.get(back.position).is_some_and(|call| call.changes);
        if let Some(file) = &back.file {
            self.see_file(file, changes, turn);
        }
        if let Some(report) = back.tests {
            self.see_tests(report, names);
        }
    }

    fn see_file(&mut self, name: &str, changes: bool, turn: u32) {
        let files = &mut self.made.whole.files;
        let at = match self.files.get(name) {
            Some(at) => *at,
            None => {
                let new = FileSeen {
                    name: beginning(name, MAX_NAME),
                    first_turn: turn,
                    ..FileSeen::default()
                };
                if !push(files, MAX_SEEN, new) {
                    return;
                }
                self.files.insert(name.to_owned(), files.len() - 1);
                files.len() - 1
            }
        };
        if let Some(file) = files.get_mut(at) {
            let count = if changes { &mut file.changes } else { &mut file.reads };
            *count = count.saturating_add(1);
            file.last_turn = turn;
        }
    }

    /// Test results came in.
    pub fn see_tests(&mut self, report: &TestReport, names: &TestNames) {
        let turn = self.turn.number;
        let TestReport { passed, failed, broken, .. } = *report;
        let point = TestPoint { turn, passed, failed, broken };
        push_latest(&mut self.made.whole.results, MAX_RESULTS, point);
        self.turn.tests = Some(results(report, names));
        for id in &report.failing {
            let tests = &mut self.made.whole.tests;
            let at = *self.tests.entry(*id).or_insert(tests.len());
            if at == tests.len() {
                let new = TestSeen { id: format!("{id:016x}"), ..TestSeen::default() };
                if !push(tests, MAX_SEEN, new) {
                    self.tests.remove(id);
                    continue;
                }
            }
            let Some(test) = tests.get_mut(at) else { continue };
            if test.name.is_none() {
                test.name = names.get(id).map(|name| beginning(name, MAX_NAME));
            }
            if test.failed_in.last() != Some(&turn) {
                push_latest(&mut test.failed_in, MAX_FAILED_IN, turn);
            }
        }
    }

    /// Something was decided. To go on is measured, and told only if it speaks.
    pub fn decided(&mut self, place: Place, decision: &Decision) {
        self.turn.score = Some(decision.score);
        self.turn.signals = Some(decision.signals.into());
        if decision.action == Action::Continue {
            return;
        }
        push(&mut self.turn.decisions, MAX_OF_ONE, decided(place, decision));
    }

    /// A text was put into the conversation.
    pub fn said(&mut self, place: Place, text: &str, template: &str) {
        let said = Said {
            seq: place.seq,
            at_ms: place.at_ms,
            text: beginning(text, MAX_SAID),
            template: beginning(template, MAX_NAME),
        };
        push(&mut self.turn.said, MAX_OF_ONE, said);
    }

    /// Something else happened; who did it, if anybody.
    pub fn note(&mut self, place: Place, kind: &str, text: &str, who: Option<&str>) {
        let note = Note {
            seq: place.seq,
            at_ms: place.at_ms,
            kind: kind.to_owned(),
            text: beginning(text, MAX_TEXT),
            who: who.map(|who| beginning(who, MAX_NAME)),
        };
        let notes = if self.has_turn { &mut self.turn.notes } else { &mut self.made.before };
        push(notes, MAX_OF_ONE, note);
    }

    /// The check ran.
    pub fn check(&mut self, check: CheckRun, report: Option<&TestReport>, names: &TestNames) {
        if let Some(report) = report {
            self.see_tests(report, names);
        }
        push(&mut self.turn.checks, MAX_CHECKS, check);
    }

    /// The agent says how far it has come.
    pub const fn claims(&mut self, claimed: Claimed) {
        self.turn.claimed = Some(claimed);
    }

    /// An attempt was given up and a new one begins.
    pub fn started_over(&mut self, attempt: Attempt) {
        self.attempt = attempt.number.max(self.attempt).saturating_add(1);
        push(&mut self.made.whole.attempts, MAX_ATTEMPTS, attempt);
    }

    /// A letter was written.
    pub fn posted(&mut self, letter: Letter) {
        push_latest(&mut self.made.whole.mail, MAX_SEEN, letter);
    }

    /// These letters to an agent were read.
    pub fn read(&mut self, agent: &str, ids: &[u64]) {
        let read = |letter: &&mut Letter| letter.to == agent && ids.contains(&letter.id);
        self.made.whole.mail.iter_mut().filter(read).for_each(|letter| letter.read = true);
    }

    /// A person marked what stands in this entry.
    pub fn marked(&mut self, seq: u64, mark: Mark, note: Option<&str>) {
        if self.marks.len() < MAX_MARKS || self.marks.contains_key(&seq) {
            let note = note.map(|note| beginning(note, MAX_TEXT));
            self.marks.insert(seq, (mark, note));
        }
    }

    /// How it stands or ended; `None`: it goes on.
    pub fn ended(&mut self, ending: Option<Concluded>) {
        self.made.ending = ending.map(|it| Concluded {
            answer: beginning(&it.answer, MAX_SAID),
            why: beginning(&it.why, MAX_TEXT),
            ..it
        });
    }

    /// Something could not be read.
    pub fn problem(&mut self, problem: &str) {
        push(&mut self.made.problems, MAX_PROBLEMS, beginning(problem, MAX_TEXT));
    }

    /// How the engine sees the session now.
    pub fn stands(&mut self, engine: &Engine) {
        let (state, policy) = (engine.state(), engine.policy());
        policy.name.clone_into(&mut self.made.policy);
        let whole = &mut self.made.whole;
        whole.thresholds = thresholds(policy);
        let budget = |(name, used, allowed): (&str, u64, Option<u64>)| Budget {
            name: name.to_owned(),
            used,
            allowed,
        };
        whole.budgets = engine.budgets().into_iter().map(budget).collect();
        whole.standing = Some(Standing {
            attempt: state.attempt,
            stage: word(&state.progress.stage),
            task_type: word(&state.task_type),
            complexity: word(&state.complexity),
            approaches: state.approaches.clone(),
            files_read: state.progress.unique_files_read,
            files_modified: state.progress.files_modified,
            revisits: state.progress.file_revisits,
            context_tokens: state.used.context_tokens,
            context_window: state.context_window(policy),
            ..Standing::default()
        });
    }

    /// What a person has changed of how it is driven, to be filled in; `None` before it
    /// [stands](Self::stands).
    pub const fn standing(&mut self) -> Option<&mut Standing> {
        self.made.whole.standing.as_mut()
    }

    /// The controls it takes, or why it takes none.
    pub fn takes(&mut self, controls: &[&str], why_none: Option<&str>) {
        let whole = &mut self.made.whole;
        whole.controls = controls.iter().map(|&name| name.to_owned()).collect();
        whole.no_controls = why_none.map(str::to_owned);
    }

    /// The timeline of what was told.
    #[must_use]
    pub fn finish(mut self) -> Timeline {
        self.close_turn();
        if self.after_turn > 0 {
            self.made.before.clear();
        }
        let decisions = self.made.turns.iter_mut().flat_map(|turn| &mut turn.decisions);
        for decided in decisions {
            if let Some((mark, note)) = decided.seq.and_then(|seq| self.marks.get(&seq)) {
                decided.mark = *mark;
                decided.mark_note.clone_from(note);
            }
        }
        let last = self.made.turns.last().map(|turn| turn.number);
        self.made.next = last.filter(|_| self.is_full);
        self.made
    }
}

/// A decision as it is shown.
fn decided(place: Place, decision: &Decision) -> Decided {
    let put = decision.intervention.as_ref().map(|words| Put {
        text: beginning(&words.text, MAX_SAID),
        template: words.template.clone(),
        variant: words.variant,
    });
    let numbers = serde_json::to_value(&decision.reason).ok();
    let numbers = numbers.as_ref().and_then(serde_json::Value::as_object);
    let numbers = numbers.into_iter().flatten();
    Decided {
        seq: place.seq,
        at_ms: place.at_ms,
        turn: decision.turn,
        action: decision.action.name().to_owned(),
        reason: decision.reason.name().to_owned(),
        why: decision.reason.to_string(),
        numbers: numbers.filter_map(|(name, it)| Some((name.clone(), it.as_f64()?))).collect(),
        evidence: Evidence {
            turns: decision.evidence.turns.clone(),
            excerpt: decision.evidence.excerpt.clone(),
        },
        score: decision.score,
        shadow: decision.shadow,
        put,
        ..Decided::default()
    }
}

/// The word that stands for a value in files.
fn word(value: &impl serde::Serialize) -> String {
    let value = serde_json::to_value(value).unwrap_or_default();
    value.as_str().unwrap_or_default().to_owned()
}

/// Adds up what calls of models used; a price that is not known adds nothing.
fn add(sum: &mut Spent, spent: &Spent) {
    let both = |a: Option<u64>, b: Option<u64>| match (a, b) {
        (None, None) => None,
        (a, b) => Some(a.unwrap_or_default().saturating_add(b.unwrap_or_default())),
    };
    sum.input_tokens = sum.input_tokens.saturating_add(spent.input_tokens);
    sum.output_tokens = sum.output_tokens.saturating_add(spent.output_tokens);
    sum.cached_tokens = both(sum.cached_tokens, spent.cached_tokens);
    sum.cost_nanodollars = both(sum.cost_nanodollars, spent.cost_nanodollars);
}
