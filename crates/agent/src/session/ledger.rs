//! Attempts: what was tried, what came of it, and the best of it.

use std::fmt::Write as _;
use std::sync::Arc;

use steersman_engine::{Engine, Event, Timestamp};

use super::{Phase, Session};
use crate::ending::Ending;
use crate::entry::{Attempt, CheckFinished};

/// The label of the checkpoint of the best state so far.
pub(crate) const BEST: &str = "best so far";

/// How many bytes of the agent's own words about an attempt are shown.
const MAX_WORDS: usize = 600;

/// The best results of the check so far and the state of the workspace they belong to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Best {
    pub(crate) failed: u32,
    pub(crate) passed: u32,
    /// `None` until its checkpoint was taken.
    pub(crate) checkpoint: Option<u32>,
    /// How the workspace is now, beside it.
    pub(crate) now: Standing,
}

/// How the workspace is beside its best state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// As good.
    Same,
    /// Worse: the check said so.
    Worse,
    /// It was changed since, and nobody looked.
    Unknown,
}

impl Session {
    /// The check ran: is the workspace in its best state so far?
    ///
    /// Fewer failing tests are better only if no fewer tests pass: a failing test that was deleted
    /// is no progress. Only the check counts: what an agent runs may be a part of the tests.
    pub(super) fn measure(&mut self, check: &CheckFinished) {
        let (failed, passed) = match &check.tests {
            Some(tests) if tests.broken => return self.stand(Standing::Worse),
            Some(tests) => (tests.failed, tests.passed),
            None if check.passed => (0, 0),
            None => return self.stand(Standing::Worse),
        };
        let Some(best) = &mut self.best else { return self.take_as_best(failed, passed) };
        let same = (failed, passed) == (best.failed, best.passed);
        let better = failed < best.failed || (failed == best.failed && passed > best.passed);
        if same {
            best.now = Standing::Same;
        } else if better && (passed >= best.passed || check.tests.is_none()) {
            self.take_as_best(failed, passed);
        } else {
            // More failing and more passing is a check that came further, not a step back.
            let further = failed > best.failed && passed > best.passed;
            best.now = if further { Standing::Unknown } else { Standing::Worse };
        }
    }

    fn take_as_best(&mut self, failed: u32, passed: u32) {
        self.best = Some(Best { failed, passed, checkpoint: None, now: Standing::Same });
        self.checkpoint_due = Some(BEST);
    }

    /// How the workspace is now beside its best state.
    pub(super) const fn stand(&mut self, now: Standing) {
        if let Some(best) = &mut self.best {
            best.now = now;
        }
    }

    /// The number of the checkpoint to put the workspace back to when the run ends unproved;
    /// `None` if nothing shows that it is worse now.
    pub(super) fn better_checkpoint(&self) -> Option<u32> {
        let proved = self.last_check.as_ref().is_some_and(|check| check.passed);
        let best = self.best.as_ref().filter(|best| !proved && best.now == Standing::Worse)?;
        best.checkpoint
    }

    /// Whether the check has to run before the run ends, because nobody knows whether the workspace
    /// is worse than its best state.
    pub(super) fn closing_check_due(&self, ending: Ending) -> bool {
        let unknown = self.best.as_ref().is_some_and(|best| best.now == Standing::Unknown)
            || ending == Ending::Capped;
        // Who stops a run does not wait for a check; a model that fails may come back.
        let answered = matches!(ending, Ending::Capped | Ending::Claimed | Ending::Refuted);
        unknown && answered && self.opened.check.is_some() && self.last_check.is_none()
    }

    /// The workspace was put back to its best state: the agent is told, should it go on.
    pub(super) fn take_best(&mut self, number: u32) {
        self.outlook.best_restored = Some(number);
        self.restored();
        if let Some(best) = &mut self.best {
            best.now = Standing::Same;
            let (failed, passed) = (best.failed, best.passed);
            self.outlook.tests = Some((failed, passed));
            self.settle_results();
            self.say(format!(
                "When the run ended, the workspace was put back to its best state: {failed} tests \
                 failing, {passed} passing. Later changes are not there any more."
            ));
        }
    }

    /// The workspace was restored: the conversation is, too, and the ledger says why.
    pub(super) fn start_over(&mut self, at: Timestamp, attempt: Attempt) {
        self.engine.handle(at, &Event::StartedOver);
        self.attempts.push(attempt);
        self.outlook.attempt = self.engine.state().attempt;
        Arc::make_mut(&mut self.conversation).truncate(self.kept_messages);
        for words in self.spoken.clone() {
            self.say(words);
        }
        let words = self.ledger();
        self.say(words);
        self.calls.clear();
        self.restarting = None;
        self.left = None;
        self.forced = false;
        self.last_check = None;
        self.stand(Standing::Unknown);
        self.phase = Phase::Call;
        self.restored();
    }

    /// What was being restored is restored, or is not going to be. What the user said meanwhile is
    /// heard now.
    pub(super) fn restored(&mut self) {
        self.restoring = false;
        if !self.unheard.is_empty() {
            for words in std::mem::take(&mut self.unheard) {
                self.say(words);
            }
            self.go_on();
        }
    }

    /// The workspace could not be restored: the agent is told, and goes on as it is.
    pub(super) fn refuse_start_over(&mut self, why: &str) {
        self.restarting = None;
        self.say(format!(
            "The workspace could not be restored: {why}. Nothing was changed. Go on from here, \
             with an approach that differs in kind."
        ));
        self.phase = Phase::Call;
        self.forbid_start_over();
        self.restored();
    }

    /// The engine must not ask again for what cannot be done.
    fn forbid_start_over(&mut self) {
        let mut state = self.engine.state().clone();
        state.info.can_start_over = false;
        self.engine = Engine::resume(self.engine.policy().clone(), state);
    }

    /// Whether another attempt may begin.
    pub(super) fn may_start_over(&self) -> Result<(), String> {
        let most = self.engine.policy().tests.max_attempts;
        if self.opened.workspace.is_none() || self.base.is_none() {
            return Err("there is no state of a workspace to go back to".to_owned());
        }
        if self.engine.state().attempt >= most {
            return Err(format!("all {most} attempts of the run were begun"));
        }
        Ok(())
    }

    /// What was tried so far, for the model.
    fn ledger(&self) -> String {
        let number = self.engine.state().attempt;
        let most = self.engine.policy().tests.max_attempts;
        let mut text = format!(
            "Attempt {number} of {most} begins. The workspace is as it was before the task. What \
             was tried before and did not lead to the goal:"
        );
        for attempt in &self.attempts {
            let _ = write!(text, "\n\n{}", describe(attempt));
        }
        if let Some(next) =
            self.attempts.last().map(|last| bounded(&last.next)).filter(|next| !next.is_empty())
        {
            let _ = write!(text, "\n\nThe approach to take now, as you put it: {next}");
        } else {
            text.push_str("\n\nTake an approach that differs in kind from all of these.");
        }
        text
    }
}

/// An attempt in words.
fn describe(attempt: &Attempt) -> String {
    let mut text = format!("Attempt {} ({} turns).", attempt.number, attempt.turns);
    if !attempt.tried.is_empty() {
        let _ = write!(text, " Tried: {}.", bounded(&attempt.tried).trim_end_matches('.'));
    }
    let _ = write!(text, " Given up because: {}.", bounded(&attempt.reason).trim_end_matches('.'));
    if let (Some(failed), Some(passed)) = (attempt.failed, attempt.passed) {
        let _ = write!(text, " Tests at its end: {failed} failing, {passed} passing.");
    }
    if !attempt.files.is_empty() {
        let (files, plus, minus) =
            (attempt.files.join(", "), attempt.insertions, attempt.deletions);
        let _ = write!(text, " Changed: {files} (+{plus} -{minus} lines).");
    }
    text
}

fn bounded(words: &str) -> &str {
    words.trim().get(..words.trim().floor_char_boundary(MAX_WORDS)).unwrap_or_default()
}
