//! Any bytes as an answer and as an error of each wire format; what is read goes back.
#![no_main]

use steersman_wire::{Format, Message, Request};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    for format in Format::ALL {
        let header = |_: &str| std::str::from_utf8(data).ok();
        let failure = format.failure(429, header, data, 1_795_348_800_000);
        assert!(failure.message.chars().count() <= 1001);
        let Ok(answer) = format.answer(data) else { continue };
        let stored = serde_json::to_string(&answer).unwrap();
        assert!(serde_json::from_str::<steersman_wire::Answer>(&stored).is_ok());
        let messages = [Message::user("Go."), answer.message];
        for other in Format::ALL {
            let body = other.body(&Request::new("m", &messages));
            assert!(serde_json::from_slice::<serde_json::Value>(&body).is_ok());
        }
    }
});
