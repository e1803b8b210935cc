//! Which spellings of an item are one item.

use steersman_wire::Format;

fn hash(format: Format, item: &str) -> u64 {
    let key = match format {
        Format::OpenAiResponses => "input",
        Format::Gemini => "contents",
        _ => "messages",
    };
    let body = format!(r#"{{"{key}": [{item}]}}"#);
    format.receive(body.as_bytes()).unwrap().item_hash(0)
}

#[test]
fn the_same_content_has_the_same_hash() {
    use Format::{Anthropic, Gemini, OpenAiChat, OpenAiResponses};
    let cases = [
        (
            OpenAiChat,
            r#"{"role":"user","content":"x"}"#,
            r#"{ "content" : "x", "role" : "user" }"#,
            true,
        ),
        (
            OpenAiChat,
            r#"{"role":"user","content":"x"}"#,
            r#"{"role":"user","content":[{"type":"text","text":"x"}]}"#,
            true,
        ),
        (
            OpenAiChat,
            r#"{"content":"gr\u00fc\u00df \ud83d\ude00 a\/b"}"#,
            r#"{"content":"grüß 😀 a/b"}"#,
            true,
        ),
        (OpenAiChat, r#"{"content":"a\u001b\n"}"#, r#"{"content":"a\u001B\u000a"}"#, true),
        (OpenAiChat, r#"{"content":"a","name":null}"#, r#"{"content":"a"}"#, true),
        (OpenAiChat, r#"{"content":"a"}"#, r#"{"content":"b"}"#, false),
        (OpenAiChat, r#"{"content":"a"}"#, r#"{"content":["a"]}"#, false),
        (
            OpenAiChat,
            r#"{"role":"user","content":"a"}"#,
            r#"{"role":"assistant","content":"a"}"#,
            false,
        ),
        (OpenAiChat, r#"{"id":"1","content":"a"}"#, r#"{"id":"2","content":"a"}"#, false),
        (OpenAiChat, r#"{"a":"b"}"#, r#"{"b":"a"}"#, false),
        (OpenAiChat, r#"{"a":[1,2]}"#, r#"{"a":[2,1]}"#, false),
        (OpenAiChat, r#"{"a":[1,[2]]}"#, r#"{"a":[[1],2]}"#, false),
        (OpenAiChat, r#"{"a":1}"#, r#"{"a":"1"}"#, false),
        (
            Anthropic,
            r#"{"role":"user","content":[{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}]}"#,
            r#"{"role":"user","content":"x"}"#,
            true,
        ),
        (
            Anthropic,
            r#"{"content":[{"type":"tool_result","tool_use_id":"t","content":"x"}]}"#,
            r#"{"content":[{"cache_control":1,"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"x"}]}]}"#,
            true,
        ),
        (
            Anthropic,
            r#"{"content":[{"type":"text","text":"x"},{"type":"text","text":"y"}]}"#,
            r#"{"content":[{"type":"text","text":"y"},{"type":"text","text":"x"}]}"#,
            false,
        ),
        // What a call is asked to write is content, whatever its keys are called.
        (
            Anthropic,
            r#"{"content":[{"type":"tool_use","input":{"cache_control":1}}]}"#,
            r#"{"content":[{"type":"tool_use","input":{}}]}"#,
            false,
        ),
        (
            Anthropic,
            r#"{"content":[{"type":"tool_use","input":{"content":"x"}}]}"#,
            r#"{"content":[{"type":"tool_use","input":{"content":[{"type":"text","text":"x"}]}}]}"#,
            false,
        ),
        (
            Anthropic,
            r#"{"content":[{"type":"tool_use","id":"1"}]}"#,
            r#"{"content":[{"type":"tool_use","id":"2"}]}"#,
            false,
        ),
        (
            OpenAiResponses,
            r#"{"type":"message","id":"m","status":"completed","role":"user","content":[{"type":"input_text","text":"x"}]}"#,
            r#"{"role":"user","content":"x"}"#,
            true,
        ),
        (OpenAiResponses, r#""x""#, r#"{"role":"user","content":"x"}"#, true),
        (
            OpenAiResponses,
            r#"{"type":"function_call_output","call_id":"c","output":"x"}"#,
            r#"{"type":"function_call_output","id":"fc","call_id":"c","output":[{"type":"input_text","text":"x"}]}"#,
            true,
        ),
        (
            OpenAiResponses,
            r#"{"type":"function_call","id":"a","call_id":"1"}"#,
            r#"{"type":"function_call","id":"b","call_id":"1"}"#,
            true,
        ),
        (
            OpenAiResponses,
            r#"{"type":"function_call","call_id":"1"}"#,
            r#"{"type":"function_call","call_id":"2"}"#,
            false,
        ),
        (OpenAiResponses, r#"{"type":"function_call"}"#, r#"{"type":"custom_tool_call"}"#, false),
        (
            Gemini,
            r#"{"role":"user","parts":[{"text":"x"}]}"#,
            r#"{"parts":[{"text":"x"}],"role":"user"}"#,
            true,
        ),
        (
            Gemini,
            r#"{"parts":[{"functionCall":{"args":{"a":1,"b":2}}}]}"#,
            r#"{"parts":[{"functionCall":{"args":{"b":2,"a":1}}}]}"#,
            true,
        ),
        (Gemini, r#"{"parts":[{"text":"x"}]}"#, r#"{"parts":[{"text":"x"},{"text":"x"}]}"#, false),
    ];
    for (format, one, other, same) in cases {
        let (first, second) = (hash(format, one), hash(format, other));
        assert_eq!(first == second, same, "{format}: {one} and {other}");
        assert_ne!(first, 0);
    }
}

/// Stored with sessions: a hash is the same for ever.
#[test]
fn hashes_stay() {
    let item = r#"{"role":"user","content":"Fix the tests."}"#;
    assert_eq!(format!("{:016x}", hash(Format::Anthropic, item)), "3aeb4f527c612546");
}

#[test]
fn the_prelude_is_system_and_tools() {
    let prelude = |body: &str| Format::Anthropic.receive(body.as_bytes()).unwrap().prelude_hash();
    let one = prelude(r#"{"model":"a","system":"s","tools":[{"name":"x","description":"d"}]}"#);
    let same = r#"{"model":"b","system":[{"type":"text","text":"s","cache_control":{}}],"tools":[{"name":"x"}]}"#;
    assert_eq!(one, prelude(same));
    assert_ne!(one, prelude(r#"{"system":"s","tools":[{"name":"y"}]}"#));
    assert_ne!(one, prelude(r#"{"system":"t","tools":[{"name":"x"}]}"#));
    assert_ne!(one, prelude(r#"{"system":"s"}"#));
}

#[test]
fn depth_costs_no_stack() {
    let deep = |levels: usize, inside: &str| {
        format!(r#"{{"x":{}{inside}{}}}"#, "[".repeat(levels), "]".repeat(levels))
    };
    for format in Format::ALL {
        assert_eq!(hash(format, &deep(50, "1, 2")), hash(format, &deep(50, "1,2")));
        let levels = 100_000;
        assert_ne!(hash(format, &deep(levels, "1")), hash(format, &deep(levels, "2")));
    }
}
