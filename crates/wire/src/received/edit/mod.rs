//! Edits of a request on the client's own bytes.

mod patch;
mod put;
mod set;

use super::Received;
use crate::{Message, WireError, formats};
use patch::Patches;

/// A change of a request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Edit<'a> {
    /// Puts a text of the user in before item `at`; at the end if there are no more items.
    ///
    /// Where the item before it is a user message too, the text becomes part of that message
    /// (except in Responses): its last block, behind results, and behind a mark of the prompt
    /// cache. A text without a visible character is left out.
    ///
    /// The same text at the same place gives the same bytes however many items follow.
    Say {
        /// The number of the client's items before it.
        at: usize,
        /// What to say.
        text: &'a str,
    },
    /// Puts a message of the model in before item `at`: a reply the client has not seen to its
    /// end. Calls in it without a result get one that says so, because servers demand one. A
    /// message without parts is left out.
    Replied {
        /// The number of the client's items before it.
        at: usize,
        /// The reply.
        message: &'a Message,
    },
    /// The model may not call tools. They stay declared, so that a history with calls is not
    /// refused and prompt caches stay valid. Nothing changes where there are none.
    NoTools,
    /// The model must call the tool of this name.
    ForceTool(&'a str),
    /// Most tokens to generate. With a budget for thinking (Anthropic), which counts as well, a
    /// limit that is not above it is added to it.
    MaxOutputTokens(u32),
    /// The model to ask. Nothing changes for Gemini, where the path names it.
    Model(&'a str),
    /// The conversation that the server keeps goes on elsewhere than the client says. Nothing
    /// changes in other formats than Responses.
    GoesOn {
        /// The response it goes on from; `None`: from none, all there is stands in the request.
        previous: Option<&'a str>,
        /// Items that come before all others, as JSON texts: what the server was not sent. A text
        /// stands for a message of the user.
        items: &'a [String],
    },
}

impl Received<'_> {
    /// The body with `edits` in it. Everything else stays byte for byte; without edits, all of it.
    ///
    /// Texts come in the order of their places, and in the order of `edits` at the same place. Of
    /// several edits of one setting the last counts; [`Edit::NoTools`] and [`Edit::ForceTool`] are
    /// of one setting. A request that [demands JSON](Self::has_schema) is edited like any other:
    /// not to do so is the caller's decision.
    ///
    /// # Errors
    /// [`WireError::NotARequest`] if the items are no list to put anything into, if the tool to
    /// force is not offered, or if it cannot be forced (Anthropic with thinking).
    pub fn edited(&self, edits: &[Edit<'_>]) -> Result<Vec<u8>, WireError> {
        let mut patches = Patches::new(self.body);
        self.put_all(edits, &mut patches)
            .and_then(|()| self.set_all(edits, &mut patches))
            .map_err(|problem| WireError::NotARequest { format: self.format, problem })?;
        Ok(patches.apply())
    }

    /// All items as JSON texts, and those of a reply behind them.
    #[must_use]
    pub fn items_and(&self, reply: &Message) -> Vec<String> {
        let own = (0..self.item_count()).filter_map(|at| self.item_text(at)).map(str::to_owned);
        let reply = formats::items(self.format, reply);
        own.chain(reply.iter().map(serde_json::Value::to_string)).collect()
    }
}
