//! The formats, and what belongs to each apart from bodies.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A wire format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Format {
    /// `OpenAI` Chat Completions, which most others speak: llama.cpp, vLLM, Ollama, LM Studio.
    #[serde(rename = "openai")]
    OpenAiChat,
    /// `OpenAI` Responses.
    #[serde(rename = "openai-responses")]
    OpenAiResponses,
    /// Anthropic Messages.
    #[serde(rename = "anthropic")]
    Anthropic,
    /// Gemini generateContent.
    #[serde(rename = "gemini")]
    Gemini,
}

/// A name that is no format's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no wire format; one of openai, openai-responses, anthropic, gemini")]
pub struct FormatError(pub String);

impl FromStr for Format {
    type Err = FormatError;

    fn from_str(name: &str) -> Result<Self, FormatError> {
        Self::ALL
            .into_iter()
            .find(|format| format.name() == name)
            .ok_or_else(|| FormatError(name.to_owned()))
    }
}

impl fmt::Display for Format {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(self.name())
    }
}

impl Format {
    /// Every format.
    pub const ALL: [Self; 4] =
        [Self::OpenAiChat, Self::OpenAiResponses, Self::Anthropic, Self::Gemini];

    /// The name in settings and records.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::OpenAiChat => "openai",
            Self::OpenAiResponses => "openai-responses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
        }
    }

    /// The provider's own server.
    #[must_use]
    pub const fn default_base_url(self) -> &'static str {
        match self {
            Self::OpenAiChat | Self::OpenAiResponses => "https://api.openai.com/v1",
            Self::Anthropic => "https://api.anthropic.com",
            Self::Gemini => "https://generativelanguage.googleapis.com",
        }
    }

    /// The environment variable that holds the key by custom.
    #[must_use]
    pub const fn key_variable(self) -> &'static str {
        match self {
            Self::OpenAiChat | Self::OpenAiResponses => "OPENAI_API_KEY",
            Self::Anthropic => "ANTHROPIC_API_KEY",
            Self::Gemini => "GEMINI_API_KEY",
        }
    }

    /// Name and value of the header that carries the key.
    #[must_use]
    pub fn key_header(self, key: &str) -> (&'static str, String) {
        match self {
            Self::OpenAiChat | Self::OpenAiResponses => ("authorization", format!("Bearer {key}")),
            Self::Anthropic => ("x-api-key", key.to_owned()),
            Self::Gemini => ("x-goog-api-key", key.to_owned()),
        }
    }

    /// Headers every request of the format carries, beside content type and key.
    #[must_use]
    pub const fn headers(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Anthropic => &[("anthropic-version", "2023-06-01")],
            _ => &[],
        }
    }

    /// The path and query behind the API's version.
    #[must_use]
    pub fn path(self, model: &str, stream: bool) -> String {
        match self {
            Self::OpenAiChat => "/chat/completions".to_owned(),
            Self::OpenAiResponses => "/responses".to_owned(),
            Self::Anthropic => "/messages".to_owned(),
            Self::Gemini => {
                let model = encode(model.strip_prefix("models/").unwrap_or(model));
                let verb = if stream { "streamGenerateContent?alt=sse" } else { "generateContent" };
                format!("/models/{model}:{verb}")
            }
        }
    }

    /// The version segment of the provider's own paths.
    const fn version(self) -> &'static str {
        match self {
            Self::Gemini => "/v1beta",
            _ => "/v1",
        }
    }

    /// The address that lists the server's models.
    ///
    /// `base` is as in [`url`](Self::url).
    #[must_use]
    pub fn models_url(self, base: &str) -> String {
        let base = base.trim().trim_end_matches('/');
        let base = base.strip_suffix(&self.path("", false)).unwrap_or(base);
        self.versioned(base, "/models")
    }

    /// The address to send a request to.
    ///
    /// `base` may end with or without the API's version (`http://localhost:8080` and
    /// `http://localhost:8080/v1/` are the same), or be the whole address up to the path itself
    /// (`…/chat/completions`).
    #[must_use]
    pub fn url(self, base: &str, model: &str, stream: bool) -> String {
        let base = base.trim().trim_end_matches('/');
        let path = self.path(model, stream);
        if base.ends_with(&path) {
            return base.to_owned();
        }
        self.versioned(base, &path)
    }

    /// The path behind a base that may lack the API's version.
    fn versioned(self, base: &str, path: &str) -> String {
        let host = base.find("://").map_or(0, |at| at + 3);
        let versioned = base[host..].split('/').skip(1).any(is_version);
        let version = if versioned { "" } else { self.version() };
        format!("{base}{version}{path}")
    }
}

/// Whether a path segment is a version: `v1`, `v1beta`, `v4`.
fn is_version(segment: &str) -> bool {
    let digit = |rest: &str| rest.starts_with(|c: char| c.is_ascii_digit());
    segment.strip_prefix('v').is_some_and(digit)
}

/// Percent-encodes what may not stand in a path segment; slashes stay.
fn encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/@:".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_urls_are_taken_with_and_without_version() {
        let cases = [
            (
                Format::OpenAiChat,
                "http://localhost:8080",
                "http://localhost:8080/v1/chat/completions",
            ),
            (
                Format::OpenAiChat,
                "http://localhost:8080/v1/",
                "http://localhost:8080/v1/chat/completions",
            ),
            (
                Format::OpenAiChat,
                "https://x.y/api/paas/v4",
                "https://x.y/api/paas/v4/chat/completions",
            ),
            (
                Format::OpenAiChat,
                "https://x.y/v1beta/openai/",
                "https://x.y/v1beta/openai/chat/completions",
            ),
            (Format::OpenAiChat, "https://x.y/chat/completions", "https://x.y/chat/completions"),
            (Format::OpenAiChat, "http://v1.example", "http://v1.example/v1/chat/completions"),
            (Format::OpenAiResponses, "http://[::1]:1", "http://[::1]:1/v1/responses"),
            (
                Format::Anthropic,
                "https://api.anthropic.com",
                "https://api.anthropic.com/v1/messages",
            ),
            (Format::Gemini, "http://g", "http://g/v1beta/models/a%20b:generateContent"),
        ];
        for (format, base, expected) in cases {
            assert_eq!(format.url(base, "models/a b", false), expected, "{base}");
        }
        assert_eq!(
            Format::Gemini.url(Format::Gemini.default_base_url(), "gemini-x", true),
            "https://generativelanguage.googleapis.com/v1beta/models/gemini-x:\
             streamGenerateContent?alt=sse"
        );
    }

    #[test]
    fn models_are_listed_beside_the_requests() {
        let cases = [
            (Format::OpenAiChat, "http://localhost:8080", "http://localhost:8080/v1/models"),
            (Format::OpenAiChat, "https://x.y/api/v4/", "https://x.y/api/v4/models"),
            (Format::OpenAiChat, "https://x.y/v1/chat/completions", "https://x.y/v1/models"),
            (Format::Anthropic, "https://x.y", "https://x.y/v1/models"),
            (Format::Gemini, "http://g", "http://g/v1beta/models"),
        ];
        for (format, base, expected) in cases {
            assert_eq!(format.models_url(base), expected, "{base}");
        }
    }

    #[test]
    fn names_read_back() {
        for format in Format::ALL {
            assert_eq!(format.name().parse(), Ok(format));
            let stored = serde_json::to_string(&format).unwrap();
            assert_eq!(stored, format!("\"{format}\""));
        }
        assert_eq!(
            "gpt".parse::<Format>().unwrap_err().to_string(),
            "`gpt` is no wire format; one of openai, openai-responses, anthropic, gemini"
        );
    }
}
