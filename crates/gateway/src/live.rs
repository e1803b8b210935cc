//! What holds at the moment: the configuration, with addresses and keys resolved.

use std::sync::Arc;

use http::header::{HeaderName, HeaderValue};
use http::uri::{Authority, PathAndQuery, Scheme};
use http::{HeaderMap, Uri};
use steersman_upstream::ClientError;
use steersman_wire::Format;

use crate::config::{Config, Upstream};
use crate::headers::replace_key;
use crate::route::{is_version, split_version};
use crate::seam::Governor;

/// Why a gateway cannot begin, or cannot take up a configuration.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The address may not be listened on; what to do.
    #[error("{0}")]
    Listen(String),
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {cause}")]
    Bind {
        /// The address.
        address: std::net::SocketAddr,
        /// What the system says.
        #[source]
        cause: std::io::Error,
    },
    /// A variable that the configuration names is not set or holds no key.
    #[error("the environment variable {variable} {problem}, and the configuration names it")]
    Variable {
        /// The variable.
        variable: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// The address of a server is none.
    #[error("`{0}` is no base URL")]
    BaseUrl(String),
    /// There is no client to the servers.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// Something that holds for the whole life of the process was changed.
    #[error(
        "{0} cannot change while the gateway runs; start it anew. Nothing of the file was taken up"
    )]
    Fixed(&'static str),
    /// The governor cannot take the configuration up.
    #[error("{0}")]
    Governor(String),
}

/// What holds at the moment. A request keeps the one it began with.
pub(crate) struct Live {
    pub(crate) config: Config,
    pub(crate) governor: Arc<dyn Governor>,
    /// By format, in the order of [`Format::ALL`].
    servers: [Option<Arc<ModelServer>>; 4],
}

/// A model server.
#[derive(Debug)]
pub(crate) struct ModelServer {
    /// Its name in messages.
    pub(crate) name: String,
    scheme: Scheme,
    authority: Authority,
    /// Without a slash at its end.
    base_path: String,
    /// Whether the base path names the API's version.
    versioned: bool,
    /// The key; `None`: the client's own. The value is kept out of `Debug`.
    key: Option<HeaderValue>,
}

impl Live {
    /// Resolves a configuration; `variable` gives the value of an environment variable.
    pub(crate) fn new(
        config: Config,
        governor: Arc<dyn Governor>,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, StartError> {
        config.check_listen().map_err(StartError::Listen)?;
        if let Some(name) = &config.admin_token_env {
            set(name, variable)?;
        }
        let mut servers = [None, None, None, None];
        for (server, format) in servers.iter_mut().zip(Format::ALL) {
            if let Some(upstream) = config.upstream(format) {
                *server = Some(Arc::new(ModelServer::new(upstream, format, variable)?));
            }
        }
        Ok(Self { config, governor, servers })
    }

    /// The server for a format.
    pub(crate) fn server(&self, format: Format) -> Option<&Arc<ModelServer>> {
        let at = Format::ALL.iter().position(|one| *one == format)?;
        self.servers.get(at)?.as_ref()
    }
}

/// The value of a variable that must be there.
fn set(name: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<String, StartError> {
    let problem = |problem| StartError::Variable { variable: name.to_owned(), problem };
    let value = variable(name).ok_or_else(|| problem("is not set"))?;
    let value = value.trim().to_owned();
    if value.is_empty() {
        return Err(problem("is empty"));
    }
    if !value.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(problem("holds characters that no key has"));
    }
    Ok(value)
}

impl ModelServer {
    fn new(
        upstream: &Upstream,
        format: Format,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, StartError> {
        let bad = || StartError::BaseUrl(upstream.base_url.clone());
        let parts = upstream.base_url.parse::<Uri>().map_err(|_| bad())?.into_parts();
        let path = parts.path_and_query.as_ref().map_or("", PathAndQuery::path);
        let base_path = path.trim_end_matches('/').to_owned();
        let key = match &upstream.key_env {
            None => None,
            Some(name) => {
                let (_, value) = format.key_header(&set(name, variable)?);
                let mut value = HeaderValue::from_str(&value).map_err(|_| bad())?;
                value.set_sensitive(true);
                Some(value)
            }
        };
        Ok(Self {
            name: upstream.name.clone(),
            scheme: parts.scheme.ok_or_else(bad)?,
            authority: parts.authority.ok_or_else(bad)?,
            versioned: base_path.split('/').any(is_version),
            base_path,
            key,
        })
    }

    /// Puts this server's key into a request, if it has one.
    pub(crate) fn set_key(&self, format: Format, headers: &mut HeaderMap) {
        if let Some(key) = &self.key {
            let (name, _) = format.key_header("");
            replace_key(headers, HeaderName::from_static(name), key.clone());
        }
    }

    /// The address of a path of the client's; `default_version` stands in front where neither the
    /// path nor the base has a version. `None` if they make no address together.
    pub(crate) fn uri(
        &self,
        path: &str,
        query: Option<&str>,
        default_version: &str,
    ) -> Option<Uri> {
        let (version, rest) = split_version(path);
        let version = match (self.versioned, version) {
            (true, _) => "",
            (false, "") => default_version,
            (false, version) => version,
        };
        let query = query.filter(|query| !query.is_empty());
        // The client's key stands in the query where Google's own tools put it.
        let query = query
            .map(|query| if self.key.is_some() { without_key(query) } else { query.to_owned() });
        let mut text = String::with_capacity(
            self.base_path.len() + path.len() + 8 + query.as_ref().map_or(0, String::len),
        );
        text.push_str(&self.base_path);
        text.push_str(version);
        text.push_str(rest);
        if let Some(query) = query.filter(|query| !query.is_empty()) {
            text.push('?');
            text.push_str(&query);
        }
        Uri::builder()
            .scheme(self.scheme.clone())
            .authority(self.authority.clone())
            .path_and_query(PathAndQuery::from_maybe_shared(bytes::Bytes::from(text)).ok()?)
            .build()
            .ok()
    }
}

/// A query without its parameter `key`.
fn without_key(query: &str) -> String {
    let kept = query.split('&').filter(|pair| pair.split('=').next() != Some("key"));
    kept.collect::<Vec<_>>().join("&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_put_together() {
        for (base, asked, version, expected) in [
            ("http://h", "/v1/chat/completions", "/v1", "http://h/v1/chat/completions"),
            ("http://h/v1", "/v1/chat/completions", "/v1", "http://h/v1/chat/completions"),
            (
                "http://h/api/paas/v4/",
                "/v1/chat/completions",
                "",
                "http://h/api/paas/v4/chat/completions",
            ),
            ("http://h", "/chat/completions", "/v1", "http://h/v1/chat/completions"),
            ("http://h", "/api/hello", "", "http://h/api/hello"),
            ("http://h/a", "/v1/messages?beta=true", "", "http://h/a/v1/messages?beta=true"),
            (
                "http://h",
                "/v1beta/models/g:x?alt=sse&key=k",
                "",
                "http://h/v1beta/models/g:x?alt=sse",
            ),
            ("http://h", "/x?key=k", "", "http://h/x"),
            ("http://h/v1", "/v1", "", "http://h/v1"),
            ("http://h", "/", "", "http://h/"),
        ] {
            let upstream = Upstream {
                name: String::new(),
                base_url: base.to_owned(),
                formats: Format::ALL.to_vec(),
                key_env: Some("KEY".to_owned()),
            };
            let set = |name: &str| (name == "KEY").then(|| "secret-key".to_owned());
            let server = ModelServer::new(&upstream, Format::Gemini, &set).unwrap();
            assert!(!format!("{server:?}").contains("secret"));
            let (path, query) = asked.split_once('?').map_or((asked, None), |(p, q)| (p, Some(q)));
            assert_eq!(
                server.uri(path, query, version).unwrap().to_string(),
                expected,
                "{base} {asked}"
            );
        }
    }

    #[test]
    fn keys_must_be_there() {
        for (value, expected) in [
            (None, "is not set"),
            (Some(" "), "is empty"),
            (Some("two words"), "holds characters that no key has"),
        ] {
            let found = set("KEY", &|_| value.map(str::to_owned)).unwrap_err().to_string();
            assert_eq!(
                found,
                format!("the environment variable KEY {expected}, and the configuration names it")
            );
        }
    }
}
