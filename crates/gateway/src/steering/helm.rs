//! What people want of sessions.

use std::sync::Arc;

use steersman_engine::{Policy, Timestamp};

use super::Steering;
use crate::api::NewMark;
use crate::control::{Control, ControlError, Helm, Stands};
use crate::record::Entry;
use crate::session::Session;
use crate::sessions::lock;

impl Helm for Steering {
    fn control(&self, session: &str, who: &str, control: Control) -> Result<(), ControlError> {
        let at_ms = (self.clock)();
        let policy = self.settings().policy.clone();
        let mut sessions = self.lock_sessions();
        // One that was forgotten, or that has not been asked since the start, is taken up.
        let take_up = || {
            let (kept, scope) = self.recorder.recall(session)?;
            Some((Session::resume(policy, kept)?, scope))
        };
        let found = sessions.by_id(session, at_ms, take_up);
        drop(sessions);
        let (shared, scope) = found.ok_or(ControlError::Unknown)?;
        let mut held = lock(&shared);
        held.take_control(Timestamp(at_ms), who, &control)?;
        drop(held);
        let entry = Entry::Controlled { who: who.to_owned(), control };
        self.recorder.record(session, at_ms, &entry);
        // It holds also if the gateway ends before the next answer.
        let snapshot = Box::new(move || lock(&shared).snapshot());
        self.recorder.keep(session, scope, snapshot);
        Ok(())
    }

    fn open_sessions(&self) -> Option<usize> {
        Some(self.lock_sessions().len())
    }

    fn mark(&self, session: &str, who: &str, mark: &NewMark) -> Result<(), ControlError> {
        let NewMark { seq, mark, note } = mark.clone();
        let entry = Entry::Marked { who: who.to_owned(), seq, mark, note };
        self.recorder.record(session, (self.clock)(), &entry);
        Ok(())
    }

    fn stands(&self, session: &str) -> Option<Stands> {
        let sessions = self.lock_sessions();
        let open = sessions.open(session);
        drop(sessions);
        if let Some(open) = open {
            return Some(lock(&open).stands());
        }
        // Who only looks takes nothing up.
        let (kept, _) = self.recorder.recall(session)?;
        Some(Session::resume(self.settings().policy.clone(), kept)?.stands())
    }

    fn policy(&self) -> Option<Arc<Policy>> {
        Some(self.settings().policy.clone())
    }
}
