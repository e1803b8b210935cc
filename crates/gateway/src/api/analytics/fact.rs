//! What matters of entries, whoever wrote them.

use steersman_engine::{Decision, StopReason, Usage};
use steersman_store::Entry as Stored;
use steersman_timeline::Mark;

use crate::govern::Course;
use crate::record::Entry;

/// What an entry of a journal says to analytics.
#[derive(Clone, Debug, PartialEq)]
pub enum Fact {
    /// The session began.
    Opened {
        /// The agent; empty if it is not known.
        agent: String,
        /// The model; empty if it is not known.
        model: String,
        /// Whether a check can prove its goal.
        has_check: bool,
    },
    /// The model was asked.
    Asked,
    /// The model answered.
    Replied {
        /// Calls of tools in the answer.
        calls: usize,
        /// Why the model stopped; `None` if the server did not say.
        stop: Option<StopReason>,
        /// What it used.
        usage: Usage,
        /// What it cost, in nano-dollars; `None` if that is not known.
        cost_nanodollars: Option<u64>,
    },
    /// Something was decided.
    Decided(Box<Decision>),
    /// The model was asked again before the client saw the end.
    Rescued,
    /// A call of the model failed.
    Failed {
        /// Whether it is made again.
        is_retried: bool,
    },
    /// An answer broke off.
    BrokeOff,
    /// The gateway answered in the model's place.
    Capped,
    /// The attempt was given up and a new one began.
    StartedOver,
    /// A person marked what stands in an entry.
    Marked {
        /// The entry.
        seq: u64,
        /// The mark.
        mark: Mark,
    },
    /// The session ended.
    Ended {
        /// How.
        ending: &'static str,
    },
    /// The session goes on after it had ended.
    WentOn,
}

/// What an entry of the gateway's says; `None` if nothing.
pub(super) fn of_gateway(stored: &Stored) -> Option<Fact> {
    // An entry of a later version says nothing to this one.
    Some(match serde_json::from_str::<Entry>(&stored.body).ok()? {
        Entry::Opened(opened) => {
            Fact::Opened { agent: opened.client, model: opened.model, has_check: false }
        }
        Entry::Asked { .. } => Fact::Asked,
        Entry::Replied(replied) => Fact::Replied {
            calls: replied.calls.len(),
            stop: replied.stop,
            usage: replied.usage,
            cost_nanodollars: replied.cost(),
        },
        Entry::Decided(decision) => Fact::Decided(decision),
        Entry::Rescued { .. } => Fact::Rescued,
        Entry::CallFailed { retry_ms, .. } => Fact::Failed { is_retried: retry_ms.is_some() },
        Entry::BrokeOff { .. } => Fact::BrokeOff,
        Entry::Steered { course: Course::Answer } => Fact::Capped,
        Entry::Marked { seq, mark, .. } => Fact::Marked { seq, mark },
        _ => return None,
    })
}
