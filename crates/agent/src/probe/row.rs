//! One ability, and how it was seen.

use std::fmt;

use serde::Serialize;
use steersman_wire::{Answer, Part};

use super::heard::{Came, Heard};

/// Longest text in a row, in characters.
const LONGEST: usize = 200;

/// Longest quotation in a text, in characters.
const QUOTED: usize = 60;

/// Whether something was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Found {
    /// It was.
    Yes,
    /// A part of it was.
    Partly,
    /// It was asked for, and did not come.
    No,
    /// It was not asked for, or what came does not tell.
    NotTold,
}

impl fmt::Display for Found {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(match self {
            Self::Yes => "yes",
            Self::Partly => "partly",
            Self::No => "no",
            Self::NotTold => "not told",
        })
    }
}

/// One ability, and how it was seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Row {
    /// Its id, which stays what it is.
    pub id: &'static str,
    /// Its name for people.
    pub name: &'static str,
    /// Whether it was seen.
    pub found: Found,
    /// What was sent; empty where nothing was sent for this alone.
    pub sent: String,
    /// What came, at most 200 characters in one line.
    pub came: String,
}

impl Row {
    pub(super) fn new(
        (id, name): (&'static str, &'static str),
        sent: &str,
        found: Found,
        came: &str,
    ) -> Self {
        Self { id, name, found, sent: sent.to_owned(), came: clean(came, LONGEST) }
    }

    /// The evidence in one line: what was sent, and what came.
    #[must_use]
    pub fn evidence(&self) -> String {
        match self.sent.as_str() {
            "" => self.came.clone(),
            sent => format!("{sent} → {}", self.came),
        }
    }
}

/// A text in one line without control characters, cut to length.
pub(super) fn clean(text: &str, longest: usize) -> String {
    // Characters without a width can turn the direction of what follows.
    let unseen = |c: char| matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}');
    let words = text.split(|c: char| c.is_whitespace() || c.is_control() || unseen(c));
    let line = words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(longest) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// A quotation.
pub(super) fn quote(text: &str) -> String {
    format!("\"{}\"", clean(text, QUOTED))
}

/// The server's word for the end of an answer.
pub(super) fn stop_word(answer: &Answer) -> String {
    answer.stop_word.as_deref().map_or_else(
        || "no stop reason".to_owned(),
        |word| format!("stop reason {}", clean(word, QUOTED)),
    )
}

/// What an answer holds: its calls, else its text.
pub(super) fn content(answer: &Answer) -> String {
    let call = |part: &Part| match part {
        Part::ToolCall { name, arguments, .. } => {
            Some(format!("{}({})", clean(name, QUOTED), clean(arguments, QUOTED)))
        }
        _ => None,
    };
    let calls: Vec<String> = answer.message.parts.iter().filter_map(call).take(4).collect();
    if !calls.is_empty() {
        return format!("called {}", calls.join(", "));
    }
    let text = answer.message.text();
    if text.trim().is_empty() { "neither text nor call".to_owned() } else { quote(&text) }
}

/// What came, whatever it is.
pub(super) fn told(heard: &Heard) -> String {
    match &heard.came {
        Came::Answer(answer) => format!("{}, {}", content(answer), stop_word(answer)),
        Came::Listed(models) => format!("{} models", models.len()),
        Came::LeftOff => "an answer began".to_owned(),
        Came::Failed(failure) => match &failure.partial {
            Some(partial) => format!("{failure}, after {}", content(partial)),
            None => failure.to_string(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::clean;

    #[test]
    fn texts_are_one_short_line() {
        let cases = [
            ("a\n\tb\u{1b}[2J  c ", 20, "a b [2J c"),
            ("a\u{202e}b", 20, "a b"),
            ("añbcd", 3, "añb…"),
            ("añb", 3, "añb"),
            ("", 3, ""),
        ];
        for (text, longest, expected) in cases {
            assert_eq!(clean(text, longest), expected);
        }
    }
}
