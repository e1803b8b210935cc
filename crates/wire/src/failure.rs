//! Model calls that failed: what went wrong, and whether and when to try again.

use std::borrow::Cow;
use std::fmt;

use serde_json::Value;
use steersman_engine::{CallFailure, StopReason};

use crate::json::{cut, text};
use crate::{Answer, Format, WireError, redact, wait};

/// Longest message kept, in characters.
const MESSAGE: usize = 1000;

/// What kind of failure it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FailureKind {
    /// The server was not reached, or the connection broke before an answer began.
    Unreachable,
    /// Nothing came in time, or the server ran out of time.
    Timeout,
    /// The connection closed in the middle of the answer.
    CutOff,
    /// Too many requests or tokens for now.
    RateLimited,
    /// The server has too much to do, whoever asks.
    Overloaded,
    /// The server broke down over the request.
    Server,
    /// The account has no money or quota left: waiting does not help.
    Quota,
    /// The key is missing, wrong, or may not do this.
    Authentication,
    /// There is no such address or model.
    NotFound,
    /// The conversation does not fit the context window.
    ContextOverflow,
    /// The server refused the request as it is.
    Request,
    /// What came back is no answer of the format.
    NotAnAnswer,
}

impl FailureKind {
    /// What went wrong, as the beginning of a sentence.
    #[must_use]
    pub const fn describe(self) -> &'static str {
        match self {
            Self::Unreachable => "the model server was not reached",
            Self::Timeout => "the model call timed out",
            Self::CutOff => "the answer was cut off",
            Self::RateLimited => "the rate limit was hit",
            Self::Overloaded => "the model server is overloaded",
            Self::Server => "the model server failed",
            Self::Quota => "the account's quota is used up",
            Self::Authentication => "the model server refused the key",
            Self::NotFound => "the model server knows no such address or model",
            Self::ContextOverflow => "the conversation does not fit the model's context window",
            Self::Request => "the model server refused the request",
            Self::NotAnAnswer => "the model server sent something else than an answer",
        }
    }

    /// The status the engine's retry rules see where the server sent none, or one of its own.
    const fn status(self, sent: Option<u16>) -> Option<u16> {
        match self {
            // Anthropic's 529, and errors in the middle of a stream that began with 200.
            Self::Overloaded => Some(503),
            Self::RateLimited => Some(429),
            // 429 for an empty account would be retried in vain.
            Self::Quota => Some(402),
            Self::Timeout => match sent {
                Some(_) => Some(504),
                None => None,
            },
            Self::Unreachable | Self::CutOff => None,
            Self::Server => match sent {
                None | Some(..500) => Some(500),
                sent => sent,
            },
            Self::Authentication => Some(401),
            Self::NotFound => Some(404),
            Self::ContextOverflow | Self::Request | Self::NotAnAnswer => match sent {
                None | Some(..400) => Some(400),
                sent => sent,
            },
        }
    }
}

/// A model call that gave no whole answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// HTTP status; `None` if no answer began.
    pub status: Option<u16>,
    /// What kind it is.
    pub kind: FailureKind,
    /// The server's message or what happened on the way; at most 1,000 characters, without keys.
    pub message: String,
    /// How long the server asks to wait, in milliseconds; `None` if it does not say.
    pub retry_after_ms: Option<u64>,
    /// The stop reason of the partial answer, or the one the failure amounts to.
    pub stop: Option<StopReason>,
    /// What had arrived of the answer; `None` if nothing had.
    pub partial: Option<Box<Answer>>,
}

impl fmt::Display for Failure {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(self.kind.describe())?;
        // An error in the middle of a stream began with success.
        if let Some(status) = self.status.filter(|status| *status >= 300) {
            write!(to, " (HTTP {status})")?;
        }
        if self.message.is_empty() { Ok(()) } else { write!(to, ": {}", self.message) }
    }
}

impl std::error::Error for Failure {}

impl Failure {
    /// A failure without an answer; keys in `message` are replaced, and it is cut to length.
    #[must_use]
    pub fn new(kind: FailureKind, message: &str) -> Self {
        let message = cut(redact(message).trim(), MESSAGE);
        let overflow = kind == FailureKind::ContextOverflow;
        let stop = overflow.then_some(StopReason::InsufficientContext);
        Self { status: None, kind, message, retry_after_ms: None, stop, partial: None }
    }

    /// The engine's event of it.
    ///
    /// Its status is the one that says what happened where the server's own does not: 503 for
    /// Anthropic's 529, 429 for a rate limit reported inside a stream, 402 for an empty account.
    #[must_use]
    pub fn call_failure(&self) -> CallFailure<'_> {
        // The retry rules read the message too: an empty account that talks of its rate limit
        // must not be tried again.
        let message = match self.kind {
            FailureKind::Quota | FailureKind::Authentication => self.kind.describe(),
            _ => &self.message,
        };
        CallFailure {
            status: self.kind.status(self.status),
            message: Cow::Borrowed(message),
            retry_after_ms: self.retry_after_ms,
            stop: self.stop,
        }
    }

    /// The failure behind an answer with status 200 that could not be read.
    #[must_use]
    pub fn of_answer(error: WireError, status: u16) -> Self {
        let kind = match &error {
            WireError::NotJson { .. }
            | WireError::NotAnAnswer { .. }
            | WireError::NotARequest { .. }
            | WireError::TooLong { .. } => FailureKind::NotAnAnswer,
            WireError::CutOff { .. } => FailureKind::CutOff,
            WireError::Reported { code, message, .. } => classify(None, code, message),
        };
        let mut failure = Self { status: Some(status), ..Self::new(kind, &error.to_string()) };
        let partial = match error {
            WireError::CutOff { partial } => partial,
            WireError::Reported { partial, retry_after_ms, .. } => {
                failure.retry_after_ms = retry_after_ms;
                partial
            }
            _ => return failure,
        };
        failure.with_partial(*partial)
    }

    /// The failure with what had arrived of the answer.
    #[must_use]
    pub fn with_partial(mut self, partial: Answer) -> Self {
        self.stop = self.stop.or(partial.stop);
        self.partial = (!partial.is_empty()).then(|| Box::new(partial));
        self
    }
}

/// An error as servers write it into a body or a stream.
#[derive(Debug, Default)]
pub(crate) struct Reported {
    pub(crate) code: String,
    pub(crate) message: String,
    pub(crate) retry_after_ms: Option<u64>,
}

impl Reported {
    /// Reads every provider's shape: an `error` object or text, `message`, `detail`, a list of one.
    pub(crate) fn read(body: &Value) -> Self {
        let body = body.as_array().and_then(|list| list.first()).unwrap_or(body);
        let error = body.get("error").filter(|error| !error.is_null()).unwrap_or(body);
        let message = match error {
            Value::String(message) => message.as_str(),
            _ => ["message", "detail", "error", "error_message", "reason"]
                .into_iter()
                .map(|key| text(error, key))
                .find(|message| !message.is_empty())
                .unwrap_or_default(),
        };
        let words = ["code", "type", "status"].map(|key| match error.get(key) {
            Some(Value::String(word)) if word != "error" => word.as_str(),
            _ => "",
        });
        let mut code = String::new();
        for word in words.into_iter().filter(|word| !word.is_empty()) {
            code.push_str(if code.is_empty() { "" } else { " " });
            code.push_str(word);
        }
        let message = if message.is_empty() && !error.is_null() {
            Cow::Owned(error.to_string())
        } else {
            Cow::Borrowed(message)
        };
        Self {
            retry_after_ms: wait::from_body(error, &message),
            code: cut(&redact(&code), MESSAGE),
            message: cut(&redact(&message), MESSAGE),
        }
    }

    /// The error of an answer that had come as far as `partial`.
    pub(crate) fn into_error(self, partial: Answer) -> WireError {
        WireError::Reported {
            code: self.code,
            message: self.message,
            retry_after_ms: self.retry_after_ms,
            partial: Box::new(partial),
        }
    }
}

impl Format {
    /// The failure behind an answer whose status is no success.
    ///
    /// `header` gives the value of a header by its lower-case name; `now_ms` is the time since
    /// 1970, for waits told as moments. Every format's errors are understood alike, because
    /// gateways mix them.
    #[must_use]
    pub fn failure<'h>(
        self,
        status: u16,
        header: impl Fn(&str) -> Option<&'h str>,
        body: &[u8],
        now_ms: u64,
    ) -> Failure {
        let reported = match serde_json::from_slice::<Value>(body) {
            Ok(value) => Reported::read(&value),
            Err(_) => Reported { message: plain(body), ..Reported::default() },
        };
        let kind = classify(Some(status), &reported.code, &reported.message);
        let asked = wait::from_headers(&header, now_ms).or(reported.retry_after_ms);
        Failure {
            status: Some(status),
            retry_after_ms: asked,
            ..Failure::new(kind, &reported.message)
        }
    }
}

/// What a body that is no JSON says: the title of an HTML page, or its first words.
pub(crate) fn plain(body: &[u8]) -> String {
    let start = String::from_utf8_lossy(&body[..body.len().min(16 * 1024)]);
    let lower = start.to_ascii_lowercase();
    if !lower.contains("<html") && !lower.trim_start().starts_with("<!doctype") {
        return start.split_whitespace().collect::<Vec<_>>().join(" ");
    }
    let title = lower.find("<title>").and_then(|from| {
        let to = from + lower[from..].find("</title>")?;
        Some(start[from + "<title>".len()..to].trim().to_owned())
    });
    match title {
        Some(title) if !title.is_empty() => format!("an HTML page, \"{title}\""),
        _ => "an HTML page".to_owned(),
    }
}

/// Codes that say what happened, whatever the status; the first match counts.
const CODES: &[(&str, FailureKind)] = &[
    ("insufficient_quota", FailureKind::Quota),
    ("billing", FailureKind::Quota),
    ("context_length_exceeded", FailureKind::ContextOverflow),
    ("exceed_context_size", FailureKind::ContextOverflow),
    ("context_window", FailureKind::ContextOverflow),
    ("request_too_large", FailureKind::ContextOverflow),
    ("rate_limit", FailureKind::RateLimited),
    ("resource_exhausted", FailureKind::RateLimited),
    ("overloaded", FailureKind::Overloaded),
    ("unavailable", FailureKind::Overloaded),
    ("deadline_exceeded", FailureKind::Timeout),
    ("timeout", FailureKind::Timeout),
    ("authentication", FailureKind::Authentication),
    ("invalid_api_key", FailureKind::Authentication),
    ("permission", FailureKind::Authentication),
    ("not_found", FailureKind::NotFound),
    ("invalid_request", FailureKind::Request),
    ("invalid_prompt", FailureKind::Request),
    ("invalid_argument", FailureKind::Request),
];

/// Messages about a conversation that is too long, in lower case.
const OVERFLOW: &[&str] = &[
    "prompt is too long",
    "maximum context length",
    "context length exceeded",
    "exceeds the context",
    "exceed context limit",
    "exceeds the available context size",
    "exceeds the maximum number of tokens",
    "exceed the context window",
    "exceeds the model's context",
    "larger than the context",
    "longer than the maximum model length",
    "reduce the length of the messages",
];

fn classify(status: Option<u16>, code: &str, message: &str) -> FailureKind {
    let (code, message) = (code.to_ascii_lowercase(), message.to_ascii_lowercase());
    let may_overflow = matches!(status, None | Some(400 | 413 | 422 | 500));
    let too_long = OVERFLOW.iter().any(|words| message.contains(words));
    if may_overflow && too_long {
        return FailureKind::ContextOverflow;
    }
    let by_code = CODES.iter().find(|(word, _)| code.contains(word)).map(|found| found.1);
    match status {
        Some(402) => FailureKind::Quota,
        Some(401 | 403) => FailureKind::Authentication,
        Some(404 | 410) => FailureKind::NotFound,
        Some(408 | 504) => FailureKind::Timeout,
        Some(413) => FailureKind::ContextOverflow,
        Some(429) if by_code == Some(FailureKind::Quota) => FailureKind::Quota,
        Some(429) => FailureKind::RateLimited,
        Some(503 | 529) => FailureKind::Overloaded,
        // 400 with "rate_limit" in it is how some gateways pass a limit on.
        Some(400..500) => by_code.unwrap_or(FailureKind::Request),
        Some(_) | None => by_code.unwrap_or(FailureKind::Server),
    }
}
