//! How a session stands, seen from outside.

use steersman_agent::{Clock, SystemClock};
use steersman_gateway::journal::STATE_OPEN;
use steersman_store::{Lease, Summary};

use crate::screen::Tone;

/// How a session stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// A process drives it.
    Running,
    /// It has ended, in an ending of this name.
    Ended(String),
    /// The process that drove it is gone without having let go of it.
    Interrupted,
    /// It was left as it is.
    Left,
    /// Its client may go on; nobody of ours drives it.
    Open,
}

impl Standing {
    /// As the store has it now.
    pub(super) fn of(summary: &Summary) -> Self {
        if driver(summary).is_some() {
            return Self::Running;
        }
        if summary.head.state == STATE_OPEN {
            return Self::Open;
        }
        let ended = !matches!(summary.head.state.as_str(), "" | "running");
        match (&summary.lease, ended) {
            (_, true) => Self::Ended(summary.head.state.clone()),
            (Some(_), false) => Self::Interrupted,
            (None, false) => Self::Left,
        }
    }

    pub(super) fn name(&self) -> &str {
        match self {
            Self::Running => "running",
            Self::Ended(ending) => ending,
            Self::Interrupted => "interrupted",
            Self::Left => "left",
            Self::Open => "open",
        }
    }

    pub(super) fn tone(&self) -> Tone {
        match self.name() {
            "running" => Tone::Heading,
            "complete" => Tone::Good,
            "refuted" | "stopped" | "failed" => Tone::Bad,
            _ => Tone::Warn,
        }
    }

    /// Whether it has ended.
    pub(super) const fn is_ended(&self) -> bool {
        matches!(self, Self::Ended(_))
    }
}

/// Who drives a session now; `None` if nobody does. A lease outlives a process that was killed.
pub(super) fn driver(summary: &Summary) -> Option<&Lease> {
    let lease = summary.lease.as_ref()?;
    let holds = lease.until_ms > SystemClock.now_ms() && !steersman_agent::is_gone(&lease.owner);
    holds.then_some(lease)
}
