//! No reply makes the protocol reader panic, and what it reads is within its bounds.
#![no_main]

use libfuzzer_sys::fuzz_target;
use steersman_engine::protocol;

fuzz_target!(|text: &str| {
    let _ = protocol::patterns(text);
    let _ = protocol::read_call("report_progress", text);
    let Some(signal) = protocol::read(text) else { return };
    assert!(signal.reason.is_none_or(|reason| reason.len() <= 500));
    if let Some(progress) = signal.progress {
        assert!(progress.completion_percentage.is_none_or(|p| (0.0..=100.0).contains(&p)));
        assert!(progress.steps_completed.len() <= 16 && progress.steps_remaining.len() <= 16);
    }
});
