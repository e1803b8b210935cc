//! What entries of runs say to analytics.

use steersman_agent::Entry;
use steersman_gateway::api::Fact;
use steersman_store::Entry as Stored;
use steersman_wire::Part;

/// What an entry says; empty if nothing.
pub(super) fn of(stored: &Stored) -> Vec<Fact> {
    // Most entries say nothing: they are not read.
    if !SAY.contains(&stored.kind.as_str()) {
        return Vec::new();
    }
    // An entry of a later version says nothing to this one.
    let Ok(entry) = serde_json::from_str::<Entry>(&stored.body) else { return Vec::new() };
    let fact = match entry {
        Entry::Opened(opened) => Fact::Opened {
            agent: opened.agent.name,
            model: opened.agent.model,
            has_check: opened.check.is_some(),
        },
        Entry::Spoke { .. } => Fact::WentOn,
        Entry::CallStarted => Fact::Asked,
        Entry::Replied(replied) => {
            let is_call = |part: &&Part| matches!(part, Part::ToolCall { .. });
            let cost = replied.usage.cost_nanodollars;
            Fact::Replied {
                calls: replied.message.parts.iter().filter(is_call).count(),
                stop: replied.stop,
                usage: replied.usage,
                cost_nanodollars: (cost > 0).then_some(cost),
            }
        }
        Entry::CallFailed(_) => Fact::Failed { is_retried: true },
        Entry::Decided { decision } => Fact::Decided(decision),
        Entry::StartedOver(_) => Fact::StartedOver,
        Entry::Marked { seq, mark, .. } => Fact::Marked { seq, mark },
        Entry::Ended(ended) => Fact::Ended { ending: ended.ending.name() },
        _ => return Vec::new(),
    };
    vec![fact]
}

/// The kinds of entries that say something.
const SAY: [&str; 9] = [
    "opened",
    "spoke",
    "call_started",
    "replied",
    "call_failed",
    "decided",
    "started_over",
    "marked",
    "ended",
];
