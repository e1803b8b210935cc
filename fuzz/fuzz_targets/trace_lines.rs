//! Formats with a run per line, behind a line that settles the format.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| steersman_fuzz::check_behind(
    &[
        ("{\"id\":\"a\",\"steps\":[{\"role\":\"user\"}]}\n", "\n"),
        ("{\"steps\":[{\"role\":\"user\"}]}\n{\"steps\":[", "]}\n"),
        ("{\"messages\":[{\"role\":\"user\"}]}\n", "\n"),
        ("{\"messages\":[{\"role\":\"user\"}]}\n{\"messages\":[", "]}\n"),
    ],
    data
));
