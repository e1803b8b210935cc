//! What of an answer is rendered.

use std::borrow::Cow;

use serde_json::Value;

use crate::{Answer, Format, Part};

/// A piece of an answer.
#[derive(Debug)]
pub(super) enum Piece<'a> {
    /// Text, never empty and never beside another one.
    Text(Cow<'a, str>),
    /// Reasoning, with the format's own block if it came from there.
    Reasoning(&'a str, Option<&'a Value>),
    /// A call.
    Call(Call<'a>),
}

/// A call of a tool.
#[derive(Debug)]
pub(super) struct Call<'a> {
    pub(super) id: &'a str,
    pub(super) name: &'a str,
    /// As the model wrote them.
    pub(super) arguments: &'a str,
    /// The format's own block, with what the fields above do not hold.
    pub(super) raw: Option<&'a Value>,
}

/// The pieces of an answer in order; the reasoning as far as the format can carry it.
pub(super) fn pieces(answer: &Answer, format: Format) -> Vec<Piece<'_>> {
    // Anthropic wants thinking back with its signature, Responses with its encrypted content.
    let unsigned = matches!(format, Format::OpenAiChat | Format::Gemini);
    let mut pieces = Vec::new();
    for part in &answer.message.parts {
        match part {
            Part::Text(text) if !text.is_empty() => match pieces.last_mut() {
                Some(Piece::Text(last)) => {
                    let last = last.to_mut();
                    last.push('\n');
                    last.push_str(text);
                }
                _ => pieces.push(Piece::Text(Cow::Borrowed(text))),
            },
            Part::Reasoning { text, raw } => {
                let raw = raw.as_ref().and_then(|raw| raw.of(format));
                if raw.is_some() || (unsigned && !text.is_empty()) {
                    pieces.push(Piece::Reasoning(text, raw));
                }
            }
            Part::ToolCall { id, name, arguments, raw } => {
                let raw = raw.as_ref().and_then(|raw| raw.of(format));
                pieces.push(Piece::Call(Call { id, name, arguments, raw }));
            }
            Part::Text(_) | Part::ToolResult { .. } | Part::Other { .. } => {}
        }
    }
    pieces
}

impl Call<'_> {
    /// The arguments as JSON text; none at all are an empty object.
    pub(super) fn json(&self) -> &str {
        if self.arguments.trim().is_empty() { "{}" } else { self.arguments }
    }
}

/// Whether an answer has calls.
pub(super) fn calls(answer: &Answer) -> bool {
    answer.message.parts.iter().any(|part| matches!(part, Part::ToolCall { .. }))
}
