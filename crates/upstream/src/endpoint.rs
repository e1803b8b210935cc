//! Where a model is, and how it is spoken to.

use hyper::Uri;
use hyper::header::{HeaderName, HeaderValue};
use steersman_wire::{Failure, Format};

use crate::Secret;

/// The variable that holds a key whatever the server, before the provider's own.
const OWN_VARIABLE: &str = "STEERSMAN_API_KEY";

/// Where a model is, and how it is spoken to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    base_url: String,
    format: Format,
    key: Option<Secret>,
    headers: Vec<(HeaderName, Secret)>,
}

/// Why an endpoint cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EndpointError {
    /// The base URL is none.
    #[error("`{url}` is no base URL ({problem}); expected something like http://localhost:8080/v1")]
    BaseUrl {
        /// What was given, without what may be a password.
        url: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// No key is set, and the server demands one.
    #[error("no key for {server}: set the environment variable {variables}")]
    NoKey {
        /// The base URL.
        server: String,
        /// The variables that were looked at.
        variables: String,
    },
    /// A key holds what no header can carry.
    #[error("the key in {variable} holds characters that no key has; is it a file's content?")]
    BadKey {
        /// Where the key came from.
        variable: String,
    },
    /// A header's name or value cannot be sent. The value is not shown: it may be a key.
    #[error("`{name}` cannot be sent as a header: {problem}")]
    Header {
        /// The name as given.
        name: String,
        /// What is wrong.
        problem: &'static str,
    },
}

impl Endpoint {
    /// An endpoint without a key, as local servers are.
    ///
    /// `base_url` may end with or without the API's version, see [`Format::url`].
    ///
    /// # Errors
    /// If the base URL is none, is not http or https, or holds a user name, query or fragment.
    pub fn new(format: Format, base_url: &str) -> Result<Self, EndpointError> {
        let base_url = base_url.trim().trim_end_matches('/').to_owned();
        check_url(&base_url)?;
        Ok(Self { base_url, format, key: None, headers: Vec::new() })
    }

    /// An endpoint with the key from the environment: `STEERSMAN_API_KEY`, or the provider's own
    /// variable (`OPENAI_API_KEY`, `ANTHROPIC_API_KEY`, `GEMINI_API_KEY` or `GOOGLE_API_KEY`).
    /// `None` for `base_url` is the provider's own server, which demands a key; any other server
    /// gets it if there is one.
    ///
    /// # Errors
    /// If the base URL is none, the key is missing or cannot be sent.
    pub fn from_env(format: Format, base_url: Option<&str>) -> Result<Self, EndpointError> {
        Self::from_variables(format, base_url, |name| std::env::var(name).ok())
    }

    /// As [`from_env`](Self::from_env), with the environment as a function.
    ///
    /// # Errors
    /// As there.
    pub fn from_variables(
        format: Format,
        base_url: Option<&str>,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, EndpointError> {
        let endpoint = Self::new(format, base_url.unwrap_or(format.default_base_url()))?;
        let mut names = vec![OWN_VARIABLE, format.key_variable()];
        if format == Format::Gemini {
            names.push("GOOGLE_API_KEY");
        }
        let set = |name: &&str| variable(name).filter(|key| !key.trim().is_empty());
        match names.iter().find_map(|name| Some((name, set(name)?))) {
            Some((name, key)) => endpoint.with_key_of(&key, name),
            None if endpoint.base_url == format.default_base_url() => Err(EndpointError::NoKey {
                server: endpoint.base_url,
                variables: names.join(" or "),
            }),
            None => Ok(endpoint),
        }
    }

    /// The endpoint with a key.
    ///
    /// # Errors
    /// If no header can carry it.
    pub fn with_key(self, key: &str) -> Result<Self, EndpointError> {
        self.with_key_of(key, "the settings")
    }

    fn with_key_of(mut self, key: &str, variable: &str) -> Result<Self, EndpointError> {
        let key = Secret::new(key);
        let (_, value) = self.format.key_header(key.expose());
        if !key.expose().bytes().all(|byte| byte.is_ascii_graphic())
            || HeaderValue::from_str(&value).is_err()
        {
            return Err(EndpointError::BadKey { variable: variable.to_owned() });
        }
        self.key = Some(key);
        Ok(self)
    }

    /// The endpoint with one more header; it takes the place of a header of the format.
    ///
    /// # Errors
    /// If name or value cannot be sent.
    pub fn with_header(mut self, name: &str, value: &str) -> Result<Self, EndpointError> {
        let error = |problem| EndpointError::Header { name: name.to_owned(), problem };
        let header = HeaderName::from_bytes(name.as_bytes())
            .map_err(|_| error("a name is made of letters, digits and `-`"))?;
        let value = Secret::new(value);
        HeaderValue::from_str(value.expose())
            .map_err(|_| error("the value holds control characters"))?;
        self.headers.push((header, value));
        Ok(self)
    }

    /// The wire format.
    #[must_use]
    pub fn format(&self) -> Format {
        self.format
    }

    /// The base URL.
    #[must_use]
    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    /// Whether a key is sent.
    #[must_use]
    pub fn has_key(&self) -> bool {
        self.key.is_some()
    }

    /// Every header of a request beside the content's.
    pub(crate) fn headers(&self) -> impl Iterator<Item = (HeaderName, HeaderValue)> {
        let key = self.key.as_ref().map(|key| self.format.key_header(key.expose()));
        let key = key
            .into_iter()
            .filter_map(|(name, value)| Some((HeaderName::from_static(name), sensitive(&value)?)));
        let fixed =
            self.format.headers().iter().map(|(name, value)| {
                (HeaderName::from_static(name), HeaderValue::from_static(value))
            });
        let own = self
            .headers
            .iter()
            .filter_map(|(name, value)| Some((name.clone(), sensitive(value.expose())?)));
        fixed.chain(key).chain(own)
    }

    /// The failure without the keys of the endpoint.
    pub(crate) fn hidden(&self, mut failure: Failure) -> Failure {
        failure.message = self.hide(&failure.message);
        failure
    }

    /// The text with every key of the endpoint replaced by `[key]`.
    #[must_use]
    pub fn hide(&self, text: &str) -> String {
        let secrets = self.key.iter().chain(self.headers.iter().map(|(_, value)| value));
        secrets.fold(text.to_owned(), |text, secret| secret.hide(&text))
    }
}

/// A header's value that is kept out of `Debug` and of compression tables.
fn sensitive(value: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(value).ok()?;
    value.set_sensitive(true);
    Some(value)
}

fn check_url(url: &str) -> Result<(), EndpointError> {
    let shown = url.rsplit_once('@').map_or(url, |(_, host)| host);
    let error = |problem| EndpointError::BaseUrl { url: shown.to_owned(), problem };
    let parsed: Uri = url.parse().map_err(|_| error("it cannot be read"))?;
    if !matches!(parsed.scheme_str(), Some("http" | "https")) {
        return Err(error("it begins with neither http:// nor https://"));
    }
    if parsed.host().is_none_or(str::is_empty) {
        return Err(error("it names no host"));
    }
    if parsed.authority().is_some_and(|authority| authority.as_str().contains('@')) {
        return Err(error("it holds a user name; keys come from the environment"));
    }
    if parsed.query().is_some() || url.contains('#') {
        return Err(error("it holds a query or a fragment"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(base: Option<&str>, set: &[(&str, &str)], expected: &str) {
        let find = |name: &str| {
            set.iter().find(|(known, _)| *known == name).map(|(_, key)| (*key).to_owned())
        };
        let found = match Endpoint::from_variables(Format::OpenAiChat, base, find) {
            Ok(endpoint) => format!("{} {}", endpoint.base_url(), endpoint.has_key()),
            Err(error) => error.to_string(),
        };
        assert_eq!(found, expected);
    }

    #[test]
    fn keys_come_from_the_environment() {
        check(Some("http://localhost:1/"), &[], "http://localhost:1 false");
        check(Some("http://localhost:1"), &[("OPENAI_API_KEY", "k")], "http://localhost:1 true");
        check(None, &[("STEERSMAN_API_KEY", "k\n")], "https://api.openai.com/v1 true");
        check(
            None,
            &[("OPENAI_API_KEY", " ")],
            "no key for https://api.openai.com/v1: set the environment variable \
             STEERSMAN_API_KEY or OPENAI_API_KEY",
        );
        check(
            None,
            &[("OPENAI_API_KEY", "two words")],
            "the key in OPENAI_API_KEY holds characters that no key has; is it a file's content?",
        );
    }

    #[test]
    fn base_urls_are_checked() {
        let cases = [
            ("localhost:8080", "it begins with neither http:// nor https://"),
            ("ftp://x", "it begins with neither http:// nor https://"),
            ("", "it cannot be read"),
            ("http://a b", "it cannot be read"),
            ("http://u:secret@x", "it holds a user name; keys come from the environment"),
            ("http://x/v1?key=1", "it holds a query or a fragment"),
        ];
        for (url, expected) in cases {
            let error = Endpoint::new(Format::Gemini, url).unwrap_err();
            let EndpointError::BaseUrl { url: shown, problem } = &error else { panic!("{error}") };
            assert_eq!(*problem, expected, "{url}");
            assert!(!shown.contains("secret"), "{error}");
        }
    }

    #[test]
    fn keys_are_not_shown() {
        let endpoint = Endpoint::new(Format::Anthropic, "http://x").unwrap();
        let endpoint = endpoint.with_key("very-secret").unwrap();
        let endpoint = endpoint.with_header("x-proxy-token", "also-secret").unwrap();
        let shown = format!("{endpoint:?} {:?}", endpoint.headers().collect::<Vec<_>>());
        assert!(!shown.contains("secret"), "{shown}");
        assert_eq!(endpoint.hide("bad very-secret and also-secret"), "bad [key] and [key]");
    }
}
