//! Test reports: no output panics the parsers, and none is read differently twice.

#![no_main]

use libfuzzer_sys::fuzz_target;
use steersman_engine::TestReport;
use steersman_trace::reports::parse;

fuzz_target!(|bytes: &[u8]| {
    let output = String::from_utf8_lossy(bytes);
    let report = parse(&output);
    assert_eq!(report, parse(&output));
    if let Some(report) = report {
        assert!(report.failing.len() <= TestReport::MAX_FAILING);
    }
});
