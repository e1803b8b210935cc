//! What is read of the recorded requests stands in `NAME.FORMAT.told`, and the request with every
//! kind of edit in `NAME.FORMAT.edited`.
//!
//! `UPDATE_GOLDEN=1 cargo test -p steersman-wire` writes them.

use std::fmt::Write;
use std::path::Path;

use steersman_wire::{Edit, Message, Part};

use crate::cases::{Case, cases, say};

fn compare(path: &Path, found: &[u8]) {
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(path, found).unwrap();
    }
    let expected = std::fs::read(path).unwrap_or_default();
    let text = String::from_utf8_lossy;
    assert_eq!(text(found), text(&expected), "{}", path.display());
}

fn told(case: &Case) -> String {
    let request = case.received();
    let mut told = String::new();
    writeln!(told, "model: {:?}, stream: {}", request.model(), request.stream()).unwrap();
    writeln!(told, "tools: {:?}", request.tool_names()).unwrap();
    writeln!(told, "must call a tool: {}", request.tool_choice_is_required()).unwrap();
    writeln!(told, "demands JSON: {}", request.has_schema()).unwrap();
    writeln!(told, "limit: {:?}", request.max_output_tokens()).unwrap();
    writeln!(told, "user id: {:?}", request.user_id()).unwrap();
    writeln!(told, "cache key: {:?}", request.prompt_cache_key()).unwrap();
    writeln!(told, "previous: {:?}", request.previous_response_id()).unwrap();
    writeln!(told, "client: {:?}", request.client_metadata()).unwrap();
    writeln!(told, "system: {:?}", request.system()).unwrap();
    writeln!(told, "prelude: {:016x}", request.prelude_hash()).unwrap();
    for at in 0..request.item_count() {
        writeln!(told, "item {at}: {:016x}", request.item_hash(at)).unwrap();
    }
    for heard in request.turns(0).unwrap() {
        writeln!(told, "\n{:?}", heard.speaker).unwrap();
        for part in heard.message.parts {
            writeln!(told, "  {}", serde_json::to_string(&part).unwrap()).unwrap();
        }
    }
    told
}

fn edited(case: &Case) -> Vec<u8> {
    let request = case.received();
    let call = Part::ToolCall {
        id: "c".to_owned(),
        name: "t".to_owned(),
        arguments: "{\"cut".to_owned(),
        raw: None,
    };
    let parts = vec![Part::Text("I will.".to_owned()), call];
    let message = Message { parts, ..Message::assistant("") };
    let end = request.item_count();
    let edits = [
        say(end),
        Edit::Say { at: end, text: "And again." },
        Edit::Replied { at: end, message: &message },
        Edit::Say { at: end, text: "Do it." },
        Edit::Say { at: 1, text: "First." },
        Edit::ForceTool("not counted"),
        Edit::NoTools,
        Edit::MaxOutputTokens(100),
        Edit::Model("other"),
    ];
    request.edited(&edits).unwrap()
}

#[test]
fn requests_are_read_and_edited() {
    for case in cases() {
        compare(&case.path.with_extension("told"), told(&case).as_bytes());
        compare(&case.path.with_extension("edited"), &edited(&case));
    }
}

#[test]
fn tools_are_forced() {
    let check = |name: &str, tool: &str, expected: Result<&str, &str>| {
        let case = cases().into_iter().find(|case| case.name().starts_with(name)).unwrap();
        let edited = case.received().edited(&[Edit::ForceTool(tool)]);
        match (edited, expected) {
            (Ok(edited), Ok(expected)) => {
                let text = String::from_utf8(edited).unwrap();
                assert!(text.contains(expected), "{name}: {text}");
                assert!(case.format.receive(text.as_bytes()).unwrap().tool_choice_is_required());
            }
            (Err(error), Err(expected)) => assert!(error.to_string().contains(expected), "{error}"),
            (found, _) => panic!("{name}: {found:?}"),
        }
    };
    let function = r#""tool_choice":{"function":{"name":"bash"},"type":"function"}"#;
    check("opencode", "bash", Ok(function));
    check("smolagents", "final_answer", Ok(r#"{"function":{"name":"final_answer"}"#));
    check("mini", "bash", Ok(r#","function_call":{"name":"bash"}}"#));
    check("codex.", "exec_command", Ok(r#""tool_choice":{"name":"exec_command","type":"func"#));
    check("codex.", "spawn_agent", Ok(r#""tool_choice":{"name":"spawn_agent","type":"func"#));
    check("codex.", "apply_patch", Ok(r#""tool_choice":{"name":"apply_patch","type":"custom"}"#));
    check("codex.", "web_search", Ok(r#""tool_choice":{"type":"web_search"}"#));
    check("codex-lite", "exec", Ok(r#""tool_choice":{"name":"exec","type":"custom"}"#));
    check("claude-code", "Bash", Err("while the model thinks"));
    check("claude-code", "Other", Err("not offered"));
    check("cli", "replace", Ok(r#","toolConfig":{"functionCallingConfig":{"allowedFunc"#));
    check("adk", "run_shell", Ok(r#"{"allowedFunctionNames":["run_shell"],"mode":"ANY"},"retr"#));
    check("adk", "googleSearch", Err("cannot force"));
}
