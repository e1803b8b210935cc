//! Files under `tests/golden` give what stands in the files beside them.
//!
//! `UPDATE_GOLDEN=1 cargo test -p steersman-wire` writes those anew; look at the difference before
//! committing it.

use std::path::Path;

use serde::Deserialize;
use serde_json::{Map, Value};
use steersman_wire::{Format, Message, Request, Schema, ToolChoice, ToolSpec};

use crate::cases::{answers, files, golden, shown};

pub(crate) fn compare(path: &Path, found: &str) {
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(path, found).unwrap();
    }
    let expected = std::fs::read_to_string(path).unwrap_or_default();
    assert_eq!(found, expected, "{}", path.display());
}

/// A stream and the same answer in one piece have one file: they must give the same.
#[test]
fn answers_are_read() {
    for case in answers() {
        let name = case.path.with_extension("answer.json");
        let found = shown(case.read(usize::MAX));
        if case.is_stream() && case.path.with_extension("json").exists() {
            let expected = std::fs::read_to_string(&name).unwrap();
            assert_eq!(found, expected, "{}", case.path.display());
        } else {
            compare(&name, &found);
        }
    }
}

#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Asked {
    model: String,
    system: String,
    messages: Vec<Message>,
    tools: Vec<ToolSpec>,
    tool_choice: String,
    max_output_tokens: Option<u32>,
    temperature: Option<f32>,
    stream: bool,
    schema: Option<Value>,
    parallel_tool_calls: Option<bool>,
    cache: bool,
    extra: Option<Map<String, Value>>,
}

impl Default for Asked {
    fn default() -> Self {
        Self {
            model: "some-model".into(),
            system: String::new(),
            messages: Vec::new(),
            tools: Vec::new(),
            tool_choice: "auto".into(),
            max_output_tokens: None,
            temperature: None,
            stream: false,
            schema: None,
            parallel_tool_calls: None,
            cache: true,
            extra: None,
        }
    }
}

#[test]
fn requests_are_built() {
    let folder = golden().join("requests");
    let mut seen = 0;
    for path in files(&folder) {
        if path.to_string_lossy().matches('.').count()
            > path.parent().unwrap().to_string_lossy().matches('.').count() + 1
        {
            continue;
        }
        let asked: Asked = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        let schema =
            asked.schema.map(|schema| Schema { name: "answer".into(), schema, strict: true });
        let request = Request {
            model: &asked.model,
            system: &asked.system,
            messages: &asked.messages,
            tools: &asked.tools,
            tool_choice: match asked.tool_choice.as_str() {
                "auto" => ToolChoice::Auto,
                "none" => ToolChoice::None,
                "required" => ToolChoice::Required,
                other => panic!("{other}"),
            },
            max_output_tokens: asked.max_output_tokens,
            temperature: asked.temperature,
            stream: asked.stream,
            schema: schema.as_ref(),
            parallel_tool_calls: asked.parallel_tool_calls,
            cache: asked.cache,
            extra: asked.extra.as_ref(),
        };
        for format in Format::ALL {
            let body: Value = serde_json::from_slice(&format.body(&request)).unwrap();
            let found = serde_json::to_string_pretty(&body).unwrap() + "\n";
            compare(&path.with_extension(format!("{format}.json")), &found);
        }
        seen += 1;
    }
    assert!(seen >= 6, "only {seen} requests found");
}

/// A response as it comes: status line, headers, an empty line, the body.
#[test]
fn failures_are_understood() {
    const NOW: u64 = 1_795_348_800_000;
    let mut found = String::new();
    let mut seen = 0;
    for path in files(&golden().join("failures")) {
        if path.extension().is_none_or(|extension| extension != "http") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let (head, body) = text.split_once("\n\n").unwrap();
        let mut lines = head.lines();
        let status: u16 = lines.next().unwrap().parse().unwrap();
        let headers: Vec<_> = lines.map(|line| line.split_once(": ").unwrap()).collect();
        let header = |name: &str| headers.iter().find(|header| header.0 == name).map(|h| h.1);
        let failure = Format::OpenAiChat.failure(status, header, body.trim_end().as_bytes(), NOW);
        let call = serde_json::to_string(&failure.call_failure()).unwrap();
        let again = steersman_engine::retry::should_retry(
            failure.stop,
            true,
            failure.call_failure().status,
            &failure.call_failure().message,
        );
        let name = path.file_stem().unwrap().to_string_lossy();
        found +=
            &format!("{name}\n  {failure}\n  {:?}, retried: {again}\n  {call}\n", failure.kind);
        seen += 1;
    }
    compare(&golden().join("failures/failures.txt"), &found);
    assert!(seen >= 12, "only {seen} failures found");
}

/// Stored conversations are read for ever.
#[test]
fn the_stored_form_of_messages_stays() {
    let stored = r#"[{"role":"user","parts":[{"text":"Hi"}]},{"role":"assistant","parts":[{"reasoning":{"text":"Hm","raw":{"format":"anthropic","value":{"type":"thinking"}}}},{"reasoning":{"text":""}},{"tool_call":{"id":"c1","name":"read","arguments":"{}"}},{"other":{"format":"gemini","value":1}}]},{"role":"tool","parts":[{"tool_result":{"call_id":"c1","name":"read","content":"ok","is_error":false}}]}]"#;
    let messages: Vec<Message> = serde_json::from_str(stored).unwrap();
    assert_eq!(serde_json::to_string(&messages).unwrap(), stored);
}
