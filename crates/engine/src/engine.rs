//! The engine: folds events, asks the rules, gives the decision.

use alloc::string::String;
use alloc::sync::Arc;

use crate::decision::{Action, Decision, Evidence};
use crate::event::{Event, Timestamp};
use crate::policy::{Mode, Policy};
use crate::reason::Reason;
use crate::run_info::RunInfo;
use crate::signals::Signals;

/// Decides after every event of one run what should happen next.
#[derive(Clone, Debug)]
pub struct Engine {
    policy: Arc<Policy>,
}

impl Engine {
    /// An engine for one run. The policy must have passed [`Policy::validate`].
    #[must_use]
    pub fn new(policy: Arc<Policy>, _info: RunInfo) -> Self {
        Self { policy }
    }

    /// Takes in one event and says what should happen next.
    pub fn handle(&mut self, _at: Timestamp, _event: &Event<'_>) -> Decision {
        Decision {
            action: Action::Continue,
            reason: Reason::Progressing,
            shadow: self.policy.mode == Mode::Shadow,
            turn: 0,
            call: 0,
            score: 1.0,
            signals: Signals::default(),
            evidence: Evidence { turns: alloc::vec![], excerpt: String::new() },
            intervention: None,
            delay_ms: None,
            run_check: false,
        }
    }

    /// When [`Event::TimePassed`] is due if nothing else happens; `None` if time changes nothing.
    #[must_use]
    pub fn deadline(&self) -> Option<Timestamp> {
        None
    }
}
