//! What is to be asked next, and what was heard so far.

use steersman_wire::{Answer, FailureKind, Format, repair_tool_call};

use super::calls::{self, Grade};
use super::heard::{Came, Heard};
use super::question::tool;
use super::step::Step;

/// Most requests of one probe: one per wire format, and the tries of every step behind them.
pub const MAX_REQUESTS: usize = 21;

/// Requests that time out or find nobody, after which no more are sent.
const MAX_FAULTS: usize = 2;

/// A probe: what is to be asked, and what was heard.
#[derive(Clone, Debug)]
pub struct Probe {
    model: String,
    formats: Vec<Format>,
    max_output_tokens: u32,
    heard: Vec<(Step, Heard)>,
    left: bool,
}

impl Probe {
    /// What [`halted`](Self::halted) says of a probe that the user left.
    pub const LEFT: &str = "left with Ctrl-C";

    /// A probe of a model in the formats that may be spoken, the best first. `max_output_tokens`
    /// bounds every reply.
    #[must_use]
    pub fn new(model: &str, formats: &[Format], max_output_tokens: u32) -> Self {
        let (model, formats) = (model.to_owned(), formats.to_vec());
        Self { model, formats, max_output_tokens, heard: Vec::new(), left: false }
    }

    /// The model's name.
    #[must_use]
    pub fn model(&self) -> &str {
        &self.model
    }

    /// Most tokens of a reply.
    #[must_use]
    pub const fn max_output_tokens(&self) -> u32 {
        self.max_output_tokens
    }

    /// How many requests came to something, failures included.
    #[must_use]
    pub const fn asked(&self) -> usize {
        self.heard.len()
    }

    /// The formats that are tried.
    #[must_use]
    pub fn formats(&self) -> &[Format] {
        &self.formats
    }

    /// The first format that was answered in; everything else is asked in it. `None` if there is
    /// none yet.
    #[must_use]
    pub fn format(&self) -> Option<Format> {
        let spoken = |format: &&Format| self.answer(Step::Format(**format)).is_some();
        self.formats.iter().find(spoken).copied()
    }

    /// What is to be asked next; `None` if there is nothing more.
    #[must_use]
    pub fn next(&self) -> Option<Step> {
        if self.halted().is_some() || self.heard.len() >= MAX_REQUESTS {
            return None;
        }
        let formats = self.formats.iter().map(|format| Step::Format(*format));
        let mut formats = formats.filter(|step| self.tries(*step).next().is_none());
        if let Some(step) = formats.next() {
            return Some(step);
        }
        self.format()?;
        Step::ORDER.into_iter().find(|step| self.is_due(*step))
    }

    /// Takes in what came of a step.
    pub fn take(&mut self, step: Step, heard: Heard) {
        if self.heard.len() < MAX_REQUESTS {
            self.heard.push((step, heard));
        }
    }

    /// Nothing more is asked: the user has seen enough.
    pub const fn leave(&mut self) {
        self.left = true;
    }

    /// Why nothing more is asked although there would be something; `None` if that is not so.
    #[must_use]
    pub fn halted(&self) -> Option<String> {
        if self.left {
            return Some(Self::LEFT.to_owned());
        }
        let faults = self.heard.iter().filter(|(_, heard)| heard.is_out_of_order()).count();
        self.heard.iter().find_map(|(step, heard)| {
            let failure = heard.failure()?;
            let ends = match failure.kind {
                FailureKind::Quota | FailureKind::RateLimited => true,
                // Whoever is not there in one format is not there in the next.
                FailureKind::Unreachable | FailureKind::Timeout => {
                    matches!(step, Step::Format(_)) || faults >= MAX_FAULTS
                }
                FailureKind::Overloaded => faults >= MAX_FAULTS,
                _ => false,
            };
            ends.then(|| failure.kind.describe().to_owned())
        })
    }

    fn is_due(&self, step: Step) -> bool {
        let tries = self.tries(step).count();
        if tries >= step.tries() || (tries > 0 && !self.may_try_again(step)) {
            return false;
        }
        match step {
            Step::StreamedCall | Step::NoCall | Step::ForcedCall => !self.refuses_tools(),
            Step::ParallelCalls => self.called().is_some(),
            Step::Returned => self.called().is_some(),
            Step::StreamedParallel => self.streams_calls() && self.calls_in_parallel(),
            _ => true,
        }
    }

    /// Whether a second try may come to something else: not if a valid call came or the server
    /// refused the request.
    fn may_try_again(&self, step: Step) -> bool {
        self.tries(step).all(|heard| {
            let grade = calls::grade(heard);
            heard.answer().is_some() && !matches!(grade, Grade::Valid | Grade::Mended)
        })
    }

    /// Whether the server refused requests with tools.
    pub(super) fn refuses_tools(&self) -> bool {
        let mut tries = self.tries(Step::Call).peekable();
        tries.peek().is_some() && tries.all(|heard| heard.failure().is_some())
    }

    fn streams_calls(&self) -> bool {
        let mut tries = self.tries(Step::StreamedCall).map(calls::grade);
        tries.any(|grade| matches!(grade, Grade::Valid | Grade::Mended))
    }

    fn calls_in_parallel(&self) -> bool {
        self.answer(Step::ParallelCalls).is_some_and(|answer| calls::cities(answer) >= 2)
    }

    /// The reply that called the tool, as the runtime takes it; `None` if none did.
    pub(super) fn called(&self) -> Option<Answer> {
        self.tries(Step::Call).find_map(|heard| {
            let answer = heard.answer()?;
            calls::grade(heard).is_usable().then(|| {
                let tools = [tool()];
                repair_tool_call(answer, &tools).unwrap_or_else(|| answer.clone())
            })
        })
    }

    /// What came of every try of a step.
    pub(super) fn tries(&self, step: Step) -> impl Iterator<Item = &Heard> {
        self.heard.iter().filter(move |(asked, _)| *asked == step).map(|(_, heard)| heard)
    }

    /// The answer to the first try of a step.
    pub(super) fn answer(&self, step: Step) -> Option<&Answer> {
        self.tries(step).find_map(Heard::answer)
    }

    /// Everything that was heard, in order.
    pub(super) fn heard(&self) -> &[(Step, Heard)] {
        &self.heard
    }

    /// The name that the server gives the model it answered with; `None` if it gives none.
    pub(super) fn answers_as(&self) -> Option<&str> {
        self.answer(Step::Format(self.format()?))?.model.as_deref()
    }

    /// The models as the server lists them; `None` if it does not.
    pub(super) fn listed(&self) -> Option<&[steersman_wire::ListedModel]> {
        self.tries(Step::Listing).find_map(|heard| match &heard.came {
            Came::Listed(models) => Some(models.as_slice()),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_covers_every_try() {
        let tries: usize = Step::ORDER.into_iter().map(Step::tries).sum();
        assert_eq!(Format::ALL.len() + tries, MAX_REQUESTS);
    }
}
