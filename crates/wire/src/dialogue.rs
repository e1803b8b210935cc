//! A conversation in the order every provider demands.

use crate::{Message, Part, Role};

/// What is sent as the result of a call that has none.
const NO_RESULT: &str = "No result of this call is known.";

/// One turn of the conversation.
#[derive(Debug)]
pub(crate) enum Turn<'a> {
    /// What the user says; never empty.
    User(Vec<Said<'a>>),
    /// A reply of the model; may be empty.
    Assistant(Vec<&'a Part>),
    /// The results of the calls right before it, one for each, in the order of the calls.
    Results(Vec<Returned<'a>>),
}

/// A piece of what the user says.
#[derive(Debug)]
pub(crate) enum Said<'a> {
    /// A part of a message.
    Part(&'a Part),
    /// A result whose call is not in the conversation any more, told as text.
    Orphan(String),
}

/// The result of a call.
#[derive(Debug)]
pub(crate) struct Returned<'a> {
    /// The call: always a [`Part::ToolCall`].
    pub(crate) call: &'a Part,
    pub(crate) id: &'a str,
    pub(crate) name: &'a str,
    pub(crate) content: &'a str,
    pub(crate) is_error: bool,
}

/// Puts every result right behind its calls, makes up the missing ones, and tells those without a
/// call as text: providers refuse a conversation in any other order.
pub(crate) fn turns(messages: &[Message]) -> Vec<Turn<'_>> {
    let mut dialogue = Dialogue::default();
    for message in messages {
        if message.role == Role::Assistant {
            dialogue.reply(&message.parts);
        } else {
            message.parts.iter().for_each(|part| dialogue.said(part));
        }
    }
    dialogue.close();
    dialogue.turns
}

#[derive(Default)]
struct Dialogue<'a> {
    turns: Vec<Turn<'a>>,
    /// The calls of the last reply with their results so far.
    open: Vec<(&'a Part, Option<Returned<'a>>)>,
    /// What the user said since.
    said: Vec<Said<'a>>,
}

impl<'a> Dialogue<'a> {
    fn reply(&mut self, parts: &'a [Part]) {
        self.close();
        let calls = parts.iter().filter(|part| matches!(part, Part::ToolCall { .. }));
        self.open = calls.map(|call| (call, None)).collect();
        self.turns.push(Turn::Assistant(parts.iter().collect()));
    }

    fn said(&mut self, part: &'a Part) {
        let Part::ToolResult { call_id, name, content, is_error } = part else {
            if !matches!(part, Part::Text(text) if text.is_empty()) {
                self.said.push(Said::Part(part));
            }
            return;
        };
        let asked = |part: &Part| matches!(part, Part::ToolCall { id, .. } if id == call_id);
        let slot = self.open.iter_mut().find(|(call, result)| result.is_none() && asked(call));
        if let Some((call, result)) = slot {
            let is_error = *is_error;
            *result = Some(Returned { call, id: call_id, name, content, is_error });
        } else {
            self.said.push(Said::Orphan(format!("Result of {name}:\n{content}")));
        }
    }

    fn close(&mut self) {
        let open = std::mem::take(&mut self.open);
        let results = open.into_iter().filter_map(|(call, result)| match (result, call) {
            (Some(result), _) => Some(result),
            (None, Part::ToolCall { id, name, .. }) => {
                Some(Returned { call, id, name, content: NO_RESULT, is_error: true })
            }
            (None, _) => None,
        });
        let results: Vec<_> = results.collect();
        if !results.is_empty() {
            self.turns.push(Turn::Results(results));
        }
        if !self.said.is_empty() {
            self.turns.push(Turn::User(std::mem::take(&mut self.said)));
        }
    }
}
