//! Inputs that are compressed, cut off, broken, large, or not what they should be.

use std::io::{Cursor, Read, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use steersman_trace::{
    Flow, Format, OpenError, Source, Units, group, open, open_reader, read_bytes,
};

use crate::collect::Log;

const RUNS: &str = concat!(
    r#"{"id":"a","steps":[{"role":"user","content":"one"}]}"#,
    "\n",
    r#"{"id":"b","steps":[{"role":"user","content":"two"}]}"#,
    "\n"
);

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

fn zstd(text: &str) -> Vec<u8> {
    compress_to_vec(text.as_bytes(), CompressionLevel::Fastest)
}

fn read_all(mut units: Units) -> Log {
    let mut log = Log::default();
    while let Some(unit) = units.next_unit() {
        unit.read(&mut log);
    }
    log
}

fn read(bytes: impl AsRef<[u8]> + Send + 'static) -> Log {
    read_all(open_reader("test", Cursor::new(bytes)).unwrap())
}

fn refusal(bytes: &[u8]) -> String {
    read_bytes("test", bytes, &mut Log::default()).unwrap_err().to_string()
}

fn problems(log: &Log) -> Vec<String> {
    log.problems.iter().map(ToString::to_string).collect()
}

#[test]
fn compression_is_told_by_content() {
    let plain = read(RUNS).text;
    let (first, second) = RUNS.split_at(RUNS.find('\n').unwrap() + 1);
    let skippable = [&[0x53, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3][..], &zstd(RUNS)].concat();
    let cases = [
        ("gzip", gzip(RUNS)),
        ("gzip of two members", [gzip(first), gzip(second)].concat()),
        ("zstd", zstd(RUNS)),
        ("zstd of two frames", [zstd(first), zstd(second)].concat()),
        ("zstd with a skippable frame", skippable),
        ("plain with a byte order mark", [b"\xef\xbb\xbf", RUNS.as_bytes()].concat()),
    ];
    for (name, bytes) in cases {
        assert_eq!(read(bytes).text, plain, "{name}");
    }
}

#[test]
fn what_came_before_the_cut_is_kept() {
    let many: String = (0..20_000)
        .map(|n| {
            format!(
                "{{\"id\":\"{n}\",\"steps\":[{{\"role\":\"user\",\"content\":\"{}\"}}]}}\n",
                n * 7919
            )
        })
        .collect();
    for (name, whole) in [("gzip", gzip(&many)), ("zstd", zstd(&many))] {
        let log = read(whole[..whole.len() / 2].to_vec());
        assert!(log.runs > 1000, "{name}: {} runs", log.runs);
        let problems = problems(&log);
        assert_eq!(problems.len(), 1, "{name}: {problems:?}");
        assert!(
            problems[0].contains("the input ends early, what came before is kept"),
            "{problems:?}"
        );
        assert!(problems[0].starts_with(&format!("test:{}", log.runs + 1)), "{problems:?}");
    }
    let session: String = (0..5000)
        .map(|n| format!("{{\"role\":\"user\",\"content\":\"{}\"}}\n", n * 7919))
        .collect();
    let whole = gzip(&session);
    let log = read(whole[..whole.len() / 2].to_vec());
    assert_eq!(log.runs, 1);
    assert!(log.text.contains(r#""truncated":true"#));
    assert_eq!(problems(&log).len(), 1);
}

#[test]
fn documents_that_are_cut_off() {
    let cases = [
        (
            r#"[{"role":"user","content":"a"},{"role":"us"#,
            "test:1: the input ends inside an element",
        ),
        (r#"[{"role":"user","content":"a"},"#, "test:1: the list is cut off"),
        (
            "{\"messages\":[{\"role\":\"user\",\"content\":\"a\"}],\n\"mod",
            "test:2: the document is cut off",
        ),
        (
            "{\"messages\":[{\"role\":\"user\",\"content\":\"a\"}],\n\"model\"",
            "test:2: not valid JSON: no value after a key; the rest is skipped",
        ),
        (
            "{\"messages\":\n[{\"role\":\"user\",\"content\":\"a\"}],17}",
            "test:2: not valid JSON; the rest of the document is skipped",
        ),
        (
            "{\"messages\":\n[{\"role\":\"user\",\"content\":\"a\"}]} what",
            "test:2: neither a JSON object nor a list; the rest is skipped",
        ),
    ];
    for (text, expected) in cases {
        let log = read(text);
        assert_eq!(log.runs, 1, "{text}");
        assert!(log.text.contains(r#""text":"a""#), "{text}");
        assert_eq!(problems(&log), [expected], "{text}");
    }
}

#[test]
fn refused_inputs_say_what_they_are() {
    let cases: [(&[u8], &str); 9] = [
        (b"", "test: is empty; known are runs, "),
        (b" \n\t\n", "test: is empty; "),
        (b"\x7fELF\0\0", "test: is binary; "),
        (b"\xff\xfe{\0}\0", "test: is UTF-16 text, not UTF-8; "),
        (b"hello", "test: is not JSON; "),
        (b"{}", "test: is JSON of an unknown kind; "),
        (b"[]", "test: is JSON of an unknown kind; "),
        (br#"{"name":"package","version":"1.0.0"}"#, "test: is JSON of an unknown kind; "),
        (b"\x1f\x8b\x08\x00", "test: unexpected end of file"),
    ];
    for (bytes, expected) in cases {
        let message = refusal(bytes);
        assert!(message.starts_with(expected), "{message}");
    }
    assert!(refusal(b"{}").ends_with("opencode export (plain, gzip, or zstd)"));
    let missing = open(Path::new("/no/such/file")).unwrap_err().to_string();
    assert!(missing.starts_with("/no/such/file: No such file"), "{missing}");
    let source = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src");
    let folder = open(&source).unwrap_err();
    assert!(matches!(folder, OpenError::Folder { .. }));
    assert!(folder.to_string().contains("without event-*.json files"), "{folder}");
}

#[test]
fn a_trace_without_a_message_is_a_problem() {
    let cases = [
        (
            r#"{"sessionId":"s","projectHash":"h"}"#,
            "test: a Gemini CLI chat without a single message",
        ),
        (
            r#"{"timestamp":"t","type":"session_meta","payload":{"id":"x"}}"#,
            "test: a Codex rollout without a single message",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(problems(&read(text)), [expected]);
    }
}

/// Detection by content, whatever the layout.
#[test]
fn formats() {
    let cases = [
        (RUNS, Format::Runs),
        (r#"{"id":"x","task":"no steps yet","steps":[],"outcome":{"solved":true}}"#, Format::Runs),
        (r#"[{"id":"a","steps":[{"role":"user","content":"list of runs"}]}]"#, Format::Runs),
        (r#"{"role":"user","content":"x"}"#, Format::Chat),
        (r#"[{"role":"system","content":"x"}]"#, Format::Chat),
        (r#"{"messages":[{"role":"user","content":"x"}]}"#, Format::Chat),
        (r#"[{"messages":[{"role":"user","content":"x"}]}]"#, Format::Chat),
        (
            r#"[{"role":"assistant","type":"message","content":[{"type":"text","text":"x"}]}]"#,
            Format::Chat,
        ),
        (r#"{"type":"message","role":"user","content":"x"}"#, Format::Responses),
        (r#"{"model":"m","input":[{"role":"user","content":"x"}]}"#, Format::Responses),
        (
            r#"[{"role":"user","content":"x"},{"type":"function_call","name":"f"}]"#,
            Format::Responses,
        ),
        (
            concat!(
                r#"{"type":"summary","summary":"x"}"#,
                "\n",
                r#"{"type":"user","uuid":"u","message":{"role":"user","content":"x"}}"#
            ),
            Format::ClaudeCode,
        ),
        ("not JSON at all? then the next line tells\n{\"role\":\"user\"}", Format::Chat),
        (r#"{"type":"system","subtype":"init","session_id":"s"}"#, Format::ClaudeCode),
        (r#"{"timestamp":"t","type":"response_item","payload":{}}"#, Format::Codex),
        (r#"{"id":"1","type":"gemini","content":"x"}"#, Format::GeminiCli),
        (r#"{"type":"user","message":{"role":"user","parts":[{"text":"x"}]}}"#, Format::QwenCode),
        (r#"{"trajectory":[{"action":"ls","observation":""}]}"#, Format::SweAgent),
        (r#"{"messages":[],"trajectory_format":"mini-swe-agent-1.1"}"#, Format::MiniSweAgent),
        (r#"{"kind":"MessageEvent","source":"user","timestamp":"t"}"#, Format::OpenHands),
        (r#"{"schema_version":"ATIF-v1.2","steps":[]}"#, Format::Atif),
        (
            r#"{"info":{"id":"s"},"messages":[{"info":{"role":"user"},"parts":[]}]}"#,
            Format::Opencode,
        ),
    ];
    for (text, expected) in cases {
        if !text.starts_with(['{', '[']) {
            assert!(refusal(text.as_bytes()).contains("not JSON"), "{text}");
            continue;
        }
        for text in [text.to_owned(), format!("\n\n  {text}\n"), text.replace(",\"", ",\n\"")] {
            let units = open_reader("x.bin", Cursor::new(text.clone())).unwrap();
            assert_eq!(units.format(), expected, "{text}");
        }
    }
}

/// The same value however it is laid out.
#[test]
fn one_run_is_the_same_in_every_layout() {
    let run = r#"{"id":"a","model":"m","steps":[{"role":"user","content":"one"},{"role":"assistant","content":"two","tool_calls":[{"id":"c","name":"f","arguments":{}}]},{"role":"tool","tool_call_id":"c","content":"three"}]}"#;
    let without_lines = |log: &Log| {
        let mut kept = String::new();
        for line in log.text.lines() {
            let mut value: serde_json::Value = serde_json::from_str(line).unwrap();
            value["line"].take();
            value["run"]["line"].take();
            kept.push_str(&format!("{value}\n"));
        }
        kept
    };
    let expected = without_lines(&read(run));
    let pretty =
        serde_json::to_string_pretty(&serde_json::from_str::<serde_json::Value>(run).unwrap());
    for layout in
        [format!("{run}\n"), pretty.unwrap(), format!("[{run}]"), run.replace(":[", ":\n[")]
    {
        assert_eq!(without_lines(&read(layout.clone())), expected, "{layout}");
    }
}

#[test]
fn a_line_beyond_the_limit_is_skipped() {
    let start: &[u8] = br#"{"id":"long","steps":[{"role":"user","content":""#;
    let input = Cursor::new([RUNS.as_bytes(), start].concat())
        .chain(std::io::repeat(b'x').take(65 << 20))
        .chain(Cursor::new(b"\"}]}\n".to_vec()))
        .chain(Cursor::new(RUNS.as_bytes()));
    let log = read_all(open_reader("test", input).unwrap());
    assert_eq!(log.runs, 4);
    assert_eq!(problems(&log), ["test:3: line longer than 64 MiB is skipped"]);
    let list =
        Cursor::new(br#"[{"role":"user","content":"a"},{"role":"user","content":""#.to_vec())
            .chain(std::io::repeat(b'x').take(65 << 20))
            .chain(Cursor::new(br#""},{"role":"user","content":"b"}]"#));
    let log = read_all(open_reader("test", list).unwrap());
    assert_eq!(problems(&log), ["test:1: element longer than 64 MiB is skipped"]);
    assert!(log.text.contains(r#""text":"b""#));
}

#[test]
fn a_single_long_line_is_read_as_a_document() {
    let step = format!(r#"{{"role":"assistant","content":"{}"}},"#, "x".repeat(1 << 20));
    for list in ["messages", "steps"] {
        let text = format!(r#"{{"id":"long","{list}":["#).into_bytes();
        let mut input: Box<dyn Read + Send> = Box::new(Cursor::new(text));
        for _ in 0..66 {
            input = Box::new(input.chain(Cursor::new(step.clone())));
        }
        let input = input.chain(Cursor::new(r#"{"role":"user","content":"end"}]}"#));
        let log = read_all(open_reader("test", input).unwrap());
        assert_eq!((log.runs, problems(&log)), (1, vec![]), "{list}");
        assert!(log.text.contains(r#""id":"long""#) && log.text.contains(r#""text":"end""#));
    }
}

#[test]
fn units_can_be_read_on_threads() {
    let text: String =
        (0..2000).map(|n| RUNS.replace("one", &format!("{n} {}", "x".repeat(4000)))).collect();
    let expected = read(text.clone()).text;
    let mut units = open_reader("test", Cursor::new(text)).unwrap();
    let parts: Vec<_> = std::iter::from_fn(|| units.next_unit()).collect();
    assert!(parts.len() > 3);
    let mut logs: Vec<(usize, String)> = std::thread::scope(|scope| {
        let handles: Vec<_> = parts
            .into_iter()
            .enumerate()
            .map(|(index, unit)| {
                scope.spawn(move || {
                    let mut log = Log::default();
                    unit.read(&mut log);
                    (index, log.text)
                })
            })
            .collect();
        handles.into_iter().map(|handle| handle.join().unwrap()).collect()
    });
    logs.sort();
    let joined: String = logs.into_iter().map(|(_, text)| text).collect();
    assert!(joined == expected, "order or line numbers differ");
}

#[test]
fn a_sink_can_break_off() {
    #[derive(Default)]
    struct Few(Log, usize);
    impl steersman_trace::RunSink for Few {
        fn run_started(&mut self, meta: &steersman_trace::RunMeta<'_>) -> Flow {
            self.0.run_started(meta)
        }
        fn event(
            &mut self,
            at: steersman_engine::Timestamp,
            event: &steersman_engine::Event<'_>,
            line: u64,
        ) -> Flow {
            self.0.event(at, event, line);
            self.1 += 1;
            if self.1 == 2 { Flow::Break } else { Flow::Continue }
        }
        fn run_ended(&mut self, end: steersman_trace::RunEnd) -> Flow {
            self.0.run_ended(end)
        }
        fn problem(&mut self, problem: steersman_trace::Problem) {
            self.0.problem(problem);
        }
    }
    let message = "{\"role\":\"user\",\"content\":\"a\"}\n";
    for text in [
        RUNS.repeat(3),
        message.repeat(5),
        format!("[{}]", message.repeat(5).replace("}\n{", "},{")),
    ] {
        let mut few = Few::default();
        let flow = read_bytes("test", text.as_bytes(), &mut few).unwrap();
        assert_eq!((flow, few.1), (Flow::Break, 2), "{text}");
        assert!(few.0.problems.is_empty());
    }
}

#[test]
fn events_of_a_conversation_are_grouped() {
    let paths = [
        "b.jsonl",
        "x/events/event-2.json",
        "y/events/event-1.json",
        "x/events/event-1.json",
        "x/events/other.json",
        "x/event-1.json",
    ];
    let sources = group(paths.map(PathBuf::from));
    let names: Vec<&str> = sources.iter().map(|source| source.path().to_str().unwrap()).collect();
    assert_eq!(names, ["b.jsonl", "x/events", "y/events", "x/events/other.json", "x/event-1.json"]);

    let folder =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("testdata/openhands/conversation-7f/events");
    let by_folder = read_all(Source::new(&folder).open().unwrap());
    let files = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let by_files = read_all(group(files)[0].open().unwrap());
    assert_eq!(by_folder.text, by_files.text);
    assert_eq!(by_folder.problems.len(), 1);
    assert!(by_folder.problems[0].path.ends_with("events/event-00001-b.json"));
}
