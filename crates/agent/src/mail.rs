//! Letters between agents (C8).

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

/// A letter from one agent to another.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Letter {
    /// Its number in the session, from 1.
    pub number: u32,
    /// Who wrote it.
    pub from: String,
    /// Whom it is to.
    pub to: String,
    /// The subject; may be empty.
    #[serde(default)]
    pub subject: String,
    /// The text, at most [`Mailbox::MAX_TEXT`] bytes.
    pub text: String,
    /// The letter it answers; `None` if none.
    #[serde(default)]
    pub answers: Option<u32>,
}

/// The letters of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mailbox {
    letters: Vec<(Letter, bool)>,
}

impl Mailbox {
    /// Letters that are kept; the oldest read ones go first.
    pub const MAX_LETTERS: usize = 200;
    /// Bytes of a letter's text.
    pub const MAX_TEXT: usize = 16 * 1024;

    /// A letter arrived.
    pub fn deliver(&mut self, letter: Letter) {
        if self.letters.len() >= Self::MAX_LETTERS {
            let oldest_read = self.letters.iter().position(|(_, read)| *read).unwrap_or(0);
            self.letters.remove(oldest_read);
        }
        self.letters.push((letter, false));
    }

    /// An agent read its letters.
    pub fn mark_read(&mut self, agent: &str) {
        let mine = self.letters.iter_mut().filter(|(letter, _)| letter.to == agent);
        mine.for_each(|(_, read)| *read = true);
    }

    /// How many letters an agent has not read.
    #[must_use]
    pub fn unread(&self, agent: &str) -> usize {
        self.letters.iter().filter(|(letter, read)| letter.to == agent && !read).count()
    }

    /// The number of the next letter.
    #[must_use]
    pub fn next_number(&self) -> u32 {
        self.letters.iter().map(|(letter, _)| letter.number).max().unwrap_or(0).saturating_add(1)
    }

    /// A letter by its number.
    #[must_use]
    pub fn letter(&self, number: u32) -> Option<&Letter> {
        self.letters.iter().map(|(letter, _)| letter).find(|letter| letter.number == number)
    }

    /// The letters to an agent as a text, new ones first.
    #[must_use]
    pub fn show(&self, agent: &str) -> String {
        let mine: Vec<&(Letter, bool)> =
            self.letters.iter().filter(|(letter, _)| letter.to == agent).collect();
        if mine.is_empty() {
            return "No letters.".to_owned();
        }
        let mut text = format!("{} letters, {} new.", mine.len(), self.unread(agent));
        let (new, old): (Vec<_>, Vec<_>) = mine.into_iter().partition(|(_, read)| !read);
        for (letter, read) in new.into_iter().chain(old).take(20) {
            let mark = if *read { "" } else { " (new)" };
            let _ = write!(text, "\n\nNo. {}{mark} from {}", letter.number, letter.from);
            if !letter.subject.is_empty() {
                let _ = write!(text, ": {}", letter.subject);
            }
            let _ = write!(text, "\n{}", letter.text);
        }
        text
    }
}
