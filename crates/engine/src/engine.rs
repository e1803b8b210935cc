//! The engine: folds events, asks the rules, gives the decision.

use alloc::sync::Arc;

use crate::decision::{Action, Decision};
use crate::event::{Event, Timestamp};
use crate::ladder;
use crate::policy::{Mode, Policy};
use crate::reason::Reason;
use crate::rules::{self, Moment, Verdict};
use crate::run_info::RunInfo;
use crate::signals::{self, Signals};
use crate::state::State;
use crate::texts;

/// Decides after every event of one run what should happen next.
///
/// The driver feeds it everything that happens, in order, and carries out what it decides:
///
/// 1. [`Event::UserSpoke`] when the user writes;
/// 2. [`Event::Replied`] when a model reply arrived, or [`Event::CallFailed`] when none did;
/// 3. [`Event::ToolReturned`] for each result, [`Event::CheckReported`] when it ran a check;
/// 4. [`Event::TurnEnded`] once all results are in;
/// 5. [`Event::TimePassed`] when [`Engine::deadline`] is due.
///
/// Each call returns a [`Decision`]; most are [`Action::Continue`]. See the crate's documentation
/// for a worked example.
#[derive(Clone, Debug)]
pub struct Engine {
    policy: Arc<Policy>,
    state: State,
}

impl Engine {
    /// An engine for one run. The policy must have passed [`Policy::validate`].
    #[must_use]
    pub fn new(policy: impl Into<Arc<Policy>>, info: RunInfo) -> Self {
        let policy = policy.into();
        let state = State::new(info, &policy);
        Self { policy, state }
    }

    /// An engine that goes on from a saved state, with the same decisions.
    #[must_use]
    pub fn resume(policy: impl Into<Arc<Policy>>, state: State) -> Self {
        Self { policy: policy.into(), state }
    }

    /// What is known of the run: save it, load it, go on.
    #[must_use]
    pub const fn state(&self) -> &State {
        &self.state
    }

    /// The policy that decides.
    #[must_use]
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// The budgets of the run: the key in the section `limits`, what is used, and what is allowed;
    /// `None` is no limit.
    #[must_use]
    pub fn budgets(&self) -> [(&'static str, u64, Option<u64>); 7] {
        signals::budgets(&self.state, &self.policy)
    }

    /// Takes in one event and says what should happen next.
    pub fn handle(&mut self, at: Timestamp, event: &Event<'_>) -> Decision {
        // A turn that the driver did not end is over when the next one begins.
        if matches!(event, Event::Replied(_) | Event::UserSpoke(_)) {
            self.state.fold(at, &Event::TurnEnded, &self.policy);
        }
        self.state.fold(at, event, &self.policy);
        let moment = Moment::of(event);
        let settled = if moment == Moment::Other { None } else { self.decide(moment) };
        let (action, verdict) = settled.unwrap_or_else(|| (Action::Continue, Verdict::default()));
        self.state.ladder.decided(action, self.state.turns);
        self.explain(action, verdict, moment)
    }

    /// Asks every rule and keeps the strongest action; among equals the first rule wins.
    ///
    /// A verdict that has to wait (a cooldown, or the stop was decided already) is told as the
    /// reason of a continue, so that nobody wonders why nothing was said.
    fn decide(&self, moment: Moment) -> Option<(Action, Verdict)> {
        let stopped = self.state.ladder.stopped;
        let acting = !self.state.turn.calls.is_empty();
        let mut best: Option<(Action, Verdict)> = None;
        for (rule, ask) in rules::RULES {
            let ceiling = self.policy.rules.of(*rule);
            if ceiling == crate::policy::Ceiling::Off {
                continue;
            }
            let Some(verdict) = ask(&self.state, &self.policy, moment) else { continue };
            let settled = ladder::settle(&verdict, ceiling, &self.state, &self.policy.ladder);
            let action = match settled.filter(|_| !stopped) {
                Some(action) => action,
                None if acting => Action::Continue,
                None => continue,
            };
            if best.as_ref().is_none_or(|(strongest, _)| action > *strongest) {
                best = Some((action, verdict));
            }
        }
        best
    }

    fn explain(&self, action: Action, verdict: Verdict, moment: Moment) -> Decision {
        let state = &self.state;
        let signals = if moment == Moment::Other {
            Signals::default()
        } else {
            Signals::measure(state, &self.policy)
        };
        let reason = match verdict.reason {
            Reason::Progressing => standing(state, moment),
            reason => reason,
        };
        let intervention =
            texts::intervention(action, &reason, &verdict.evidence, state, &self.policy);
        Decision {
            action,
            shadow: self.policy.mode == Mode::Shadow,
            turn: state.turns,
            call: state.tool_calls,
            score: if moment == Moment::Other { 1.0 } else { signals.score(&self.policy) },
            signals,
            run_check: action == Action::Continue && self.check_is_due(moment, &reason),
            intervention,
            delay_ms: verdict.delay_ms,
            evidence: verdict.evidence,
            reason,
        }
    }

    /// Whether the driver should run its check now: every so many turns (B1), and before a claim
    /// is believed (beyond 4).
    fn check_is_due(&self, moment: Moment, reason: &Reason) -> bool {
        let state = &self.state;
        if !state.info.has_check || moment != Moment::TurnEnded {
            return false;
        }
        let periodic = self.policy.tests.check_every;
        let due = periodic.is_some_and(|every| {
            state.turns.saturating_sub(state.check.turn) >= every && !state.turn.calls.is_empty()
        });
        due || matches!(reason, Reason::ClaimUnchecked)
    }

    /// When [`Event::TimePassed`] is due if nothing else happens; `None` if time changes nothing.
    #[must_use]
    pub fn deadline(&self) -> Option<Timestamp> {
        let (used, limits) = (&self.state.used, &self.policy.limits);
        if used.started_at == Timestamp::UNKNOWN {
            return None;
        }
        let wall = limits.max_wall_ms.map(|ms| used.started_at.0.saturating_add(ms));
        let working = limits.max_working_ms.filter(|_| !used.waiting);
        let working =
            working.map(|ms| used.now.0.saturating_add(ms.saturating_sub(used.working_ms)));
        let continuing = self.state.continuations.count > 0;
        let protocol = continuing.then(|| {
            let since = self.state.continuations.since.0;
            since.saturating_add(self.policy.continuation.protocol.timeout_ms)
        });
        [wall, working, protocol].into_iter().flatten().min().map(Timestamp)
    }
}

/// Why a run stands as it does when no rule speaks: going on, ended by the reply, or the user's
/// turn.
fn standing(state: &State, moment: Moment) -> Reason {
    use crate::classify::Intent;
    use crate::protocol::Status;
    if moment != Moment::TurnEnded || !state.turn.calls.is_empty() {
        return Reason::Progressing;
    }
    match (state.continuations.signal, state.turn.intent) {
        (Some(Status::Continue), _) => Reason::SignalledContinue,
        (None, Some(Intent::AsksUser)) => Reason::AwaitingUser,
        _ if state.check.passed == Some(true) => Reason::Finished { proved: true },
        _ if state.info.has_check && state.check.passed.is_none() => Reason::ClaimUnchecked,
        _ => Reason::Finished { proved: false },
    }
}
