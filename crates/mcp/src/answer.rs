//! What a tool gives back, as text for a model.

use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};

/// The most bytes of an answer's text, 256 KiB; what is beyond is cut and counted.
pub const MAX_TEXT_BYTES: usize = 256 << 10;
/// The most bytes of structured content, 1 MiB; more is left away.
const MAX_STRUCTURED_BYTES: usize = 1 << 20;

/// The answer to a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Text parts, one after the other; other parts are named. At most [`MAX_TEXT_BYTES`] and one
    /// line that says what was cut. Written by a stranger.
    pub text: String,
    /// Whether the tool says that it failed.
    pub is_error: bool,
    /// The structured result as JSON text. `None`: there is none, or more than 1 MiB.
    pub structured: Option<String>,
}

impl Answer {
    pub(crate) fn read(result: CallToolResult) -> Self {
        let mut text = String::new();
        for block in &result.content {
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(&name_or_text(block));
        }
        let structured = result.structured_content.map(|value| value.to_string());
        if text.is_empty()
            && let Some(structured) = &structured
        {
            text.clone_from(structured);
        }
        Self {
            text: cut(text),
            is_error: result.is_error.unwrap_or(false),
            structured: structured.filter(|text| text.len() <= MAX_STRUCTURED_BYTES),
        }
    }
}

fn name_or_text(block: &ContentBlock) -> String {
    match block {
        ContentBlock::Text(text) => text.text.clone(),
        ContentBlock::Image(image) => {
            format!("[an image, {}, {} bytes of base64]", image.mime_type, image.data.len())
        }
        ContentBlock::Audio(audio) => {
            format!("[a sound, {}, {} bytes of base64]", audio.mime_type, audio.data.len())
        }
        ContentBlock::ResourceLink(link) => format!("[a resource: {} at {}]", link.name, link.uri),
        ContentBlock::Resource(embedded) => match &embedded.resource {
            ResourceContents::TextResourceContents { uri, text, .. } => format!("[{uri}]\n{text}"),
            ResourceContents::BlobResourceContents { uri, blob, .. } => {
                format!("[{uri}: {} bytes of base64]", blob.len())
            }
            _ => "[a resource of an unknown kind]".to_owned(),
        },
        _ => "[a part of an unknown kind]".to_owned(),
    }
}

fn cut(mut text: String) -> String {
    if text.len() <= MAX_TEXT_BYTES {
        return text;
    }
    let end = text.floor_char_boundary(MAX_TEXT_BYTES);
    let left = text.len() - end;
    text.truncate(end);
    text.push_str(&format!("\n[{left} more bytes are cut]"));
    text
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn check(result: Value, text: &str, structured: Option<&str>) {
        let answer = Answer::read(serde_json::from_value(result).unwrap());
        assert_eq!((answer.text.as_str(), answer.structured.as_deref()), (text, structured));
    }

    #[test]
    fn parts_become_text() {
        check(json!({"content": []}), "", None);
        check(
            json!({"content": [
                {"type": "text", "text": "a"},
                {"type": "image", "data": "AAAA", "mimeType": "image/png"},
                {"type": "resource_link", "uri": "file:///x", "name": "x"},
                {"type": "resource", "resource": {"uri": "file:///y", "text": "why"}},
            ]}),
            "a\n[an image, image/png, 4 bytes of base64]\n[a resource: x at file:///x]\n\
             [file:///y]\nwhy",
            None,
        );
        check(
            json!({"content": [], "structuredContent": {"x": 1}}),
            "{\"x\":1}",
            Some("{\"x\":1}"),
        );
    }

    #[test]
    fn long_text_is_cut_between_characters() {
        let long = "é".repeat(MAX_TEXT_BYTES);
        let answer = Answer::read(
            serde_json::from_value(json!({"content": [{"type": "text", "text": long}]})).unwrap(),
        );
        assert!(answer.text.ends_with("é\n[262144 more bytes are cut]"));
    }
}
