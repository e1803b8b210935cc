//! Calls of the mailbox tools (C8).

use std::fmt::Write as _;

use steersman_prompt::{Draft, MailEntry};

use super::next::Step;
use super::{OpenCall, Session};
use crate::control::Control;
use crate::entry::Entry;

impl Session {
    pub(super) fn answer_mail(&self, call: &OpenCall, control: &Control) -> Step {
        let from = &self.agent.name;
        let entry = match control {
            Control::SendMail(sent) if !self.opened.others.contains(&sent.to) => {
                Err(self.nobody(&sent.to))
            }
            Control::SendMail(sent) => {
                let (to, subject, text) =
                    (sent.to.clone(), sent.subject.clone(), sent.text.clone());
                let draft = Draft { to, subject, text, in_reply_to: None };
                self.mail.post(from, draft).map_err(|error| format!("Not sent: {error}."))
            }
            Control::ReplyMail(reply) => {
                let entry = self.mail.reply(from, reply.id, &reply.text);
                entry.map_err(|error| format!("Not sent: {error}."))
            }
            _ => return self.show_mail(call),
        };
        Step::Record(match entry {
            Err(why) => vec![Self::answered(call, &why, true)],
            Ok(mail) => {
                let text = match &mail {
                    MailEntry::Posted { id, draft, .. } => {
                        format!("Sent to {} as mail {id}.", draft.to)
                    }
                    MailEntry::Read { .. } => String::new(),
                };
                vec![Entry::Mailed { mail }, Self::answered(call, &text, false)]
            }
        })
    }

    fn show_mail(&self, call: &OpenCall) -> Step {
        let (mails, entry) = self.mail.read(&self.agent.name);
        let Some(mail) = entry else {
            return Step::Record(vec![Self::answered(call, "No unread mail.", false)]);
        };
        let mut text = String::new();
        for mail in mails {
            let gap = if text.is_empty() { "" } else { "\n\n" };
            // Writing to a string cannot fail.
            let _ = write!(text, "{gap}Mail {} from {}", mail.id, mail.from);
            if !mail.subject.is_empty() {
                let _ = write!(text, ": {}", mail.subject);
            }
            let _ = write!(text, "\n{}", mail.text);
        }
        Step::Record(vec![Entry::Mailed { mail }, Self::answered(call, &text, false)])
    }

    fn nobody(&self, to: &str) -> String {
        let others = self.opened.others.iter().filter(|name| **name != self.agent.name);
        let others: Vec<&str> = others.map(String::as_str).collect();
        format!("There is no agent {to:?} to write to. There are: {}.", others.join(", "))
    }
}
