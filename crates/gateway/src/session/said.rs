//! Texts that were put into a conversation.

use serde::{Deserialize, Serialize};
use steersman_wire::Edit;

use crate::chain::Chain;

/// A text that was put into a request, and where: it is put there again in every later request
/// that begins the same, so that the provider's prompt cache holds and the model remembers it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Said {
    /// The client's items before it.
    pub at: usize,
    /// The hash of those items.
    pub end: u64,
    /// The text.
    pub text: String,
}

impl Said {
    /// The edit that puts it in again; `None` if the request does not begin as that one did.
    #[must_use]
    pub fn edit(&self, chain: &Chain) -> Option<Edit<'_>> {
        (chain.at(self.at) == Some(self.end)).then_some(Edit::Say { at: self.at, text: &self.text })
    }
}
