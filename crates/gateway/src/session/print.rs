//! A reply, recognised when the client sends it back.

use std::hash::{Hash, Hasher};

use serde::{Deserialize, Serialize};
use steersman_wire::Message;
use twox_hash::XxHash3_64;

/// What a reply is recognised by in a later request, although the client writes it anew.
///
/// Ids of calls are the server's, and no two replies share them; where a format or a client has
/// none, names, arguments and words have to do. Words alone may differ: some clients leave
/// them out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Print {
    /// Hash of the ids of the calls; 0 without calls.
    ids: u64,
    /// Hash of the calls' names and arguments, or of the text.
    content: u64,
    /// Hash of the text's words; 0 without text, or if it was stored before this was.
    #[serde(default)]
    words: u64,
}

impl Print {
    /// The print of a reply.
    #[must_use]
    pub fn of(message: &Message) -> Self {
        let mut ids = XxHash3_64::default();
        let mut content = XxHash3_64::default();
        let mut calls = 0_u32;
        for call in message.tool_calls() {
            calls += 1;
            call.id.hash(&mut ids);
            call.name.hash(&mut content);
            arguments(&call.arguments).hash(&mut content);
        }
        let words = words(&message.text());
        if calls == 0 {
            return Self { ids: 0, content: words, words };
        }
        Self { ids: ids.finish(), content: content.finish(), words }
    }

    /// Whether it may be the print of this reply. Nothing but the ids of its calls is looked at if
    /// they are the same.
    #[must_use]
    pub fn may_be_of(self, message: &Message) -> bool {
        let mut ids = XxHash3_64::default();
        message.tool_calls().for_each(|call| call.id.hash(&mut ids));
        // 0 is the print of a reply without calls.
        (self.ids != 0 && self.ids == ids.finish()) || self.may_be(Self::of(message))
    }

    /// Whether it is surely the same reply: two runs of one task do not share it.
    #[must_use]
    pub const fn is_certainly(self, other: Self) -> bool {
        self.ids != 0 && self.ids == other.ids
    }

    /// Whether it says and calls the same.
    #[must_use]
    pub const fn is_alike(self, other: Self) -> bool {
        self.content == other.content && self.words == other.words
    }

    /// Whether it may be the same reply.
    #[must_use]
    pub const fn may_be(self, other: Self) -> bool {
        self.is_certainly(other) || self.content == other.content
    }
}

/// The hash of a text, however it is spaced; 0 for none.
fn words(text: &str) -> u64 {
    let mut hash = XxHash3_64::default();
    let mut is_none = true;
    for word in text.split_whitespace() {
        is_none = false;
        word.hash(&mut hash);
    }
    if is_none { 0 } else { hash.finish() }
}

/// Arguments in one spelling: clients write objects anew, with spaces and an order of their own.
fn arguments(text: &str) -> String {
    match serde_json::from_str::<serde_json::Value>(text) {
        Ok(value) => value.to_string(),
        Err(_) => text.trim().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use steersman_wire::{Message, Part, Role};

    use super::Print;

    fn call(id: &str, arguments: &str) -> Message {
        let (id, name, arguments) = (id.into(), "read".into(), arguments.into());
        let call = Part::ToolCall { id, name, arguments, raw: None };
        Message { role: Role::Assistant, parts: vec![call] }
    }

    #[test]
    fn a_reply_is_recognised_however_it_is_written() {
        let print = Print::of(&call("c1", r#"{"b":1,"a":2}"#));
        assert!(print.is_certainly(Print::of(&call("c1", "{ \"a\": 2, \"b\": 1 }"))));
        for (other, expected) in [("c1", true), ("c2", false)] {
            assert_eq!(print.may_be_of(&call(other, "{}")), expected, "{other}");
        }
        assert!(print.may_be_of(&call("c2", r#"{"a":2,"b":1}"#)));
        assert!(!print.may_be_of(&Message::assistant("Done.")));
        let elsewhere = Print::of(&call("c2", r#"{"a":2,"b":1}"#));
        assert!(!print.is_certainly(elsewhere) && print.may_be(elsewhere));
        assert!(!print.may_be(Print::of(&call("c2", r#"{"a":3}"#))));
        let text = Print::of(&Message::assistant("All done."));
        assert!(text.may_be(Print::of(&Message::assistant(" All  done.\n"))));
        assert!(!text.is_certainly(Print::of(&Message::assistant("All done."))));
        assert!(!text.may_be(Print::of(&Message::assistant("Not done."))));

        let said = |words: &str| {
            let mut message = call("c3", "{}");
            message.parts.insert(0, Part::Text(words.into()));
            Print::of(&message)
        };
        assert!(said("I look.").is_alike(said("I  look.\n")));
        let other = said("I read.");
        assert!(!said("I look.").is_alike(other) && said("I look.").may_be(other));
    }
}
