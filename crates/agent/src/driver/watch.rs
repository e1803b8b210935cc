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

/// What a person asked for that does not wait for the next step.
enum Urgent {
    /// The stop: its entry.
    Stop(Entry),
    /// The session is to be left as it is.
    Leave,
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
                    match command.and_then(|command| self.take_in(command)) {
                        Some(Urgent::Stop(entry)) => return Ok(Outcome::Interrupted(entry)),
                        Some(Urgent::Leave) => return Ok(Outcome::Left),
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
            self.obey(command).await?;
        }
        Ok(())
    }

    /// Keeps what a person wants until it can be written down and done between two steps, and gives
    /// what cannot wait for that.
    fn take_in(&mut self, command: Command) -> Option<Urgent> {
        match command {
            Command::Stop { who } => return Some(Urgent::Stop(Entry::StopRequested { who })),
            Command::Leave => return Some(Urgent::Leave),
            Command::Say { text } => self.notes.push(text),
            Command::Control { who, control } => {
                if let Control::Note { text } = &control {
                    self.notes.push(text.clone());
                }
                self.wishes.push(Entry::Controlled { who, control });
            }
            Command::Mark { who, seq, mark, note } => {
                self.wishes.push(Entry::Marked { who, seq, mark, note });
            }
        }
        None
    }

    /// Does between two steps what a person wants.
    async fn obey(&mut self, command: Command) -> Result<(), DriveError> {
        match self.take_in(command) {
            Some(Urgent::Stop(entry)) => self.write(vec![entry]).await,
            Some(Urgent::Leave) => Err(DriveError::Left),
            None => self.tell_wishes().await,
        }
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
            return match command {
                // What is said is heard when the session goes on.
                Some(command) => self.obey(command).await,
                // Nobody can resume it any more: it is left as it is.
                None => Err(DriveError::Left),
            };
        }
    }
}
