//! Reads along with an answer that nobody else reads, for what it used.

use std::sync::Arc;

use bytes::Bytes;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use http::{HeaderMap, StatusCode};
use steersman_wire::{Answer, Format, StreamReader, Tokens, WireError};

use super::Ticket;
use crate::prices::Prices;
use crate::seam::{EndOfAnswer, Next, Watch};

/// How much of an answer in one piece is read; a longer one is one whose use is not known.
const MAX_HELD: usize = 16 << 20;

/// A watch that changes nothing.
pub(crate) struct Meter {
    ticket: Arc<Ticket>,
    prices: Prices,
    /// The model that was asked for, as far as that is known.
    asked: String,
    format: Format,
    reading: Reading,
}

enum Reading {
    /// Nothing to read, or no more.
    Not,
    Stream(Box<StreamReader>),
    Whole(Vec<Bytes>, usize),
}

impl Meter {
    pub(crate) fn new(ticket: Arc<Ticket>, prices: Prices, asked: &str, format: Format) -> Self {
        let asked = asked.to_owned();
        Self { ticket, prices, asked, format, reading: Reading::Not }
    }

    /// Charges what was told, once.
    fn charge(&mut self) {
        let used = match std::mem::replace(&mut self.reading, Reading::Not) {
            Reading::Not => return,
            Reading::Stream(reader) => usage_of(reader.finish()),
            Reading::Whole(held, _) => usage_of(self.format.answer(&held.concat())),
        };
        self.add(&used);
    }

    fn add(&self, (used, model): &(Tokens, String)) {
        let cost = self.prices.cost(model, &self.asked, used);
        self.ticket.charge(used, cost);
    }
}

/// What an answer used and the model that gave it, also of one that broke off.
pub(crate) fn usage_of(answer: Result<Answer, WireError>) -> (Tokens, String) {
    match answer {
        Ok(answer) => (answer.usage, answer.model.unwrap_or_default()),
        Err(WireError::CutOff { partial } | WireError::Reported { partial, .. }) => {
            (partial.usage, partial.model.unwrap_or_default())
        }
        Err(_) => (Tokens::default(), String::new()),
    }
}

impl Watch for Meter {
    fn head(&mut self, status: StatusCode, headers: &HeaderMap) {
        if !status.is_success() {
            return;
        }
        self.ticket.begin();
        let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or("");
        self.reading = if headers.contains_key(CONTENT_ENCODING) {
            // It was asked not to be compressed.
            self.add(&(Tokens::default(), String::new()));
            Reading::Not
        } else if kind.starts_with("text/event-stream") {
            Reading::Stream(Box::new(self.format.stream()))
        } else {
            Reading::Whole(Vec::new(), 0)
        };
    }

    fn keeps_length(&self) -> bool {
        true
    }

    fn push(&mut self, bytes: Bytes, out: &mut Vec<Bytes>) {
        out.push(bytes.clone());
        let broken = match &mut self.reading {
            Reading::Not => None,
            Reading::Stream(reader) => reader.push(&bytes).err(),
            Reading::Whole(held, length) => {
                *length += bytes.len();
                held.push(bytes);
                let too_long = WireError::TooLong { what: "the answer", limit: MAX_HELD };
                (*length > MAX_HELD).then_some(too_long)
            }
        };
        if let Some(error) = broken {
            self.reading = Reading::Not;
            self.add(&usage_of(Err(error)));
        }
    }

    fn end(&mut self, _how: EndOfAnswer) -> Next {
        self.charge();
        Next::Done(Vec::new())
    }

    fn retry(&mut self, _: Option<StatusCode>, _: &HeaderMap, _: &[u8]) -> Option<u64> {
        None
    }

    fn dropped(&mut self) {
        self.charge();
    }
}
