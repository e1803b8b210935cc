//! The trace formats.

use std::fmt;

/// A trace format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// One run per JSON object: `{id, agent, model, task, outcome, steps}`.
    Runs,
    /// Chat messages as OpenAI's Chat Completions or Anthropic's Messages have them.
    Chat,
    /// Items of OpenAI's Responses API.
    Responses,
    /// Session files of Claude Code, and its `stream-json` output.
    ClaudeCode,
    /// Rollout files of Codex.
    Codex,
    /// Chat files of Gemini CLI.
    GeminiCli,
    /// Chat files of Qwen Code.
    QwenCode,
    /// Trajectories of SWE-agent.
    SweAgent,
    /// Trajectories of mini-swe-agent.
    MiniSweAgent,
    /// Event logs of OpenHands.
    OpenHands,
    /// The Agent Trajectory Interchange Format, v1.
    Atif,
    /// The output of `opencode export`.
    Opencode,
}

impl Format {
    /// Every format, in the order in which they are documented.
    pub const ALL: [Self; 12] = [
        Self::Runs,
        Self::Chat,
        Self::Responses,
        Self::ClaudeCode,
        Self::Codex,
        Self::GeminiCli,
        Self::QwenCode,
        Self::SweAgent,
        Self::MiniSweAgent,
        Self::OpenHands,
        Self::Atif,
        Self::Opencode,
    ];

    /// The name users see.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Runs => "runs",
            Self::Chat => "chat messages",
            Self::Responses => "Responses items",
            Self::ClaudeCode => "Claude Code session",
            Self::Codex => "Codex rollout",
            Self::GeminiCli => "Gemini CLI chat",
            Self::QwenCode => "Qwen Code chat",
            Self::SweAgent => "SWE-agent trajectory",
            Self::MiniSweAgent => "mini-swe-agent trajectory",
            Self::OpenHands => "OpenHands events",
            Self::Atif => "ATIF trajectory",
            Self::Opencode => "opencode export",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
