//! What a recording tells an engine, as a live driver would.

use steersman_engine::{Decision, Engine, Event, RunInfo, Timestamp};
use steersman_trace::RunMeta;

/// What an engine is told when a run begins.
#[must_use]
pub fn run_info(meta: &RunMeta<'_>) -> RunInfo {
    RunInfo {
        id: meta.id.to_string(),
        task: meta.task.to_string(),
        agent: meta.agent.to_string(),
        model: meta.model.to_string(),
        context_window: meta.context_window,
        ..RunInfo::default()
    }
}

/// Tells the engine that its deadlines passed before the next event.
pub fn pass_time(engine: &mut Engine, until: Timestamp) -> Vec<Decision> {
    /// A deadline that stays due after it was announced must not hold up the replay.
    const MAX_DEADLINES: u32 = 16;
    let mut decisions = Vec::new();
    for _ in 0..MAX_DEADLINES {
        match engine.deadline() {
            Some(deadline) if until != Timestamp::UNKNOWN && deadline <= until => {
                decisions.push(engine.handle(deadline, &Event::TimePassed));
            }
            _ => break,
        }
    }
    decisions
}
