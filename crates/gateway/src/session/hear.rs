//! A request becomes events: what is new in it since the last one.

use std::collections::HashMap;

use steersman_engine::{Decision, Event, Timestamp, ToolResult, UserMessage};
use steersman_trace::reports;
use steersman_trace::spoken::{Spoken, spoken};
use steersman_wire::{Format, Heard, Message, Part, Received, Speaker, WireError};

use super::Session;
use crate::chain::Chain;

/// A request of a session's main conversation.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// The request.
    pub received: &'a Received<'a>,
    /// The running hashes of its items.
    pub chain: &'a Chain,
    /// When it came.
    pub at: Timestamp,
}

/// What the new items of a request held.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Told {
    results: usize,
    replies: usize,
    /// Whether what was heard last were results.
    after_results: bool,
    /// Ids of the last reply's calls as the client sends them back, and as the engine knows them.
    /// They differ where the server sends none, because clients then make up their own.
    ids: HashMap<String, String>,
}

impl Session {
    /// Takes in a request, and decides about it. A request that was heard before is told again
    /// what it was told then.
    ///
    /// # Errors
    /// An item cannot be read; nothing was taken in.
    pub fn hear(&mut self, asked: &Asked<'_>) -> Result<Option<Decision>, WireError> {
        self.heard.clear();
        let (items, end) = (asked.chain.len(), asked.chain.end());
        if self.is_resent(asked.chain) {
            return Ok(self.memory.last.as_deref().cloned());
        }
        // These formats have results in messages of the user; texts beside them are the client's
        // reminders, and no person's words.
        self.puts_texts_beside =
            matches!(asked.received.format(), Format::Anthropic | Format::Gemini);
        let is_rest = asked.chain.is_rest();
        let grows = asked.chain.at(self.memory.items) == Some(self.memory.end)
            && !(is_rest && self.memory.told.is_some());
        let is_first = self.memory.items == 0;
        let decision = if is_rest && !grows {
            // All of it is new, and what was put in before is where the rest is.
            let heard = asked.received.turns(0)?;
            self.memory.said.clear();
            self.memory.told = None;
            self.take_in(asked.at, &heard)
        } else if grows || is_first {
            let heard = asked.received.turns(if is_first { 0 } else { self.memory.items })?;
            self.take_in(asked.at, &heard)
        } else {
            let heard = asked.received.turns(0)?;
            self.take_in_shortened(asked.at, &heard)
        };
        self.memory.items = items;
        self.memory.end = end;
        self.memory.elsewhere.is_used = is_rest;
        self.memory.last = decision.clone().map(Box::new);
        Ok(decision)
    }

    /// The conversation has grown.
    fn take_in(&mut self, at: Timestamp, heard: &[Heard]) -> Option<Decision> {
        // Of what passed before anybody watched, no times are known.
        let replies = heard.iter().filter(|it| it.speaker == Speaker::Assistant).count();
        let mut told = Told::default();
        for one in heard {
            let at = if told.replies + 1 < replies { Timestamp::UNKNOWN } else { at };
            self.tell(at, one, &mut told);
        }
        (told.results > 0).then(|| self.engine.handle(at, &Event::TurnEnded))
    }

    /// The client has rewritten the conversation. What was known stays; of what it holds now,
    /// only the results that were waited for are new.
    fn take_in_shortened(&mut self, at: Timestamp, heard: &[Heard]) -> Option<Decision> {
        if !self.memory.compacted {
            self.engine.handle(at, &Event::ContextCompacted { tokens_after: None });
            self.memory.compacted = true;
        }
        let mut results = 0;
        for one in heard {
            for part in &one.message.parts {
                if let Part::ToolResult { call_id, .. } = part
                    && let Some(place) = self.memory.pending.iter().position(|id| id == call_id)
                {
                    self.memory.pending.swap_remove(place);
                    self.tell_result(at, part, &HashMap::new());
                    results += 1;
                }
            }
        }
        self.memory.told = None;
        (results > 0).then(|| self.engine.handle(at, &Event::TurnEnded))
    }

    fn tell(&mut self, at: Timestamp, heard: &Heard, told: &mut Told) {
        let message = &heard.message;
        match heard.speaker {
            Speaker::Instructions => {}
            Speaker::Assistant => self.tell_reply(at, message, told),
            Speaker::User | Speaker::Tool => {
                let before = told.results;
                for part in results_of(message) {
                    self.tell_result(at, part, &told.ids);
                    told.results += 1;
                }
                let beside = self.puts_texts_beside && told.after_results;
                told.after_results = told.results > before;
                if heard.speaker == Speaker::User && !told.after_results && !beside {
                    self.tell_words(at, message, told);
                }
            }
        }
    }

    /// A reply that was not seen when it was made is told now.
    fn tell_reply(&mut self, at: Timestamp, message: &Message, told: &mut Told) {
        told.replies += 1;
        told.after_results = false;
        told.ids.clear();
        if self.memory.told.take().is_some_and(|it| it.may_be_of(message)) {
            let sent_back = message.tool_calls().map(|call| call.id.into_owned());
            told.ids = sent_back.zip(self.memory.pending.iter().cloned()).collect();
            return;
        }
        // The decision on the turn before was made by whoever drove it then.
        if told.results > 0 {
            self.engine.handle(at, &Event::TurnEnded);
            told.results = 0;
        }
        self.remember(message);
        self.engine.handle(at, &Event::Replied(message.reply()));
    }

    /// Words are no turn: what they change is how the next one is judged.
    fn tell_words(&mut self, at: Timestamp, message: &Message, told: &mut Told) {
        match spoken(message.text()) {
            Spoken::Injected => {}
            Spoken::Summary => {
                self.engine.handle(at, &Event::ContextCompacted { tokens_after: None });
            }
            Spoken::User(text) => {
                if told.results > 0 {
                    self.engine.handle(at, &Event::TurnEnded);
                    told.results = 0;
                }
                // A person's word begins anew what was forced or ended.
                self.memory.forced = None;
                self.memory.stopped = None;
                self.memory.asked_on = 0;
                self.engine.handle(at, &Event::UserSpoke(UserMessage { text }));
            }
        }
    }

    fn tell_result(&mut self, at: Timestamp, part: &Part, ids: &HashMap<String, String>) {
        let Part::ToolResult { call_id, content, is_error, .. } = part else { return };
        let result = ToolResult {
            call_id: ids.get(call_id).unwrap_or(call_id).as_str().into(),
            content: content.as_str().into(),
            is_error: is_error.then_some(true),
            exit_code: steersman_trace::exit_code(content),
            full_len: None,
            tests: reports::parse(content),
        };
        self.keep_result(&result);
        self.engine.handle(at, &Event::ToolReturned(result));
    }
}

fn results_of(message: &Message) -> impl Iterator<Item = &Part> {
    message.parts.iter().filter(|part| matches!(part, Part::ToolResult { .. }))
}
