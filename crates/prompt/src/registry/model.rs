//! The model of an agent.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use steersman_config::Finding;
use steersman_config::document::Document;

use super::file::{AgentsFile, ModelFile, PriceFile};
use crate::profile::ProfileSettings;

/// The wire format that a model's server speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Provider {
    /// OpenAI Chat Completions, and every server that is compatible with it.
    Openai,
    /// OpenAI Responses.
    OpenaiResponses,
    /// Anthropic Messages.
    Anthropic,
    /// Gemini generateContent.
    Gemini,
}

impl fmt::Display for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Openai => "openai",
            Self::OpenaiResponses => "openai-responses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
        })
    }
}

impl Provider {
    /// The environment variable that holds the key unless another is named.
    #[must_use]
    pub const fn api_key_env(self) -> &'static str {
        match self {
            Self::Openai | Self::OpenaiResponses => "OPENAI_API_KEY",
            Self::Anthropic => "ANTHROPIC_API_KEY",
            Self::Gemini => "GEMINI_API_KEY",
        }
    }
}

/// What tokens cost. Nano-dollars (10⁻⁹ USD) per token, rounded to the nearest: a dollar per
/// million tokens is 1000.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Price {
    /// Of tokens sent.
    pub input_nanodollars: u64,
    /// Of tokens generated.
    pub output_nanodollars: u64,
    /// Of tokens sent that the server had in its cache.
    pub cached_nanodollars: u64,
}

impl Price {
    fn of(file: &PriceFile) -> Self {
        // The bounds of the file keep every price far below what fits.
        let nano = |dollars: f64| (dollars * 1000.0).round() as u64;
        Self {
            input_nanodollars: nano(file.input),
            output_nanodollars: nano(file.output),
            cached_nanodollars: nano(file.cached.unwrap_or(file.input)),
        }
    }
}

/// The model of an agent.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Model {
    /// The wire format that the server speaks.
    pub provider: Provider,
    /// The model's name, as the server knows it.
    pub name: String,
    /// Address of the server, without a slash at its end; `None` is that of the provider.
    pub base_url: Option<String>,
    /// Name of the environment variable that holds the key.
    pub api_key_env: String,
    /// Most tokens of one reply; `None` leaves it to the profile.
    pub max_output_tokens: Option<u64>,
    /// 0–2; `None` leaves it to the server.
    pub temperature: Option<f64>,
    /// Context window in tokens; `None` leaves it to the profile.
    pub context_window: Option<u64>,
    /// What tokens cost; `None` if unknown.
    pub price: Option<Price>,
    /// What the model can do, where `profiles` does not say it.
    pub profile: ProfileSettings,
}

impl Model {
    /// The valid model of an agent.
    pub(super) fn read(
        agent: &str,
        file: ModelFile,
        document: &Document<AgentsFile>,
        findings: &mut Vec<Finding>,
    ) -> Self {
        let path = |key: &'static str| ["agents", agent, "model", key];
        if file.name.trim().is_empty() {
            findings.push(document.error(&path("name"), "\"\" is not allowed: a model's name"));
        }
        let url = file.base_url.map(|url| url.trim_end_matches('/').to_owned());
        if let Some(url) = &url
            && !is_url(url)
        {
            let what =
                format!("{url} is not allowed: an address that begins with http:// or https://");
            findings.push(document.error(&path("base_url"), what));
        }
        if let Some(name) = &file.api_key_env
            && !is_variable(name)
        {
            findings.push(no_variable(agent, document));
        }
        let key = file.api_key_env.unwrap_or_else(|| file.provider.api_key_env().to_owned());
        Self {
            provider: file.provider,
            name: file.name,
            base_url: url,
            api_key_env: key,
            max_output_tokens: file.max_output_tokens,
            temperature: file.temperature,
            context_window: file.context_window,
            price: file.price.as_ref().map(Price::of),
            profile: file.profile,
        }
    }
}

/// Whether a text is the address of a server.
pub(super) fn is_url(url: &str) -> bool {
    let host = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    host.is_some_and(|host| {
        host.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '[')
            && !host.contains(|c: char| c.is_whitespace() || c.is_control())
    })
}

/// Whether a text is the name of an environment variable. Keys of servers have lower-case letters
/// or dashes in them.
fn is_variable(name: &str) -> bool {
    let first = name.starts_with(|c: char| c.is_ascii_uppercase() || c == '_');
    let letter = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    first && name.len() <= 100 && name.bytes().all(letter)
}

/// The finding about a key in place of a variable. It does not show the line: it may be the key.
fn no_variable(agent: &str, document: &Document<AgentsFile>) -> Finding {
    let names = ["agents", agent, "model", "api_key_env"];
    let place = document.place(&names).map_or(0, |at| at.start);
    let line = document.text().text()[..place].matches('\n').count() + 1;
    let what = format!(
        "line {line}: agents.{agent}.model.api_key_env: not allowed: the name of an environment \
         variable, in capital letters"
    );
    Finding::of_file(document.text().name(), what)
        .with_help("keys are read from the environment only: take the key out of the file")
}
