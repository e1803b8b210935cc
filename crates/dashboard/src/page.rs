//! The page: `web/dist` as it was when the program was built.

use std::io::Write;
use std::sync::OnceLock;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::header::{
    ACCEPT, ACCEPT_ENCODING, ALLOW, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY,
    CONTENT_TYPE, ETAG, HeaderName, IF_NONE_MATCH, LOCATION, REFERRER_POLICY, VARY,
    X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode};

/// Where the page is.
pub const PATH: &str = "/dashboard/";

/// The files: name within `web/dist`, tag of the content, content.
static FILES: &[(&str, &str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/files.rs"));

/// What the page may do: nothing but its own scripts, styles and requests to where it came from.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
                      img-src 'self' data:; connect-src 'self'; font-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/// Hashed names stand for their content for ever; a year is what is taken for that.
const FOR_EVER: &str = "public, max-age=31536000, immutable";
/// A shorter file is not compressed, in bytes.
const MIN_COMPRESSED: usize = 512;

/// The answer to a request for the page or one of its files; `None` if it is for something else.
///
/// `/` leads to the page only for who accepts HTML: it is a path of model servers, too.
#[must_use]
pub fn answer(method: &Method, path: &str, asked: &HeaderMap) -> Option<Response<Bytes>> {
    let name = match path {
        "/" if *method == Method::GET && wants_html(asked) => return Some(redirect()),
        "/dashboard" => return Some(redirect()),
        PATH => "index.html",
        _ => path.strip_prefix(PATH)?,
    };
    let mut response = if matches!(*method, Method::GET | Method::HEAD) {
        match FILES.iter().position(|(known, ..)| *known == name) {
            Some(at) => file(at, asked),
            None => plain(StatusCode::NOT_FOUND, "there is no such file\n"),
        }
    } else {
        let mut refused = plain(StatusCode::METHOD_NOT_ALLOWED, "allowed is: GET, HEAD\n");
        refused.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
        refused
    };
    if *method == Method::HEAD {
        *response.body_mut() = Bytes::new();
    }
    Some(response)
}

fn file(at: usize, asked: &HeaderMap) -> Response<Bytes> {
    let Some((name, tag, content)) = FILES.get(at) else {
        return plain(StatusCode::NOT_FOUND, "there is no such file\n");
    };
    let compressed = compressed(at).filter(|_| takes_gzip(asked));
    let suffix = if compressed.is_some() { "-gz" } else { "" };
    let tag = format!("\"{tag}{suffix}\"");
    let is_known = asked.get_all(IF_NONE_MATCH).iter().any(|known| {
        let known = known.to_str().unwrap_or_default();
        known.split(',').any(|one| one.trim().trim_start_matches("W/") == tag)
    });
    let mut response = if is_known {
        let mut response = Response::new(Bytes::new());
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        response
    } else {
        Response::new(compressed.map_or_else(|| Bytes::from_static(content), Bytes::from_static))
    };
    let headers = response.headers_mut();
    secure(headers);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind(name)));
    headers.insert(VARY, HeaderValue::from_static("accept-encoding"));
    let keep = if name.starts_with("assets/") { FOR_EVER } else { "no-cache" };
    headers.insert(CACHE_CONTROL, HeaderValue::from_static(keep));
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        headers.insert(ETAG, tag);
    }
    if compressed.is_some() {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    response
}

/// A file compressed; `None` where that does not pay. Each is compressed once.
fn compressed(at: usize) -> Option<&'static [u8]> {
    static COMPRESSED: OnceLock<Vec<OnceLock<Option<Vec<u8>>>>> = OnceLock::new();
    let all = COMPRESSED.get_or_init(|| FILES.iter().map(|_| OnceLock::new()).collect());
    let (_, _, content) = FILES.get(at)?;
    all.get(at)?.get_or_init(|| compress(content)).as_deref()
}

fn compress(content: &[u8]) -> Option<Vec<u8>> {
    if content.len() < MIN_COMPRESSED {
        return None;
    }
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(content).ok()?;
    let bytes = encoder.finish().ok()?;
    (bytes.len() < content.len() / 10 * 9).then_some(bytes)
}

/// Whether the client takes gzip; `gzip;q=0` refuses it.
fn takes_gzip(headers: &HeaderMap) -> bool {
    let values = headers.get_all(ACCEPT_ENCODING).iter().filter_map(|it| it.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|one| {
        let (name, rest) = one.split_once(';').unwrap_or((one, ""));
        let weight = rest.trim().strip_prefix("q=").and_then(|it| it.trim().parse::<f32>().ok());
        name.trim().eq_ignore_ascii_case("gzip") && weight.is_none_or(|weight| weight > 0.0)
    })
}

fn wants_html(headers: &HeaderMap) -> bool {
    let accept = headers.get(ACCEPT).and_then(|accept| accept.to_str().ok());
    accept.is_some_and(|accept| accept.contains("text/html"))
}

fn redirect() -> Response<Bytes> {
    let mut response = plain(StatusCode::TEMPORARY_REDIRECT, "the page is at /dashboard/\n");
    response.headers_mut().insert(LOCATION, HeaderValue::from_static(PATH));
    response
}

fn plain(status: StatusCode, text: &'static str) -> Response<Bytes> {
    let mut response = Response::new(Bytes::from_static(text.as_bytes()));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    secure(headers);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}

/// What a browser must not do with it.
fn secure(headers: &mut HeaderMap) {
    let own = |name: &'static str| HeaderName::from_static(name);
    for (name, value) in [
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (X_FRAME_OPTIONS, "DENY"),
        (REFERRER_POLICY, "no-referrer"),
        (own("cross-origin-opener-policy"), "same-origin"),
        (own("cross-origin-resource-policy"), "same-origin"),
        (own("permissions-policy"), "camera=(), geolocation=(), microphone=(), payment=()"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
}

fn kind(name: &str) -> &'static str {
    match name.rsplit_once('.').map(|(_, end)| end) {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("ico") => "image/x-icon",
        Some("woff2") => "font/woff2",
        Some("json" | "webmanifest") => "application/json",
        Some("txt") => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests;
