//! How a verb that reads runs ends.

use std::process::ExitCode;

/// How a verb that reads runs ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// Everything was read and judged.
    Complete,
    /// Nothing could be judged, the policy is bad, or writing failed.
    Failed,
    /// The command line is wrong: it does not say clearly which runs are meant.
    Unclear,
    /// Runs were judged, but parts of the input could not be read.
    Partial,
    /// Interrupted by the user.
    Interrupted,
}

impl From<Ending> for ExitCode {
    fn from(ending: Ending) -> Self {
        Self::from(match ending {
            Ending::Complete => 0,
            Ending::Failed => 1,
            Ending::Unclear => 2,
            Ending::Partial => 3,
            Ending::Interrupted => 130,
        })
    }
}
