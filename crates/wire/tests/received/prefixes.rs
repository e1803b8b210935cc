//! A body of which the beginning is known is read as if it were not.

use proptest::prelude::*;
use serde_json::json;
use steersman_wire::{Edit, Format, Message, Part, Prefixes, Received, Request, ToolSpec};

use crate::cases::say;

/// A conversation of so many turns, each with a result of 1 KB.
fn body(format: Format, turns: usize, tools: usize) -> Vec<u8> {
    let mut messages = vec![Message::user("Fix the failing tests.")];
    for turn in 0..turns {
        let id = format!("call_{turn}");
        let (name, arguments) = ("read".to_owned(), format!(r#"{{"at": {turn}}}"#));
        let call = Part::ToolCall { id: id.clone(), name: name.clone(), arguments, raw: None };
        messages.push(Message { parts: vec![call], ..Message::assistant("") });
        let content = format!("{turn}: \"été\"\n").repeat(80);
        let result = Part::ToolResult { call_id: id, name, content, is_error: false };
        messages.push(Message::results(vec![result]));
    }
    let tool = |index: usize| ToolSpec {
        name: format!("tool_{index}"),
        description: "What it does.".to_owned(),
        parameters: json!({"type": "object", "properties": {}}),
    };
    let tools: Vec<_> = (0..tools).map(tool).collect();
    let request = Request { system: "Be brief.", tools: &tools, ..Request::new("m", &messages) };
    format.body(&request)
}

/// Everything a request tells.
fn told(request: &Received<'_>) -> String {
    let texts: Vec<_> = (0..request.item_count()).map(|at| request.item_text(at)).collect();
    let end = request.item_count();
    let edits = [say(end), say(end / 2), Edit::NoTools, Edit::MaxOutputTokens(1)];
    let fields = (request.model(), request.stream(), request.system(), request.tool_names());
    let choice = (request.has_schema(), request.tool_choice_is_required(), request.has_tools());
    let names = (request.user_id(), request.prompt_cache_key(), request.previous_response_id());
    let edited = request.edited(&edits).map(|body| String::from_utf8(body).unwrap());
    let edited = edited.map_err(|error| error.to_string());
    let heard = request.turns(0).map_err(|error| error.to_string());
    format!(
        "{texts:?}\n{fields:?} {choice:?} {names:?}\n{:?}\n{edited:?}\n{heard:?}",
        request.hashes()
    )
}

/// Reads a body both ways, and remembers it. How many of its items were known.
fn check(prefixes: &Prefixes, format: Format, body: &[u8]) -> Option<usize> {
    match (prefixes.receive(format, body), format.receive(body)) {
        (Ok(received), Ok(fresh)) => {
            assert_eq!(told(&received), told(&fresh));
            prefixes.remember(&received, &received.hashes());
            Some(received.known_items())
        }
        (Err(known), Err(fresh)) => {
            assert_eq!(known.to_string(), fresh.to_string());
            None
        }
        (known, fresh) => panic!("{known:?}\n{fresh:?}"),
    }
}

#[test]
fn of_a_conversation_that_grows_the_beginning_is_known() {
    for format in Format::ALL {
        let prefixes = Prefixes::new(1 << 20);
        let mut before = 0;
        for turns in 2..60 {
            let body = body(format, turns, 3);
            let known = check(&prefixes, format, &body).unwrap();
            if turns > 16 {
                // Nothing is read again, but for the item that the cache's mark has left.
                assert!((before - 1..=before).contains(&known), "{format}, {turns}: {known}");
            } else {
                assert!(known <= before, "{format}, {turns}");
            }
            before = format.receive(&body).unwrap().item_count();
            if turns > 16 {
                let elsewhere = Format::ALL.into_iter().find(|other| *other != format).unwrap();
                assert_eq!(prefixes.receive(elsewhere, &body).unwrap().known_items(), 0);
            }
        }
    }
}

#[test]
fn what_was_changed_is_read() {
    for format in Format::ALL {
        let prefixes = Prefixes::new(1 << 20);
        let first = body(format, 20, 3);
        check(&prefixes, format, &first);
        // Other tools behind the same conversation, then the same tools again.
        assert!(check(&prefixes, format, &body(format, 20, 4)).unwrap() > 20, "{format}");
        assert!(check(&prefixes, format, &body(format, 21, 4)).unwrap() > 20, "{format}");
        assert!(check(&prefixes, format, &body(format, 22, 0)).unwrap() > 20, "{format}");
        check(&prefixes, format, &first);
        let all = format.receive(&first).unwrap().item_count();
        assert_eq!(check(&prefixes, format, &first), Some(all), "{format}");
        // One of the last items, as if it were marked for the prompt cache.
        let text = String::from_utf8(first).unwrap();
        let marked = text.replacen("18: ", "4: ", 1);
        let known = check(&prefixes, format, marked.as_bytes()).unwrap();
        assert!((all - 8..all).contains(&known), "{format}: {known}");
        // Another beginning.
        let changed = text.replacen("3: ", "4: ", 1);
        assert_eq!(check(&prefixes, format, changed.as_bytes()), Some(0), "{format}");
    }
}

#[test]
fn lists_that_stand_twice_are_not_taken_for_each_other() {
    let prefixes = Prefixes::new(1 << 20);
    let text = String::from_utf8(body(Format::Anthropic, 20, 1)).unwrap();
    let open = &text[..text.len() - 1];
    check(&prefixes, Format::Anthropic, text.as_bytes());
    for more in [
        r#","messages":[]}"#,
        r#","messages":null}"#,
        r#","messages":[{"role":"user","content":"Other."}]}"#,
        r#","model":"n"}"#,
        r#","tools":[]}"#,
        "",
        "} x",
        ",}",
    ] {
        check(&prefixes, Format::Anthropic, format!("{open}{more}").as_bytes());
        check(&prefixes, Format::Anthropic, text.as_bytes());
    }
}

#[test]
fn an_item_that_goes_on_in_the_next_body_is_another() {
    let item = format!(r#"{{"role":"user","content":"{}"}}"#, "Go on. ".repeat(100));
    let items = vec![item; 20].join(",");
    for first in ["", ",1", ",12", ",true", r#","a""#, ",{}"] {
        for more in ["1", "12,3", "true", "x", r#""a""#, r#""a"b"#, "{}", "{},1", ",1", ",{}"] {
            let prefixes = Prefixes::new(1 << 20);
            for last in ["", more, ""] {
                // Enough items behind it that it is no longer one of the last.
                let body = format!(r#"{{"messages":[{items}{first}{last},{items}]}}"#);
                check(&prefixes, Format::Anthropic, body.as_bytes());
                let body = format!(r#"{{"messages":[{items}{first}{last}]}}"#);
                check(&prefixes, Format::Anthropic, body.as_bytes());
            }
        }
    }
}

#[test]
fn what_is_remembered_is_bounded() {
    let prefixes = Prefixes::new(4 << 10);
    let bodies: Vec<_> = (20..40).map(|turns| body(Format::Gemini, turns, turns)).collect();
    for body in bodies.iter().chain(&bodies) {
        check(&prefixes, Format::Gemini, body);
    }
    let none = Prefixes::new(0);
    check(&none, Format::Gemini, &bodies[0]);
    assert_eq!(check(&none, Format::Gemini, &bodies[0]), Some(0));
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 64, failure_persistence: None, ..ProptestConfig::default()
    })]

    /// However bodies are changed between one and the next.
    #[test]
    fn no_change_is_overlooked(
        format in prop::sample::select(Format::ALL.to_vec()),
        changes in prop::collection::vec(
            (8_usize..24, 0_usize..4, any::<prop::sample::Index>(), 0_usize..30, "[\\]\\[{},:\" a]{0,6}"),
            2..8,
        ),
    ) {
        let prefixes = Prefixes::new(1 << 20);
        for (turns, tools, at, cut, put) in changes {
            let mut body = body(format, turns, tools);
            check(&prefixes, format, &body);
            let at = at.index(body.len());
            body.splice(at..(at + cut).min(body.len()), put.bytes());
            check(&prefixes, format, &body);
            // The same again finds what was remembered of a body that was changed.
            check(&prefixes, format, &body);
        }
    }
}
