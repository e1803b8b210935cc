//! What a server sends to its clients: the other half of reading answers.
//!
//! Bodies and streams of an [`Answer`], errors as each format's clients know them, and
//! [`Splice`], which makes one answer out of several streams. Times and ids are parameters.

mod anthropic;
mod chat;
mod fault;
mod gemini;
mod joined;
mod pieces;
mod responses;
mod splice;

use serde_json::Value;

use crate::{Answer, Format};

pub use fault::ErrorKind;
pub use splice::Splice;

/// What an answer on the wire says about itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// The answer's id, as the format's clients expect it (`chatcmpl-…`, `resp_…`, `msg_…`).
    pub id: &'a str,
    /// When it was made, in seconds since 1970; only `OpenAI`'s formats say so.
    pub created_s: u64,
    /// The model to name: usually the one the client asked for.
    pub model: &'a str,
    /// Whether a stream of Chat Completions has a chunk for the usage. `OpenAI` sends it only if
    /// the request has `stream_options.include_usage`, and clients that did not ask for it stumble
    /// over a chunk without choices. The other formats always tell the usage.
    pub usage_chunk: bool,
}

impl Format {
    /// An answer as a whole body.
    ///
    /// Text, calls and usage stand in it, and the reasoning that a client can send back: where the
    /// format wants a signature or encrypted content with it, reasoning without one is left out.
    /// Blocks that are nothing of these are left out too. A stop reason the format has no word for
    /// becomes the nearest one; `None` is a normal end.
    #[must_use]
    pub fn render(self, answer: &Answer, frame: &Frame<'_>) -> Vec<u8> {
        let body = match self {
            Self::OpenAiChat => chat::body(answer, frame),
            Self::OpenAiResponses => responses::body(answer, frame),
            Self::Anthropic => anthropic::body(answer, frame),
            Self::Gemini => gemini::body(answer, frame),
        };
        body.to_string().into_bytes()
    }

    /// The same answer as a whole stream of server-sent events.
    ///
    /// Each text is one piece: the answer is there already.
    #[must_use]
    pub fn render_stream(self, answer: &Answer, frame: &Frame<'_>) -> Vec<u8> {
        match self {
            Self::OpenAiChat => chat::stream(answer, frame),
            Self::OpenAiResponses => responses::stream(answer, frame),
            Self::Anthropic => anthropic::stream(answer, frame),
            Self::Gemini => gemini::stream(answer, frame),
        }
    }

    /// Bytes that keep a stream open and that clients pass over, before its first event and
    /// between any two.
    ///
    /// A comment; for Gemini a blank line, because google-genai takes comments for data.
    #[must_use]
    pub const fn keep_alive(self) -> &'static [u8] {
        match self {
            Self::Gemini => b"\r\n\r\n",
            _ => b": keep-alive\n\n",
        }
    }
}

/// Writes an event whose data is one line; without a name if that is empty.
fn event(out: &mut Vec<u8>, name: &str, data: &Value, line_end: &str) {
    if !name.is_empty() {
        for text in ["event: ", name, line_end] {
            out.extend_from_slice(text.as_bytes());
        }
    }
    for text in ["data: ", &data.to_string(), line_end, line_end] {
        out.extend_from_slice(text.as_bytes());
    }
}
