//! Answers of the API.

use bytes::Bytes;
use http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderName, WWW_AUTHENTICATE};
use http::{HeaderValue, Response, StatusCode};
use serde::Serialize;
use steersman_store::StoreError;

use super::types::{Problem, ProblemBody};

/// An answer in one piece.
pub(super) type Reply = Response<Bytes>;

/// Why a request is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refused {
    pub(super) status: StatusCode,
    pub(super) code: &'static str,
    pub(super) message: String,
    /// The methods there are, where it was another.
    pub(super) allow: Option<String>,
}

impl Refused {
    pub(super) fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into(), allow: None }
    }

    pub(super) fn bad(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "bad_request", message)
    }

    pub(super) fn unknown(session: &str) -> Self {
        let message = format!("no session is called `{session}`");
        Self::new(StatusCode::NOT_FOUND, "unknown_session", message)
    }

    pub(super) fn reply(&self) -> Reply {
        let error = ProblemBody { code: self.code.to_owned(), message: self.message.clone() };
        let mut reply = json(&Problem { error });
        *reply.status_mut() = self.status;
        if self.status == StatusCode::UNAUTHORIZED {
            let scheme = HeaderValue::from_static("Bearer");
            reply.headers_mut().insert(WWW_AUTHENTICATE, scheme);
        }
        if let Some(allow) = self.allow.as_deref().and_then(|it| HeaderValue::from_str(it).ok()) {
            reply.headers_mut().insert(ALLOW, allow);
        }
        reply
    }
}

impl From<StoreError> for Refused {
    fn from(error: StoreError) -> Self {
        if let StoreError::Unknown { id } = &error {
            return Self::unknown(id.as_str());
        }
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "store_unavailable", error.to_string())
    }
}

/// An answer in JSON.
pub(super) fn json(body: &impl Serialize) -> Reply {
    // Plain data: writing it cannot fail.
    of_kind("application/json", serde_json::to_vec(body).unwrap_or_default())
}

/// An answer of a content type.
pub(super) fn of_kind(kind: &'static str, body: impl Into<Bytes>) -> Reply {
    let mut reply = Response::new(body.into());
    let headers = reply.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    // What sessions say is nobody's to keep, and never a page.
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    let sniff = HeaderName::from_static("x-content-type-options");
    headers.insert(sniff, HeaderValue::from_static("nosniff"));
    reply
}
