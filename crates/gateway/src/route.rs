//! From method, path and headers to what a request is and where it goes. Pure.

use http::{HeaderMap, Method};
use steersman_wire::Format;

/// Longest name of a session in a path. Characters.
const MAX_SESSION: usize = 128;

/// What a request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Route<'a> {
    /// The session named in front; `None` if there is none.
    pub(crate) session: Option<&'a str>,
    /// What is asked for.
    pub(crate) target: Target<'a>,
    /// The path behind the session's name, without its query.
    pub(crate) path: &'a str,
}

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target<'a> {
    /// Whether the gateway is alive.
    Health,
    /// Whether the gateway takes requests.
    Ready,
    /// A model, in a format.
    Model(Asked<'a>),
    /// Something else of the server that speaks this format.
    Other(Format),
}

/// A call of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Asked<'a> {
    /// The wire format.
    pub(crate) format: Format,
    /// The model, where the path names it.
    pub(crate) model: Option<&'a str>,
    /// Whether the path asks for a stream.
    pub(crate) stream: bool,
}

/// Why a path leads nowhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the name of a session in the path `/s/NAME/...` has 1 to {MAX_SESSION} letters, digits, \
     `-`, `.`, `_`, `~`"
)]
pub(crate) struct BadSession;

/// Routes a request by its method, path (without the query) and headers.
pub(crate) fn route<'a>(
    method: &Method,
    path: &'a str,
    headers: &HeaderMap,
) -> Result<Route<'a>, BadSession> {
    match path {
        "/healthz" => return Ok(Route { session: None, target: Target::Health, path }),
        "/readyz" => return Ok(Route { session: None, target: Target::Ready, path }),
        _ => {}
    }
    let (session, path) = match path.strip_prefix("/s/") {
        None => (None, path),
        Some(rest) => {
            let at = rest.find('/').unwrap_or(rest.len());
            let name = &rest[..at];
            if !is_session(name) {
                return Err(BadSession);
            }
            let path = if at == rest.len() { "/" } else { &rest[at..] };
            (Some(name), path)
        }
    };
    let asked = if method == Method::POST { model(path) } else { None };
    let target = match asked {
        Some(asked) => Target::Model(asked),
        None => Target::Other(shape(path, headers)),
    };
    Ok(Route { session, target, path })
}

fn is_session(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let dots = name == "." || name == "..";
    (1..=MAX_SESSION).contains(&name.len()) && name.bytes().all(allowed) && !dots
}

/// The version in front of a path (`/v1`, empty if there is none), and the rest.
pub(crate) fn split_version(path: &str) -> (&str, &str) {
    let end = path.get(1..).and_then(|rest| rest.find('/')).map_or(path.len(), |at| at + 1);
    let (first, rest) = path.split_at(end);
    if first.strip_prefix('/').is_some_and(is_version) { (first, rest) } else { ("", path) }
}

/// Whether a path segment is a version: `v1`, `v1beta`.
pub(crate) fn is_version(segment: &str) -> bool {
    let digit = |rest: &str| rest.starts_with(|c: char| c.is_ascii_digit());
    segment.strip_prefix('v').is_some_and(digit)
}

/// The call of a model behind a path.
fn model(path: &str) -> Option<Asked<'_>> {
    let (_, rest) = split_version(path);
    let plain = |format| Some(Asked { format, model: None, stream: false });
    match rest {
        "/chat/completions" => plain(Format::OpenAiChat),
        "/responses" => plain(Format::OpenAiResponses),
        "/messages" => plain(Format::Anthropic),
        _ => {
            let (model, verb) = rest.strip_prefix("/models/")?.rsplit_once(':')?;
            let stream = match verb {
                "generateContent" => false,
                "streamGenerateContent" => true,
                _ => return None,
            };
            Some(Asked { format: Format::Gemini, model: Some(model), stream })
        }
    }
}

/// The format of whoever asks for something that is no call of a model.
fn shape(path: &str, headers: &HeaderMap) -> Format {
    let (version, rest) = split_version(path);
    if headers.contains_key("anthropic-version") || rest.starts_with("/messages/") {
        Format::Anthropic
    } else if headers.contains_key("x-goog-api-key") || version.starts_with("/v1beta") {
        Format::Gemini
    } else {
        Format::OpenAiChat
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;
    use proptest::prelude::*;

    fn check(request: &str, expected: &str) {
        let (method, rest) = request.split_once(' ').unwrap();
        let (path, header) = rest.split_once(' ').unwrap_or((rest, ""));
        let mut headers = HeaderMap::new();
        if !header.is_empty() {
            headers.insert(
                http::HeaderName::from_bytes(header.as_bytes()).unwrap(),
                HeaderValue::from_static("x"),
            );
        }
        let found = match route(&method.parse().unwrap(), path, &headers) {
            Err(BadSession) => "bad session".to_owned(),
            Ok(Route { session, target, path }) => {
                let target = match target {
                    Target::Health => "health".to_owned(),
                    Target::Ready => "ready".to_owned(),
                    Target::Other(format) => format!("other {format}"),
                    Target::Model(Asked { format, model, stream }) => {
                        format!("{format} {} {stream}", model.unwrap_or("-"))
                    }
                };
                format!("{} {path} {target}", session.unwrap_or("-"))
            }
        };
        assert_eq!(found, expected, "{request}");
    }

    #[test]
    fn requests_are_told_apart() {
        let long = "n".repeat(MAX_SESSION + 1);
        for (request, expected) in [
            ("POST /v1/chat/completions", "- /v1/chat/completions openai - false"),
            ("POST /chat/completions", "- /chat/completions openai - false"),
            ("POST /v1/responses", "- /v1/responses openai-responses - false"),
            ("POST /v1/responses/compact", "- /v1/responses/compact other openai"),
            ("POST /v1/messages", "- /v1/messages anthropic - false"),
            ("POST /v1/messages/count_tokens", "- /v1/messages/count_tokens other anthropic"),
            ("GET /v1/messages", "- /v1/messages other openai"),
            (
                "POST /v1beta/models/gemini-x:streamGenerateContent",
                "- /v1beta/models/gemini-x:streamGenerateContent gemini gemini-x true",
            ),
            (
                "POST /v1/models/a%2Fb:c:generateContent",
                "- /v1/models/a%2Fb:c:generateContent gemini a%2Fb:c false",
            ),
            ("POST /v1beta/models/g:countTokens", "- /v1beta/models/g:countTokens other gemini"),
            ("GET /v1/models", "- /v1/models other openai"),
            ("GET /v1/models anthropic-version", "- /v1/models other anthropic"),
            ("GET /v1/models x-goog-api-key", "- /v1/models other gemini"),
            ("GET /s/run-1/v1/models", "run-1 /v1/models other openai"),
            ("POST /s/a.b/v1/messages", "a.b /v1/messages anthropic - false"),
            ("GET /s/run", "run / other openai"),
            ("GET /s//v1/models", "bad session"),
            ("GET /s/../v1/models", "bad session"),
            ("GET /s/a%20b/v1/models", "bad session"),
            (&format!("GET /s/{long}/v1/models"), "bad session"),
            ("GET /healthz", "- /healthz health"),
            ("GET /readyz", "- /readyz ready"),
            ("HEAD /", "- / other openai"),
            ("OPTIONS *", "- * other openai"),
        ] {
            check(request, expected);
        }
    }

    proptest! {
        #[test]
        fn no_path_panics(path in "(/s/)?[/a-z0-9:.é%]{0,40}", post: bool) {
            let method = if post { Method::POST } else { Method::GET };
            let _ = route(&method, &path, &HeaderMap::new());
        }
    }
}
