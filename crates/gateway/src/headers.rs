//! Which headers go on, and which belong to one connection only (RFC 9110, section 7.6.1).

use http::header::{
    ACCEPT_ENCODING, AUTHORIZATION, CONNECTION, CONTENT_LENGTH, EXPECT, HOST, PROXY_AUTHENTICATE,
    PROXY_AUTHORIZATION, TE, TRANSFER_ENCODING, UPGRADE,
};
use http::{HeaderMap, HeaderName, HeaderValue};

/// Headers of this name belong to the gateway.
const OWN: &str = "x-steersman-";

const KEEP_ALIVE: HeaderName = HeaderName::from_static("keep-alive");
const PROXY_CONNECTION: HeaderName = HeaderName::from_static("proxy-connection");

/// What belongs to one connection. `Trailer` is not among them: trailers go on.
const HOP_BY_HOP: [HeaderName; 7] =
    [CONNECTION, KEEP_ALIVE, PROXY_CONNECTION, TE, TRANSFER_ENCODING, UPGRADE, PROXY_AUTHENTICATE];

/// Removes what belongs to the connection, with everything that `Connection` names.
fn strip(headers: &mut HeaderMap) {
    if let Some(value) = headers.get(CONNECTION)
        && !is_plain(value)
    {
        let values = headers.get_all(CONNECTION).iter();
        let tokens = values.filter_map(|value| value.to_str().ok()).flat_map(|v| v.split(','));
        let names: Vec<HeaderName> = tokens
            .filter_map(|token| HeaderName::from_bytes(token.trim().as_bytes()).ok())
            // What frames the body or says who is meant is not the sender's to take away.
            .filter(|name| *name != CONTENT_LENGTH && *name != HOST)
            .collect();
        for name in names {
            headers.remove(name);
        }
    }
    for name in HOP_BY_HOP {
        headers.remove(name);
    }
}

/// Whether a `Connection` names no other header.
fn is_plain(value: &HeaderValue) -> bool {
    let value = value.as_bytes();
    value.eq_ignore_ascii_case(b"keep-alive") || value.eq_ignore_ascii_case(b"close")
}

/// Makes a client's headers those of the request that goes on. A watched answer must be readable,
/// so no other encoding than its own is asked for.
pub(crate) fn forward(headers: &mut HeaderMap, watched: bool) {
    let trailers = headers.get_all(TE).iter().any(|value| {
        let tokens = value.to_str().unwrap_or_default().split(',');
        tokens.map(str::trim).any(|token| token.eq_ignore_ascii_case("trailers"))
    });
    strip(headers);
    if trailers {
        headers.insert(TE, HeaderValue::from_static("trailers"));
    }
    for name in [HOST, EXPECT, PROXY_AUTHORIZATION] {
        headers.remove(name);
    }
    if headers.keys().any(is_own) {
        let own: Vec<HeaderName> = headers.keys().filter(|name| is_own(name)).cloned().collect();
        for name in own {
            headers.remove(name);
        }
    }
    if watched {
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    }
}

fn is_own(name: &HeaderName) -> bool {
    name.as_str().starts_with(OWN)
}

/// Puts the gateway's key in place of the client's.
pub(crate) fn replace_key(headers: &mut HeaderMap, name: HeaderName, value: HeaderValue) {
    for client in ["x-api-key", "x-goog-api-key", "api-key"] {
        headers.remove(client);
    }
    headers.remove(AUTHORIZATION);
    headers.insert(name, value);
}

/// Makes an upstream's headers those of the client's answer.
pub(crate) fn back(headers: &mut HeaderMap, keeps_length: bool) {
    strip(headers);
    if !keeps_length {
        headers.remove(CONTENT_LENGTH);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(text: &str) -> HeaderMap {
        let pairs = text.split("; ").filter_map(|line| line.split_once(": "));
        pairs
            .map(|(name, value)| (name.parse::<HeaderName>().unwrap(), value.parse().unwrap()))
            .collect()
    }

    fn text(headers: &HeaderMap) -> String {
        let lines =
            headers.iter().map(|(name, value)| format!("{name}: {}", value.to_str().unwrap()));
        lines.collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn what_belongs_to_a_connection_stays() {
        let cases = [
            ("accept: a; host: h; connection: keep-alive", "accept: a"),
            ("connection: close, X-Mine; x-mine: 1; x-other: 2", "x-other: 2"),
            ("connection: Content-Length; content-length: 3", "content-length: 3"),
            ("keep-alive: 5; te: gzip; upgrade: h2c; proxy-connection: x", ""),
            ("transfer-encoding: chunked", ""),
            ("te: gzip, Trailers; trailer: x", "trailer: x; te: trailers"),
            ("expect: 100-continue; proxy-authorization: secret", ""),
            (
                "x-steersman-session: a; x-steersman-mode: off; x-steersmanship: 1",
                "x-steersmanship: 1",
            ),
            ("anthropic-beta: a; anthropic-beta: b", "anthropic-beta: a; anthropic-beta: b"),
        ];
        for (before, expected) in cases {
            let pairs = before.split("; ").filter_map(|line| line.split_once(": "));
            let mut headers = HeaderMap::new();
            for (name, value) in pairs {
                headers.append(name.parse::<HeaderName>().unwrap(), value.parse().unwrap());
            }
            forward(&mut headers, false);
            assert_eq!(text(&headers), expected, "{before}");
        }
    }

    #[test]
    fn a_watched_answer_is_asked_for_as_it_is() {
        let mut headers = map("accept-encoding: gzip");
        forward(&mut headers, true);
        assert_eq!(text(&headers), "accept-encoding: identity");
    }

    #[test]
    fn keys_are_replaced() {
        let mut headers =
            map("authorization: Bearer a; x-api-key: b; x-goog-api-key: c; accept: d");
        let value = HeaderValue::from_static("ours");
        replace_key(&mut headers, HeaderName::from_static("x-api-key"), value);
        assert_eq!(text(&headers), "accept: d; x-api-key: ours");
    }

    #[test]
    fn answers_keep_their_length_if_their_bytes_stay() {
        let mut headers = map("content-length: 3; connection: close; x-request-id: r");
        back(&mut headers, true);
        assert_eq!(text(&headers), "content-length: 3; x-request-id: r");
        back(&mut headers, false);
        assert_eq!(text(&headers), "x-request-id: r");
    }
}
