//! No reply makes the protocol reader panic, and what it reads survives storage.
#![no_main]

use libfuzzer_sys::fuzz_target;
use steersman_engine::protocol;

fuzz_target!(|text: &str| {
    let _ = protocol::patterns(text);
    let _ = protocol::read_call("report_progress", text);
    if let Some(signal) = protocol::read(text) {
        let stored = serde_json::to_string(&signal).unwrap();
        let back: protocol::ContinuationSignal = serde_json::from_str(&stored).unwrap();
        assert_eq!(back, signal);
    }
});
