//! Calls of the mailbox tools (C8).

use super::next::Step;
use super::{OpenCall, Session};
use crate::control::Control;
use crate::entry::Entry;
use crate::mail::{Letter, Mailbox};

impl Session {
    pub(super) fn answer_mail(&self, call: &OpenCall, control: &Control) -> Step {
        let from = self.agent.name.clone();
        let number = self.mail.next_number();
        let letter = match control {
            Control::SendMail(sent) => Ok(Letter {
                number,
                from,
                to: sent.to.clone(),
                subject: sent.subject.clone(),
                text: sent.text.clone(),
                answers: None,
            }),
            Control::ReplyMail(reply) => match self.mail.letter(reply.number) {
                Some(first) if first.to == from => Ok(Letter {
                    number,
                    to: first.from.clone(),
                    subject: first.subject.clone(),
                    text: reply.text.clone(),
                    answers: Some(reply.number),
                    from,
                }),
                _ => Err(format!("There is no letter no. {} to you.", reply.number)),
            },
            _ => return self.show_mail(call, from),
        };
        let letter = letter.and_then(|letter| self.checked(letter));
        Step::Record(match letter {
            Err(why) => vec![Self::answered(call, &why, true)],
            Ok(letter) => {
                let text = format!("Sent to {} as no. {}.", letter.to, letter.number);
                vec![Entry::Mailed { letter }, Self::answered(call, &text, false)]
            }
        })
    }

    fn show_mail(&self, call: &OpenCall, agent: String) -> Step {
        let text = self.mail.show(&agent);
        Step::Record(vec![Entry::MailRead { agent }, Self::answered(call, &text, false)])
    }

    /// A letter goes to somebody who is there, and not to oneself.
    fn checked(&self, letter: Letter) -> Result<Letter, String> {
        let known = &self.opened.others;
        if letter.to == letter.from || !known.contains(&letter.to) {
            let others: Vec<&str> =
                known.iter().filter(|name| **name != letter.from).map(String::as_str).collect();
            return Err(format!(
                "There is no agent {:?} to write to. There are: {}.",
                letter.to,
                others.join(", ")
            ));
        }
        if letter.text.len() > Mailbox::MAX_TEXT {
            return Err(format!("The text is longer than {} bytes.", Mailbox::MAX_TEXT));
        }
        Ok(letter)
    }
}
