//! How a run ends.

use core::fmt;

use serde::{Deserialize, Serialize};

/// How a run ends. Every run ends in one of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// Done, and the check proves it.
    Complete,
    /// The agent says that it is done; there is no check that could prove it.
    Claimed,
    /// The agent says that it is done, and the check still says otherwise.
    Refuted,
    /// The answer was forced: work may be left to do.
    Capped,
    /// Stopped by a budget, a rule, or a person.
    Stopped,
    /// The model could not be reached or answered with errors.
    Failed,
    /// The agent asks; the turn is the user's.
    Waiting,
}

impl Ending {
    /// Every ending.
    pub const ALL: [Self; 7] = [
        Self::Complete,
        Self::Claimed,
        Self::Refuted,
        Self::Capped,
        Self::Stopped,
        Self::Failed,
        Self::Waiting,
    ];

    /// The name in files and output.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Claimed => "claimed",
            Self::Refuted => "refuted",
            Self::Capped => "capped",
            Self::Stopped => "stopped",
            Self::Failed => "failed",
            Self::Waiting => "waiting",
        }
    }

    /// The exit code of a command whose run ended so. 1 and 2 are left to errors of use.
    #[must_use]
    pub const fn exit_code(self) -> u8 {
        match self {
            Self::Complete | Self::Claimed => 0,
            Self::Refuted => 4,
            Self::Capped => 5,
            Self::Stopped => 6,
            Self::Failed => 7,
            Self::Waiting => 8,
        }
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
