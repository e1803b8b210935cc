//! How fast streams are read. `cargo bench -p steersman-wire`.
#![expect(clippy::unwrap_used, reason = "a bench reports to its caller")]

use divan::Bencher;
use divan::counter::BytesCount;
use serde_json::json;
use steersman_wire::{Format, Message, Part, Request};

fn main() {
    divan::main();
}

/// Tokens of the answers.
const TOKENS: usize = 2000;

/// A stream of small pieces of text.
fn stream(format: Format) -> Vec<u8> {
    let event = |value: serde_json::Value| format!("data: {value}\n\n");
    let piece = |index: usize| match format {
        Format::OpenAiChat => json!({"id": "c", "object": "chat.completion.chunk", "model": "m",
            "choices": [{"index": 0, "delta": {"content": " word"}, "finish_reason": null}]}),
        Format::OpenAiResponses if index == 0 => json!({"type": "response.output_item.added",
            "output_index": 0, "item": {"type": "message", "content": []}}),
        Format::OpenAiResponses => json!({"type": "response.output_text.delta", "item_id": "m",
            "output_index": 0, "content_index": 0, "delta": " word", "sequence_number": index}),
        Format::Anthropic if index == 0 => json!({"type": "content_block_start", "index": 0,
            "content_block": {"type": "text", "text": ""}}),
        Format::Anthropic => json!({"type": "content_block_delta", "index": 0,
            "delta": {"type": "text_delta", "text": " word"}}),
        Format::Gemini => json!({"candidates": [{"index": 0,
            "content": {"role": "model", "parts": [{"text": " word"}]}}], "modelVersion": "m"}),
    };
    let end = match format {
        Format::OpenAiChat => json!({"choices": [{"delta": {}, "finish_reason": "stop"}]}),
        Format::OpenAiResponses => json!({"type": "response.completed",
            "response": {"status": "completed"}}),
        Format::Anthropic => json!({"type": "message_stop"}),
        Format::Gemini => json!({"candidates": [{"finishReason": "STOP"}]}),
    };
    let pieces = (0..TOKENS).map(|index| event(piece(index)));
    pieces.chain([event(end)]).collect::<String>().into_bytes()
}

#[divan::bench(args = Format::ALL)]
fn read_2000_tokens(bencher: Bencher<'_, '_>, format: Format) {
    let bytes = stream(format);
    bencher.counter(BytesCount::new(bytes.len())).bench(|| {
        let mut reader = format.stream();
        for chunk in bytes.chunks(1400) {
            divan::black_box(reader.push(chunk).unwrap());
        }
        reader.finish().unwrap()
    });
}

/// A conversation of 100 turns with results of 1 KB.
#[divan::bench(args = Format::ALL)]
fn write_100_turns(bencher: Bencher<'_, '_>, format: Format) {
    let mut messages = vec![Message::user("Go.")];
    for turn in 0..100 {
        let id = format!("call_{turn}");
        let name = "read".to_owned();
        let arguments = r#"{"path": "src/main.rs"}"#.to_owned();
        let call = Part::ToolCall { id: id.clone(), name: name.clone(), arguments, raw: None };
        messages.push(Message { parts: vec![call], ..Message::assistant("") });
        let content = "line of text\n".repeat(80);
        let result = Part::ToolResult { call_id: id, name, content, is_error: false };
        messages.push(Message::results(vec![result]));
    }
    let request = Request::new("m", &messages);
    bencher.counter(BytesCount::new(format.body(&request).len())).bench(|| format.body(&request));
}
