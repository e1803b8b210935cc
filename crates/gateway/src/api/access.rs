//! Who may ask.

use std::net::IpAddr;

use http::header::{AUTHORIZATION, HOST};
use http::{HeaderMap, HeaderValue, StatusCode, Uri, request};
use steersman_notify::{gate, handshake};

use super::reply::Refused;

/// Who may ask: programs of this machine, or whoever has the token if there is one.
#[derive(Clone, Default)]
pub struct Access {
    token: Option<String>,
    names: Vec<String>,
    any_name: bool,
}

impl std::fmt::Debug for Access {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Access").field("has_token", &self.token.is_some()).finish_non_exhaustive()
    }
}

impl Access {
    /// Access to a gateway that listens on `listen`. With a token every request needs
    /// `Authorization: Bearer TOKEN`. `None`: none is needed.
    ///
    /// Names in `Host` and `Origin` are those of this machine and the address itself; where the
    /// gateway listens on all addresses and there is a token, pages may come from the name by which
    /// the gateway itself was reached.
    #[must_use]
    pub fn new(listen: IpAddr, token: Option<String>) -> Self {
        let all = listen.is_unspecified();
        let names = if all { Vec::new() } else { vec![listen.to_string()] };
        Self { any_name: all && token.is_some(), names, token }
    }

    /// # Errors
    /// Why the request is not answered.
    pub(super) fn check(&self, head: &request::Parts) -> Result<(), Refused> {
        let headers = with_host(&head.headers, &head.uri);
        let own = self.any_name.then(|| host_name(&headers)).flatten();
        let names: Vec<String> = self.names.iter().cloned().chain(own).collect();
        if let Some(why) = gate::refuse(&headers, &names) {
            return Err(Refused::new(StatusCode::FORBIDDEN, "forbidden", why));
        }
        let Some(token) = &self.token else { return Ok(()) };
        let given = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        let given = given.and_then(|value| {
            let (scheme, given) = value.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then_some(given.trim())
        });
        if given.is_some_and(|given| same(given, token)) || offers(&headers, token) {
            return Ok(());
        }
        let why = "the admin token is needed: Authorization: Bearer TOKEN";
        Err(Refused::new(StatusCode::UNAUTHORIZED, "unauthorized", why))
    }
}

/// What stands before the token where it comes as a protocol of a WebSocket.
const BEARER: &str = "steersman.bearer.";

/// Whether a request for a WebSocket brings the token among its protocols: a page cannot send
/// `Authorization` with it.
fn offers(headers: &HeaderMap, token: &str) -> bool {
    if handshake::key(headers).is_none() {
        return false;
    }
    let wanted = base64url(token.as_bytes());
    let mut given = handshake::protocols(headers).filter_map(|one| one.strip_prefix(BEARER));
    given.any(|given| same(given.trim_end_matches('='), &wanted))
}

/// In base64url without padding.
fn base64url(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut text = String::with_capacity(bytes.len() * 4 / 3 + 3);
    for three in bytes.chunks(3) {
        let byte = |at: usize| u32::from(three.get(at).copied().unwrap_or_default());
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..=three.len() {
            let letter = (bits >> (18 - 6 * at)) & 63;
            text.push(char::from(LETTERS[letter as usize]));
        }
    }
    text
}

/// HTTP/2 names the host in the address.
fn with_host(headers: &HeaderMap, uri: &Uri) -> HeaderMap {
    let mut headers = headers.clone();
    if !headers.contains_key(HOST)
        && let Some(authority) = uri.authority()
        && let Ok(host) = HeaderValue::from_str(authority.as_str())
    {
        headers.insert(HOST, host);
    }
    headers
}

fn host_name(headers: &HeaderMap) -> Option<String> {
    let host = headers.get(HOST)?.to_str().ok()?;
    let authority: http::uri::Authority = host.parse().ok()?;
    Some(authority.host().trim_start_matches('[').trim_end_matches(']').to_owned())
}

/// Compares without telling by its time how much is right.
fn same(given: &str, wanted: &str) -> bool {
    let differ = given.bytes().zip(wanted.bytes()).fold(0, |sum, (a, b)| sum | (a ^ b));
    given.len() == wanted.len() && std::hint::black_box(differ) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(access: &Access, headers: &[(&str, &str)], expected: Option<u16>) {
        let mut request = http::Request::get("/api/sessions");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (head, ()) = request.body(()).unwrap().into_parts();
        let refused = access.check(&head).err().map(|refused| refused.status.as_u16());
        assert_eq!(refused, expected, "{headers:?}");
    }

    #[test]
    fn without_a_token_programs_of_this_machine_may_ask() {
        let access = Access::new(IpAddr::from([127, 0, 0, 1]), None);
        check(&access, &[("host", "localhost:8700")], None);
        check(&access, &[("host", "127.0.0.1:8700"), ("origin", "http://localhost:1")], None);
        check(&access, &[("host", "rebound.example:8700")], Some(403));
        check(&access, &[("host", "localhost"), ("origin", "https://evil.example")], Some(403));
    }

    #[test]
    fn with_a_token_nobody_may_ask_without_it() {
        let access = Access::new(IpAddr::from([0, 0, 0, 0]), Some("secret".to_owned()));
        let host = ("host", "gateway.lan:8700");
        check(&access, &[host, ("authorization", "Bearer secret")], None);
        check(&access, &[host, ("authorization", "bearer  secret")], None);
        let page = ("origin", "http://gateway.lan");
        check(&access, &[host, page, ("authorization", "Bearer secret")], None);
        check(&access, &[host], Some(401));
        for wrong in ["Bearer secre", "Bearer secrets", "Bearer Secret", "Bearer", "secret", ""] {
            check(&access, &[host, ("authorization", wrong)], Some(401));
        }
        let page = ("origin", "http://evil.example");
        check(&access, &[host, page, ("authorization", "Bearer secret")], Some(403));
        assert!(!format!("{access:?}").contains("secret"));
        let one = Access::new(IpAddr::from([10, 0, 0, 1]), Some("s".to_owned()));
        check(&one, &[("host", "10.0.0.1:1"), ("authorization", "Bearer s")], None);
        check(&one, &[("host", "10.0.0.2:1"), ("authorization", "Bearer s")], Some(403));
    }

    #[test]
    fn a_page_brings_the_token_as_a_protocol_of_its_websocket() {
        for (text, expected) in [("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foob>?", "Zm9vYj4_")] {
            assert_eq!(base64url(text.as_bytes()), expected);
        }
        let access = Access::new(IpAddr::from([127, 0, 0, 1]), Some("secret".to_owned()));
        let socket = [
            ("host", "localhost"),
            ("upgrade", "websocket"),
            ("connection", "Upgrade"),
            ("sec-websocket-version", "13"),
            ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
        ];
        let check_with = |protocol: &str, expected: Option<u16>| {
            let headers = [&socket[..], &[("sec-websocket-protocol", protocol)]].concat();
            check(&access, &headers, expected);
        };
        check_with("steersman.v1, steersman.bearer.c2VjcmV0", None);
        check_with("steersman.bearer.c2VjcmV0", None);
        check_with("steersman.v1, steersman.bearer.c2VjcmV1", Some(401));
        check_with("steersman.v1, steersman.bearer.", Some(401));
        check_with("steersman.v1", Some(401));
        // Anything else brings it as it always did.
        let plain = ("sec-websocket-protocol", "steersman.bearer.c2VjcmV0");
        check(&access, &[("host", "localhost"), plain], Some(401));
    }

    #[test]
    fn http_2_names_its_host_in_the_address() {
        let access = Access::new(IpAddr::from([127, 0, 0, 1]), None);
        for (uri, allowed) in [("http://localhost/api", true), ("http://evil.example/api", false)] {
            let (head, ()) = http::Request::get(uri).body(()).unwrap().into_parts();
            assert_eq!(access.check(&head).is_ok(), allowed, "{uri}");
        }
    }
}
