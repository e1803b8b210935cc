//! Answers of the gateway itself.

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use http::{Response, StatusCode};
use serde_json::json;
use steersman_wire::{ErrorKind, Format};

use crate::relay::Body;

/// Says that an error is the gateway's own, and which.
const ERROR: HeaderName = HeaderName::from_static("x-steersman-error");

const SHOULD_RETRY: HeaderName = HeaderName::from_static("x-should-retry");

/// Why the gateway itself refuses a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// The status.
    pub(crate) status: StatusCode,
    /// A word for programs.
    pub(crate) code: &'static str,
    /// A sentence for people, without secrets.
    pub(crate) message: String,
    /// What it is in the words of every format; `None`: what the status says.
    pub(crate) kind: Option<ErrorKind>,
}

impl Refusal {
    pub(crate) fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into(), kind: None }
    }

    /// A refusal that clients take for the end: they do not send the request again.
    pub(crate) fn final_of(
        status: u16,
        code: &'static str,
        kind: ErrorKind,
        message: impl Into<String>,
    ) -> Self {
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::FORBIDDEN);
        Self { kind: Some(kind), ..Self::new(status, code, message) }
    }

    /// No server is configured for a format.
    pub(crate) fn no_upstream(format: Format) -> Self {
        let message = format!("no upstream is configured for the format {format}");
        Self::new(StatusCode::BAD_GATEWAY, "no_upstream", message)
    }

    /// The session was paused for longer than a call may take.
    pub(crate) fn paused() -> Self {
        let message = "the session is paused, and the call has waited for as long as it may";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "paused", message)
    }

    /// The body is longer than is allowed.
    pub(crate) fn too_large(most: u64) -> Self {
        let message = format!("the request is longer than {most} bytes");
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "body_too_large", message)
    }

    /// The refusal in a client's format.
    pub(crate) fn response(&self, format: Format) -> Response<Body> {
        let mut response = Response::new(Body::whole(body(format, self)));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ERROR, HeaderValue::from_static(self.code));
        if self.kind.is_some() {
            // The SDKs of OpenAI and Anthropic go by it before they go by the status.
            headers.insert(SHOULD_RETRY, HeaderValue::from_static("false"));
        }
        response
    }
}

/// An error's body. Moves to `steersman_wire`, where the other things that a server writes are.
fn body(format: Format, refusal: &Refusal) -> Bytes {
    let Refusal { status, code, message, kind } = refusal;
    let message = format!("steersman: {message}");
    if let Some(kind) = kind {
        return Bytes::from(format.error_body(status.as_u16(), *kind, &message));
    }
    let client = status.is_client_error();
    let body = match format {
        Format::OpenAiChat | Format::OpenAiResponses => {
            let kind = if client { "invalid_request_error" } else { "gateway_error" };
            json!({"error": {"message": message, "type": kind, "param": null, "code": code}})
        }
        Format::Anthropic => {
            let kind = match status.as_u16() {
                413 => "request_too_large",
                400..500 => "invalid_request_error",
                504 => "timeout_error",
                503 => "overloaded_error",
                _ => "api_error",
            };
            json!({"type": "error", "error": {"type": kind, "message": message}})
        }
        Format::Gemini => {
            let word = match status.as_u16() {
                408 | 504 => "DEADLINE_EXCEEDED",
                400..500 => "INVALID_ARGUMENT",
                502 | 503 => "UNAVAILABLE",
                _ => "INTERNAL",
            };
            json!({"error": {"code": status.as_u16(), "message": message, "status": word}})
        }
    };
    Bytes::from(body.to_string())
}

/// What is sent while an answer that has begun is waited for. `None`: nothing may be.
pub(crate) fn keep_alive(format: Format, content_type: Option<&HeaderValue>) -> Option<Bytes> {
    let kind = content_type?.to_str().ok()?;
    if !kind.trim_start().to_ascii_lowercase().starts_with("text/event-stream") {
        return None;
    }
    Some(Bytes::from_static(format.keep_alive()))
}

/// What `/healthz` and `/readyz` say.
pub(crate) fn health(status: StatusCode, word: &'static str) -> Response<Body> {
    let mut response = Response::new(Body::whole(Bytes::from(json!({"status": word}).to_string())));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// The answer to a head that did not come in time, before any format is known.
pub(crate) const HEAD_TIMEOUT: &[u8] = b"HTTP/1.1 408 Request Timeout\r\n\
    content-type: application/json\r\nx-steersman-error: header_timeout\r\n\
    connection: close\r\ncontent-length: 120\r\n\r\n\
    {\"error\":{\"message\":\"steersman: the head of the request did not come in time\",\
    \"type\":\"timeout\",\"code\":\"header_timeout\"}}";

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn errors_have_the_shape_of_their_format() {
        let refusal = Refusal::new(StatusCode::BAD_GATEWAY, "upstream_unreachable", "no");
        let cases = [
            (
                Format::OpenAiChat,
                json!({"error": {"message": "steersman: no", "type": "gateway_error",
                    "param": null, "code": "upstream_unreachable"}}),
            ),
            (
                Format::Anthropic,
                json!({"type": "error",
                    "error": {"type": "api_error", "message": "steersman: no"}}),
            ),
            (
                Format::Gemini,
                json!({"error": {"code": 502, "message": "steersman: no",
                    "status": "UNAVAILABLE"}}),
            ),
        ];
        for (format, expected) in cases {
            let found: Value = serde_json::from_slice(&body(format, &refusal)).unwrap();
            assert_eq!(found, expected, "{format}");
        }
    }

    #[test]
    fn the_answer_to_a_late_head_is_well_formed() {
        let text = std::str::from_utf8(HEAD_TIMEOUT).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(head.ends_with(&format!("content-length: {}", body.len())), "{}", body.len());
        serde_json::from_str::<Value>(body).unwrap();
    }

    #[test]
    fn only_streams_are_kept_alive() {
        let cases = [
            (Format::Anthropic, "text/event-stream; charset=utf-8", Some(": keep-alive\n\n")),
            (Format::Gemini, "Text/Event-Stream", Some("\r\n\r\n")),
            (Format::OpenAiChat, "application/json", None),
        ];
        for (format, kind, expected) in cases {
            let found = keep_alive(format, Some(&HeaderValue::from_static(kind)));
            assert_eq!(found.as_deref(), expected.map(str::as_bytes), "{kind}");
        }
    }
}
