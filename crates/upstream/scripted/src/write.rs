//! Replies in each wire format.

use serde_json::{Value, json};
use steersman_wire::Format;

use crate::{Reply, ToolCall};

/// The error of a reply whose status is no success.
pub(crate) fn error(format: Format, reply: &Reply) -> Value {
    let (status, message) = (reply.status, &reply.text);
    match format {
        Format::OpenAiChat | Format::OpenAiResponses => {
            json!({"error": {"message": message, "type": "scripted", "code": null}})
        }
        Format::Anthropic => {
            json!({"type": "error", "error": {"type": "scripted", "message": message}})
        }
        Format::Gemini => json!({"error": {"code": status, "message": message}}),
    }
}

/// The body of an answer in one piece. `number` counts answers from 1, for ids.
pub(crate) fn whole(format: Format, reply: &Reply, model: &str, number: usize) -> Value {
    match format {
        Format::OpenAiChat => chat(reply, model, number),
        Format::OpenAiResponses => responses(reply, model, number),
        Format::Anthropic => anthropic(reply, model, number),
        Format::Gemini => gemini(reply, model, number),
    }
}

/// The frames of a streamed answer.
pub(crate) fn frames(format: Format, reply: &Reply, model: &str, number: usize) -> Vec<String> {
    let body = whole(format, reply, model, number);
    match format {
        Format::OpenAiChat => chat_frames(&body),
        Format::OpenAiResponses => responses_frames(&body),
        Format::Anthropic => anthropic_frames(&body),
        Format::Gemini => gemini_frames(&body),
    }
}

fn id(call: &ToolCall, number: usize, index: usize) -> String {
    if call.id.is_empty() { format!("call_{number}_{index}") } else { call.id.clone() }
}

/// The stop word: the scripted one, none where it is empty, or the normal one.
fn stop(reply: &Reply, calls: &str, plain: &str) -> Value {
    match reply.stop.as_deref() {
        Some("") => Value::Null,
        Some(word) => word.into(),
        None if reply.tool_calls.is_empty() => plain.into(),
        None => calls.into(),
    }
}

fn input(call: &ToolCall) -> Value {
    serde_json::from_str(&call.arguments).unwrap_or_else(|_| json!({}))
}

fn chat(reply: &Reply, model: &str, number: usize) -> Value {
    let mut message = json!({"role": "assistant", "content": null});
    if !reply.text.is_empty() {
        message["content"] = reply.text.as_str().into();
    }
    if !reply.reasoning.is_empty() {
        message["reasoning_content"] = reply.reasoning.as_str().into();
    }
    if !reply.tool_calls.is_empty() {
        let calls = reply.tool_calls.iter().enumerate().map(|(index, call)| {
            json!({"id": id(call, number, index), "type": "function",
                "function": {"name": call.name, "arguments": call.arguments}})
        });
        message["tool_calls"] = calls.collect();
    }
    let (sent, made) = reply.usage;
    json!({
        "id": format!("chatcmpl-{number}"), "object": "chat.completion", "model": model,
        "choices": [{"index": 0, "message": message,
            "finish_reason": stop(reply, "tool_calls", "stop")}],
        "usage": {"prompt_tokens": sent, "completion_tokens": made, "total_tokens": sent + made},
    })
}

fn responses(reply: &Reply, model: &str, number: usize) -> Value {
    let mut output = Vec::new();
    if !reply.reasoning.is_empty() {
        output.push(json!({
            "type": "reasoning", "id": format!("rs_{number}"), "encrypted_content": "c2NyaXB0",
            "summary": [{"type": "summary_text", "text": reply.reasoning}],
        }));
    }
    if !reply.text.is_empty() {
        output.push(json!({
            "type": "message", "id": format!("msg_{number}"), "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": reply.text, "annotations": []}],
        }));
    }
    for (index, call) in reply.tool_calls.iter().enumerate() {
        output.push(json!({
            "type": "function_call", "id": format!("fc_{number}_{index}"), "status": "completed",
            "call_id": id(call, number, index), "name": call.name, "arguments": call.arguments,
        }));
    }
    let (sent, made) = reply.usage;
    let why = stop(reply, "", "");
    let normal = why.as_str().is_none_or(|why| why.is_empty() || why == "completed");
    let details = if normal { Value::Null } else { json!({"reason": why}) };
    json!({
        "id": format!("resp_{number}"), "object": "response", "model": model, "error": null,
        "status": if normal { "completed" } else { "incomplete" },
        "incomplete_details": details, "output": output,
        "usage": {"input_tokens": sent, "output_tokens": made, "total_tokens": sent + made},
    })
}

fn anthropic(reply: &Reply, model: &str, number: usize) -> Value {
    let mut content = Vec::new();
    if !reply.reasoning.is_empty() {
        content.push(json!({
            "type": "thinking", "thinking": reply.reasoning, "signature": "c2NyaXB0",
        }));
    }
    if !reply.text.is_empty() {
        content.push(json!({"type": "text", "text": reply.text}));
    }
    for (index, call) in reply.tool_calls.iter().enumerate() {
        content.push(json!({"type": "tool_use", "id": id(call, number, index), "name": call.name,
            "input": input(call)}));
    }
    let (sent, made) = reply.usage;
    json!({
        "id": format!("msg_{number}"), "type": "message", "role": "assistant", "model": model,
        "content": content, "stop_reason": stop(reply, "tool_use", "end_turn"),
        "stop_sequence": null, "usage": {"input_tokens": sent, "output_tokens": made},
    })
}

fn gemini(reply: &Reply, model: &str, number: usize) -> Value {
    let mut parts = Vec::new();
    if !reply.reasoning.is_empty() {
        parts.push(json!({"text": reply.reasoning, "thought": true}));
    }
    if !reply.text.is_empty() {
        parts.push(json!({"text": reply.text}));
    }
    for call in &reply.tool_calls {
        parts.push(json!({"functionCall": {"name": call.name, "args": input(call)}}));
    }
    let (sent, made) = reply.usage;
    json!({
        "candidates": [{"index": 0, "content": {"role": "model", "parts": parts},
            "finishReason": stop(reply, "STOP", "STOP")}],
        "usageMetadata": {"promptTokenCount": sent, "candidatesTokenCount": made},
        "modelVersion": model, "responseId": format!("resp-{number}"),
    })
}

/// A text in pieces of a few characters, as models send it.
fn pieces(text: &str) -> Vec<String> {
    let chars: Vec<_> = text.chars().collect();
    chars.chunks(7).map(|piece| piece.iter().collect()).collect()
}

fn frame(event: &Value) -> String {
    format!("data: {event}\n\n")
}

fn named(event: &Value) -> String {
    format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default())
}

fn chat_frames(body: &Value) -> Vec<String> {
    let chunk = |delta: Value, stop: &Value| {
        frame(&json!({
            "id": body["id"], "object": "chat.completion.chunk", "model": body["model"],
            "choices": [{"index": 0, "delta": delta, "finish_reason": stop}],
        }))
    };
    let choice = &body["choices"][0];
    let message = &choice["message"];
    let mut frames = vec![chunk(json!({"role": "assistant", "content": null}), &Value::Null)];
    for key in ["reasoning_content", "content"] {
        for piece in pieces(message[key].as_str().unwrap_or_default()) {
            frames.push(chunk(json!({key: piece}), &Value::Null));
        }
    }
    for (index, call) in message["tool_calls"].as_array().into_iter().flatten().enumerate() {
        let function = &call["function"];
        let begin = json!({"index": index, "id": call["id"], "type": "function",
            "function": {"name": function["name"], "arguments": ""}});
        frames.push(chunk(json!({"tool_calls": [begin]}), &Value::Null));
        for piece in pieces(function["arguments"].as_str().unwrap_or_default()) {
            let more = json!({"index": index, "function": {"arguments": piece}});
            frames.push(chunk(json!({"tool_calls": [more]}), &Value::Null));
        }
    }
    frames.push(chunk(json!({}), &choice["finish_reason"]));
    frames.push(frame(&json!({
        "id": body["id"], "model": body["model"], "choices": [], "usage": body["usage"],
    })));
    frames.push("data: [DONE]\n\n".to_owned());
    frames
}

fn responses_frames(body: &Value) -> Vec<String> {
    let mut begun = body.clone();
    begun["status"] = "in_progress".into();
    begun["output"] = json!([]);
    begun["usage"] = Value::Null;
    let mut frames = vec![named(&json!({"type": "response.created", "response": begun}))];
    for (index, item) in body["output"].as_array().into_iter().flatten().enumerate() {
        let mut empty = item.clone();
        let (kind, text) = match item["type"].as_str() {
            Some("reasoning") => {
                empty["summary"] = json!([]);
                ("reasoning_summary_text", &item["summary"][0]["text"])
            }
            Some("message") => {
                empty["content"] = json!([]);
                ("output_text", &item["content"][0]["text"])
            }
            _ => {
                empty["arguments"] = "".into();
                ("function_call_arguments", &item["arguments"])
            }
        };
        let added = json!({
            "type": "response.output_item.added", "output_index": index, "item": empty,
        });
        frames.push(named(&added));
        for piece in pieces(text.as_str().unwrap_or_default()) {
            frames.push(named(&json!({
                "type": format!("response.{kind}.delta"), "output_index": index,
                "content_index": 0, "summary_index": 0, "delta": piece,
            })));
        }
        let done = json!({
            "type": "response.output_item.done", "output_index": index, "item": item,
        });
        frames.push(named(&done));
    }
    let kind = format!("response.{}", body["status"].as_str().unwrap_or("completed"));
    frames.push(named(&json!({"type": kind, "response": body})));
    frames
}

fn anthropic_frames(body: &Value) -> Vec<String> {
    let mut begun = body.clone();
    begun["content"] = json!([]);
    begun["stop_reason"] = Value::Null;
    begun["usage"]["output_tokens"] = 1.into();
    let mut frames = vec![
        named(&json!({"type": "message_start", "message": begun})),
        named(&json!({"type": "ping"})),
    ];
    for (index, block) in body["content"].as_array().into_iter().flatten().enumerate() {
        let mut empty = block.clone();
        let mut deltas = Vec::new();
        match block["type"].as_str() {
            Some("tool_use") => {
                empty["input"] = json!({});
                let text = block["input"].to_string();
                let more = pieces(&text).into_iter();
                deltas.extend(
                    more.map(|one| json!({"type": "input_json_delta", "partial_json": one})),
                );
            }
            Some(kind) => {
                empty[kind] = "".into();
                let more = pieces(block[kind].as_str().unwrap_or_default()).into_iter();
                deltas.extend(more.map(|one| json!({"type": format!("{kind}_delta"), kind: one})));
                if kind == "thinking" {
                    empty["signature"] = "".into();
                    let signature = &block["signature"];
                    deltas.push(json!({"type": "signature_delta", "signature": signature}));
                }
            }
            None => {}
        }
        let start = json!({"type": "content_block_start", "index": index, "content_block": empty});
        frames.push(named(&start));
        for delta in deltas {
            let delta = json!({"type": "content_block_delta", "index": index, "delta": delta});
            frames.push(named(&delta));
        }
        frames.push(named(&json!({"type": "content_block_stop", "index": index})));
    }
    frames.push(named(&json!({
        "type": "message_delta", "usage": body["usage"],
        "delta": {"stop_reason": body["stop_reason"], "stop_sequence": null},
    })));
    frames.push(named(&json!({"type": "message_stop"})));
    frames
}

fn gemini_frames(body: &Value) -> Vec<String> {
    let mut frames = Vec::new();
    let mut chunk = |part: &Value| {
        let content = json!({"role": "model", "parts": [part]});
        frames.push(frame(&json!({
            "candidates": [{"index": 0, "content": content}],
            "modelVersion": body["modelVersion"], "responseId": body["responseId"],
        })));
    };
    let parts = body["candidates"][0]["content"]["parts"].as_array();
    for part in parts.into_iter().flatten() {
        let Some(text) = part["text"].as_str() else {
            chunk(part);
            continue;
        };
        for piece in pieces(text) {
            let mut part = part.clone();
            part["text"] = piece.into();
            chunk(&part);
        }
    }
    let mut last = body.clone();
    last["candidates"][0]["content"] = json!({"role": "model", "parts": [{"text": ""}]});
    frames.push(frame(&last));
    frames
}
