//! Session formats of one entry per line, behind a line that settles the format.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| steersman_fuzz::check_behind(
    &[
        ("{\"role\":\"user\",\"content\":\"a\"}\n", ""),
        ("{\"type\":\"function_call\",\"name\":\"f\"}\n", ""),
        ("{\"type\":\"user\",\"uuid\":\"u\",\"message\":{\"role\":\"user\"}}\n", ""),
        ("{\"type\":\"session_meta\",\"payload\":{}}\n", ""),
        ("{\"sessionId\":\"s\",\"projectHash\":\"h\"}\n", ""),
        ("{\"type\":\"user\",\"message\":{\"role\":\"user\",\"parts\":[{\"text\":\"a\"}]}}\n", ""),
        ("{\"kind\":\"MessageEvent\",\"source\":\"user\"}\n", ""),
        ("{\"id\":0,\"source\":\"user\",\"action\":\"message\",\"args\":{}}\n", ""),
    ],
    data
));
