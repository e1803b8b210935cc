//! `OpenAI` Chat Completions, and what others make of it: llama.cpp, vLLM, Ollama (its own lines as
//! well), LM Studio, `OpenRouter`, `DeepSeek`, Mistral.

mod assemble;
mod hear;
mod read;
mod write;

pub(super) use assemble::Assembly;
pub(super) use hear::hear;
pub(super) use read::read;
pub(super) use write::{items, limit_field, write};

/// Fields of a message that hold reasoning as text, by server.
const REASONING: &[&str] = &["reasoning_content", "reasoning", "thinking"];
