//! What is to be done next.

use steersman_engine::{Action, Decision, Reason};
use steersman_wire::ToolChoice;

use super::conversation::INTERRUPTED;
use super::{CallState, Moment, OpenCall, Phase, Session};
use crate::control::{Control, HandOver};
use crate::ending::Ending;
use crate::entry::{CheckCause, Entry, ToolFinished};

/// What is to be done next.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Append these entries; nothing has to be done for them.
    Record(Vec<Entry>),
    /// The turn is the user's.
    AwaitUser,
    /// Keep a restorable state of the workspace.
    Checkpoint {
        /// Why.
        label: &'static str,
    },
    /// Call the model.
    CallModel(ToolChoice),
    /// Run these tools side by side.
    RunTools(Vec<ToolRun>),
    /// Run the check; for a call of `run_check` its id.
    RunCheck(CheckCause, Option<String>),
    /// Let another agent take over.
    HandOver {
        /// The call that asks for it.
        call_id: String,
        /// Who, and what it is told.
        asked: HandOver,
    },
    /// Wait until then, in milliseconds since the Unix epoch, and call the model again.
    Wait {
        /// Until when.
        until_ms: u64,
        /// Whether the wait stands in the journal.
        begun: bool,
    },
    /// Restore the workspace and begin a new attempt.
    StartOver {
        /// Why.
        why: String,
        /// What was tried, in the agent's words; may be empty.
        tried: String,
        /// What is to be tried next, in the agent's words; may be empty.
        next: String,
    },
    /// End the run.
    Close {
        /// How.
        ending: Ending,
        /// Why, as a sentence.
        why: String,
        /// The number of a better state of the workspace to go back to first.
        restore: Option<u32>,
    },
    /// Nothing is left to do.
    Done,
}

/// A tool call to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolRun {
    /// The id of the call.
    pub call_id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments: a JSON object, or what the model wrote if that is none.
    pub arguments: String,
    /// Whether it only looks.
    pub harmless: bool,
}

impl Session {
    /// What is to be done next. Pure: asking twice gives the same answer.
    #[must_use]
    pub fn next(&self) -> Step {
        match &self.phase {
            Phase::AwaitingUser => Step::AwaitUser,
            Phase::Call => self.next_call(),
            Phase::Tools => self.next_tool(),
            Phase::TurnOver => Step::Record(vec![Entry::TurnEnded]),
            Phase::Judged { decision, moment } => Step::Record(self.record(decision, *moment)),
            Phase::Check(cause) => Step::RunCheck(*cause, None),
            Phase::Waiting { until_ms, begun } => Step::Wait { until_ms: *until_ms, begun: *begun },
            Phase::Restoring { why } => self.next_restore(why),
            Phase::Closing { ending, .. } if self.closing_check_due(*ending) => {
                Step::RunCheck(CheckCause::Closing, None)
            }
            Phase::Closing { ending, why } => {
                // Who asks goes on from where it is.
                let restore = self.better_checkpoint().filter(|_| *ending != Ending::Waiting);
                let restore = restore.filter(|best| self.outlook.best_restored != Some(*best));
                if restore.is_some() && self.left.is_none() {
                    return Step::Checkpoint { label: "end of the run" };
                }
                Step::Close { ending: *ending, why: self.closing_words(*ending, why), restore }
            }
            Phase::Ended => Step::Done,
        }
    }

    /// Why the run ends; of a forced answer also what the check makes of it.
    fn closing_words(&self, ending: Ending, why: &str) -> String {
        match &self.last_check {
            Some(check) if ending == Ending::Capped => {
                let word = if check.passed { "passes" } else { "fails" };
                format!("{why}; the check {word}")
            }
            _ => why.to_owned(),
        }
    }

    fn next_call(&self) -> Step {
        if self.opened.workspace.is_some() {
            if self.base.is_none() && !self.unkept {
                return Step::Checkpoint { label: "before the run" };
            }
            if let Some(label) = self.checkpoint_due {
                return Step::Checkpoint { label };
            }
        }
        if self.mail.unread(&self.agent.name) > self.mail_told
            && let Some(notice) = self.mail.notice(&self.agent.name)
        {
            return Step::Record(vec![said(MAIL, notice)]);
        }
        if let Some(pruned) = self.pruning_due() {
            return Step::Record(vec![pruned]);
        }
        if !self.helm.to_say.is_empty() {
            let words = self.helm.to_say.iter();
            return Step::Record(words.map(|(name, text)| said(name, *text)).collect());
        }
        Step::CallModel(if self.forced { ToolChoice::None } else { ToolChoice::Auto })
    }

    fn next_restore(&self, why: &str) -> Step {
        match self.may_start_over() {
            Err(why) => Step::Record(vec![Entry::StartOverRefused { why }]),
            Ok(()) if self.left.is_none() => Step::Checkpoint { label: "end of the attempt" },
            Ok(()) => {
                let asked = self.restarting.clone().unwrap_or_default();
                let why = if asked.reason.is_empty() { why.to_owned() } else { asked.reason };
                Step::StartOver { why, tried: asked.tried, next: asked.next }
            }
        }
    }

    fn next_tool(&self) -> Step {
        let interrupted = self.calls.iter().find(|call| call.state == CallState::Interrupted);
        if let Some(call) = interrupted {
            return finished(ToolFinished { interrupted: true, ..result(call, INTERRUPTED, true) });
        }
        if let Some(label) = self.checkpoint_due.filter(|_| self.opened.workspace.is_some()) {
            // The next call may change what was measured.
            return Step::Checkpoint { label };
        }
        let mut pending = self.calls.iter().filter(|call| call.state == CallState::Pending);
        let Some(first) = pending.next() else {
            // Started by this very process and not yet returned: the driver waits for them.
            return Step::RunTools(Vec::new());
        };
        if self.forced {
            return finished(result(first, WITHDRAWN, true));
        }
        if let Some(control) = &first.control {
            return self.answer_control(first, control);
        }
        if !first.offered {
            return finished(result(first, &self.no_such_tool(&first.name), true));
        }
        let mut runs = vec![run_of(first)];
        if first.is_harmless() {
            let alike =
                |call: &&OpenCall| call.is_harmless() && call.control.is_none() && call.offered;
            runs.extend(pending.take_while(alike).map(run_of));
        }
        Step::RunTools(runs)
    }

    fn answer_control(&self, call: &OpenCall, control: &Control) -> Step {
        let alone = self.calls.len() == 1;
        match control {
            Control::Malformed(why) => {
                let text = format!("The arguments of {} are not valid: {why}", call.name);
                finished(result(call, &text, true))
            }
            Control::Report(_) => finished(result(call, "Noted.", false)),
            Control::Finish(_) | Control::AskUser(_) if !crate::control::yields(&self.calls) => {
                finished(result(call, ALONE, true))
            }
            Control::Finish(_) => finished(result(call, "Received.", false)),
            Control::AskUser(_) => finished(result(call, ASKED, false)),
            Control::RunCheck if self.opened.check.is_none() => {
                finished(result(call, "No check is configured for this run.", true))
            }
            Control::RunCheck => Step::RunCheck(CheckCause::Asked, Some(call.id.clone())),
            Control::StartOver(_) => match self.may_start_over() {
                Ok(()) => finished(result(call, "The workspace will be restored.", false)),
                Err(why) => finished(result(call, &format!("Not possible: {why}."), true)),
            },
            Control::HandOver(_) if !alone => finished(result(call, ALONE, true)),
            Control::HandOver(asked) => {
                Step::HandOver { call_id: call.id.clone(), asked: asked.clone() }
            }
            Control::SendMail(_) | Control::ReplyMail(_) | Control::ReadMail => {
                self.answer_mail(call, control)
            }
        }
    }

    fn no_such_tool(&self, name: &str) -> String {
        let known: Vec<&str> = self.agent.tools.iter().map(|tool| tool.name.as_str()).collect();
        format!("There is no tool {name:?}. There are: {}.", known.join(", "))
    }

    /// A decision and what it says to the model, as entries.
    fn record(&self, decision: &Decision, moment: Moment) -> Vec<Entry> {
        let decided = Entry::Decided { decision: Box::new(decision.clone()) };
        let speaks = matches!(
            decision.action,
            Action::Nudge | Action::NudgeSynthesis | Action::ReEvaluate | Action::ForceSynthesis
        );
        let acts = !decision.shadow;
        let words = match decision.intervention.clone().filter(|_| speaks && acts) {
            Some(words) => {
                let (text, template, variant) = (words.text, words.template, words.variant);
                Some(Entry::Said { text, template, variant })
            }
            None => self.remark(decision, moment),
        };
        std::iter::once(decided).chain(words).collect()
    }

    /// What an agent is told that goes on undisturbed, where it would not know how to.
    fn remark(&self, decision: &Decision, moment: Moment) -> Option<Entry> {
        if decision.action != Action::Continue && !decision.shadow {
            return None;
        }
        let yielded = self.calls.is_empty() || crate::control::yields(&self.calls);
        let goes_on = decision.reason == Reason::SignalledContinue && !decision.run_check;
        let passes = self.last_check.as_ref().is_some_and(|check| check.passed);
        match moment {
            Moment::Turn if goes_on && yielded => Some(said("go_on", "Go on.")),
            Moment::Check(CheckCause::Due) if passes => Some(said("check_passes", CHECK_PASSES)),
            _ => None,
        }
    }

    /// The result of a call that the runtime answers itself, as entries.
    pub(super) fn answered(call: &OpenCall, content: &str, is_error: bool) -> Entry {
        Entry::ToolFinished(Box::new(result(call, content, is_error)))
    }
}

/// The name of what is said of unread mail.
pub(super) const MAIL: &str = "unread_mail";

const CHECK_PASSES: &str = "The check passes as things stand. If nothing is left to do, finish.";
const WITHDRAWN: &str = "Tools are withdrawn. Give the final answer now.";
const ALONE: &str = "Not done: this must be the only call of a reply.";
const ASKED: &str = "The question was put to the user. The answer follows.";

fn result(call: &OpenCall, content: &str, is_error: bool) -> ToolFinished {
    ToolFinished {
        call_id: call.id.clone(),
        content: content.to_owned(),
        is_error: Some(is_error),
        ..ToolFinished::default()
    }
}

fn finished(result: ToolFinished) -> Step {
    Step::Record(vec![Entry::ToolFinished(Box::new(result))])
}

fn run_of(call: &OpenCall) -> ToolRun {
    ToolRun {
        call_id: call.id.clone(),
        name: call.name.clone(),
        arguments: call.arguments.clone(),
        harmless: call.is_harmless(),
    }
}

/// What Steersman says of its own accord, under a name as the texts of decisions have.
fn said(template: &str, text: impl Into<String>) -> Entry {
    Entry::Said { text: text.into(), template: template.to_owned(), variant: 0 }
}
