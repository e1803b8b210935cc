//! The settings of a gateway: the file `gateway.yaml`. Every setting has a default.

mod file;
mod money;

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value as Json;
use steersman_config::document::{self, Document, Text};
use steersman_config::{Finding, LoadError};
use steersman_engine::policy::glob_matches;
use steersman_upstream::Endpoint;
use steersman_wire::Format;

pub use file::{Fail, Fallback, Keys, Mode, Rule};
use file::{GatewayFile, LimitsFile, OtlpFile, UpstreamFile};

use crate::budget::Budgets;
use crate::prices::Prices;

/// The largest file. Bytes.
const MAX_BYTES: usize = 1 << 20;

/// Most upstreams, most rules, and most prices.
const MAX_ITEMS: usize = 256;

/// Longest name of a model to fall back on. Bytes.
const MAX_MODEL: usize = 200;

/// Where the gateway listens by default.
const LISTEN: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8700);

/// The settings of a gateway.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Where it listens. Default 127.0.0.1:8700.
    pub listen: SocketAddr,
    /// The model servers; a call goes to the first that speaks its format. Default: the public
    /// ones. At most 256.
    pub upstreams: Vec<Upstream>,
    /// What is done with calls of known clients, where no rule says otherwise. Default
    /// [`Mode::Govern`].
    pub mode: Mode,
    /// What is done with calls of clients that are not known, where no rule says otherwise. Default
    /// [`Mode::Shadow`], or [`Mode::Off`] if `mode` is.
    pub unknown_clients: Mode,
    /// Modes for some calls; the first that matches holds. At most 256.
    pub rules: Vec<Rule>,
    /// Models that are asked in the place of others; the first that matches holds. At most 256.
    pub fallbacks: Vec<Fallback>,
    /// The policy: a file or a built-in name; `None`: the one that holds where the gateway was
    /// started.
    pub policy: Option<String>,
    /// What becomes of a call when the gateway itself fails over it. Default [`Fail::Open`].
    pub fail: Fail,
    /// Whether clients need virtual keys. Default [`Keys::Off`].
    pub keys: Keys,
    /// What models cost. At most 256 prices. Default: none.
    pub prices: Prices,
    /// What may be used of the whole gateway. Default: no limit.
    pub budgets: Budgets,
    /// From which percentage of a budget on answers are forced. 1 to 100. Default 90.
    pub soft_percent: u64,
    /// What clients and model servers may take up, and how long they may take.
    pub limits: Limits,
    /// How long answers may go on after the gateway was told to end. Default 30 seconds.
    pub shutdown_grace: Duration,
    /// Folder in which sessions are kept; `None`: the user's folder for state.
    pub state_dir: Option<PathBuf>,
    /// The environment variable that holds the admin token; `None`: there is no token.
    pub admin_token_env: Option<String>,
    /// Where traces of model calls go; `None`: nowhere.
    pub otlp: Option<Otlp>,
}

/// Where traces of model calls go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Otlp {
    /// The collector's address, without a slash at its end.
    pub endpoint: String,
    /// The environment variable with headers for the collector; `None`: no headers.
    pub headers_env: Option<String>,
    /// The name of the gateway in traces. Default `steersman`; at most 100 bytes.
    pub service_name: String,
}

impl Otlp {
    /// Where spans are sent to.
    #[must_use]
    pub fn traces_url(&self) -> String {
        let endpoint = self.endpoint.strip_suffix(TRACES).unwrap_or(&self.endpoint);
        format!("{endpoint}{TRACES}")
    }
}

/// The collector's path for traces.
const TRACES: &str = "/v1/traces";

/// A model server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upstream {
    /// Its name in messages.
    pub name: String,
    /// Its address, with or without the API's version; no slash at its end.
    pub base_url: String,
    /// The wire formats that it speaks.
    pub formats: Vec<Format>,
    /// The environment variable with the key that takes the place of the client's; `None`: the
    /// client's own goes on untouched.
    pub key_env: Option<String>,
}

/// What clients and model servers may take up, and how long they may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Largest body of a model call. Bytes. Default 64 MiB.
    pub max_body_bytes: u64,
    /// Bodies of model calls held at the same time. Bytes. Default 1 GiB.
    pub max_held_bytes: u64,
    /// Largest head of a request. Bytes. Default 64 KiB.
    pub max_header_bytes: usize,
    /// Connections at the same time. Default 4096.
    pub max_connections: u32,
    /// From the first byte of a request to the end of its head. Default 30 seconds.
    pub header_timeout: Duration,
    /// For the body of a model call. Default 2 minutes.
    pub body_timeout: Duration,
    /// How long a connection is kept between requests. Default 2 minutes.
    pub idle_timeout: Duration,
    /// How long a client may take none of an answer that waits for it. Default 5 minutes.
    pub write_timeout: Duration,
    /// Until the first byte of an answer. Default 15 minutes: what is not streamed comes at the
    /// end.
    pub first_byte_timeout: Duration,
    /// Between two pieces of an answer. Default 5 minutes.
    pub between_bytes_timeout: Duration,
    /// For a call as a whole, retries included. Default 1 hour.
    pub total_timeout: Duration,
}

/// Why a configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("{}: error: cannot read the configuration: {cause}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        #[source]
        cause: io::Error,
    },
    /// It was read and is bad; every finding with its line.
    #[error("{0}")]
    Bad(#[from] LoadError),
}

impl Default for Limits {
    fn default() -> Self {
        Self::of(&LimitsFile::default())
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            listen: LISTEN,
            upstreams: public(),
            mode: Mode::Govern,
            unknown_clients: Mode::Shadow,
            rules: Vec::new(),
            fallbacks: Vec::new(),
            policy: None,
            fail: Fail::Open,
            keys: Keys::Off,
            prices: Prices::default(),
            budgets: Budgets::default(),
            soft_percent: money::SOFT_PERCENT,
            limits: Limits::default(),
            shutdown_grace: Duration::from_secs(30),
            state_dir: None,
            admin_token_env: None,
            otlp: None,
        }
    }
}

/// The public servers.
fn public() -> Vec<Upstream> {
    let openai = vec![Format::OpenAiChat, Format::OpenAiResponses];
    [("openai", openai), ("anthropic", vec![Format::Anthropic]), ("google", vec![Format::Gemini])]
        .into_iter()
        .filter_map(|(name, formats)| {
            let base_url = formats.first()?.default_base_url().to_owned();
            Some(Upstream { name: name.to_owned(), base_url, formats, key_env: None })
        })
        .collect()
}

impl Upstream {
    /// One server for every format, which gets the client's own key.
    ///
    /// # Errors
    /// If the address is none.
    pub fn for_all(base_url: &str) -> Result<Self, String> {
        let endpoint =
            Endpoint::new(Format::OpenAiChat, base_url).map_err(|error| error.to_string())?;
        let base_url = endpoint.base_url().to_owned();
        let name = host(&base_url).to_owned();
        Ok(Self { name, base_url, formats: Format::ALL.to_vec(), key_env: None })
    }
}

impl Limits {
    fn of(file: &LimitsFile) -> Self {
        let time =
            |given: Option<u64>, default: u64| Duration::from_millis(given.unwrap_or(default));
        // The schema's bounds keep every number within its type.
        let size = |given: Option<u64>, default: u32| {
            u32::try_from(given.unwrap_or(u64::from(default))).unwrap_or(default)
        };
        Self {
            max_body_bytes: file.max_body_bytes.unwrap_or(64 << 20),
            max_held_bytes: file.max_held_bytes.unwrap_or(1 << 30),
            max_header_bytes: size(file.max_header_bytes, 64 << 10) as usize,
            max_connections: size(file.max_connections, 4096),
            header_timeout: time(file.header_timeout_ms, 30_000),
            body_timeout: time(file.body_timeout_ms, 120_000),
            idle_timeout: time(file.idle_timeout_ms, 120_000),
            write_timeout: time(file.write_timeout_ms, 300_000),
            first_byte_timeout: time(file.first_byte_timeout_ms, 900_000),
            between_bytes_timeout: time(file.between_bytes_timeout_ms, 300_000),
            total_timeout: time(file.total_timeout_ms, 3_600_000),
        }
    }
}

impl Config {
    /// The settings in a file of at most 1 MiB.
    ///
    /// # Errors
    /// The file cannot be read, or everything that is wrong with it.
    pub fn load(path: &Path) -> Result<Self, ConfigError> {
        let unreadable = |cause| ConfigError::Unreadable { path: path.to_owned(), cause };
        let mut bytes = Vec::new();
        File::open(path)
            .and_then(|file| file.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes))
            .map_err(unreadable)?;
        Self::parse_bytes(&path.display().to_string(), &bytes)
    }

    /// The settings in a text; `name` stands before every finding.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn parse_bytes(name: &str, bytes: &[u8]) -> Result<Self, ConfigError> {
        let text = Text::from_bytes(name, bytes, MAX_BYTES, "a gateway's configuration")
            .map_err(|finding| LoadError::from(*finding))?;
        let (file, document) = document::parse::<GatewayFile>(text, None)?;
        let mut check = Check { document: &document, findings: Vec::new() };
        let config = check.config(&file);
        document::refuse(check.findings)?;
        Ok(config)
    }

    /// Why this address may not be listened on: others than this machine could use the gateway,
    /// and there is no admin token, or no virtual key is needed.
    ///
    /// # Errors
    /// What to do about it.
    pub fn check_listen(&self) -> Result<(), String> {
        let (token, keys) = (self.admin_token_env.is_some(), self.keys == Keys::Required);
        if self.listen.ip().is_loopback() || (token && keys) {
            return Ok(());
        }
        let missing = match (token, keys) {
            (false, false) => {
                "`admin_token_env: STEERSMAN_ADMIN_TOKEN` (the variable that holds a token) and \
                 `keys: required`"
            }
            (false, true) => {
                "`admin_token_env: STEERSMAN_ADMIN_TOKEN` (the variable that holds a token)"
            }
            _ => "`keys: required` (`steersman keys create NAME` makes keys)",
        };
        Err(format!(
            "{} is not allowed: other machines could use the gateway; listen on 127.0.0.1, or \
             set {missing} in the configuration",
            self.listen
        ))
    }

    /// The model to ask in the place of one whose server does not answer; `None`: there is none.
    #[must_use]
    pub fn fallback(&self, model: &str) -> Option<&str> {
        let fits = |own: &&Fallback| glob_matches(&own.model, model) && own.instead != model;
        self.fallbacks.iter().find(fits).map(|own| own.instead.as_str())
    }

    /// The first server that speaks a format; `None` if none does.
    #[must_use]
    pub fn upstream(&self, format: Format) -> Option<&Upstream> {
        self.upstreams.iter().find(|upstream| upstream.formats.contains(&format))
    }
}

/// The host and port of an address.
fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split('/').next().unwrap_or(rest)
}

/// From what is written to what is valid.
struct Check<'a> {
    document: &'a Document<GatewayFile>,
    findings: Vec<Finding>,
}

impl Check<'_> {
    fn config(&mut self, file: &GatewayFile) -> Config {
        let default = Config::default();
        let mode = file.mode.unwrap_or(default.mode);
        let unknown = if mode == Mode::Off { Mode::Off } else { default.unknown_clients };
        let upstreams = match &file.upstreams {
            None => default.upstreams,
            Some(list) => self.upstreams(list),
        };
        self.count("rules", file.rules.len());
        self.count("prices", file.prices.len());
        if let Some(name) = &file.admin_token_env {
            self.variable(&["admin_token_env"], name);
        }
        let (budgets, soft_percent) = money::budgets(&file.budgets);
        let grace = file.shutdown_grace_ms.map(Duration::from_millis);
        let config = Config {
            listen: self.listen(file.listen.as_deref()),
            upstreams,
            mode,
            unknown_clients: file.unknown_clients.unwrap_or(unknown),
            rules: file.rules.clone(),
            fallbacks: self.fallbacks(&file.fallbacks),
            policy: file.policy.clone(),
            fail: file.fail.unwrap_or(default.fail),
            keys: file.keys.unwrap_or_default(),
            prices: file.prices.iter().map(money::price).collect::<Vec<_>>().into(),
            budgets,
            soft_percent,
            limits: Limits::of(&file.limits),
            shutdown_grace: grace.unwrap_or(default.shutdown_grace),
            state_dir: file.state_dir.as_ref().map(PathBuf::from),
            admin_token_env: file.admin_token_env.clone(),
            otlp: file.otlp.as_ref().map(|otlp| self.otlp(otlp)),
        };
        if let Err(what) = config.check_listen() {
            self.wrong(&["listen"], what);
        }
        config
    }

    fn fallbacks(&mut self, list: &[Fallback]) -> Vec<Fallback> {
        self.count("fallbacks", list.len());
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:/@".contains(&byte);
        for (at, Fallback { instead, .. }) in list.iter().enumerate() {
            if instead.is_empty() || instead.len() > MAX_MODEL || !instead.bytes().all(fits) {
                let item = format!("[{at}]");
                let what = format!(
                    "not allowed: the name of a model is made of letters, digits and `-._:/@`, at \
                     most {MAX_MODEL}"
                );
                self.wrong(&["fallbacks", &item, "use"], what);
            }
        }
        list.to_vec()
    }

    fn wrong(&mut self, names: &[&str], what: impl Into<String>) {
        self.findings.push(self.document.error(names, what));
    }

    fn count(&mut self, key: &str, count: usize) {
        if count > MAX_ITEMS {
            self.wrong(&[key], format!("{count} is too many: at most {MAX_ITEMS}"));
        }
    }

    fn listen(&mut self, given: Option<&str>) -> SocketAddr {
        let Some(given) = given else { return LISTEN };
        // `localhost` is what people write; it needs no look-up.
        let numeric = given.strip_prefix("localhost:").map(|port| format!("127.0.0.1:{port}"));
        numeric.as_deref().unwrap_or(given).parse().unwrap_or_else(|_| {
            let what = format!("{given} is not allowed: address and port, as in {LISTEN}");
            self.wrong(&["listen"], what);
            LISTEN
        })
    }

    fn variable(&mut self, names: &[&str], name: &str) {
        let letter = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
        let begins = name.starts_with(|c: char| c.is_ascii_uppercase() || c == '_');
        if !begins || name.len() > 100 || !name.bytes().all(letter) {
            // The line is not shown, because it may be the key itself.
            let place = self.document.place(names).map_or(0, |at| at.start);
            let text = self.document.text();
            let line = text.text()[..place].matches('\n').count() + 1;
            let key = names.join(".").replace(".[", "[");
            let what = format!(
                "line {line}: {key}: not allowed: the name of an environment variable is made of \
                 capital letters, digits and `_`; a key itself does not belong into this file"
            );
            self.findings.push(Finding::of_file(text.name(), what));
        }
    }

    fn otlp(&mut self, file: &OtlpFile) -> Otlp {
        if let Err(error) = Endpoint::new(Format::OpenAiChat, &file.endpoint) {
            self.wrong(&["otlp", "endpoint"], error.to_string());
        }
        if let Some(name) = &file.headers_env {
            self.variable(&["otlp", "headers_env"], name);
        }
        let name = file.service_name.as_deref().unwrap_or("steersman").trim();
        if !(1..=100).contains(&name.len()) {
            self.wrong(&["otlp", "service_name"], "not allowed: 1 to 100 bytes");
        }
        Otlp {
            endpoint: file.endpoint.trim().trim_end_matches('/').to_owned(),
            headers_env: file.headers_env.clone(),
            service_name: name.to_owned(),
        }
    }

    fn upstreams(&mut self, list: &[UpstreamFile]) -> Vec<Upstream> {
        self.count("upstreams", list.len());
        if list.is_empty() {
            self.wrong(&["upstreams"], "[] is not allowed: at least one, or leave the key out");
        }
        list.iter().enumerate().map(|(at, file)| self.upstream(at, file)).collect()
    }

    fn upstream(&mut self, at: usize, file: &UpstreamFile) -> Upstream {
        let item = format!("[{at}]");
        let path = |key: &'static str| ["upstreams", item.as_str(), key];
        if let Err(error) = Endpoint::new(Format::OpenAiChat, &file.base_url) {
            self.wrong(&path("base_url"), error.to_string());
        }
        if let Some(name) = &file.key_env {
            self.variable(&path("key_env"), name);
        }
        if file.formats.as_ref().is_some_and(Vec::is_empty) {
            self.wrong(&path("formats"), "[] is not allowed: at least one, or leave the key out");
        }
        let base_url = file.base_url.trim().trim_end_matches('/').to_owned();
        let all = || Format::ALL.to_vec();
        let given = file.formats.as_ref();
        Upstream {
            name: file.name.clone().unwrap_or_else(|| host(&base_url).to_owned()),
            formats: given
                .map_or_else(all, |list| list.iter().copied().map(Format::from).collect()),
            key_env: file.key_env.clone(),
            base_url,
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Govern => "govern",
            Self::Shadow => "shadow",
            Self::Off => "off",
        })
    }
}

/// The JSON Schema (draft 2020-12) of `gateway.yaml`, for editors.
#[must_use]
pub fn schema() -> Json {
    document::schema_of::<GatewayFile>(
        "Steersman gateway",
        "The settings of steersman serve: the file gateway.yaml.",
    )
}

/// The schema as text, with a newline at its end.
#[must_use]
pub fn schema_text() -> String {
    // A JSON value serialises without fail.
    let mut text = serde_json::to_string_pretty(&schema()).unwrap_or_default();
    text.push('\n');
    text
}
