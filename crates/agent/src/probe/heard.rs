//! What came of a request.

use steersman_wire::{Answer, Failure, FailureKind, ListedModel};

/// What came of a request.
#[derive(Clone, Debug, PartialEq)]
pub struct Heard {
    /// The answer, or what came in its place.
    pub came: Came,
    /// Pieces of the answer that came one after the other; 0 where nothing did.
    pub pieces: u32,
    /// Milliseconds until the first piece; `None` if none came.
    pub first_ms: Option<u64>,
    /// Milliseconds until the end.
    pub total_ms: u64,
}

/// The answer, or what came in its place.
#[derive(Clone, Debug, PartialEq)]
pub enum Came {
    /// A whole answer.
    Answer(Box<Answer>),
    /// The list of models.
    Listed(Vec<ListedModel>),
    /// No whole answer.
    Failed(Box<Failure>),
    /// An answer had begun, and was left.
    LeftOff,
}

impl Heard {
    /// The answer; `None` if there is no whole one.
    #[must_use]
    pub fn answer(&self) -> Option<&Answer> {
        match &self.came {
            Came::Answer(answer) => Some(answer),
            _ => None,
        }
    }

    /// What went wrong; `None` if nothing did.
    #[must_use]
    pub fn failure(&self) -> Option<&Failure> {
        match &self.came {
            Came::Failed(failure) => Some(failure),
            _ => None,
        }
    }

    /// Whether it failed in a way that says nothing about what was asked for.
    pub(super) fn is_out_of_order(&self) -> bool {
        let kinds = [FailureKind::Timeout, FailureKind::Unreachable, FailureKind::Overloaded];
        self.failure().is_some_and(|failure| kinds.contains(&failure.kind))
    }
}
