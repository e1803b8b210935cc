//! Formats that are JSON documents, behind a beginning that settles the format.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| steersman_fuzz::check_behind(
    &[
        ("{\"schema_version\":\"ATIF-v1.7\",\n\"steps\":[", "]}"),
        ("{\"trajectory\":[\n{\"action\":\"ls\"},", "]}"),
        ("{\"history\":[\n{\"role\":\"user\",\"agent\":\"a\"},", "]}"),
        ("{\"trajectory_format\":\"mini-swe-agent-1\",\n\"messages\":[", "]}"),
        ("{\"info\":{},\n\"messages\":[{\"info\":{\"role\":\"user\"},\"parts\":[]},", "]}"),
        ("{\"messages\":[\n{\"role\":\"user\"},", "]}"),
        ("[\n{\"role\":\"user\"},", "]"),
        ("[{\"steps\":[{\"role\":\"user\"}]},\n", "]"),
        ("{\"steps\":[{\"role\":\"user\"},\n", "]}"),
        ("{\"sessionId\":\"s\",\"messages\":[\n{\"type\":\"user\",\"id\":\"u\"},", "]}"),
        ("[\n{\"kind\":\"MessageEvent\",\"source\":\"user\"},", "]"),
        ("{\"messages\":[{\"role\":\"user\"}],\n", "}"),
    ],
    data
));
