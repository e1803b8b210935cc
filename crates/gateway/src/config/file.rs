//! `gateway.yaml` as it is written. What is valid is in the module above.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use steersman_wire::Format;

/// The file.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct GatewayFile {
    /// Address and port to listen on. Anything but loopback needs `admin_token_env` and
    /// `keys: required`. Default 127.0.0.1:8700.
    pub(super) listen: Option<String>,
    /// The model servers; a call goes to the first that speaks its format. Default: the public
    /// ones of OpenAI, Anthropic and Google.
    pub(super) upstreams: Option<Vec<UpstreamFile>>,
    /// What is done with calls of clients that are known, where no rule says otherwise. Default
    /// `govern`.
    pub(super) mode: Option<Mode>,
    /// What is done with calls of programs that are not known, where no rule says otherwise.
    /// Default `shadow`; `off` if `mode` is.
    pub(super) unknown_clients: Option<Mode>,
    /// Modes for some calls; the first rule that matches holds. Default: none.
    pub(super) rules: Vec<RuleFile>,
    /// Models that are asked in the place of others whose server does not answer; the first that
    /// matches holds. Default: none.
    pub(super) fallbacks: Vec<Fallback>,
    /// The policy that decisions follow: a file or a built-in name. Default: the file that holds
    /// where the gateway was started, else `default`.
    pub(super) policy: Option<String>,
    /// What becomes of a call when the gateway itself fails over it. Default `open`.
    pub(super) fail: Option<Fail>,
    /// Whether clients need virtual keys, which `steersman keys create` makes. Anything but
    /// loopback needs `required`. Default `off`.
    pub(super) keys: Option<Keys>,
    /// What models cost, in US dollars per million tokens; the first price that matches holds.
    /// Default: none, and costs are those that servers tell.
    pub(super) prices: Vec<PriceFile>,
    /// What may be used under all keys and without one together. Default: no limit.
    pub(super) budgets: BudgetsFile,
    /// What clients and model servers may take up, and how long they may take.
    pub(super) limits: LimitsFile,
    /// How long answers may go on after the gateway was told to end. Milliseconds. Default 30000.
    #[schemars(range(min = 0, max = 86_400_000))]
    pub(super) shutdown_grace_ms: Option<u64>,
    /// Folder in which sessions are kept. Default: `steersman` in the user's folder for state.
    pub(super) state_dir: Option<String>,
    /// Name of the environment variable that holds the admin token. Default: no token.
    pub(super) admin_token_env: Option<String>,
    /// Where traces of model calls go. Default: nowhere.
    pub(super) otlp: Option<OtlpFile>,
}

/// Where traces of model calls go, by OTLP over HTTP.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct OtlpFile {
    /// The collector's address; `/v1/traces` is put behind it if it does not end so.
    pub(super) endpoint: String,
    /// Name of the environment variable with headers for the collector: `name=value`, with commas
    /// between them. Default: no headers.
    #[serde(default)]
    pub(super) headers_env: Option<String>,
    /// The name of the gateway in traces. Default `steersman`.
    #[serde(default)]
    pub(super) service_name: Option<String>,
}

/// A model server.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct UpstreamFile {
    /// Its name in messages. Default: its host.
    #[serde(default)]
    pub(super) name: Option<String>,
    /// Its address, with or without the API's version.
    pub(super) base_url: String,
    /// The wire formats that it speaks. Default: all.
    #[serde(default)]
    pub(super) formats: Option<Vec<FormatName>>,
    /// Name of the environment variable with the key that takes the place of the client's.
    /// Default: the client's own goes on untouched.
    #[serde(default)]
    pub(super) key_env: Option<String>,
}

/// A wire format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum FormatName {
    /// OpenAI Chat Completions, and every server that is compatible with it.
    OpenaiChat,
    /// OpenAI Responses.
    OpenaiResponses,
    /// Anthropic Messages.
    Anthropic,
    /// Gemini generateContent.
    Gemini,
}

impl From<FormatName> for Format {
    fn from(name: FormatName) -> Self {
        match name {
            FormatName::OpenaiChat => Self::OpenAiChat,
            FormatName::OpenaiResponses => Self::OpenAiResponses,
            FormatName::Anthropic => Self::Anthropic,
            FormatName::Gemini => Self::Gemini,
        }
    }
}

/// What is done with calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// They are judged and what is decided is done.
    Govern,
    /// They are judged, and what would have been done is told.
    Shadow,
    /// They pass through unread.
    Off,
}

/// What becomes of a call when the gateway itself fails over it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Fail {
    /// It goes on as it came, and the answer says so in `x-steersman-failed`.
    Open,
    /// It is refused with status 500.
    Closed,
}

/// Whether clients need virtual keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Keys {
    /// Every request needs one.
    Required,
    /// A request without one passes with the client's own key; one with a virtual key needs one
    /// that holds.
    Optional,
    /// There are none; a request with one is refused, so that it does not go on.
    #[default]
    Off,
}

/// A mode for some calls. What is not given matches every call; texts may hold `*` for any
/// characters.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// The client program, by the name that the gateway gives it: `claude-code`.
    #[serde(default)]
    pub client: Option<String>,
    /// The agent, where the client names one.
    #[serde(default)]
    pub agent: Option<String>,
    /// The model, as the client asks for it.
    #[serde(default)]
    pub model: Option<String>,
    /// The name of the virtual key.
    #[serde(default)]
    pub key: Option<String>,
    /// The session, by the name the client gives it.
    #[serde(default)]
    pub session: Option<String>,
    /// What is done.
    pub mode: Mode,
}

pub(super) type RuleFile = Rule;

/// What a model costs, in US dollars per million tokens.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PriceFile {
    /// The model, as the server names it or as it was asked for; may hold `*` for any characters.
    pub(super) model: String,
    /// Of tokens sent.
    #[schemars(range(min = 0.0, max = 10_000.0))]
    pub(super) input: f64,
    /// Of tokens sent that the server had in its cache. Default: as `input`.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 10_000.0))]
    pub(super) cached: Option<f64>,
    /// Of tokens sent that the server wrote into its cache, where it counts them apart. Default: as
    /// `input`.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 10_000.0))]
    pub(super) cache_write: Option<f64>,
    /// Of tokens generated.
    #[schemars(range(min = 0.0, max = 10_000.0))]
    pub(super) output: f64,
}

/// What may be used of the whole gateway.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct BudgetsFile {
    /// From midnight to midnight, UTC.
    pub(super) per_day: BudgetFile,
    /// Without an end.
    pub(super) in_all: BudgetFile,
    /// From which part of a budget on, of a key's as well, agents that are governed are made to
    /// give their answers. Default 0.9.
    #[schemars(range(min = 0.01, max = 1.0))]
    pub(super) soft_share: Option<f64>,
}

/// What may be used; what is not given has no limit.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct BudgetFile {
    /// Tokens sent and generated.
    #[schemars(range(min = 1))]
    pub(super) tokens: Option<u64>,
    /// US dollars. Calls whose price is not known use none.
    #[schemars(range(min = 0.000_001, max = 1_000_000_000.0))]
    pub(super) cost: Option<f64>,
    /// Calls that a model's server took.
    #[schemars(range(min = 1))]
    pub(super) calls: Option<u64>,
}

/// A model that is asked in the place of another one, by the same server and with the same key.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fallback {
    /// The model that the client asks for; `*` stands for any characters.
    pub model: String,
    /// The model that is asked instead, once, if the first one's server is not reached, overloaded,
    /// at its limit or out of order. Letters, digits and `-._:/@`, at most 200.
    #[serde(rename = "use")]
    pub instead: String,
}

/// What clients and model servers may take up.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct LimitsFile {
    /// Largest body of a model call. Bytes. Default 67108864 (64 MiB).
    #[schemars(range(min = 1024, max = 4_294_967_296u64))]
    pub(super) max_body_bytes: Option<u64>,
    /// Bodies of model calls that may be held at the same time; further calls get status 503.
    /// Bytes. Default 1073741824 (1 GiB).
    #[schemars(range(min = 1024, max = 1_099_511_627_776u64))]
    pub(super) max_held_bytes: Option<u64>,
    /// Largest head of a request. Bytes. Default 65536.
    #[schemars(range(min = 8192, max = 1_048_576))]
    pub(super) max_header_bytes: Option<u64>,
    /// Connections at the same time; further ones wait. Default 4096.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub(super) max_connections: Option<u64>,
    /// From the first byte of a request to the end of its head. Milliseconds. Default 30000.
    #[schemars(range(min = 1, max = 86_400_000))]
    pub(super) header_timeout_ms: Option<u64>,
    /// For the body of a model call. Milliseconds. Default 120000.
    #[schemars(range(min = 1, max = 86_400_000))]
    pub(super) body_timeout_ms: Option<u64>,
    /// How long a connection is kept between requests. Milliseconds. Default 120000.
    #[schemars(range(min = 1, max = 86_400_000))]
    pub(super) idle_timeout_ms: Option<u64>,
    /// How long a client may take none of an answer that waits for it. Milliseconds. Default
    /// 300000.
    #[schemars(range(min = 1, max = 86_400_000))]
    pub(super) write_timeout_ms: Option<u64>,
    /// Until the first byte of a model server's answer. Milliseconds. Default 900000.
    #[schemars(range(min = 1, max = 86_400_000))]
    pub(super) first_byte_timeout_ms: Option<u64>,
    /// Between two pieces of a model server's answer. Milliseconds. Default 300000.
    #[schemars(range(min = 1, max = 86_400_000))]
    pub(super) between_bytes_timeout_ms: Option<u64>,
    /// For a call as a whole, retries included. Milliseconds. Default 3600000.
    #[schemars(range(min = 1, max = 86_400_000))]
    pub(super) total_timeout_ms: Option<u64>,
}
