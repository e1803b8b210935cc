//! Conversations that the model's server keeps, so that requests hold only what is new.

use serde::{Deserialize, Serialize};
use steersman_wire::{Edit, Message, Received};

use super::Session;
use crate::chain::{Chain, Start, place_of};

/// Most responses of which it is remembered what the server has in their place.
const MAX_MOVED: usize = 8;
/// Most bytes of items that are remembered because the server was not sent them.
const MAX_ITEMS: usize = 256 << 10;

/// What is known of a conversation that the server keeps.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Elsewhere {
    /// Whether the last request left the conversation to the server.
    pub is_used: bool,
    /// The response that the client has got last, by the id it knows; `None`: none had an id.
    pub last: Option<String>,
    /// Responses that the server knows otherwise or not at all, the latest last.
    pub moved: Vec<Moved>,
}

/// A response as the client knows it, and what stands for it at the server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moved {
    /// Its id, as the client knows it.
    pub told: String,
    /// The server's response to go on from; `None`: the conversation begins with `items`.
    pub previous: Option<String>,
    /// Items that the server was not sent, as JSON texts.
    pub items: Vec<String>,
}

impl Elsewhere {
    /// The client has got an answer: `told` is the id it knows, `server` that of the last of the
    /// server's responses in it.
    pub(crate) fn answered(&mut self, told: String, server: String) {
        if told != server {
            let previous = Some(server);
            self.move_to(Moved { told: told.clone(), previous, items: Vec::new() });
        }
        self.last = Some(told);
    }

    /// The client has got an answer of ours, of which the server knows nothing.
    pub(crate) fn answered_here(
        &mut self,
        told: String,
        received: &Received<'_>,
        answer: &Message,
    ) {
        let asked = received.previous_response_id();
        let before = asked.as_deref().and_then(|asked| self.moved(asked)).cloned();
        let before = before.unwrap_or_else(|| Moved {
            previous: asked.map(|asked| asked.into_owned()),
            ..Moved::default()
        });
        let mut items = before.items;
        items.extend(received.items_and(answer));
        if items.iter().map(String::len).sum::<usize>() <= MAX_ITEMS {
            self.move_to(Moved { told: told.clone(), previous: before.previous, items });
        }
        self.last = Some(told);
    }

    fn move_to(&mut self, moved: Moved) {
        self.moved.retain(|own| own.told != moved.told);
        if self.moved.len() == MAX_MOVED {
            self.moved.remove(0);
        }
        self.moved.push(moved);
    }

    fn moved(&self, told: &str) -> Option<&Moved> {
        self.moved.iter().find(|moved| moved.told == told)
    }

    /// What makes a request go on from what the server has; `None`: it does so as it is.
    pub(crate) fn edit(&self, received: &Received<'_>) -> Option<Edit<'_>> {
        let Moved { previous, items, .. } = self.moved(&received.previous_response_id()?)?;
        Some(Edit::GoesOn { previous: previous.as_deref(), items })
    }
}

impl Session {
    /// Whether the request was heard before.
    #[must_use]
    pub fn is_resent(&self, chain: &Chain) -> bool {
        // In a conversation by name the same words may be said twice.
        let may_be = chain.start() != Start::Conversation || self.memory.told.is_none();
        may_be && self.memory.items == chain.len() && self.memory.end == chain.end()
    }

    /// Where a request that goes on with this session would begin; `None` before the first.
    #[must_use]
    pub fn stands_at(&self) -> Option<u64> {
        (self.memory.items > 0).then(|| self.memory.stands_at())
    }
}

impl super::Memory {
    /// Where a request that goes on would begin: behind the last one, or the last response.
    #[must_use]
    pub fn stands_at(&self) -> u64 {
        let last = self.elsewhere.last.as_deref().filter(|_| self.elsewhere.is_used);
        last.map_or(self.end, place_of)
    }
}
