//! Mail between agents: pure state, folded from the entries of a journal.

use std::fmt::Write;

use serde::{Deserialize, Serialize};

/// Most mails that are kept per recipient; the oldest that was read gives way.
pub const MAX_MAILS: usize = 100;

/// Longest subject. Bytes.
pub const MAX_SUBJECT: usize = 200;

/// Longest text. Bytes.
pub const MAX_TEXT: usize = 16 << 10;

/// Longest name of an agent. Bytes.
const MAX_NAME: usize = 64;

/// Most mails that the notice about unread ones names.
const MAX_NAMED: usize = 5;

/// A mail.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mail {
    /// Number of the mail, from 1, unique within the mailbox.
    pub id: u64,
    /// Who wrote it.
    pub from: String,
    /// Whom it is for.
    pub to: String,
    /// What it is about.
    pub subject: String,
    /// What it says.
    pub text: String,
    /// The mail that it answers; `None` if it begins a thread.
    pub in_reply_to: Option<u64>,
    /// Whether the recipient has read it.
    pub read: bool,
}

/// What an agent wants to send.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Draft {
    /// Whom it is for.
    pub to: String,
    /// What it is about, at most [`MAX_SUBJECT`] bytes.
    pub subject: String,
    /// What it says, at most [`MAX_TEXT`] bytes.
    pub text: String,
    /// The mail that it answers; `None` begins a thread.
    pub in_reply_to: Option<u64>,
}

/// What happened to the mail, as a journal keeps it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "mail", rename_all = "snake_case")]
pub enum MailEntry {
    /// An agent wrote a mail.
    Posted {
        /// Its number.
        id: u64,
        /// Who wrote it.
        from: String,
        /// What was sent.
        #[serde(flatten)]
        draft: Draft,
    },
    /// An agent has read its mail.
    Read {
        /// Who has read.
        agent: String,
        /// The numbers of the mails.
        ids: Vec<u64>,
    },
}

/// Why a mail cannot be sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MailError {
    /// A mail to oneself.
    #[error("a mail to yourself: {0}")]
    ToOneself(String),
    /// A name is missing or too long.
    #[error("`{0}` is no name of an agent: 1 to 64 bytes")]
    Name(String),
    /// Subject and text are empty.
    #[error("an empty mail: it needs a text")]
    Empty,
    /// The subject or text is too long.
    #[error("the {part} has {bytes} bytes, at most {most} are allowed")]
    TooLong {
        /// `subject` or `text`.
        part: &'static str,
        /// How long it is.
        bytes: usize,
        /// How long it may be.
        most: usize,
    },
    /// The mail to be answered is not there, or is no mail to or from the writer.
    #[error("no mail {0} that you wrote or received")]
    NoSuchMail(u64),
    /// The recipient has too many unread mails.
    #[error("{to} has {unread} unread mails: wait until they are read")]
    Full {
        /// The recipient.
        to: String,
        /// How many are unread.
        unread: usize,
    },
}

/// The mail of all agents of a session.
///
/// Asking for something gives an entry; nothing changes until the entry is folded in, so it can
/// be made durable first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mailbox {
    mails: Vec<Mail>,
    last_id: u64,
}

impl Mailbox {
    /// The entry of a mail that `from` writes. Without a subject, an answer takes the subject of
    /// what it answers.
    ///
    /// # Errors
    /// The mail cannot be sent.
    pub fn post(&self, from: &str, mut draft: Draft) -> Result<MailEntry, MailError> {
        for name in [from, &draft.to] {
            if name.is_empty() || name.len() > MAX_NAME {
                return Err(MailError::Name(name.to_owned()));
            }
        }
        if draft.to == from {
            return Err(MailError::ToOneself(from.to_owned()));
        }
        if let Some(id) = draft.in_reply_to {
            let theirs = |mail: &&Mail| mail.id == id && (mail.to == from || mail.from == from);
            let found = self.mails.iter().find(theirs).ok_or(MailError::NoSuchMail(id))?;
            if draft.subject.trim().is_empty() {
                draft.subject.clone_from(&found.subject);
            }
        }
        if draft.text.trim().is_empty() {
            return Err(MailError::Empty);
        }
        let parts = [("subject", &draft.subject, MAX_SUBJECT), ("text", &draft.text, MAX_TEXT)];
        for (part, text, most) in parts {
            if text.len() > most {
                return Err(MailError::TooLong { part, bytes: text.len(), most });
            }
        }
        let unread = self.unread(&draft.to);
        if unread >= MAX_MAILS {
            return Err(MailError::Full { to: draft.to, unread });
        }
        Ok(MailEntry::Posted { id: self.last_id + 1, from: from.to_owned(), draft })
    }

    /// The entry of an answer to a mail, which goes to whoever wrote it.
    ///
    /// # Errors
    /// As [`Mailbox::post`].
    pub fn reply(&self, from: &str, id: u64, text: &str) -> Result<MailEntry, MailError> {
        let found = self.mails.iter().find(|mail| mail.id == id && mail.to == from);
        let to = found.ok_or(MailError::NoSuchMail(id))?.from.clone();
        let (subject, text) = (String::new(), text.to_owned());
        self.post(from, Draft { to, subject, text, in_reply_to: Some(id) })
    }

    /// The unread mails of an agent, oldest first, and the entry that marks them as read; `None` if
    /// there are none.
    #[must_use]
    pub fn read<'m>(&'m self, agent: &'m str) -> (Vec<&'m Mail>, Option<MailEntry>) {
        let unread: Vec<&Mail> = self.unread_of(agent).collect();
        let ids: Vec<u64> = unread.iter().map(|mail| mail.id).collect();
        let entry = (!ids.is_empty()).then(|| MailEntry::Read { agent: agent.to_owned(), ids });
        (unread, entry)
    }

    /// How many mails an agent has not read.
    #[must_use]
    pub fn unread(&self, agent: &str) -> usize {
        self.unread_of(agent).count()
    }

    /// The mails of an agent that are kept, oldest first.
    pub fn of<'m>(&'m self, agent: &'m str) -> impl Iterator<Item = &'m Mail> {
        self.mails.iter().filter(move |mail| mail.to == agent)
    }

    /// What an agent is told of its unread mail; `None` if there is none.
    #[must_use]
    pub fn notice(&self, agent: &str) -> Option<String> {
        let unread = match self.unread(agent) {
            0 => return None,
            1 => "1 unread mail".to_owned(),
            count => format!("{count} unread mails"),
        };
        let mut notice = format!("You have {unread}:");
        for mail in self.unread_of(agent).take(MAX_NAMED) {
            let subject = mail.subject.split_whitespace().collect::<Vec<_>>().join(" ");
            let subject = if subject.is_empty() { "no subject".to_owned() } else { subject };
            // Writing to a string cannot fail.
            let _ = write!(notice, " {} from {} ({subject}),", mail.id, mail.from);
        }
        notice.pop();
        if self.unread(agent) > MAX_NAMED {
            notice.push_str(" and more");
        }
        notice.push_str(". Read it with `read_mail` before your next step.");
        Some(notice)
    }

    /// Takes in what happened. An entry that was folded in before changes nothing.
    pub fn fold(&mut self, entry: &MailEntry) {
        match entry {
            MailEntry::Posted { id, .. } if *id <= self.last_id => {}
            MailEntry::Posted { id, from, draft } => {
                self.last_id = *id;
                let Draft { to, subject, text, in_reply_to } = draft.clone();
                self.make_room(&to);
                let from = from.clone();
                self.mails.push(Mail {
                    id: *id,
                    from,
                    to,
                    subject,
                    text,
                    in_reply_to,
                    read: false,
                });
            }
            MailEntry::Read { agent, ids } => {
                let theirs = |mail: &&mut Mail| mail.to == *agent && ids.contains(&mail.id);
                self.mails.iter_mut().filter(theirs).for_each(|mail| mail.read = true);
            }
        }
    }

    fn unread_of<'m>(&'m self, agent: &'m str) -> impl Iterator<Item = &'m Mail> {
        self.of(agent).filter(|mail| !mail.read)
    }

    /// Lets the oldest mail that was read go, or the oldest of all: a journal may come from a
    /// version with a higher bound.
    fn make_room(&mut self, to: &str) {
        if self.of(to).count() < MAX_MAILS {
            return;
        }
        let read = self.mails.iter().position(|mail| mail.to == to && mail.read);
        let oldest = read.or_else(|| self.mails.iter().position(|mail| mail.to == to));
        if let Some(at) = oldest {
            self.mails.remove(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Draft, MAX_MAILS, MAX_TEXT, MailEntry, MailError, Mailbox};

    fn draft(to: &str, subject: &str, text: &str) -> Draft {
        Draft { to: to.into(), subject: subject.into(), text: text.into(), in_reply_to: None }
    }

    fn post(mailbox: &mut Mailbox, from: &str, draft: Draft) -> MailEntry {
        let entry = mailbox.post(from, draft).unwrap();
        mailbox.fold(&entry);
        entry
    }

    #[test]
    fn mail_is_sent_read_and_answered() {
        let mut mailbox = Mailbox::default();
        assert_eq!(mailbox.notice("b"), None);
        let first = post(&mut mailbox, "a", draft("b", "cells", "Look at cells.rs:12"));
        assert_eq!((mailbox.unread("b"), mailbox.unread("a")), (1, 0));
        assert_eq!(
            mailbox.notice("b").unwrap(),
            "You have 1 unread mail: 1 from a (cells). Read it with `read_mail` before your next \
             step."
        );
        let (mails, entry) = mailbox.read("b");
        assert_eq!(mails[0].text, "Look at cells.rs:12");
        let entry = entry.unwrap();
        mailbox.fold(&entry);
        assert_eq!(mailbox.read("b"), (vec![], None));
        let answer = mailbox.reply("b", 1, "It is fixed").unwrap();
        mailbox.fold(&answer);
        let (mails, _) = mailbox.read("a");
        assert_eq!((mails[0].subject.as_str(), mails[0].in_reply_to), ("cells", Some(1)));
        let mut again = Mailbox::default();
        for entry in [&first, &first, &entry, &answer, &first] {
            let text = serde_json::to_string(entry).unwrap();
            again.fold(&serde_json::from_str(&text).unwrap());
        }
        assert_eq!(again, mailbox);
    }

    #[test]
    fn mail_that_cannot_be_sent_is_refused() {
        let mut mailbox = Mailbox::default();
        post(&mut mailbox, "a", draft("b", "s", "t"));
        let long = "x".repeat(MAX_TEXT + 1);
        let (bytes, most) = (MAX_TEXT + 1, MAX_TEXT);
        let cases = [
            ("a", draft("a", "s", "t"), MailError::ToOneself("a".into())),
            ("a", draft("", "s", "t"), MailError::Name(String::new())),
            ("a", draft("b", "s", " "), MailError::Empty),
            ("a", draft("b", "s", &long), MailError::TooLong { part: "text", bytes, most }),
            ("a", Draft { in_reply_to: Some(9), ..draft("b", "", "t") }, MailError::NoSuchMail(9)),
            ("c", Draft { in_reply_to: Some(1), ..draft("b", "", "t") }, MailError::NoSuchMail(1)),
        ];
        for (from, draft, expected) in cases {
            assert_eq!(mailbox.post(from, draft), Err(expected));
        }
        assert_eq!(mailbox.reply("a", 1, "t"), Err(MailError::NoSuchMail(1)));
        for _ in 1..MAX_MAILS {
            post(&mut mailbox, "a", draft("b", "s", "t"));
        }
        let full = MailError::Full { to: "b".into(), unread: MAX_MAILS };
        assert_eq!(mailbox.post("a", draft("b", "s", "t")), Err(full));
        let entry = mailbox.read("b").1.unwrap();
        mailbox.fold(&entry);
        post(&mut mailbox, "a", draft("b", "s", "t"));
        assert_eq!((mailbox.of("b").count(), mailbox.unread("b")), (MAX_MAILS, 1));
    }
}
