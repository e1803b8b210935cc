//! Any bytes as a request of each wire format: what is read, and what edits leave of it.
#![no_main]

use serde_json::Value;
use steersman_wire::{Edit, Format, Message};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let is_valid = serde_json::from_slice::<Value>(data).is_ok();
    let message = Message::assistant("Well.");
    // What a client sent before comes in front of what it sends now.
    let items = [r#""Fix it.""#.to_owned(), r#"{"type":"reasoning","id":"r"}"#.to_owned()];
    for format in Format::ALL {
        let Ok(request) = format.receive(data) else { continue };
        let end = request.item_count();
        assert_eq!(request.edited(&[]).unwrap(), data);
        assert_eq!(request.tool_count(), request.tool_names().len());
        let _ = (request.has_schema(), request.tool_choice_is_required(), request.prelude_hash());
        let _ = (request.client_metadata(), request.user_id(), request.max_output_tokens());
        let _ = (request.previous_response_id(), request.conversation_id());
        for at in 0..end.min(64) {
            let _ = request.item_hash(at);
        }
        let _ = request.turns(0);
        let _ = request.turns_after(end / 2, Some(&message));
        let edits = [
            Edit::Say { at: end, text: "Look." },
            Edit::Say { at: end / 2, text: "Look." },
            Edit::Replied { at: end, message: &message },
            Edit::Say { at: end, text: "Go on." },
            Edit::NoTools,
            Edit::MaxOutputTokens(1),
            Edit::GoesOn { previous: Some("resp_1"), items: &items },
        ];
        let Ok(edited) = request.edited(&edits) else { continue };
        if is_valid {
            assert!(serde_json::from_slice::<Value>(&edited).is_ok());
            assert!(format.receive(&edited).unwrap().item_count() >= end);
        }
    }
});
