//! What edits change, and what they leave as it is.

use serde_json::Value;
use steersman_wire::{Edit, Format, Message};

use crate::cases::{Case, cases, say};

fn parse(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).unwrap()
}

fn items_key(format: Format) -> &'static str {
    match format {
        Format::OpenAiResponses => "input",
        Format::Gemini => "contents",
        _ => "messages",
    }
}

fn without(mut body: Value, keys: &[&str]) -> Value {
    for key in keys {
        body.as_object_mut().unwrap().remove(*key);
    }
    body
}

#[test]
fn without_edits_nothing_changes() {
    for case in cases() {
        assert_eq!(case.received().edited(&[]).unwrap(), case.body, "{}", case.name());
    }
}

#[test]
fn everything_else_stays() {
    let message = Message::assistant("Well.");
    for case in cases() {
        let request = case.received();
        let items = items_key(case.format);
        for at in 0..=request.item_count() + 1 {
            for edit in [say(at), Edit::Replied { at, message: &message }] {
                let edited = request.edited(&[edit]).unwrap();
                let (before, after) = (parse(&case.body), parse(&edited));
                assert_eq!(without(before, &[items]), without(after, &[items]));
                let again = case.format.receive(&edited).unwrap();
                let more = again.item_count() - request.item_count();
                assert!(more <= 1, "{}", case.name());
                assert!(more == 1 || matches!(edit, Edit::Say { .. }), "{}", case.name());
                let text = String::from_utf8(edited).unwrap();
                assert_eq!(text.matches("Look at \\\"tests\\\".\\nNow.").count(), {
                    usize::from(matches!(edit, Edit::Say { .. }))
                });
            }
        }
        let settings = [
            (Edit::NoTools, &["tool_choice", "toolConfig", "function_call"][..]),
            (Edit::Model("x"), &["model"]),
            (
                Edit::MaxOutputTokens(7),
                &[
                    "max_tokens",
                    "max_completion_tokens",
                    "max_output_tokens",
                    "generationConfig",
                    "generation_config",
                ],
            ),
        ];
        for (edit, keys) in settings {
            let edited = request.edited(&[edit]).unwrap();
            let (before, after) = (parse(&case.body), parse(&edited));
            assert_eq!(without(before, keys), without(after, keys), "{}", case.name());
            let again = case.format.receive(&edited).unwrap();
            match edit {
                Edit::MaxOutputTokens(_) => assert_eq!(again.max_output_tokens(), Some(7)),
                Edit::Model(_) if case.format != Format::Gemini => {
                    assert_eq!(again.model().as_deref(), Some("x"));
                }
                _ => {}
            }
            // Doing it twice is doing it once.
            assert_eq!(again.edited(&[edit]).unwrap(), edited, "{}", case.name());
        }
    }
}

/// The request as it was when it had the first `count` items, and what follows the last one.
fn earlier(case: &Case, count: usize) -> (Vec<u8>, usize) {
    let request = case.received();
    let end = |at: usize| {
        let item = request.item_text(at).unwrap();
        item.as_ptr().addr() - case.body.as_ptr().addr() + item.len()
    };
    let last = end(request.item_count() - 1);
    let earlier = [&case.body[..end(count - 1)], &case.body[last..]].concat();
    (earlier, case.body.len() - last)
}

/// Prompt caches hold by the beginning: what was put in is put in again to the byte.
#[test]
fn what_was_put_in_stays_while_the_list_grows() {
    let message = Message::assistant("Well.");
    let mut seen = 0;
    for case in cases().iter().filter(|case| case.received().item_count() > 1) {
        for at in 1..case.received().item_count() {
            let (body, tail) = earlier(case, at);
            let together = [say(at), Edit::Replied { at, message: &message }, say(at)];
            for edits in [&together[..1], &together] {
                let then = case.format.receive(&body).unwrap().edited(edits).unwrap();
                let now = case.received().edited(edits).unwrap();
                let same = &then[..then.len() - tail];
                let shown = String::from_utf8_lossy;
                assert!(now.starts_with(same), "{}\n{}", shown(same), shown(&now));
                seen += 1;
            }
        }
    }
    assert!(seen > 60, "{seen}");
}

fn check(format: Format, body: &str, edits: &[Edit<'_>], expected: &str) {
    let edited = format.receive(body.as_bytes()).unwrap().edited(edits).unwrap();
    assert_eq!(String::from_utf8(edited).unwrap(), expected);
}

#[test]
fn texts_go_where_the_format_takes_them() {
    use Format::{Anthropic, Gemini, OpenAiChat, OpenAiResponses};
    let hm = |at| [Edit::Say { at, text: "Hm" }];
    let user = r#"{"content":[{"text":"Hm","type":"text"}],"role":"user"}"#;
    let chat = r#"{"content":"Hm","role":"user"}"#;
    let item = r#"{"content":[{"text":"Hm","type":"input_text"}],"role":"user","type":"message"}"#;
    check(Anthropic, "{}", &hm(0), &format!(r#"{{"messages":[{user}]}}"#));
    check(Anthropic, " { } ", &hm(3), &format!(r#" {{"messages":[{user}] }} "#));
    check(
        Gemini,
        r#"{"a":1 }"#,
        &hm(0),
        r#"{"a":1,"contents":[{"parts":[{"text":"Hm"}],"role":"user"}] }"#,
    );
    check(OpenAiResponses, r#"{"input":[ ]}"#, &hm(0), &format!(r#"{{"input":[{item} ]}}"#));
    check(OpenAiResponses, r#"{"input":null}"#, &hm(0), &format!(r#"{{"input":[{item}]}}"#));
    let own =
        r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"a\u00e9"}]}"#;
    let text = r#"{"input":"a\u00e9"}"#;
    check(OpenAiResponses, text, &hm(0), &format!(r#"{{"input":[{item},{own}]}}"#));
    check(OpenAiResponses, text, &hm(1), &format!(r#"{{"input":[{own},{item}]}}"#));
    check(
        OpenAiChat,
        r#"{"messages":[{"role":"tool"}, 1]}"#,
        &hm(1),
        &format!(r#"{{"messages":[{{"role":"tool"}},{chat}, 1]}}"#),
    );
    check(
        OpenAiChat,
        r#"{"messages":[{"role":"user","content":"a\n"}]}"#,
        &hm(1),
        r#"{"messages":[{"role":"user","content":"a\n\n\nHm"}]}"#,
    );
    check(
        OpenAiChat,
        r#"{"messages":[{"role":"user","content":""}]}"#,
        &hm(1),
        r#"{"messages":[{"role":"user","content":"Hm"}]}"#,
    );
    check(
        OpenAiChat,
        r#"{"messages":[{"role":"user","content":[]}]}"#,
        &hm(1),
        r#"{"messages":[{"role":"user","content":[{"text":"Hm","type":"text"}]}]}"#,
    );
}

#[test]
fn texts_join_the_words_of_the_user() {
    use Format::{Anthropic, Gemini, OpenAiChat};
    let hm = |at| [Edit::Say { at, text: "Hm" }];
    let user = r#"{"content":[{"text":"Hm","type":"text"}],"role":"user"}"#;
    let chat = r#"{"content":"Hm","role":"user"}"#;
    check(
        Anthropic,
        r#"{"messages":[{"role":"user","content":"a\u00e9"}]}"#,
        &hm(1),
        r#"{"messages":[{"role":"user","content":[{"type":"text","text":"a\u00e9"},{"text":"Hm","type":"text"}]}]}"#,
    );
    check(
        Anthropic,
        r#"{"messages":[{"role":"user","content":" "}]}"#,
        &hm(1),
        r#"{"messages":[{"role":"user","content":[{"text":"Hm","type":"text"}]}]}"#,
    );
    // Instructions stay behind the words of the user, even if there were none.
    check(
        Anthropic,
        r#"{"messages":[{"role":"assistant"},{"role":"system"}]}"#,
        &hm(2),
        &format!(r#"{{"messages":[{{"role":"assistant"}},{user},{{"role":"system"}}]}}"#),
    );
    check(
        Gemini,
        r#"{"contents":[{"parts":[{"text":"a"} ]}]}"#,
        &hm(1),
        r#"{"contents":[{"parts":[{"text":"a"},{"text":"Hm"} ]}]}"#,
    );
    check(
        Gemini,
        r#"{"contents":[{"role":"model","parts":[]}]}"#,
        &hm(1),
        r#"{"contents":[{"role":"model","parts":[]},{"parts":[{"text":"Hm"}],"role":"user"}]}"#,
    );
    // The last of two keys counts, and keys may be written with escapes.
    check(
        OpenAiChat,
        r#"{"messages":[1],"m\u0065ssages":[2]}"#,
        &hm(1),
        &format!(r#"{{"messages":[1],"m\u0065ssages":[2,{chat}]}}"#),
    );
    check(
        OpenAiChat,
        r#"{"messages":[1]}"#,
        &[Edit::Say { at: 1, text: " \n" }],
        r#"{"messages":[1]}"#,
    );
}

#[test]
fn settings_are_set_in_their_place() {
    use Format::{Anthropic, Gemini, OpenAiChat, OpenAiResponses};
    check(OpenAiChat, r#"{"model":"m"}"#, &[Edit::NoTools], r#"{"model":"m"}"#);
    check(
        OpenAiChat,
        r#"{"model":"o3"}"#,
        &[Edit::MaxOutputTokens(5)],
        r#"{"model":"o3","max_completion_tokens":5}"#,
    );
    check(
        OpenAiChat,
        r#"{"max_tokens": 9 }"#,
        &[Edit::MaxOutputTokens(5)],
        r#"{"max_tokens": 5 }"#,
    );
    check(
        OpenAiResponses,
        r#"{"tool_choice":{"type":"function"},"tools":[{"type":"x"}]}"#,
        &[Edit::NoTools],
        r#"{"tool_choice":"none","tools":[{"type":"x"}]}"#,
    );
    check(
        Anthropic,
        r#"{"max_tokens":99,"thinking":{"type":"enabled","budget_tokens":50}}"#,
        &[Edit::MaxOutputTokens(20)],
        r#"{"max_tokens":70,"thinking":{"type":"enabled","budget_tokens":50}}"#,
    );
    check(
        Gemini,
        r#"{"tools":[{"googleSearch":{}}]}"#,
        &[Edit::NoTools],
        r#"{"tools":[{"googleSearch":{}}]}"#,
    );
    check(
        Gemini,
        r#"{"generationConfig":{ }}"#,
        &[Edit::MaxOutputTokens(5)],
        r#"{"generationConfig":{"maxOutputTokens":5 }}"#,
    );
    check(
        Gemini,
        r#"{"generationConfig":null}"#,
        &[Edit::MaxOutputTokens(5), Edit::Model("x")],
        r#"{"generationConfig":{"maxOutputTokens":5}}"#,
    );
}

#[test]
fn a_kept_conversation_goes_on_elsewhere() {
    use Format::{Anthropic, OpenAiResponses};
    let goes_on = |previous, items| [Edit::GoesOn { previous, items }];
    let moved = goes_on(Some("resp_2"), &[]);
    let own = r#"{"input":"go on","previous_response_id":"resp_1"}"#;
    let there = r#"{"input":"go on","previous_response_id":"resp_2"}"#;
    check(OpenAiResponses, own, &moved, there);
    check(Anthropic, r#"{"messages":[]}"#, &moved, r#"{"messages":[]}"#);

    let items = [r#""Fix it.""#.to_owned(), r#"{"id":"x","type":"message"}"#.to_owned()];
    let user = r#"{"content":"Fix it.","role":"user","type":"message"}"#;
    let listed = r#"{"previous_response_id":"gw","input":[{"id":"y"}]}"#;
    check(
        OpenAiResponses,
        listed,
        &goes_on(None, &items),
        &format!(
            r#"{{"previous_response_id":null,"input":[{user},{},{{"id":"y"}}]}}"#,
            r#"{"id":"x","type":"message"}"#
        ),
    );
    // What was put in comes before what is put in behind it.
    let message = Message::assistant("Done.");
    let edits = [goes_on(None, &items[..1])[0], Edit::Replied { at: 0, message: &message }];
    let request = OpenAiResponses.receive(listed.as_bytes()).unwrap();
    let edited = parse(&request.edited(&edits).unwrap());
    let roles: Vec<_> = (0..3).map(|at| edited["input"][at]["role"].as_str()).collect();
    assert_eq!(roles, [Some("user"), Some("assistant"), None]);
}

#[test]
fn what_is_no_list_takes_nothing() {
    for body in [r#"{"messages":1}"#, r#"{"messages":{}}"#, r#"{"messages":"a"}"#] {
        let request = Format::OpenAiChat.receive(body.as_bytes()).unwrap();
        let error = request.edited(&[say(0)]).unwrap_err().to_string();
        assert_eq!(error, "no openai request: its items are no list", "{body}");
    }
}
