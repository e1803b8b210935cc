//! Errors as each format's clients know them.

use serde_json::{Value, json};

use super::{Frame, event, responses};
use crate::Format;

/// What is wrong, in the words of every format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The request is not understood, or asks for what cannot be.
    InvalidRequest,
    /// The key is missing or wrong.
    Authentication,
    /// The key may not do this.
    Permission,
    /// There is no such address or model.
    NotFound,
    /// The request is longer than what is taken.
    TooLarge,
    /// Too many requests or tokens for now.
    RateLimit,
    /// There is too much to do, whoever asks.
    Overloaded,
    /// The gateway ends the run: clients must not try again. The status that makes each format's
    /// clients stop is [`Format::stop_status`].
    GatewayStop,
    /// What is no fault of the client's.
    Internal,
}

impl ErrorKind {
    /// Every kind.
    pub const ALL: [Self; 9] = [
        Self::InvalidRequest,
        Self::Authentication,
        Self::Permission,
        Self::NotFound,
        Self::TooLarge,
        Self::RateLimit,
        Self::Overloaded,
        Self::GatewayStop,
        Self::Internal,
    ];

    /// Type and code of `OpenAI`'s errors. Clients choose by the type whether to try again.
    const fn openai(self) -> (&'static str, &'static str) {
        match self {
            Self::InvalidRequest => ("invalid_request_error", "invalid_request"),
            Self::Authentication => ("authentication_error", "invalid_api_key"),
            Self::Permission => ("permission_error", "permission_denied"),
            Self::NotFound => ("not_found_error", "not_found"),
            Self::TooLarge => ("invalid_request_error", "request_too_large"),
            Self::RateLimit => ("rate_limit_error", "rate_limit_exceeded"),
            Self::Overloaded => ("overloaded_error", "overloaded"),
            Self::GatewayStop => ("gateway_stop", "gateway_stop"),
            Self::Internal => ("server_error", "internal_error"),
        }
    }

    /// The code of a response that failed; Codex tries again on every one that it does not know
    /// as final.
    const fn response(self) -> &'static str {
        match self {
            Self::RateLimit => "rate_limit_exceeded",
            Self::Overloaded => "server_is_overloaded",
            Self::Internal => "server_error",
            _ => "invalid_prompt",
        }
    }

    const fn anthropic(self) -> &'static str {
        match self {
            Self::InvalidRequest => "invalid_request_error",
            Self::Authentication => "authentication_error",
            Self::Permission => "permission_error",
            Self::NotFound => "not_found_error",
            Self::TooLarge => "request_too_large",
            Self::RateLimit => "rate_limit_error",
            Self::Overloaded => "overloaded_error",
            Self::GatewayStop => "gateway_stop",
            Self::Internal => "api_error",
        }
    }

    const fn google(self) -> &'static str {
        match self {
            Self::InvalidRequest | Self::TooLarge => "INVALID_ARGUMENT",
            Self::Authentication => "UNAUTHENTICATED",
            Self::Permission => "PERMISSION_DENIED",
            Self::NotFound => "NOT_FOUND",
            Self::RateLimit => "RESOURCE_EXHAUSTED",
            Self::Overloaded => "UNAVAILABLE",
            Self::GatewayStop => "FAILED_PRECONDITION",
            Self::Internal => "INTERNAL",
        }
    }
}

impl Format {
    /// The body of an error; `status` is the response's own, which Gemini repeats.
    #[must_use]
    pub fn error_body(self, status: u16, kind: ErrorKind, message: &str) -> Vec<u8> {
        error(self, status, kind, message).to_string().into_bytes()
    }

    /// An error inside a stream that began: the last event of the stream.
    ///
    /// `status` is the one the response would have had, which Gemini repeats; `frame` names the
    /// response, which Responses repeats. Clients may still try again: what stops them for
    /// sure is a status before the stream ([`stop_status`](Self::stop_status)).
    #[must_use]
    pub fn error_event(
        self,
        status: u16,
        kind: ErrorKind,
        message: &str,
        frame: &Frame<'_>,
    ) -> Vec<u8> {
        let mut out = Vec::new();
        match self {
            Self::OpenAiResponses => {
                let mut response = responses::response(frame, "failed");
                response["error"] = json!({"code": kind.response(), "message": message});
                let name = "response.failed";
                // How many events came before is not known here, and clients do not count them.
                let failed = json!({"type": name, "sequence_number": 0, "response": response});
                event(&mut out, name, &failed, "\n");
            }
            _ => {
                let (name, line_end) = match self {
                    Self::Anthropic => ("error", "\n"),
                    Self::Gemini => ("", "\r\n"),
                    _ => ("", "\n"),
                };
                event(&mut out, name, &error(self, status, kind, message), line_end);
            }
        }
        out
    }

    /// The status for a key that is missing or wrong, with an error of kind
    /// [`ErrorKind::Authentication`]: the one after which clients do not send the request again.
    ///
    /// Claude Code sends a request ten more times after 401, Codex five more times after 401 and
    /// 403, and clients of Chat Completions ten more times after 403.
    #[must_use]
    pub const fn key_status(self) -> u16 {
        match self {
            Self::OpenAiChat => 401,
            Self::OpenAiResponses => 400,
            Self::Anthropic | Self::Gemini => 403,
        }
    }

    /// The status that ends a run, with an error of kind [`ErrorKind::GatewayStop`]: each client
    /// sends nothing more after it and shows the message.
    #[must_use]
    pub const fn stop_status(self) -> u16 {
        match self {
            Self::Anthropic => 402,
            Self::OpenAiChat => 404,
            Self::OpenAiResponses | Self::Gemini => 400,
        }
    }
}

fn error(format: Format, status: u16, kind: ErrorKind, message: &str) -> Value {
    match format {
        Format::OpenAiChat | Format::OpenAiResponses => {
            let (word, code) = kind.openai();
            json!({"error": {"message": message, "type": word, "param": null, "code": code}})
        }
        Format::Anthropic => {
            json!({"type": "error", "error": {"type": kind.anthropic(), "message": message}})
        }
        Format::Gemini => {
            json!({"error": {"code": status, "message": message, "status": kind.google()}})
        }
    }
}
