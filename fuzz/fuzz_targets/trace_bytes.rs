//! Any bytes: detection, decompression, and whatever they turn out to be.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| steersman_fuzz::check(data));
