//! The pooled client.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::{Response, Uri};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::client::proxy::matcher::Matcher;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::{ClientConfig, RootCertStore};

use crate::Outgoing;

/// How connections are made.
#[derive(Clone, Debug)]
pub struct Options {
    /// Until the connection stands. Default 10 seconds.
    pub connect_timeout: Duration,
    /// How long an idle connection is kept. Default 30 seconds: less than servers keep theirs.
    pub idle_timeout: Duration,
    /// The proxy for https servers (`http://host:port`); `None`: none. http servers are reached
    /// directly.
    pub https_proxy: Option<String>,
    /// Hosts that are reached without the proxy, separated by commas; empty: none.
    pub no_proxy: String,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(30),
            https_proxy: None,
            no_proxy: String::new(),
        }
    }
}

impl Options {
    /// The defaults, with the proxy of `HTTPS_PROXY` and `NO_PROXY` (or in lower case).
    #[must_use]
    pub fn from_env() -> Self {
        let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        Self {
            https_proxy: set("HTTPS_PROXY").or_else(|| set("https_proxy")),
            no_proxy: set("NO_PROXY").or_else(|| set("no_proxy")).unwrap_or_default(),
            ..Self::default()
        }
    }
}

type Direct = legacy::Client<HttpsConnector<HttpConnector>, Outgoing>;
type Proxied = legacy::Client<HttpsConnector<Tunnel<HttpConnector>>, Outgoing>;

/// A client to model servers. Clones share their connections, and cost no more than a count.
#[derive(Clone)]
pub struct Client(Arc<Ways>);

/// How servers are reached.
struct Ways {
    direct: Direct,
    proxied: Option<(Proxied, Matcher)>,
    settings: Settings,
}

/// What a client is made from.
#[derive(Clone)]
struct Settings {
    options: Options,
    proxy: Option<Uri>,
    tls: ClientConfig,
    /// Whether this machine has certificate authorities.
    trusts: bool,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A proxy's address may hold a password.
        f.debug_struct("Client").finish_non_exhaustive()
    }
}

/// Why there is no client.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ClientError {
    /// The proxy's address is none. It is not shown: it may hold a password.
    #[error("the https proxy is no address; expected http://host:port")]
    Proxy,
    /// The TLS library does not fit together.
    #[error("TLS cannot be set up: {0}")]
    Tls(String),
}

/// Why a request could not be sent, or no response came.
#[derive(Debug)]
pub(crate) enum SendError {
    /// https cannot be spoken here.
    NoAuthorities,
    /// The connection did not stand, or broke.
    Broken(legacy::Error),
}

impl Client {
    /// A client. The certificate authorities are those of the machine, or of `SSL_CERT_FILE`.
    ///
    /// # Errors
    /// If the proxy's address is none.
    pub fn new(options: &Options) -> Result<Self, ClientError> {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        let trusts = !roots.is_empty();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| ClientError::Tls(error.to_string()))?
            .with_root_certificates(roots)
            .with_no_client_auth();
        let proxy = options.https_proxy.as_deref().map(proxy_uri).transpose()?;
        Ok(Self::of(Settings { options: options.clone(), proxy, tls, trusts }))
    }

    /// Another client with the same settings, and connections of its own.
    #[must_use]
    pub fn apart(&self) -> Self {
        Self::of(self.0.settings.clone())
    }

    fn of(settings: Settings) -> Self {
        let Settings { options, proxy, tls, .. } = &settings;
        let mut http = HttpConnector::new();
        http.enforce_http(false);
        http.set_nodelay(true);
        http.set_connect_timeout(Some(options.connect_timeout));
        http.set_keepalive(Some(Duration::from_secs(60)));
        let proxied = proxy.as_ref().map(|uri| {
            let matcher = Matcher::builder().https(uri.to_string()).no(options.no_proxy.as_str());
            let https = connector(tls.clone(), Tunnel::new(uri.clone(), http.clone()));
            (pool(options).build(https), matcher.build())
        });
        let direct = pool(options).build(connector(tls.clone(), http));
        Self(Arc::new(Ways { direct, proxied, settings }))
    }

    pub(crate) async fn request(
        &self,
        request: hyper::Request<Outgoing>,
    ) -> Result<Response<Incoming>, SendError> {
        let Ways { direct, proxied, settings } = &*self.0;
        if !settings.trusts && request.uri().scheme_str() == Some("https") {
            return Err(SendError::NoAuthorities);
        }
        match proxied.as_ref().filter(|(_, matcher)| matcher.intercept(request.uri()).is_some()) {
            Some((client, _)) => client.request(request).await,
            None => direct.request(request).await,
        }
        .map_err(SendError::Broken)
    }
}

fn proxy_uri(proxy: &str) -> Result<Uri, ClientError> {
    let uri: Uri = proxy.parse().map_err(|_| ClientError::Proxy)?;
    let fits = uri.scheme_str() == Some("http") && uri.host().is_some_and(|host| !host.is_empty());
    if fits { Ok(uri) } else { Err(ClientError::Proxy) }
}

/// HTTP/1.1, or HTTP/2 where the server offers it.
fn connector<C>(tls: ClientConfig, inner: C) -> HttpsConnector<C> {
    HttpsConnectorBuilder::new()
        .with_tls_config(tls)
        .https_or_http()
        .enable_all_versions()
        .wrap_connector(inner)
}

fn pool(options: &Options) -> legacy::Builder {
    let mut builder = legacy::Client::builder(TokioExecutor::new());
    builder.pool_idle_timeout(options.idle_timeout).pool_timer(TokioTimer::new());
    // One connection of HTTP/2 carries many calls: that it is dead must be noticed.
    builder.timer(TokioTimer::new());
    builder.http2_keep_alive_interval(options.idle_timeout);
    builder
}
