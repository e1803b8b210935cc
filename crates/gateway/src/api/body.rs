//! What requests bring.

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{StatusCode, request};
use http_body_util::{BodyExt, Limited};
use hyper::body::Body;
use serde::de::DeserializeOwned;

use super::reply::Refused;

/// Most bytes of a body in JSON.
const MAX_JSON: usize = 16 << 10;

/// A body as it comes.
pub(super) trait Incoming:
    Body<Data = Bytes, Error: Into<Box<dyn std::error::Error + Send + Sync>>>
{
}

impl<B> Incoming for B where
    B: Body<Data = Bytes, Error: Into<Box<dyn std::error::Error + Send + Sync>>>
{
}

/// A body in JSON.
pub(super) async fn json_body<T: DeserializeOwned>(
    head: &request::Parts,
    body: impl Incoming,
) -> Result<T, Refused> {
    let bytes = whole(head, body, "application/json", MAX_JSON).await?;
    serde_json::from_slice(&bytes).map_err(|error| Refused::bad(format!("the body: {error}")))
}

/// A body of this content type, whole, in at most `max` bytes.
///
/// A page of another site cannot send these types without being asked about it first.
pub(super) async fn whole(
    head: &request::Parts,
    body: impl Incoming,
    wanted: &str,
    max: usize,
) -> Result<Bytes, Refused> {
    let kind = head.headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    if !kind.is_some_and(|kind| kind.trim_start().starts_with(wanted)) {
        let code = if wanted.ends_with("json") { "not_json" } else { "wrong_type" };
        let why = format!("the body needs content-type: {wanted}");
        return Err(Refused::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, code, why));
    }
    let collected = Limited::new(body, max).collect().await.map_err(|_| {
        let why = format!("the body has to come whole, in at most {max} bytes");
        Refused::new(StatusCode::PAYLOAD_TOO_LARGE, "body_too_large", why)
    })?;
    Ok(collected.to_bytes())
}
