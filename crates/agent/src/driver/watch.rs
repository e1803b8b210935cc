//! Doing something while watching for what may interrupt it.

use std::future::Future;

use steersman_config::control::Control;
use steersman_engine::{Action, Event};

use super::{Command, DriveError, Driver};
use crate::entry::Entry;
use crate::log::LEASE_MS;

/// What came first.
pub(super) enum Outcome<T> {
    /// What was being done is done.
    Done(T),
    /// It was given up: the entry that says why.
    Interrupted(Entry),
    /// The session is to be left as it is.
    Left,
}

impl Driver {
    /// Does `work`, and gives it up when a person asks for the stop, when the engine's deadline is
    /// due, or when the session is to be left. Keeps the session meanwhile.
    pub(super) async fn watching<T>(
        &mut self,
        work: impl Future<Output = T>,
    ) -> Result<Outcome<T>, DriveError> {
        tokio::pin!(work);
        let deadline = self.deadline();
        self.hold().await?;
        loop {
            let now_ms = self.parts.clock.now_ms();
            let renewal = now_ms.saturating_add(LEASE_MS / 3);
            let until = deadline.map_or(renewal, |deadline| deadline.min(renewal));
            tokio::select! {
                biased;
                command = self.parts.commands.recv(), if !self.parts.commands.is_closed() => {
                    match command {
                        Some(Command::Stop { who }) => {
                            return Ok(Outcome::Interrupted(Entry::StopRequested { who }));
                        }
                        Some(Command::Say { text }) => self.notes.push(text),
                        Some(Command::Control { who, control }) => self.wish(who, control),
                        Some(Command::Mark { who, seq, mark, note }) => {
                            self.wishes.push(Entry::Marked { who, seq, mark, note });
                        }
                        Some(Command::Leave) => return Ok(Outcome::Left),
                        None => {}
                    }
                }
                done = &mut work => return Ok(Outcome::Done(done)),
                () = self.parts.clock.until(until) => {
                    let now_ms = self.parts.clock.now_ms();
                    if deadline.is_some_and(|deadline| deadline <= now_ms) {
                        return Ok(Outcome::Interrupted(Entry::TimePassed));
                    }
                    self.hold().await?;
                }
            }
        }
    }

    /// Does `work` to its end, whatever is asked for, and keeps the session meanwhile.
    pub(super) async fn holding<T>(
        &mut self,
        work: impl Future<Output = T>,
    ) -> Result<T, DriveError> {
        tokio::pin!(work);
        loop {
            self.hold().await?;
            let renewal = self.parts.clock.now_ms().saturating_add(LEASE_MS / 3);
            tokio::select! {
                biased;
                done = &mut work => return Ok(done),
                () = self.parts.clock.until(renewal) => {}
            }
        }
    }

    /// Keeps the session for another while, if it is time to.
    async fn hold(&mut self) -> Result<(), DriveError> {
        let now_ms = self.parts.clock.now_ms();
        if self.log.renewal_due(now_ms) {
            self.log.renew(now_ms).await?;
        }
        Ok(())
    }

    /// When the engine wants to be told that time passed; `None` if it would only go on then.
    fn deadline(&self) -> Option<u64> {
        let deadline = self.session.engine().deadline()?;
        let mut probe = self.session.engine().clone();
        let now = self.session.engine_time(self.parts.clock.now_ms());
        let acts = probe.handle(deadline.max(now), &Event::TimePassed).action != Action::Continue;
        acts.then(|| self.session.clock_time(deadline))
    }

    /// Takes in what people asked for between two steps.
    pub(super) async fn listen(&mut self) -> Result<(), DriveError> {
        self.tell_wishes().await?;
        while let Ok(command) = self.parts.commands.try_recv() {
            match command {
                Command::Stop { who } => self.write(vec![Entry::StopRequested { who }]).await?,
                Command::Say { text } => self.notes.push(text),
                Command::Control { who, control } => self.wish(who, control),
                Command::Mark { who, seq, mark, note } => {
                    self.wishes.push(Entry::Marked { who, seq, mark, note });
                }
                Command::Leave => return Err(DriveError::Left),
            }
            self.tell_wishes().await?;
        }
        Ok(())
    }

    /// A person wants something: it is written down and done between two steps.
    fn wish(&mut self, who: String, control: Control) {
        if let Control::Note { text } = &control {
            self.notes.push(text.clone());
        }
        self.wishes.push(Entry::Controlled { who, control });
    }

    async fn tell_wishes(&mut self) -> Result<(), DriveError> {
        let wishes = std::mem::take(&mut self.wishes);
        if wishes.is_empty() { Ok(()) } else { self.write(wishes).await }
    }

    /// Waits while the session is paused, for the next command.
    pub(super) async fn rest(&mut self) -> Result<(), DriveError> {
        loop {
            self.hold().await?;
            let renewal = self.parts.clock.now_ms().saturating_add(LEASE_MS / 3);
            let command = tokio::select! {
                biased;
                command = self.parts.commands.recv(), if !self.parts.commands.is_closed() => {
                    command
                }
                () = self.parts.clock.until(renewal) => continue,
            };
            match command {
                Some(Command::Stop { who }) => {
                    return self.write(vec![Entry::StopRequested { who }]).await;
                }
                // It is heard when the session goes on.
                Some(Command::Say { text }) => self.notes.push(text),
                Some(Command::Control { who, control }) => self.wish(who, control),
                Some(Command::Mark { who, seq, mark, note }) => {
                    self.wishes.push(Entry::Marked { who, seq, mark, note });
                }
                // Nobody can resume it any more: it is left as it is.
                Some(Command::Leave) | None => return Err(DriveError::Left),
            }
            return self.tell_wishes().await;
        }
    }
}
