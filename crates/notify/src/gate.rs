//! Who may listen: programs of this machine, and pages that come from it.

use std::net::IpAddr;
#[cfg(feature = "runs")]
use std::net::SocketAddr;

use http::HeaderMap;
use http::header::{HOST, ORIGIN};

/// Whether an address is of this machine only.
#[cfg(feature = "runs")]
pub(crate) fn is_local(address: SocketAddr) -> bool {
    address.ip().to_canonical().is_loopback()
}

/// Why a request is not answered; `None` if it is.
///
/// A page of another site can reach servers of this machine, under a name of its own, too. Its
/// requests show where it is from (`Origin`) and by which name it came (`Host`). Names of this
/// machine are allowed, and the names in `also`, without ports.
#[must_use]
pub fn refuse(headers: &HeaderMap, also: &[String]) -> Option<&'static str> {
    if headers.get_all(HOST).iter().count() > 1 || headers.get_all(ORIGIN).iter().count() > 1 {
        return Some("one Host and one Origin are allowed");
    }
    let host = headers.get(HOST).map(|host| host.to_str().unwrap_or_default());
    if host.is_some_and(|host| !is_allowed(host, also)) {
        return Some("the name in Host is not one of this machine, such as localhost");
    }
    let origin = headers.get(ORIGIN)?.to_str().unwrap_or_default();
    let from = origin.split_once("://").filter(|(scheme, _)| matches!(*scheme, "http" | "https"));
    let local = from.is_some_and(|(_, host)| is_allowed(host, also));
    (!local).then_some("only pages of this machine may listen")
}

/// Whether `HOST` or `HOST:PORT` names this machine, or is one of the names.
fn is_allowed(host: &str, also: &[String]) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => match rest.split_once(']') {
            Some((name, port)) if is_port(port) => name,
            _ => return false,
        },
        None => match host.split_once(':') {
            Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
            Some(_) => return false,
            None => host,
        },
    };
    name.eq_ignore_ascii_case("localhost")
        || also.iter().any(|other| name.eq_ignore_ascii_case(other))
        || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

fn is_port(text: &str) -> bool {
    let digits = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit());
    text.is_empty() || text.strip_prefix(':').is_some_and(digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(host: &str, origin: Option<&str>, expected: bool) {
        check_with(host, origin, &[], expected);
    }

    fn check_with(host: &str, origin: Option<&str>, also: &[String], expected: bool) {
        let mut headers = HeaderMap::new();
        headers.insert(HOST, host.parse().unwrap());
        if let Some(origin) = origin {
            headers.insert(ORIGIN, origin.parse().unwrap());
        }
        assert_eq!(refuse(&headers, also).is_none(), expected, "{host} {origin:?}");
    }

    #[test]
    fn only_this_machine_may_listen() {
        check("127.0.0.1:7077", None, true);
        check("localhost:7077", Some("http://localhost:3000"), true);
        check("LOCALHOST", Some("https://127.0.0.2"), true);
        check("[::1]:7077", Some("http://[::1]:1"), true);
        check("rebound.example:7077", None, false);
        check("127.0.0.1.example", None, false);
        check("[::1].example", None, false);
        check("[::1]x:80", None, false);
        check("10.0.0.1:7077", None, false);
        check("localhost:7077", Some("https://example.com"), false);
        check("localhost:7077", Some("null"), false);
        check("localhost:7077", Some("http://localhost@example.com"), false);
        check("localhost:7077", Some("http://localhost:x@example.com"), false);
        check("localhost:7077", Some("file://localhost"), false);
        check("localhost:7077", Some(""), false);
    }

    #[test]
    fn further_names_may_be_allowed() {
        let also = ["gateway.example".to_owned(), "10.0.0.1".to_owned()];
        let page = Some("https://gateway.example");
        check_with("Gateway.Example:8700", page, &also, true);
        check_with("10.0.0.1:8700", None, &also, true);
        check_with("10.0.0.1:8700", Some("http://10.0.0.2"), &also, false);
        check_with("evil.gateway.example", None, &also, false);
        check_with("gateway.example:x", None, &also, false);
        check_with("localhost", None, &also, true);
    }
}
