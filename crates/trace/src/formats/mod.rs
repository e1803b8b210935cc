//! One reader per format.

pub(crate) mod atif;
pub(crate) mod chat;
pub(crate) mod claude_code;
pub(crate) mod codex;
pub(crate) mod gemini;
pub(crate) mod mini;
pub(crate) mod opencode;
pub(crate) mod openhands;
pub(crate) mod qwen;
pub(crate) mod responses;
pub(crate) mod runs;
pub(crate) mod swe_agent;

use crate::format::Format;
use crate::session::Session;

/// The reader for a run of the given format; `id` names the run until the trace does.
pub(crate) fn session(format: Format, id: &str) -> Box<dyn Session> {
    match format {
        Format::Runs => Box::new(runs::RunSession::new(id)),
        Format::Chat => Box::new(chat::ChatSession::new(id)),
        Format::Responses => Box::new(responses::ResponsesSession::new(id)),
        Format::ClaudeCode => Box::new(claude_code::ClaudeCodeSession::new(id)),
        Format::Codex => Box::new(codex::CodexSession::new(id)),
        Format::GeminiCli => Box::new(gemini::GeminiSession::new(id)),
        Format::QwenCode => Box::new(qwen::QwenSession::new(id)),
        Format::SweAgent => Box::new(swe_agent::SweAgentSession::new(id)),
        Format::MiniSweAgent => Box::new(mini::MiniSession::new(id)),
        Format::OpenHands => Box::new(openhands::OpenHandsSession::new(id)),
        Format::Atif => Box::new(atif::AtifSession::new(id)),
        Format::Opencode => Box::new(opencode::OpencodeSession::new(id)),
    }
}
