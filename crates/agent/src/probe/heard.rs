//! What came of a request.

use steersman_wire::{Answer, Failure, FailureKind, ListedModel, Part};

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

    /// The same with every text changed by `hide`, which takes keys out of it. Whoever shows a text
    /// may cut it, and half a key is not found any more.
    #[must_use]
    pub(super) fn hidden(mut self, hide: impl Fn(&str) -> String) -> Self {
        match &mut self.came {
            Came::Answer(answer) => hide_in(answer, &hide),
            Came::Failed(failure) => {
                failure.message = hide(&failure.message);
                if let Some(partial) = &mut failure.partial {
                    hide_in(partial, &hide);
                }
            }
            Came::Listed(models) => {
                models.iter_mut().for_each(|model| model.name = hide(&model.name));
            }
            Came::LeftOff => {}
        }
        self
    }

    /// Whether it failed in a way that says nothing about what was asked for.
    pub(super) fn is_out_of_order(&self) -> bool {
        let kinds = [FailureKind::Timeout, FailureKind::Unreachable, FailureKind::Overloaded];
        self.failure().is_some_and(|failure| kinds.contains(&failure.kind))
    }
}

fn hide_in(answer: &mut Answer, hide: &impl Fn(&str) -> String) {
    for part in &mut answer.message.parts {
        match part {
            Part::Text(text) | Part::Reasoning { text, .. } => *text = hide(text),
            Part::ToolCall { name, arguments, .. } => {
                *name = hide(name);
                *arguments = hide(arguments);
            }
            Part::ToolResult { .. } | Part::Other { .. } => {}
        }
    }
    let words = [&mut answer.stop_word, &mut answer.model];
    words.into_iter().flatten().for_each(|word| *word = hide(word));
}
