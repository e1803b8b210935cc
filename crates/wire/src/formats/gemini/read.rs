//! Answers of Gemini.

use serde_json::{Map, Value};

use super::assemble::join;
use crate::json::{count, holds_more, is_blank, made_id, take_list, take_text, text};
use crate::{Answer, Format, Part, Raw, Tokens};

const FORMAT: Format = Format::Gemini;

pub(in crate::formats) fn read(mut body: Map<String, Value>) -> Result<Answer, &'static str> {
    // Code Assist servers wrap the answer.
    if let Some(Value::Object(inner)) = body.remove("response") {
        body = inner;
    }
    let mut answer = Answer::empty();
    let candidates = take_list(&mut body, "candidates");
    let blocked = body.get("promptFeedback").map(|told| text(told, "blockReason").to_owned());
    if candidates.is_empty() && blocked.is_none() && !body.contains_key("usageMetadata") {
        return Err("it has no `candidates`");
    }
    answer.id = take_text(&mut body, "responseId");
    answer.model = take_text(&mut body, "modelVersion");
    let usage = body.remove("usageMetadata").unwrap_or_default();
    let reasoning = count(&usage, "/thoughtsTokenCount");
    answer.usage = Tokens {
        input: count(&usage, "/promptTokenCount")
            .saturating_add(count(&usage, "/toolUsePromptTokenCount")),
        // Thoughts are counted apart.
        output: count(&usage, "/candidatesTokenCount").saturating_add(reasoning),
        cached_input: count(&usage, "/cachedContentTokenCount"),
        cache_write: 0,
        reasoning,
        cost_nanodollars: 0,
    };
    if let Some(Value::Object(mut candidate)) = candidates.into_iter().next() {
        answer.stopped(&take_text(&mut candidate, "finishReason").unwrap_or_default());
        let content = candidate.remove("content");
        let id = answer.id.clone().unwrap_or_default();
        if let Some(Value::Object(mut content)) = content {
            let parts = join(take_list(&mut content, "parts"));
            for (index, part) in parts.into_iter().enumerate() {
                read_part(part, index, &id, &mut answer.message.parts);
            }
        }
        candidate.remove("index");
        candidate.retain(|_, value| !is_blank(value));
        body.extend(candidate);
    }
    if answer.stop.is_none() {
        answer.stopped(&blocked.unwrap_or_default());
    }
    body.retain(|key, value| key != "createTime" && !is_blank(value));
    answer.extra = body;
    Ok(answer)
}

pub(super) fn read_part(part: Value, index: usize, answer: &str, parts: &mut Vec<Part>) {
    if let Some(function) = part.get("functionCall") {
        let name = text(function, "name").to_owned();
        let arguments = match function.get("args") {
            None | Some(Value::Null) => "{}".to_owned(),
            Some(args) => args.to_string(),
        };
        let id = match text(function, "id") {
            "" => made_id(answer, index, &name, &arguments),
            id => id.to_owned(),
        };
        let more = holds_more(&part, &["functionCall"]) || holds_more(function, &["name", "args"]);
        let raw = more.then(|| Raw { format: FORMAT, value: without_args(part) });
        parts.push(Part::ToolCall { id, name, arguments, raw });
        return;
    }
    let said = part.get("text").and_then(Value::as_str).map(str::to_owned);
    let thought = part.get("thought") == Some(&Value::Bool(true));
    match said {
        Some(text) if thought => {
            parts.push(Part::Reasoning { text, raw: Some(Raw { format: FORMAT, value: part }) });
        }
        Some(text) => {
            if !text.is_empty() {
                parts.push(Part::Text(text));
            }
            if holds_more(&part, &["text", "thought"]) {
                parts.push(Part::Other { format: FORMAT, value: part });
            }
        }
        None if is_blank(&part) => {}
        None => parts.push(Part::Other { format: FORMAT, value: part }),
    }
}

/// The arguments are kept already.
fn without_args(mut part: Value) -> Value {
    if let Some(Value::Object(function)) = part.get_mut("functionCall") {
        function.remove("args");
    }
    part
}
