//! What must hold for any input.

use proptest::prelude::*;
use serde_json::Value;
use steersman_wire::{Edit, Format, Message};

use crate::cases::{cases, say};

/// Asks for everything, and checks what must hold.
fn use_everything(format: Format, body: &[u8]) {
    let Ok(request) = format.receive(body) else {
        // What other parsers take is refused for the number of its items alone.
        assert!(!matches!(serde_json::from_slice(body), Ok(Value::Object(_))));
        return;
    };
    let _ = (request.model(), request.stream(), request.system(), request.tool_names());
    let _ = (request.has_schema(), request.tool_choice_is_required(), request.client_metadata());
    let _ = (request.prompt_cache_key(), request.user_id(), request.previous_response_id());
    let _ = (request.max_output_tokens(), request.prelude_hash(), request.conversation_id());
    assert_eq!(request.tool_count(), request.tool_names().len());
    assert_eq!(request.edited(&[]).unwrap(), body);
    let count = request.item_count();
    for at in 0..=count {
        let _ = (request.item_hash(at), request.item(at));
    }
    let _ = request.turns(0);
    let _ = request.turns_after(count / 2, Some(&Message::assistant("x")));
    let is_valid = serde_json::from_slice::<Value>(body).is_ok();
    let message = Message::assistant("Well.");
    let names = request.tool_names();
    let forced = names.first().map(|name| Edit::ForceTool(name));
    let edits = [
        say(count),
        say(count / 2),
        Edit::Replied { at: count, message: &message },
        say(count),
        Edit::NoTools,
        Edit::MaxOutputTokens(1),
        Edit::Model("m"),
    ];
    for edits in [&edits[..], &edits[..1], &edits[4..], forced.as_slice()] {
        let Ok(edited) = request.edited(edits) else { continue };
        if is_valid {
            let shown = String::from_utf8_lossy(&edited);
            assert!(serde_json::from_slice::<Value>(&edited).is_ok(), "{shown}");
            let again = format.receive(&edited).unwrap();
            assert!(again.item_count() >= count, "{shown}");
        }
    }
}

fn odd() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "",
        "null",
        "[]",
        "{}",
        "\"",
        "1e999",
        "-1",
        "\\",
        "\\u",
        "\\ud83d",
        ",",
        ":",
        "\u{fffd}",
        "\"role\":\"system\",",
        "\"content\":\"\",",
        "\"content\":[],",
        "\"x\":1,\"x\":2,",
    ])
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 512, failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        for format in Format::ALL {
            use_everything(format, &bytes);
        }
    }

    #[test]
    fn no_change_of_a_request_panics(
        pick in any::<prop::sample::Index>(),
        at in any::<prop::sample::Index>(),
        len in 0..20_usize,
        put in odd(),
        format in prop::sample::select(Format::ALL.to_vec()),
        own in any::<bool>(),
    ) {
        let cases = cases();
        let case = pick.get(&cases);
        let mut bytes = case.body.clone();
        let at = at.index(bytes.len());
        bytes.splice(at..(at + len).min(bytes.len()), put.bytes());
        use_everything(if own { case.format } else { format }, &bytes);
    }

    #[test]
    fn any_text_is_said_as_it_is(text in "\\PC{0,40}", pick in any::<prop::sample::Index>()) {
        let cases = cases();
        let case = pick.get(&cases);
        let request = case.received();
        let end = request.item_count();
        let edited = request.edited(&[Edit::Say { at: end, text: &text }]).unwrap();
        let again = case.format.receive(&edited).unwrap();
        let heard = again.turns(0).unwrap();
        let said = heard.iter().any(|heard| heard.message.text().contains(text.as_str()));
        prop_assert!(said || text.trim().is_empty());
    }
}
