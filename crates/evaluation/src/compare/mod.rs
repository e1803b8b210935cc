//! Rules of other tools, to compare a policy with: re-implemented from their published behaviour
//! and named after what they do.
//!
//! Each is a pure detector of one file. A [`Watch`] digests every event once and shows it to all
//! of them. What a rule says is taken for a stop: that is what these tools do.

mod action_observation;
mod call_and_result;
mod call_cycles;
mod calls_cap;
mod command_repeats;
pub mod conformal;
mod digest;
mod identical_calls;
mod watch;

pub use digest::{Call, Outcome};
pub use watch::Watch;

use action_observation::ActionObservation;
use call_and_result::CallAndResult;
use call_cycles::CallCycles;
use calls_cap::CallsCap;
use command_repeats::CommandRepeats;
use identical_calls::IdenticalCalls;

/// Something happened, as far as a rule is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment<'a> {
    /// The user wrote.
    UserSpoke,
    /// The reply asks for a call.
    Called(&'a Call),
    /// A call returned.
    Returned(&'a Call, Outcome),
    /// A turn is over.
    TurnEnded {
        /// Hash of all its calls and what they returned; `None` if it had no calls.
        turn: Option<u64>,
        /// Calls made so far in the run.
        calls: u32,
    },
}

/// A detector. It is asked no more once it has spoken.
pub trait Rule: Send {
    /// Takes in what happened; whether the run should be stopped now.
    fn see(&mut self, moment: Moment<'_>) -> bool;
}

/// A rule to compare with.
#[derive(Clone, Copy, Debug)]
pub struct Comparison {
    /// Its name.
    pub name: &'static str,
    /// What it does, in one line.
    pub about: &'static str,
    /// Makes the detector of one run; `None` for a rule that has to be fitted to runs first.
    make: Option<fn() -> Box<dyn Rule>>,
}

impl PartialEq for Comparison {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Comparison {
    /// All rules, in the order they are shown in.
    pub const ALL: &'static [Self] = &[
        Self::new("identical_calls_3", "the same call 3 times in a row", || {
            Box::new(IdenticalCalls::new(3))
        }),
        Self::new("identical_calls_4", "the same call 4 times in a row", || {
            Box::new(IdenticalCalls::new(4))
        }),
        Self::new("identical_calls_5", "the same call 5 times in a row", || {
            Box::new(IdenticalCalls::new(5))
        }),
        Self::new(
            "call_and_result_5_of_10",
            "a turn's calls and results stand more than 5 times among the last 10",
            || Box::<CallAndResult>::default(),
        ),
        Self::new(
            "call_cycles",
            "a cycle of 1 to 5 calls goes by 5 times, whatever they return",
            || Box::<CallCycles>::default(),
        ),
        Self::new(
            "command_repeats",
            "the same normalised command a 4th time without a state change in between",
            || Box::<CommandRepeats>::default(),
        ),
        Self::new(
            "action_observation",
            "the same call and result 4 times, the same call with errors 3 times, or 6 alternating",
            || Box::<ActionObservation>::default(),
        ),
        Self::new("cap_30", "30 calls", || Box::new(CallsCap::new(30))),
        Self::new("cap_50", "50 calls", || Box::new(CallsCap::new(50))),
        Self::new("cap_100", "100 calls", || Box::new(CallsCap::new(100))),
        Self {
            name: conformal::NAME,
            about: "more turns than all but 5 % of the solved runs of the same agent and model, \
                    fitted on other instances",
            make: None,
        },
    ];

    const fn new(name: &'static str, about: &'static str, make: fn() -> Box<dyn Rule>) -> Self {
        Self { name, about, make: Some(make) }
    }

    /// The rule of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|comparison| comparison.name == name).copied()
    }
}

#[cfg(test)]
mod tests;
