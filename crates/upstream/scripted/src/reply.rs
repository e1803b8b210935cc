//! What the server is to answer.

use std::time::Duration;

/// A call of a tool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolCall {
    /// Its id; empty: `call_` and a running number.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// JSON text.
    pub arguments: String,
}

/// One answer, in no format yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// Visible text; empty for none.
    pub text: String,
    /// Reasoning; empty for none.
    pub reasoning: String,
    /// Calls of tools.
    pub tool_calls: Vec<ToolCall>,
    /// The stop reason in the format's own word; `None`: the normal one (there are calls or not).
    /// Empty: the server does not say.
    pub stop: Option<String>,
    /// HTTP status; above 299 the body is an error of the format with `text` as its message.
    pub status: u16,
    /// More headers.
    pub headers: Vec<(String, String)>,
    /// The body as it is, in place of one of the format.
    pub body: Option<Vec<u8>>,
    /// How often `body` is sent, one after the other. Default 1.
    pub repeat: usize,
    /// The content type; `None`: the format's.
    pub content_type: Option<String>,
    /// Before the head of the response.
    pub delay: Duration,
    /// In the middle of the body.
    pub pause: Duration,
    /// Whether the connection breaks in the middle of the body.
    pub cut: bool,
    /// Whether nothing more comes after the middle of the body, and the connection stays.
    pub stall: bool,
    /// Tokens the answer claims to have used: input, output.
    pub usage: (u64, u64),
}

impl Default for Reply {
    fn default() -> Self {
        Self {
            text: String::new(),
            reasoning: String::new(),
            tool_calls: Vec::new(),
            stop: None,
            status: 200,
            headers: Vec::new(),
            body: None,
            repeat: 1,
            content_type: None,
            delay: Duration::ZERO,
            pause: Duration::ZERO,
            cut: false,
            stall: false,
            usage: (100, 20),
        }
    }
}

impl Reply {
    /// An answer in text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// An answer that calls one tool; `arguments` is JSON text.
    #[must_use]
    pub fn call(name: impl Into<String>, arguments: impl Into<String>) -> Self {
        Self::default().and_call(name, arguments)
    }

    /// The answer with one more call, parallel to the others.
    #[must_use]
    pub fn and_call(mut self, name: impl Into<String>, arguments: impl Into<String>) -> Self {
        let (name, arguments) = (name.into(), arguments.into());
        self.tool_calls.push(ToolCall { id: String::new(), name, arguments });
        self
    }

    /// An error.
    #[must_use]
    pub fn status(status: u16) -> Self {
        Self { status, text: format!("scripted {status}"), ..Self::default() }
    }

    /// A body as it is.
    #[must_use]
    pub fn raw(content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        let content_type = Some(content_type.to_owned());
        Self { body: Some(body.into()), content_type, ..Self::default() }
    }

    /// The answer with a stop reason in the format's own word.
    #[must_use]
    pub fn stop(mut self, word: &str) -> Self {
        self.stop = Some(word.to_owned());
        self
    }

    /// The answer with one more header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }
}
