//! Which program is asking.

use http::HeaderMap;
use http::header::USER_AGENT;

/// A program that runs agents, as it shows itself on the wire.
///
/// How each of them behaves was measured against a scripted server; docs/design/gateway.md names
/// what follows from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Client {
    /// Claude Code.
    ClaudeCode,
    /// Codex CLI.
    Codex,
    /// Gemini CLI.
    GeminiCli,
    /// Qwen Code.
    QwenCode,
    /// opencode.
    OpenCode,
    /// Continue's CLI.
    Continue,
    /// Programs built on the AI SDK, Cline among them.
    AiSdk,
    /// OpenAI's agents SDK for Python.
    OpenAiAgents,
    /// pydantic-ai.
    PydanticAi,
    /// Google's agent development kit.
    GoogleAdk,
    /// Anything else: a bare SDK, a script, curl.
    Other,
}

/// Pieces of `User-Agent`, the first match wins.
const MARKS: [(&str, Client); 13] = [
    ("claude-cli/", Client::ClaudeCode),
    ("codex_", Client::Codex),
    ("codex-", Client::Codex),
    ("GeminiCLI", Client::GeminiCli),
    ("QwenCode/", Client::QwenCode),
    ("opencode/", Client::OpenCode),
    ("Agents/Python", Client::OpenAiAgents),
    ("Agents/JavaScript", Client::OpenAiAgents),
    ("pydantic-ai/", Client::PydanticAi),
    ("google-adk/", Client::GoogleAdk),
    ("ls/JS", Client::Continue),
    ("ai-sdk/", Client::AiSdk),
    ("ai/", Client::AiSdk),
];

impl Client {
    /// The program behind a request.
    #[must_use]
    pub fn of(headers: &HeaderMap) -> Self {
        if headers.contains_key("x-claude-code-session-id") {
            return Self::ClaudeCode;
        }
        let agent = headers.get(USER_AGENT).and_then(|value| value.to_str().ok()).unwrap_or("");
        let known = MARKS.iter().find(|(mark, _)| agent.contains(mark));
        known.map_or(Self::Other, |(_, client)| *client)
    }

    /// Whether its reactions to texts, forced answers and stops are known, so that it may be
    /// governed without anybody's word. Others are only watched.
    #[must_use]
    pub const fn is_known(self) -> bool {
        !matches!(self, Self::Other | Self::AiSdk)
    }

    /// The name in files, headers and figures.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::GeminiCli => "gemini-cli",
            Self::QwenCode => "qwen-code",
            Self::OpenCode => "opencode",
            Self::Continue => "continue",
            Self::AiSdk => "ai-sdk",
            Self::OpenAiAgents => "openai-agents",
            Self::PydanticAi => "pydantic-ai",
            Self::GoogleAdk => "google-adk",
            Self::Other => "other",
        }
    }
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, HeaderName, HeaderValue};

    use super::Client;

    fn check(headers: &[(&'static str, &'static str)], expected: Client) {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        assert_eq!(Client::of(&map), expected, "{headers:?}");
    }

    #[test]
    fn programs_are_known_by_their_headers() {
        check(&[("user-agent", "claude-cli/2.1.330 (external, sdk-cli)")], Client::ClaudeCode);
        check(&[("x-claude-code-session-id", "a")], Client::ClaudeCode);
        check(&[("user-agent", "codex_exec/0.169.0 (Debian)")], Client::Codex);
        check(&[("user-agent", "GeminiCLI-tui/0.61.0/m (linux; x64)")], Client::GeminiCli);
        check(&[("user-agent", "QwenCode/0.24.4 (linux; x64)")], Client::QwenCode);
        check(&[("user-agent", "opencode/1.18.33 ai-sdk/x")], Client::OpenCode);
        check(&[("user-agent", "ai-sdk/openai-compatible/3.0.37 runtime/bun")], Client::AiSdk);
        check(&[("user-agent", "ls/JS 5.23.2")], Client::Continue);
        check(&[("user-agent", "Agents/Python 0.24.0")], Client::OpenAiAgents);
        check(&[("user-agent", "pydantic-ai/2.68.0")], Client::PydanticAi);
        check(&[("user-agent", "google-genai-sdk/1 google-adk/2.13.0")], Client::GoogleAdk);
        check(&[("user-agent", "OpenAI/Python 2.54.0")], Client::Other);
        check(&[], Client::Other);
    }
}
