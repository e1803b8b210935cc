//! A session: the fold of its journal, and the next step.
//!
//! Nothing here does IO, reads a clock or draws a random number. [`Session::fold`] takes in one
//! entry, [`Session::next`] says what is to be done. A driver that crashes reads the journal again,
//! folds it, and asks for the next step: going on and beginning are the same code.

mod after;
mod calls;
mod conversation;
mod helm;
mod ledger;
mod letters;
mod next;
mod outlook;
mod prune;
mod side;
mod view;

use std::sync::Arc;

use steersman_engine::{
    Action, CheckReport, Decision, Engine, Event, RunInfo, Timestamp, ToolResult, UserMessage,
};
use steersman_prompt::Mailbox;
use steersman_wire::Message;

pub use calls::{CallState, OpenCall, make_ids_unique};
pub use next::{Step, ToolRun};

pub(crate) use conversation::INTERRUPTED;
pub use outlook::Outlook;

use self::ledger::Standing;
use crate::control::{self, Control};
use crate::ending::Ending;
use crate::entry::{
    AgentSetup, Attempt, CheckCause, CheckFinished, Checkpointed, Ended, Entry, Failed, Opened,
    Replied, ToolFinished,
};
use crate::sides::Sides;

/// Bytes of a server's message that are shown when a run ends by it.
const FAILURE_SHOWN: usize = 300;

/// Where a session stands.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Phase {
    /// The turn is the user's.
    AwaitingUser,
    /// The model is to be called, or was and did not answer.
    Call,
    /// Calls of the reply are open.
    Tools,
    /// The turn has to be ended.
    TurnOver,
    /// A decision is to be recorded.
    Judged { decision: Box<Decision>, moment: Moment },
    /// The check is to run.
    Check(CheckCause),
    /// A retry is due at this moment.
    Waiting { until_ms: u64, begun: bool },
    /// The workspace is to be restored.
    Restoring { why: String },
    /// The run is over; what is left is to say so.
    Closing { ending: Ending, why: String },
    /// The run has ended.
    Ended,
}

/// What a decision was made upon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    /// A turn ended.
    Turn,
    /// A model call failed.
    Failure,
    /// A check was reported.
    Check(CheckCause),
    /// A person asked for the stop, or time passed.
    Interrupt,
}

/// A session as its journal tells it.
#[derive(Clone, Debug)]
pub struct Session {
    pub(crate) opened: Opened,
    pub(crate) engine: Engine,
    pub(crate) phase: Phase,
    /// Where the session goes on after an interruption that changed nothing.
    pub(crate) interrupted: Option<Phase>,
    pub(crate) conversation: Arc<Vec<Message>>,
    /// Messages that a start-over keeps: the task.
    pub(crate) kept_messages: usize,
    pub(crate) calls: Vec<OpenCall>,
    /// Tools are withdrawn: the answer was forced.
    pub(crate) forced: bool,
    /// The check passed and nothing was changed since.
    pub(crate) last_check: Option<CheckFinished>,
    pub(crate) checkpoints: Vec<Checkpointed>,
    /// A checkpoint should be taken before the next model call, and why.
    pub(crate) checkpoint_due: Option<&'static str>,
    pub(crate) best: Option<ledger::Best>,
    pub(crate) attempts: Vec<Attempt>,
    pub(crate) mail: Mailbox,
    pub(crate) agent: Arc<AgentSetup>,
    pub(crate) outlook: Outlook,
    pub(crate) ended: Option<Ended>,
    /// Entries folded; the sequence number of the last one.
    pub(crate) seq: u64,
    /// Decisions that were recorded otherwise than they come out now.
    pub(crate) differing: u32,
    /// The agent asked for another attempt in this turn.
    pub(crate) restarting: Option<control::StartOver>,
    /// What was decided inside the turn, to be weighed when it ends.
    pub(crate) held: Option<Decision>,
    /// What the agent that takes over is told, after the results of the turn.
    pub(crate) handed: Option<String>,
    /// The state that is about to be left for another one, once it is kept.
    pub(crate) left: Option<Checkpointed>,
    /// The number of the checkpoint that a start-over goes back to.
    pub(crate) base: Option<u32>,
    /// The workspace is between two states.
    pub(crate) restoring: bool,
    /// What the user said while it was, to be heard when it is not any more.
    pub(crate) unheard: Vec<String>,
    /// What the user said since the task, for the next attempt.
    pub(crate) spoken: Vec<String>,
    /// Milliseconds in which nobody drove the session.
    pub(crate) away_ms: u64,
    /// When the last entry was written.
    pub(crate) last_ms: u64,
    /// The state before the run could not be kept: nothing can be restored.
    pub(crate) unkept: bool,
    /// Model calls in a row that failed.
    pub(crate) failures: u32,
    /// What the server said of the last one, shortened.
    pub(crate) last_failure: String,
    /// The name of what was said to the agent since its last reply.
    pub(crate) heard: Option<String>,
    /// Unread mail that the agent was told of.
    pub(crate) mail_told: usize,
    /// What people want of the session.
    pub(crate) helm: helm::Helm,
    /// The attempts side by side that this session is the group of.
    pub(crate) sides: Option<Sides>,
}

/// A journal that no session can be folded from.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FoldError {
    /// The first entry is not the one that opens a session.
    #[error("the journal does not begin with the entry `opened`")]
    NotOpened,
    /// A second entry opens the session.
    #[error("entry {0} opens the session a second time")]
    OpenedTwice(u64),
    /// Written by a later version of the program.
    #[error("the journal has version {found}; this program reads up to {known}")]
    Newer {
        /// The version found.
        found: u32,
        /// The latest one that is known.
        known: u32,
    },
}

impl Session {
    /// The session that an opening entry begins.
    ///
    /// # Errors
    /// The entry is another one, or of a later version.
    pub fn open(id: &str, entry: Entry) -> Result<Self, FoldError> {
        let Entry::Opened(opened) = entry else { return Err(FoldError::NotOpened) };
        let (found, known) = (opened.version, crate::entry::VERSION);
        if found > known {
            return Err(FoldError::Newer { found, known });
        }
        let info = RunInfo {
            id: id.to_owned(),
            agent: opened.agent.name.clone(),
            model: opened.agent.model.clone(),
            context_window: opened.agent.context_window,
            can_start_over: opened.workspace.is_some(),
            has_check: opened.check.is_some(),
            ..RunInfo::default()
        };
        let policy = Arc::new((*opened.policy).clone());
        Ok(Self {
            engine: Engine::new(policy, info),
            agent: Arc::new(opened.agent.clone()),
            opened: *opened,
            phase: Phase::AwaitingUser,
            interrupted: None,
            conversation: Arc::default(),
            kept_messages: 0,
            calls: Vec::new(),
            forced: false,
            last_check: None,
            checkpoints: Vec::new(),
            checkpoint_due: None,
            best: None,
            attempts: Vec::new(),
            mail: Mailbox::default(),
            outlook: Outlook::default(),
            ended: None,
            seq: 1,
            differing: 0,
            restarting: None,
            held: None,
            handed: None,
            left: None,
            base: None,
            restoring: false,
            unheard: Vec::new(),
            spoken: Vec::new(),
            away_ms: 0,
            last_ms: 0,
            unkept: false,
            failures: 0,
            last_failure: String::new(),
            heard: None,
            mail_told: 0,
            helm: helm::Helm::default(),
            sides: None,
        })
    }

    /// Takes in the next entry of the journal.
    ///
    /// # Errors
    /// The entry cannot follow: it opens the session once more.
    pub fn fold(&mut self, at_ms: u64, entry: &Entry) -> Result<(), FoldError> {
        self.seq += 1;
        let left_for_ms = at_ms.saturating_sub(self.last_ms);
        self.last_ms = at_ms;
        let waits = matches!(entry, Entry::Spoke { .. }) && self.phase == Phase::Ended;
        let rests = self.helm.paused.is_some()
            && matches!(entry, Entry::Controlled { .. } | Entry::StopRequested { .. });
        if waits || rests || matches!(entry, Entry::TakenUp(_)) {
            // Nobody worked: for the engine no time passes.
            self.away_ms = self.away_ms.saturating_add(left_for_ms);
        }
        let at = self.engine_time(at_ms);
        match entry {
            Entry::Opened(_) => return Err(FoldError::OpenedTwice(self.seq)),
            Entry::TakenUp(_) => calls::mark_interrupted(&mut self.calls),
            Entry::CallStarted | Entry::CheckStarted { .. } => {}
            Entry::RestoreStarted { .. } => self.restoring = true,
            Entry::Spoke { text } => self.hear(at, text),
            Entry::Replied(replied) => self.take_reply(at, replied),
            Entry::CallFailed(failed) => self.take_failure(at, failed),
            Entry::ToolStarted { call_id } => calls::start(&mut self.calls, call_id),
            Entry::ToolFinished(result) => self.take_result(at, result),
            Entry::TurnEnded => self.end_turn(at),
            Entry::CheckFinished(check) => self.take_check(at, check),
            Entry::Decided { decision } => self.carry_out(at, decision),
            Entry::Said { text, template, .. } => {
                if template == next::MAIL {
                    self.mail_told = self.mail.unread(&self.agent.name);
                }
                self.helm.to_say.retain(|(waiting, _)| waiting != template);
                self.heard = Some(template.clone());
                self.say(text.clone());
            }
            Entry::Checkpointed(checkpoint) => self.take_checkpoint(checkpoint),
            Entry::StartedOver(attempt) => self.start_over(at, attempt.as_ref().clone()),
            Entry::StartOverRefused { why } => self.refuse_start_over(why),
            Entry::Pruned { keep_from, tokens_after } => self.prune(at, *keep_from, *tokens_after),
            Entry::WaitStarted { until_ms } => {
                self.phase = Phase::Waiting { until_ms: *until_ms, begun: true };
            }
            Entry::WaitEnded => self.phase = Phase::Call,
            Entry::StopRequested { .. } => self.interrupt(at, &Event::StopRequested),
            Entry::TimePassed => self.interrupt(at, &Event::TimePassed),
            Entry::Controlled { who, control } => self.take_control(who, control),
            Entry::Marked { .. } => {}
            Entry::Mailed { mail } => {
                self.mail.fold(mail);
                self.mail_told = self.mail_told.min(self.mail.unread(&self.agent.name));
            }
            Entry::HandedOver(handed) => self.hand_over(handed),
            Entry::CheckpointFailed { why } => self.miss_checkpoint(why),
            Entry::BestRestored { number } => self.take_best(*number),
            Entry::BestLost { number, .. } => {
                self.outlook.best_restored = Some(*number);
                self.restored();
            }
            Entry::Ended(ended) => {
                self.outlook.ended(ended);
                self.phase = Phase::Ended;
                self.ended = Some(ended.as_ref().clone());
            }
            Entry::SidesBegun(_)
            | Entry::SideEnded(_)
            | Entry::SideChosen { .. }
            | Entry::SideApplied { .. }
            | Entry::SideNotApplied { .. } => self.take_side(entry),
        }
        Ok(())
    }

    fn take_failure(&mut self, at: Timestamp, failed: &Failed) {
        self.failures = self.failures.saturating_add(1);
        let message = failed.message.lines().next().unwrap_or_default();
        let end = message.floor_char_boundary(FAILURE_SHOWN);
        message[..end].clone_into(&mut self.last_failure);
        let decision = self.engine.handle(at, &Event::CallFailed(failed.event()));
        self.judged(decision, Moment::Failure);
    }

    fn hear(&mut self, at: Timestamp, text: &str) {
        let again = self.phase == Phase::Ended;
        self.engine.handle(at, &Event::UserSpoke(UserMessage { text: text.into() }));
        if self.restoring {
            // The workspace is between two states: it comes to one of them first.
            self.unheard.push(text.to_owned());
            return;
        }
        self.close_open_calls();
        self.say(text.to_owned());
        if self.kept_messages == 0 {
            self.outlook.task = text.to_owned();
        }
        if self.kept_messages == 0 || again {
            // From here on this is what a start-over goes back to.
            self.kept_messages = self.conversation.len();
            self.spoken.clear();
            self.base = None;
            self.best = None;
            self.checkpoint_due = None;
        } else {
            self.spoken.push(text.to_owned());
        }
        self.go_on();
    }

    /// The run goes on after a word of the user.
    fn go_on(&mut self) {
        self.forced = false;
        self.outlook.forced_because = None;
        self.outlook.best_restored = None;
        self.ended = None;
        self.outlook.ending = None;
        self.phase = Phase::Call;
    }

    fn take_reply(&mut self, at: Timestamp, replied: &Replied) {
        self.calls = calls::read(&replied.message, &self.agent.tools);
        let event = control::event(replied, &self.calls);
        self.engine.handle(at, &Event::Replied(event));
        self.outlook.replied(replied, &self.calls);
        self.restarting = None;
        self.held = None;
        self.failures = 0;
        self.last_failure.clear();
        self.heard = None;
        self.left = None;
        Arc::make_mut(&mut self.conversation).push(replied.message.clone());
        self.phase = if self.calls.is_empty() { Phase::TurnOver } else { Phase::Tools };
    }

    fn take_result(&mut self, at: Timestamp, result: &ToolFinished) {
        let Some(call) = calls::finish(&mut self.calls, result) else { return };
        let changes = call.may_change();
        if let Some(Control::StartOver(asked)) = &call.control
            && result.is_error != Some(true)
        {
            self.restarting = Some(asked.clone());
        }
        if !control::yields(&self.calls) {
            let event = ToolResult {
                call_id: result.call_id.as_str().into(),
                content: result.content.as_str().into(),
                is_error: result.is_error.or(result.interrupted.then_some(true)),
                exit_code: result.exit_code,
                full_len: result.full_len,
                tests: result.tests.clone(),
            };
            self.engine.handle(at, &Event::ToolReturned(event));
        }
        if changes {
            self.last_check = None;
            self.stand(Standing::Unknown);
        }
        if self.calls.iter().all(|call| matches!(call.state, CallState::Finished(..))) {
            self.phase = Phase::TurnOver;
        }
    }

    fn end_turn(&mut self, at: Timestamp) {
        self.put_results();
        let mut decision = self.engine.handle(at, &Event::TurnEnded);
        if let Some(held) = self.held.take().filter(|held| held.action > decision.action) {
            decision = held;
        }
        self.judged(decision, Moment::Turn);
    }

    fn take_check(&mut self, at: Timestamp, check: &CheckFinished) {
        self.outlook.checked(check);
        self.measure(check);
        self.last_check = Some(check.clone());
        if check.cause == CheckCause::Closing {
            return;
        }
        let report = CheckReport {
            name: self.opened.check.as_deref().unwrap_or_default().into(),
            passed: check.passed,
            tests: check.tests.clone(),
            excerpt: check.excerpt.as_str().into(),
        };
        let decision = self.engine.handle(at, &Event::CheckReported(report));
        let cause = check.cause;
        if cause == CheckCause::Asked {
            // The turn is not over: what the check says is decided upon with it.
            self.held = Some(decision);
        } else {
            self.judged(decision, Moment::Check(cause));
        }
    }

    fn interrupt(&mut self, at: Timestamp, event: &Event<'_>) {
        let decision = self.engine.handle(at, event);
        // A run that closes keeps its ending.
        let over = matches!(self.phase, Phase::Ended | Phase::AwaitingUser | Phase::Closing { .. });
        if over {
            return;
        }
        if decision.action == Action::Continue {
            return;
        }
        self.interrupted = Some(std::mem::replace(&mut self.phase, Phase::Ended));
        self.judged(decision, Moment::Interrupt);
    }

    fn judged(&mut self, decision: Decision, moment: Moment) {
        let acts = !self.helm.is_left_alone || after::is_no_advice(&decision);
        let decision = decision.in_shadow_unless(acts);
        self.outlook.judged(&decision, self.engine.state());
        self.phase = Phase::Judged { decision: Box::new(decision), moment };
    }

    fn take_checkpoint(&mut self, checkpoint: &Checkpointed) {
        if self.checkpoint_due.take() == Some(ledger::BEST)
            && let Some(best) = &mut self.best
        {
            best.checkpoint = Some(checkpoint.number);
        }
        if matches!(self.phase, Phase::Restoring { .. } | Phase::Closing { .. }) {
            self.left = Some(checkpoint.clone());
        } else if self.base.is_none() {
            self.base = Some(checkpoint.number);
        }
        self.checkpoints.push(checkpoint.clone());
    }

    /// Without the first state nothing can be restored; without a later one the best is not known.
    fn miss_checkpoint(&mut self, why: &str) {
        match &self.phase {
            Phase::Restoring { .. } => return self.refuse_start_over(why),
            // What cannot be kept is not left: the workspace stays as it is.
            Phase::Closing { .. } => return self.best = None,
            _ => {}
        }
        if self.base.is_none() {
            self.unkept = true;
        }
        if self.checkpoint_due.take() == Some(ledger::BEST) {
            self.best = None;
        }
    }

    /// Appends a user message to the conversation.
    pub(crate) fn say(&mut self, text: String) {
        Arc::make_mut(&mut self.conversation).push(Message::user(text));
    }
}
