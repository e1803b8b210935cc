//! Becoming a WebSocket.

use http::header::{
    CONNECTION, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_PROTOCOL,
    SEC_WEBSOCKET_VERSION, UPGRADE,
};
use http::{HeaderMap, HeaderValue, Response, StatusCode};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};

/// Most bytes of a message from a client; nothing is asked of them.
const MAX_INBOUND: usize = 4096;

/// The key of a request that asks for a WebSocket; `None` for any other.
#[must_use]
pub fn key(headers: &HeaderMap) -> Option<String> {
    let has = |name, wanted: &str| {
        let values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
        values.flat_map(|value| value.split(',')).any(|it| it.trim().eq_ignore_ascii_case(wanted))
    };
    let asks =
        has(UPGRADE, "websocket") && has(CONNECTION, "upgrade") && has(SEC_WEBSOCKET_VERSION, "13");
    let key = headers.get(SEC_WEBSOCKET_KEY)?.to_str().ok()?;
    asks.then(|| key.to_owned())
}

/// The answer by which a request with this key becomes a WebSocket. Its body is empty.
#[must_use]
pub fn accept<B: Default>(key: &str) -> Response<B> {
    let mut response = Response::new(B::default());
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let headers = response.headers_mut();
    headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
    headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
    if let Ok(accept) = HeaderValue::from_str(&derive_accept_key(key.as_bytes())) {
        headers.insert(SEC_WEBSOCKET_ACCEPT, accept);
    }
    response
}

/// The protocols that a request for a WebSocket offers, in order.
pub fn protocols(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let values = headers.get_all(SEC_WEBSOCKET_PROTOCOL).iter();
    let values = values.filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).map(str::trim).filter(|one| !one.is_empty())
}

/// Says which of the protocols that were offered is spoken.
pub fn speak<B>(response: &mut Response<B>, protocol: &'static str) {
    let protocol = HeaderValue::from_static(protocol);
    response.headers_mut().insert(SEC_WEBSOCKET_PROTOCOL, protocol);
}

/// The server's end of a WebSocket. A message to it may have at most 4 KiB.
pub async fn socket(upgraded: Upgraded) -> WebSocketStream<TokioIo<Upgraded>> {
    let mut config = WebSocketConfig::default();
    config.max_message_size = Some(MAX_INBOUND);
    config.max_frame_size = Some(MAX_INBOUND);
    WebSocketStream::from_raw_socket(TokioIo::new(upgraded), Role::Server, Some(config)).await
}
