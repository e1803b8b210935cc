//! What follows from a decision.

use std::sync::Arc;

use steersman_engine::{Action, Decision, Reason, StopReason, Timestamp};
use steersman_wire::Role;

use super::{Moment, Phase, Session};
use crate::control::{self, Control};
use crate::ending::Ending;
use crate::entry::CheckCause;

/// Whether a decision is carried out in shadow mode, too: a person's stop and a retry are no
/// advice to hold back.
pub(super) fn is_no_advice(decision: &Decision) -> bool {
    decision.action == Action::Retry || decision.reason == Reason::StopRequested
}

impl Session {
    /// A decision was recorded: it holds, also where this program would decide otherwise.
    pub(super) fn carry_out(&mut self, at: Timestamp, recorded: &Decision) {
        let Phase::Judged { decision, moment } = &self.phase else { return };
        let moment = *moment;
        if **decision != *recorded {
            self.differing += 1;
        }
        let acts = !recorded.shadow || is_no_advice(recorded);
        let action = if acts { recorded.action } else { Action::Continue };
        let why = self.why(&recorded.reason);
        self.phase = match action {
            Action::Continue => self.leave_alone(moment, recorded),
            Action::Nudge | Action::NudgeSynthesis | Action::ReEvaluate => self.go_on_after_word(),
            Action::Retry => self.wait_for_retry(at, moment, recorded),
            Action::ForceSynthesis => {
                self.forced = true;
                self.restarting = None;
                Phase::Call
            }
            Action::StartOver => Phase::Restoring { why },
            Action::Stop => Phase::Closing { ending: ending_of(&recorded.reason), why },
        };
    }

    /// A reason as a sentence; of a failed call also what the server said.
    fn why(&self, reason: &Reason) -> String {
        match reason {
            Reason::CallFailed { .. } if !self.last_failure.is_empty() => {
                format!("{reason}: {}", self.last_failure)
            }
            _ => reason.to_string(),
        }
    }

    /// After a word to the agent: it goes on, unless it asked for another attempt itself.
    fn go_on_after_word(&mut self) -> Phase {
        if let Some(why) = self.helm.start_over.take() {
            return Phase::Restoring { why };
        }
        match &self.restarting {
            Some(asked) => Phase::Restoring { why: asked.reason.clone() },
            None => Phase::Call,
        }
    }

    fn wait_for_retry(&mut self, at: Timestamp, moment: Moment, decision: &Decision) -> Phase {
        let failed_reply = moment == Moment::Turn
            && self.conversation.last().is_some_and(|last| last.role == Role::Assistant);
        if failed_reply {
            Arc::make_mut(&mut self.conversation).pop();
        }
        let now_ms = at.0.saturating_add(self.away_ms);
        let until_ms = now_ms.saturating_add(decision.delay_ms.unwrap_or(0));
        Phase::Waiting { until_ms, begun: false }
    }

    fn leave_alone(&mut self, moment: Moment, decision: &Decision) -> Phase {
        let why = || self.why(&decision.reason);
        match moment {
            Moment::Turn => self.after_turn(decision),
            Moment::Check(CheckCause::Claim) => {
                let passed = self.last_check.as_ref().is_some_and(|check| check.passed);
                let ending = if passed { Ending::Complete } else { Ending::Refuted };
                self.close(ending, if passed { PROVED.to_owned() } else { REFUTED.to_owned() })
            }
            Moment::Check(_) => self.go_on_after_word(),
            Moment::Failure => Phase::Closing { ending: Ending::Failed, why: why() },
            Moment::Interrupt => self.interrupted.take().unwrap_or(Phase::Call),
        }
    }

    fn after_turn(&mut self, decision: &Decision) -> Phase {
        let yielded = self.calls.is_empty() || control::yields(&self.calls);
        // A forced answer is no claim: what it is worth is looked at when the run closes.
        if decision.run_check && !(self.forced && yielded) {
            return Phase::Check(if yielded { CheckCause::Claim } else { CheckCause::Due });
        }
        if !yielded || self.helm.start_over.is_some() {
            return self.go_on_after_word();
        }
        let asks = self.calls.iter().any(|call| matches!(call.control, Some(Control::AskUser(_))));
        match decision.reason {
            _ if asks => Phase::Closing { ending: Ending::Waiting, why: ASKS.to_owned() },
            Reason::AwaitingUser => {
                Phase::Closing { ending: Ending::Waiting, why: ASKS.to_owned() }
            }
            Reason::SignalledContinue => Phase::Call,
            _ => self.close_claim(),
        }
    }

    /// The agent says that it is done, and nothing speaks against taking its word.
    fn close_claim(&self) -> Phase {
        match &self.last_check {
            Some(check) if check.passed => self.close(Ending::Complete, PROVED.to_owned()),
            Some(_) => self.close(Ending::Refuted, REFUTED.to_owned()),
            None if self.opened.check.is_some() && !self.forced => Phase::Check(CheckCause::Claim),
            None => self.close(Ending::Claimed, CLAIMED.to_owned()),
        }
    }

    /// The end of a run; one whose answer was forced is capped, whatever else holds.
    fn close(&self, ending: Ending, why: String) -> Phase {
        if !self.forced {
            return Phase::Closing { ending, why };
        }
        let forced = self.outlook.forced_because.as_deref().unwrap_or("its budget is used up");
        Phase::Closing { ending: Ending::Capped, why: format!("the answer was forced: {forced}") }
    }
}

const PROVED: &str = "the check proves it";
const REFUTED: &str = "the agent says that it is done, and the check still fails";
const CLAIMED: &str = "the agent says that it is done; no check was there to prove it";
const ASKS: &str = "the agent asks the user";

/// How a run ends that is stopped for this reason.
const fn ending_of(reason: &Reason) -> Ending {
    match reason {
        Reason::CallFailed { stop: Some(StopReason::Interrupted), .. } => Ending::Stopped,
        Reason::CallFailed { .. } => Ending::Failed,
        _ => Ending::Stopped,
    }
}
